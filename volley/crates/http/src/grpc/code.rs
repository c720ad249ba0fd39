//! gRPC's status codes, and what maps to them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::http2::ErrorCode;

/// How a call ended (gRPC, "Status codes and their use").
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Code {
    Ok = 0,
    Canceled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    /// All codes, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Ok,
        Self::Canceled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code with this number, if gRPC has one.
    pub fn from_u32(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// What people read of the code with this number: its name, or the number if gRPC has none.
    pub fn words(number: u16) -> String {
        Self::from_u32(number.into())
            .map_or_else(|| number.to_string(), |code| code.name().to_owned())
    }

    /// The code for an answer that is HTTP but not gRPC (gRPC, "HTTP to gRPC status code mapping").
    pub fn from_http_status(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502..=504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// The code for a stream that the server reset (gRPC over HTTP/2, "Errors").
    ///
    /// That table leaves out `STREAM_CLOSED` and `HTTP_1_1_REQUIRED`. No server has a reason to send them for an open
    /// call; they are `Internal`, as in grpc-go.
    pub fn from_reset(code: ErrorCode) -> Self {
        match code {
            ErrorCode::RefusedStream => Self::Unavailable,
            ErrorCode::Cancel => Self::Canceled,
            ErrorCode::EnhanceYourCalm => Self::ResourceExhausted,
            ErrorCode::InadequateSecurity => Self::PermissionDenied,
            ErrorCode::NoError
            | ErrorCode::ProtocolError
            | ErrorCode::InternalError
            | ErrorCode::FlowControlError
            | ErrorCode::SettingsTimeout
            | ErrorCode::StreamClosed
            | ErrorCode::FrameSizeError
            | ErrorCode::CompressionError
            | ErrorCode::ConnectError
            | ErrorCode::Http11Required => Self::Internal,
        }
    }

    /// The name as grpc-go and ghz print it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Canceled => "Canceled",
            Self::Unknown => "Unknown",
            Self::InvalidArgument => "InvalidArgument",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::PermissionDenied => "PermissionDenied",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::FailedPrecondition => "FailedPrecondition",
            Self::Aborted => "Aborted",
            Self::OutOfRange => "OutOfRange",
            Self::Unimplemented => "Unimplemented",
            Self::Internal => "Internal",
            Self::Unavailable => "Unavailable",
            Self::DataLoss => "DataLoss",
            Self::Unauthenticated => "Unauthenticated",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_own_number() {
        for (number, code) in (0..).zip(Code::ALL) {
            assert_eq!(code as u32, number);
            assert_eq!(Code::from_u32(number), Some(code));
        }
        assert_eq!(Code::from_u32(17), None);
    }

    #[test]
    fn http_statuses_map_as_grpc_says() {
        let mapped =
            [400, 401, 403, 404, 429, 500, 502, 503, 504, 200, 302].map(Code::from_http_status);
        let names = mapped.map(|code| code.name());
        assert_eq!(
            names,
            [
                "Internal",
                "Unauthenticated",
                "PermissionDenied",
                "Unimplemented",
                "Unavailable",
                "Unknown",
                "Unavailable",
                "Unavailable",
                "Unavailable",
                "Unknown",
                "Unknown"
            ]
        );
    }

    #[test]
    fn only_four_resets_are_more_than_an_internal_error() {
        let special = ErrorCode::ALL
            .map(|reset| (reset, Code::from_reset(reset)))
            .into_iter()
            .filter(|(_, code)| *code != Code::Internal);
        assert_eq!(
            special.collect::<Vec<_>>(),
            [
                (ErrorCode::RefusedStream, Code::Unavailable),
                (ErrorCode::Cancel, Code::Canceled),
                (ErrorCode::EnhanceYourCalm, Code::ResourceExhausted),
                (ErrorCode::InadequateSecurity, Code::PermissionDenied),
            ]
        );
    }
}
