//! Lines, and sections that end with an empty line, wherever reads have cut them.

use super::error::Violation;

/// The beginning of a line or section whose end has not been read. Its buffer is used again and again.
#[derive(Debug, Default)]
pub struct Gather {
    bytes: Vec<u8>,
    /// How many of the bytes were searched, and where the last line in them begins.
    scan: Scan,
    /// The bytes were handed out: the next ones begin anew.
    is_whole: bool,
}

/// What ends the bytes that are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    LineEnd,
    EmptyLine,
}

/// What was gathered, with its end, and the bytes behind it; `None`: the end has not come.
type Gathered<'a, 'b> = Option<(&'a [u8], &'b [u8])>;

#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    searched: usize,
    line: usize,
}

impl Gather {
    /// What has been gathered, and waits for its end.
    #[inline]
    pub fn waiting(&self) -> &[u8] {
        if self.is_whole { &[] } else { &self.bytes }
    }

    /// Takes the bytes up to the end. The first `known` bytes are whole lines without it, unless something waits.
    ///
    /// # Errors
    ///
    /// `too_long` if the end is not within `most` bytes. That does not depend on the cuts.
    #[inline]
    pub fn take<'a, 'b: 'a>(
        &'a mut self,
        bytes: &'b [u8],
        known: usize,
        until: Until,
        most: usize,
        too_long: Violation,
    ) -> Result<Gathered<'a, 'b>, Violation> {
        if self.waiting().is_empty() {
            let mut scan = Scan {
                searched: known,
                line: known,
            };
            let end = scan.find(bytes, until, most, too_long)?;
            if let Some((whole, rest)) = end.and_then(|end| bytes.split_at_checked(end)) {
                return Ok(Some((whole, rest)));
            }
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.is_whole = false;
            self.scan = scan;
            return Ok(None);
        }
        self.resume(bytes, until, most, too_long)
    }

    #[cold]
    fn resume<'a, 'b>(
        &'a mut self,
        bytes: &'b [u8],
        until: Until,
        most: usize,
        too_long: Violation,
    ) -> Result<Gathered<'a, 'b>, Violation> {
        let before = self.bytes.len();
        let room = most.saturating_sub(before).min(bytes.len());
        self.bytes
            .extend_from_slice(bytes.get(..room).unwrap_or_default());
        let Some(end) = self.scan.find(&self.bytes, until, most, too_long)? else {
            return Ok(None);
        };
        self.is_whole = true;
        let rest = bytes.get(end.saturating_sub(before)..).unwrap_or_default();
        Ok(Some((self.bytes.get(..end).unwrap_or_default(), rest)))
    }
}

/// Whether a line is empty, without its line feed. A lone one ends a line, too (RFC 9112 §2.2).
#[inline]
pub fn is_end(line: &[u8]) -> bool {
    matches!(line, b"\r" | b"")
}

impl Scan {
    /// Where the end is, in the bytes that were searched before and in those behind them.
    #[inline]
    fn find(
        &mut self,
        bytes: &[u8],
        until: Until,
        most: usize,
        too_long: Violation,
    ) -> Result<Option<usize>, Violation> {
        let bytes = bytes.get(..most).unwrap_or(bytes);
        while let Some(at) = memchr::memchr(b'\n', bytes.get(self.searched..).unwrap_or_default()) {
            let feed = self.searched + at;
            let line = bytes.get(self.line..feed).unwrap_or_default();
            self.searched = feed + 1;
            self.line = feed + 1;
            if until == Until::LineEnd || is_end(line) {
                return Ok(Some(feed + 1));
            }
        }
        self.searched = bytes.len();
        if bytes.len() == most {
            return Err(too_long);
        }
        Ok(None)
    }
}
