//! gRPC's status codes, and what maps to them.

use serde::{Deserialize, Serialize};
use volley_base::listed;

use crate::http2::ErrorCode;

listed! {
    /// How a call ended (gRPC, "Status codes and their use"), as grpc-go and ghz print it. Numbers are from 0.
    #[repr(u32)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Code {
        Ok = "OK",
        Canceled = "Canceled",
        Unknown = "Unknown",
        InvalidArgument = "InvalidArgument",
        DeadlineExceeded = "DeadlineExceeded",
        NotFound = "NotFound",
        AlreadyExists = "AlreadyExists",
        PermissionDenied = "PermissionDenied",
        ResourceExhausted = "ResourceExhausted",
        FailedPrecondition = "FailedPrecondition",
        Aborted = "Aborted",
        OutOfRange = "OutOfRange",
        Unimplemented = "Unimplemented",
        Internal = "Internal",
        Unavailable = "Unavailable",
        DataLoss = "DataLoss",
        Unauthenticated = "Unauthenticated",
    }
}

impl Code {
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
