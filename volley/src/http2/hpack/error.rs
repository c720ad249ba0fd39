//! What can be wrong with a header block.

use thiserror::Error;

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
