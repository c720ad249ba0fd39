//! GOAWAY, and the error codes that it and RST_STREAM carry.

use std::fmt;

use volley_base::listed;

listed! {
    /// Why a stream or a connection was ended (RFC 9113 §7). Numbers are from 0.
    #[repr(u32)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ErrorCode {
        NoError = "NO_ERROR",
        ProtocolError = "PROTOCOL_ERROR",
        InternalError = "INTERNAL_ERROR",
        FlowControlError = "FLOW_CONTROL_ERROR",
        SettingsTimeout = "SETTINGS_TIMEOUT",
        StreamClosed = "STREAM_CLOSED",
        FrameSizeError = "FRAME_SIZE_ERROR",
        RefusedStream = "REFUSED_STREAM",
        Cancel = "CANCEL",
        CompressionError = "COMPRESSION_ERROR",
        ConnectError = "CONNECT_ERROR",
        EnhanceYourCalm = "ENHANCE_YOUR_CALM",
        InadequateSecurity = "INADEQUATE_SECURITY",
        Http11Required = "HTTP_1_1_REQUIRED",
    }
}

impl ErrorCode {
    /// The code with this number.
    ///
    /// # Errors
    ///
    /// The number itself if RFC 9113 names no such code: an unknown code does not break the protocol (§7).
    pub fn from_u32(number: u32) -> Result<Self, u32> {
        let index = usize::try_from(number).map_err(|_| number)?;
        Self::ALL.get(index).copied().ok_or(number)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_own_number() {
        for (number, code) in (0..).zip(ErrorCode::ALL) {
            assert_eq!(code as u32, number);
            assert_eq!(ErrorCode::from_u32(number), Ok(code));
        }
    }

    #[test]
    fn a_number_the_rfc_does_not_name_is_given_back() {
        assert_eq!(ErrorCode::from_u32(14), Err(14));
        assert_eq!(ErrorCode::from_u32(u32::MAX), Err(u32::MAX));
    }

    #[test]
    fn names_are_those_of_the_rfc() {
        assert_eq!(ErrorCode::Http11Required.to_string(), "HTTP_1_1_REQUIRED");
        assert_eq!(
            ErrorCode::from_u32(11).map(|code| code.name()),
            Ok("ENHANCE_YOUR_CALM")
        );
    }
}
