//! Text with slots: constant bytes, and values that are written as their place requires.

use super::values::{Slot, Values};
use volley_http::http::push_encoded;

/// A text that is rendered for each request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pieces: Box<[Piece]>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes that never change.
    Fixed(Box<[u8]>),
    /// The value of a slot.
    Slot(Slot, Escape),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// As it is.
    #[default]
    Raw,
    /// Inside of a JSON string (RFC 8259 section 7).
    Json,
    /// Inside of a path or a query: all but unreserved characters are percent-encoded (RFC 3986 section 2).
    Url,
    /// As it is, inside of a URL: a value with blanks or control characters is refused.
    RawUrl,
    /// Inside of a form (application/x-www-form-urlencoded).
    Form,
    /// In a header: a value with CR, LF or NUL is refused.
    Header,
}

/// Why a text cannot be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrendered {
    /// Nothing has filled this slot.
    Empty(Slot),
    /// The value of this slot cannot stand in a header, or in a URL.
    Control(Slot),
}

impl Text {
    /// A text of these pieces; neighbours that never change become one.
    #[must_use]
    pub fn new(pieces: impl IntoIterator<Item = Piece>) -> Self {
        let mut all: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (all.last_mut(), piece) {
                (_, Piece::Fixed(bytes)) if bytes.is_empty() => {}
                (Some(Piece::Fixed(before)), Piece::Fixed(bytes)) => {
                    *before = [&before[..], &bytes[..]].concat().into();
                }
                (_, piece) => all.push(piece),
            }
        }
        Self { pieces: all.into() }
    }

    /// A text that never changes.
    #[must_use]
    pub fn fixed(bytes: impl Into<Box<[u8]>>) -> Self {
        Self::new([Piece::Fixed(bytes.into())])
    }

    /// Its bytes, if it never changes.
    #[must_use]
    pub fn constant(&self) -> Option<&[u8]> {
        match &*self.pieces {
            [] => Some(&[]),
            [Piece::Fixed(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Its pieces, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The slots that it reads.
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Fixed(_) => None,
            Piece::Slot(slot, _) => Some(*slot),
        })
    }

    /// Appends what it says in an iteration.
    ///
    /// # Errors
    ///
    /// A slot is empty, or its value cannot stand there. What was appended before stays.
    #[inline]
    pub fn render(&self, values: &Values, out: &mut Vec<u8>) -> Result<(), Unrendered> {
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(bytes) => out.extend_from_slice(bytes),
                Piece::Slot(slot, escape) => {
                    let value = values.get(*slot).ok_or(Unrendered::Empty(*slot))?;
                    escape.write(value, out).ok_or(Unrendered::Control(*slot))?;
                }
            }
        }
        Ok(())
    }
}

impl Escape {
    /// Appends a value; `None` if it cannot stand there.
    #[inline]
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Raw => out.extend_from_slice(value),
            Self::Json => json(value, out),
            Self::Url => percent(value, b"%20", out),
            Self::Form => percent(value, b"+", out),
            Self::Header => {
                if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
                    return None;
                }
                out.extend_from_slice(value);
            }
            Self::RawUrl => {
                if breaks_url(value) {
                    return None;
                }
                out.extend_from_slice(value);
            }
        }
        Some(())
    }
}

/// Whether a byte stands in a JSON string as it is.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && !matches!(byte, b'"' | b'\\')
}

/// Whether a byte can stand in no URL: a blank or a control character. It looks at all: several at a time.
#[inline]
pub(super) fn breaks_url(value: &[u8]) -> bool {
    let breaks = |byte: u8| byte <= b' ' || byte == 0x7f;
    value.iter().fold(false, |any, byte| any | breaks(*byte))
}

/// How many bytes come before a quote, a backslash or a control character.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let here = plain_of(*word);
        at += here;
        if here < word.len() {
            return at;
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let stop = rest.iter().position(|byte| !is_plain(*byte));
    at + stop.unwrap_or(rest.len())
}

/// The same for eight bytes at a time.
#[inline]
pub(super) fn plain_of(word: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    // Of each kind, the lowest byte that is marked is one, and those above it may be wrong. With its second bit turned
    // round, a quote is 0x20, and control characters are below that; a blank is not.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit);
    let quotes = below(word ^ (ONES * 2), 0x21);
    let backslashes = below(word ^ (ONES * u64::from(b'\\')), 1);
    let stops = (quotes | backslashes) & !word & HIGH;
    (stops.trailing_zeros() / 8) as usize
}

fn json(value: &[u8], out: &mut Vec<u8>) {
    if plain(value) == value.len() {
        out.extend_from_slice(value);
        return;
    }
    for byte in value {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}

fn percent(value: &[u8], blank: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            b' ' => out.extend_from_slice(blank),
            _ => push_encoded(byte, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(escape: Escape, value: &str) -> Option<String> {
        let mut out = Vec::new();
        escape.write(value.as_bytes(), &mut out)?;
        String::from_utf8(out).ok()
    }

    #[test]
    fn a_value_is_written_as_its_place_requires() {
        let value = "a \"b\"\n\u{e9}/%";
        for (escape, expected) in [
            (Escape::Raw, Some("a \"b\"\n\u{e9}/%")),
            (Escape::Json, Some("a \\\"b\\\"\\n\u{e9}/%")),
            (Escape::Url, Some("a%20%22b%22%0A%C3%A9%2F%25")),
            (Escape::Form, Some("a+%22b%22%0A%C3%A9%2F%25")),
            (Escape::Header, None),
            (Escape::RawUrl, None),
        ] {
            assert_eq!(written(escape, value).as_deref(), expected, "{escape:?}");
        }
        assert_eq!(written(Escape::Json, "\u{1}").as_deref(), Some("\\u0001"));
        assert_eq!(written(Escape::Header, "a b").as_deref(), Some("a b"));
        assert_eq!(
            written(Escape::RawUrl, "/a?b=%20").as_deref(),
            Some("/a?b=%20")
        );
    }

    #[test]
    fn an_empty_slot_is_named_and_never_rendered_as_nothing() {
        let text = Text::new([
            Piece::Fixed((*b"/items/").into()),
            Piece::Slot(Slot(1), Escape::Url),
        ]);
        let mut values = Values::new(2);
        let mut out = Vec::new();
        assert_eq!(
            text.render(&values, &mut out),
            Err(Unrendered::Empty(Slot(1)))
        );
        out.clear();
        values.set(Slot(1), b"7");
        assert_eq!(text.render(&values, &mut out), Ok(()));
        assert_eq!(out, b"/items/7");
    }

    #[test]
    fn neighbours_that_never_change_become_one() {
        let fixed = |text: &str| Piece::Fixed(text.as_bytes().into());
        let text = Text::new([fixed("a"), fixed(""), fixed("b")]);
        assert_eq!(text.constant(), Some(&b"ab"[..]));
        assert_eq!(Text::new([]).constant(), Some(&b""[..]));
    }
}
