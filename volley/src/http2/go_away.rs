//! The peer's GOAWAY.

use std::fmt;

use super::error_code::ErrorCode;

/// The contents of the peer's last GOAWAY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoAway {
    /// Streams above this one were not processed.
    pub last_stream: u32,
    /// The reason; `Err` holds a number that RFC 9113 does not name.
    pub code: Result<ErrorCode, u32>,
    /// The peer's text, cut to 256 bytes, without control characters.
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
