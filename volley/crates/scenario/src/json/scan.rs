//! The pass through a document.

use std::fmt;

use super::text::{hex, unescape};
use super::{Found, Tree};

/// The most levels of objects and arrays; as serde_json's.
const DEEPEST: u32 = 127;

/// Where and why a document is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The number of bytes before the fault.
    pub at: usize,
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "invalid JSON at byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for Malformed {}

/// Reads a document from its start.
pub(super) struct Scanner<'a> {
    tree: &'a Tree,
    found: &'a mut Found,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        bytes: &'a [u8],
        found: &'a mut Found,
    ) -> Result<Self, Malformed> {
        std::str::from_utf8(bytes).map_err(|error| Malformed {
            at: error.valid_up_to(),
            what: "it is not UTF-8",
        })?;
        Ok(Self {
            tree,
            found,
            bytes,
            at: 0,
        })
    }

    pub(super) fn document(mut self) -> Result<(), Malformed> {
        self.space();
        if self.peek().is_none() {
            return Err(self.fault("there is nothing"));
        }
        self.value(Some(0), DEEPEST)?;
        self.space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("something follows the value")),
        }
    }

    /// Reads a value; `node` is where a pointer leads to or through.
    fn value(&mut self, node: Option<usize>, depth: u32) -> Result<(), Malformed> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => _ = self.string()?,
            Some(b'{') => self.object(node, self.deeper(depth)?)?,
            Some(b'[') => self.array(node, self.deeper(depth)?)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            _ => return Err(self.expected("a value is missing")),
        }
        if let Some(place) = node.and_then(|node| self.found.spans.get_mut(node)) {
            *place = Some((start, self.at));
        }
        Ok(())
    }

    fn object(&mut self, node: Option<usize>, depth: u32) -> Result<(), Malformed> {
        self.at += 1;
        self.space();
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a name in quotes is missing"));
            }
            let key = self.string()?;
            self.space();
            if !self.takes(b':') {
                return Err(self.expected("a colon is missing"));
            }
            self.space();
            let child = node.and_then(|node| self.named(node, key));
            self.value(child, depth)?;
            self.space();
            match self.takes(b',') {
                true => {}
                false if self.takes(b'}') => return Ok(()),
                false => return Err(self.expected("a comma or a brace is missing")),
            }
        }
    }

    fn array(&mut self, node: Option<usize>, depth: u32) -> Result<(), Malformed> {
        self.at += 1;
        self.space();
        if self.takes(b']') {
            return Ok(());
        }
        for index in 0.. {
            self.space();
            let child = node.and_then(|node| {
                let mut children = self.tree.children(node).iter();
                children.find(|child| child.index == Some(index))
            });
            self.value(child.map(|child| child.node), depth)?;
            self.space();
            match self.takes(b',') {
                true => {}
                false if self.takes(b']') => break,
                false => return Err(self.expected("a comma or a bracket is missing")),
            }
        }
        Ok(())
    }

    /// The child of this key, unless its value was found before.
    #[inline]
    fn named(&mut self, node: usize, (key, is_escaped): (&[u8], bool)) -> Option<usize> {
        let children = self.tree.children(node);
        if children.is_empty() {
            return None;
        }
        let mut key = key;
        if is_escaped {
            self.found.key.clear();
            unescape(key, &mut self.found.key)?;
            key = &self.found.key;
        }
        let child = children.iter().find(|child| child.key.as_bytes() == key)?;
        let is_new = self.found.spans.get(child.node)?.is_none();
        is_new.then_some(child.node)
    }

    /// Reads a string: what is inside of its quotes, and whether there are escapes.
    #[inline]
    fn string(&mut self) -> Result<(&'a [u8], bool), Malformed> {
        self.at += 1;
        let start = self.at;
        let mut is_escaped = false;
        loop {
            self.at += plain(self.bytes.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    let inside = self.bytes.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok((inside, is_escaped));
                }
                Some(b'\\') => {
                    is_escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.expected("a string has a control character")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        let length = match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if self.bytes.get(self.at + 2..).and_then(hex).is_some() => 6,
            None => return Err(self.cut()),
            Some(_) => return Err(self.fault("there is no such escape")),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Malformed> {
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _ = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.at > start {
            true => Ok(()),
            false => Err(self.expected("a digit is missing")),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Malformed> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(match word.starts_with(rest) {
                true => self.cut(),
                false => self.fault("a value is missing"),
            });
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn deeper(&self, depth: u32) -> Result<u32, Malformed> {
        depth
            .checked_sub(1)
            .ok_or_else(|| self.fault("it is nested more than 127 levels deep"))
    }

    /// The fault of what stands here, or of an end that is too early.
    #[cold]
    fn expected(&self, what: &'static str) -> Malformed {
        match self.peek() {
            Some(_) => self.fault(what),
            None => self.cut(),
        }
    }

    #[cold]
    fn cut(&self) -> Malformed {
        Malformed {
            at: self.bytes.len(),
            what: "it is cut short",
        }
    }

    #[cold]
    fn fault(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }
}

/// How many bytes come before a quote, a backslash or a control character: eight at a time.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let mut at = 0;
    // Of each kind, the lowest byte that is marked is one, and those above it may be wrong.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*chunk);
        let quotes = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslashes = below(word ^ (ONES * u64::from(b'\\')), 1);
        let stops = quotes | backslashes | below(word, 0x20);
        if stops != 0 {
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let stop = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    at + stop.unwrap_or(rest.len())
}
