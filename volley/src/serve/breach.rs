//! Protocol errors of clients.

use crate::http2::ErrorCode;

/// A client's breach of RFC 9113 that ends its connection. Both fields go into the GOAWAY.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) code: ErrorCode,
    pub(super) what: &'static str,
}

impl Breach {
    pub(super) fn protocol(what: &'static str) -> Self {
        Self {
            code: ErrorCode::ProtocolError,
            what,
        }
    }

    pub(super) fn size(what: &'static str) -> Self {
        Self {
            code: ErrorCode::FrameSizeError,
            what,
        }
    }

    pub(super) fn flow(what: &'static str) -> Self {
        Self {
            code: ErrorCode::FlowControlError,
            what,
        }
    }
}
