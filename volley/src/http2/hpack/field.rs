//! A header field to send.

/// Whether the peer is to remember a field (RFC 7541 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// Put into the dynamic table: for what comes again.
    Incremental,
    /// Not remembered: for what differs with every request.
    Without,
    /// Not remembered here nor by anyone on the way: for secrets (RFC 7541 §7.1.3).
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
    /// A field made of anything that can be owned bytes.
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
