//! One header field as the tables hold it.

use super::ENTRY_OVERHEAD;

/// A name and its value, stored as one piece so that both are copied at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub joined: &'a [u8],
    /// How many bytes of `joined` are the name; never more than its length.
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

    /// The entry's size for limits (RFC 7541 §4.1), in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.joined.len() + ENTRY_OVERHEAD
    }
}
