//! How a peer says goodbye.

use std::fmt;

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

impl fmt::Display for GoAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Ok(code) => write!(f, "GOAWAY {}", code.name())?,
            Err(number) => write!(f, "GOAWAY 0x{number:x}")?,
        }
        if self.debug.is_empty() {
            return Ok(());
        }
        write!(f, " (`{}`)", self.debug)
    }
}
