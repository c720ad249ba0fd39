//! HPACK, the header compression of HTTP/2 (RFC 7541), in both directions.

#[cfg(test)]
mod appendix_c;
mod decoder;
mod dynamic_table;
mod encoder;
mod entry;
mod error;
mod field;
mod header_list;
mod huffman;
mod integer;
#[cfg(test)]
mod properties;
mod static_table;
mod string;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::HpackError;
pub use field::{Field, Indexing};
pub use header_list::HeaderList;

/// Size of the dynamic table at the start, in bytes (RFC 9113 §6.5.2).
pub const DEFAULT_TABLE_SIZE: usize = 4096;

/// What an entry counts in addition to its name and value (RFC 7541 §4.1), in bytes.
const ENTRY_OVERHEAD: usize = 32;
