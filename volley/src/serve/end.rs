//! How a connection ends, and how a call that fails does.

use std::borrow::Cow;

use crate::grpc::Code;

/// Whether, and how, a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is not.
    Open,
    /// GOAWAY told why: close once that is written.
    Refused,
    /// A fault: close once what is pending is written, without a word.
    Cut,
    /// A fault: write what is pending, then nothing, until the client closes.
    Silent,
}

/// How a call ends that does not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A gRPC status other than OK.
    Status(Code, Cow<'static, str>),
    /// It was no gRPC call: an HTTP status alone.
    Http(u16),
}

impl Failure {
    pub(super) fn status(code: Code, message: &'static str) -> Self {
        Self::Status(code, Cow::Borrowed(message))
    }
}
