//! Header fields: those to send, and those that the tables hold.

use super::ENTRY_OVERHEAD;

/// Whether the peer should store a field (RFC 7541 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// Stored in the dynamic table: for fields that repeat.
    Incremental,
    /// Not stored: for fields that differ in every request.
    Without,
    /// Not stored here nor by any intermediary: for secrets (RFC 7541 §7.1.3).
    Never,
}

/// A header field to send. The name is lower-case (RFC 9113 §8.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: Box<[u8]>,
    pub value: Box<[u8]>,
    pub indexing: Indexing,
}

impl Field {
    /// A field made of anything that converts to owned bytes.
    pub fn new(
        name: impl Into<Box<[u8]>>,
        value: impl Into<Box<[u8]>>,
        indexing: Indexing,
    ) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            indexing,
        }
    }
}

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
