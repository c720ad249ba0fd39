//! One header field as the tables hold it.

use super::ENTRY_OVERHEAD;

/// A name and its value, stored as one piece so that it is copied at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub joined: &'a [u8],
    /// Bytes of `joined` that are the name; never more than there are.
    pub name_len: usize,
}

impl<'a> Entry<'a> {
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        &self.joined[..self.name_len]
    }

    #[inline]
    pub fn value(&self) -> &'a [u8] {
        &self.joined[self.name_len..]
    }

    /// What the entry counts against a limit (RFC 7541 §4.1), in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.joined.len() + ENTRY_OVERHEAD
    }
}
