//! Heads seen before: lines that come again need not be read again.

use httparse::{EMPTY_HEADER, Status};

use super::error::Violation;
use super::head::{self, Head};
use crate::http2::hpack::HeaderList;
use crate::http2::seen::common;

/// Heads in which more lines differ are read as a whole.
const MOST: usize = 16;

/// The last head of its kind: servers often send the same one again, or one of which a line is another.
#[derive(Debug, Default)]
pub struct SeenHead {
    bytes: Vec<u8>,
    /// Where its lines end, of which each has the field at the same place; empty if that is not so.
    lines: Vec<usize>,
    pub fields: HeaderList,
    /// Of a final one.
    meaning: Option<Head>,
}

/// The lines with which a head begins as the last one did: how many there are, and where they end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    lines: usize,
    pub end: usize,
}

/// Which place is that of a head that begins so: the last bit of its status.
#[inline]
pub fn place(head: &[u8]) -> usize {
    usize::from(head.get(11).map_or(0, |digit| digit & 1))
}

impl SeenHead {
    /// What it says, and what follows it, if it comes again.
    #[inline]
    pub fn again<'a>(&self, bytes: &'a [u8]) -> Option<(Head, &'a [u8])> {
        Some((self.meaning?, bytes.strip_prefix(&self.bytes[..])?))
    }

    /// The lines that are known of a head that begins so.
    #[inline]
    pub fn known(&self, bytes: &[u8]) -> Known {
        let ends = self.meaning.map_or(&[][..], |_| &self.lines);
        let (lines, end) = common(ends, &self.bytes, bytes);
        Known { lines, end }
    }

    /// Takes the place of the last head, with which it has those lines in common.
    ///
    /// # Errors
    ///
    /// As [`head::read`].
    pub fn read(&mut self, whole: &[u8], known: Known) -> Result<Head, Violation> {
        let before = self.meaning.take();
        let (meaning, known) = match before.and_then(|before| self.read_on(whole, known, before)) {
            Some(meaning) => (meaning?, known),
            None => (head::read(whole, &mut self.fields)?, Known::default()),
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(whole);
        self.lines.truncate(known.lines);
        let rest = whole.get(known.end..).unwrap_or_default();
        let feeds = memchr::memchr_iter(b'\n', rest);
        self.lines.extend(feeds.map(|at| known.end + at + 1));
        // The last line is empty. A line may also go on in the next one.
        if self.lines.pop().is_none() || self.lines.len() != self.fields.len() {
            self.lines.clear();
        }
        self.meaning = Some(meaning).filter(|meaning| meaning.status >= 200);
        Ok(meaning)
    }

    /// Reads the lines that are not known; `None`: all must be read again.
    fn read_on(
        &mut self,
        whole: &[u8],
        known: Known,
        before: Head,
    ) -> Option<Result<Head, Violation>> {
        let rest = whole.get(known.end..).filter(|_| known.lines > 0)?;
        let mut fields = [EMPTY_HEADER; MOST];
        let Ok(Status::Complete((length, fields))) = httparse::parse_headers(rest, &mut fields)
        else {
            return None;
        };
        if length != rest.len() {
            return None;
        }
        self.fields.truncate(known.lines);
        for field in fields {
            self.fields
                .push_lower_case(field.name.as_bytes(), field.value);
        }
        let is_1_1 = whole.get(7) == Some(&b'1');
        Some(head::meaning(before.status, is_1_1, &self.fields))
    }
}
