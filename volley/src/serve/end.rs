//! How a connection ends, and how a call that fails does.

use std::borrow::Cow;

use crate::grpc::Code;

/// Whether and how a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is open.
    Open,
    /// GOAWAY gave the reason: close once that is written.
    Refused,
    /// A fault: close once the pending output is written, without GOAWAY.
    Cut,
    /// A fault: write the pending output, then nothing, until the client closes.
    Silent,
}

/// The end of a call that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A gRPC status other than OK.
    Status(Code, Cow<'static, str>),
    /// It was not a gRPC call: only an HTTP status.
    Http(u16),
}

impl Failure {
    pub(super) fn status(code: Code, message: &'static str) -> Self {
        Self::Status(code, Cow::Borrowed(message))
    }
}
