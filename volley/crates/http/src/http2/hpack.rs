//! HPACK, the header compression of HTTP/2 (RFC 7541), in both directions.

#[cfg(test)]
mod appendix_c;
mod decoder;
mod dynamic_table;
mod encoder;
mod field;
mod header_list;
mod huffman;
mod integer;
mod literal;
#[cfg(test)]
mod properties;
mod static_table;
mod string;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use field::{Field, Indexing};
pub use header_list::HeaderList;
pub use literal::{literal, literal_name};
use thiserror::Error;

/// Size of the dynamic table at the start, in bytes (RFC 9113 §6.5.2).
pub const DEFAULT_TABLE_SIZE: usize = 4096;

/// What an entry counts in addition to its name and value (RFC 7541 §4.1), in bytes.
const ENTRY_OVERHEAD: usize = 32;

/// Why a header block could not be decoded.
///
/// All but [`HpackError::ListTooLarge`] leave the two tables out of step, so the connection must end with
/// `COMPRESSION_ERROR` (RFC 9113 §4.3).
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HpackError {
    #[error("the header block ends inside a field")]
    Truncated,
    #[error("an integer in the header block is over 32 bits")]
    IntegerOverflow,
    #[error("the header block refers to index {0}, which neither table holds")]
    IndexOutOfRange(usize),
    #[error("a Huffman-coded string in the header block contains the end-of-string symbol")]
    HuffmanEos,
    #[error("a Huffman-coded string in the header block has wrong padding")]
    HuffmanPadding,
    #[error("the header block sets its table to {asked} bytes, but only {allowed} were announced")]
    SizeUpdateTooLarge { asked: usize, allowed: usize },
    #[error("the header block resizes its table after its first field")]
    SizeUpdateNotFirst,
    #[error("the header block does not shrink its table to the {allowed} bytes announced")]
    SizeUpdateMissing { allowed: usize },
    /// The table stays in step; only this header list is lost.
    #[error("the header list is larger than the {limit} bytes announced")]
    ListTooLarge { limit: usize },
}
