//! How a peer says goodbye.

use super::error_code::ErrorCode;

/// What the peer's last GOAWAY said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoAway {
    /// Streams above it were not processed.
    pub last_stream: u32,
    /// Why; `Err` holds a number RFC 9113 does not name.
    pub code: Result<ErrorCode, u32>,
    /// The peer's own words, cut to 256 bytes, without control characters.
    pub debug: String,
}
