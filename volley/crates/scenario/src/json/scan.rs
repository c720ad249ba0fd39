//! The pass through a document.

use std::fmt;

use super::text::{hex, unescape};
use super::{Child, Found, Tree};
use crate::text::{plain, plain_of};

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

/// Reads a document. Each part begins at a place, and says where it ends.
pub(super) struct Scanner<'a> {
    tree: &'a Tree,
    found: &'a mut Found,
    bytes: &'a [u8],
    /// The last key has escapes.
    is_escaped: bool,
    fault: Option<Malformed>,
}

/// The document is malformed: the scanner has noted why.
struct Stop;

impl<'a> Scanner<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        bytes: &'a [u8],
        found: &'a mut Found,
    ) -> Result<Self, Malformed> {
        if !is_ascii(bytes) {
            std::str::from_utf8(bytes).map_err(|error| Malformed {
                at: error.valid_up_to(),
                what: "it is not UTF-8",
            })?;
        }
        Ok(Self {
            tree,
            found,
            bytes,
            is_escaped: false,
            fault: None,
        })
    }

    pub(super) fn document(mut self) -> Result<(), Malformed> {
        let _ = self.whole();
        self.fault.map_or(Ok(()), Err)
    }

    fn whole(&mut self) -> Result<(), Stop> {
        let at = space(self.bytes, 0);
        if at == self.bytes.len() {
            return Err(self.fault(at, "there is nothing"));
        }
        let end = self.value(at, Some(0), DEEPEST)?;
        let end = space(self.bytes, end);
        match self.bytes.get(end) {
            None => Ok(()),
            Some(_) => Err(self.fault(end, "something follows the value")),
        }
    }

    /// Reads a value; `node` is where a pointer leads to or through.
    fn value(&mut self, at: usize, node: Option<usize>, depth: u32) -> Result<usize, Stop> {
        let end = match self.bytes.get(at) {
            Some(b'"') => self.string(at + 1)? + 1,
            Some(b'{') => self.object(at, node, depth)?,
            Some(b'[') => self.array(at, node, depth)?,
            Some(b'-' | b'0'..=b'9') => self.number(at)?,
            Some(b't') => self.word(at, b"true")?,
            Some(b'f') => self.word(at, b"false")?,
            Some(b'n') => self.word(at, b"null")?,
            _ => return Err(self.expected(at, "a value is missing")),
        };
        if let Some(node) = node
            && let Some(place) = self.found.spans.get_mut(node)
        {
            *place = Some((at, end));
        }
        Ok(end)
    }

    fn object(&mut self, at: usize, node: Option<usize>, depth: u32) -> Result<usize, Stop> {
        let (tree, bytes, depth) = (self.tree, self.bytes, self.deeper(at, depth)?);
        let children = node.map_or(&[][..], |node| tree.children(node));
        let mut at = space(bytes, at + 1);
        if bytes.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        loop {
            if bytes.get(at) != Some(&b'"') {
                return Err(self.expected(at, "a name in quotes is missing"));
            }
            self.is_escaped = false;
            let end = self.string(at + 1)?;
            let child = match children {
                [] => None,
                children => self.named(children, bytes.get(at + 1..end).unwrap_or_default()),
            };
            at = space(bytes, end + 1);
            if bytes.get(at) != Some(&b':') {
                return Err(self.expected(at, "a colon is missing"));
            }
            at = space(bytes, at + 1);
            at = match bytes.get(at) {
                // Most values are strings that nobody asked for.
                Some(b'"') if child.is_none() => self.string(at + 1)? + 1,
                _ => self.value(at, child, depth)?,
            };
            at = space(bytes, at);
            match bytes.get(at) {
                Some(b',') => at = space(bytes, at + 1),
                Some(b'}') => return Ok(at + 1),
                _ => return Err(self.expected(at, "a comma or a brace is missing")),
            }
        }
    }

    fn array(&mut self, at: usize, node: Option<usize>, depth: u32) -> Result<usize, Stop> {
        let (tree, bytes, depth) = (self.tree, self.bytes, self.deeper(at, depth)?);
        let children = node.map_or(&[][..], |node| tree.children(node));
        let mut at = space(bytes, at + 1);
        if bytes.get(at) == Some(&b']') {
            return Ok(at + 1);
        }
        let mut index = 0;
        loop {
            let child = children.iter().find(|child| child.index == Some(index));
            at = self.value(at, child.map(|child| child.node), depth)?;
            at = space(bytes, at);
            match bytes.get(at) {
                Some(b',') => at = space(bytes, at + 1),
                Some(b']') => return Ok(at + 1),
                _ => return Err(self.expected(at, "a comma or a bracket is missing")),
            }
            index += 1;
        }
    }

    /// The child of this key, unless its value was found before.
    #[inline]
    fn named(&mut self, children: &[Child], raw: &[u8]) -> Option<usize> {
        let mut key = raw;
        if self.is_escaped {
            self.found.key.clear();
            unescape(raw, &mut self.found.key)?;
            key = &self.found.key;
        }
        let child = children.iter().find(|child| child.key.as_bytes() == key)?;
        let is_new = self.found.spans.get(child.node)?.is_none();
        is_new.then_some(child.node)
    }

    /// Reads a string behind its first quote, up to the last one. Most are short.
    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<usize, Stop> {
        let word = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        let end = at + word.map_or(0, |word| plain_of(*word));
        match self.bytes.get(end) {
            Some(b'"') => Ok(end),
            _ => self.rest(end),
        }
    }

    /// The rest of a string.
    fn rest(&mut self, mut at: usize) -> Result<usize, Stop> {
        let bytes = self.bytes;
        loop {
            at += plain(bytes.get(at..).unwrap_or_default());
            match bytes.get(at) {
                Some(b'"') => return Ok(at),
                Some(b'\\') => at += self.escape(at)?,
                _ => return Err(self.expected(at, "a string has a control character")),
            }
        }
    }

    /// The length of an escape.
    fn escape(&mut self, at: usize) -> Result<usize, Stop> {
        self.is_escaped = true;
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') if self.bytes.get(at + 2..).and_then(hex).is_some() => Ok(6),
            None => Err(self.cut()),
            Some(_) => Err(self.fault(at, "there is no such escape")),
        }
    }

    fn number(&mut self, at: usize) -> Result<usize, Stop> {
        let bytes = self.bytes;
        let after = |at: usize, byte: u8| at + usize::from(bytes.get(at) == Some(&byte));
        let mut at = after(at, b'-');
        at = match bytes.get(at) {
            Some(b'0') => at + 1,
            _ => self.digits(at)?,
        };
        if bytes.get(at) == Some(&b'.') {
            at = self.digits(at + 1)?;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at = match bytes.get(at + 1) {
                Some(b'+' | b'-') => self.digits(at + 2)?,
                _ => self.digits(at + 1)?,
            };
        }
        Ok(at)
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self, start: usize) -> Result<usize, Stop> {
        let mut at = start;
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        match at > start {
            true => Ok(at),
            false => Err(self.expected(at, "a digit is missing")),
        }
    }

    fn word(&mut self, at: usize, word: &[u8]) -> Result<usize, Stop> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.starts_with(word) {
            return Ok(at + word.len());
        }
        Err(match word.starts_with(rest) {
            true => self.cut(),
            false => self.fault(at, "a value is missing"),
        })
    }

    #[inline]
    fn deeper(&mut self, at: usize, depth: u32) -> Result<u32, Stop> {
        depth
            .checked_sub(1)
            .ok_or_else(|| self.fault(at, "it is nested more than 127 levels deep"))
    }

    /// The fault of what stands here, or of an end that is too early.
    #[cold]
    fn expected(&mut self, at: usize, what: &'static str) -> Stop {
        match self.bytes.get(at) {
            Some(_) => self.fault(at, what),
            None => self.cut(),
        }
    }

    #[cold]
    fn cut(&mut self) -> Stop {
        self.fault(self.bytes.len(), "it is cut short")
    }

    #[cold]
    fn fault(&mut self, at: usize, what: &'static str) -> Stop {
        self.fault = Some(Malformed { at, what });
        Stop
    }
}

/// The next place without white space.
#[inline]
fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The same as that of the standard library, which takes longer for a short document.
fn is_ascii(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words
        .iter()
        .fold(0, |all, word| all | u64::from_ne_bytes(*word));
    words & 0x8080_8080_8080_8080 == 0 && rest.iter().fold(0, |all, byte| all | byte) < 0x80
}
