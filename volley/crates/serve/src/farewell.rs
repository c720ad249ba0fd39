//! How connections and calls end: by a fault, by a failure, or by a graceful GOAWAY in two steps (RFC 9113 §6.8).

use std::borrow::Cow;
use std::num::NonZeroU64;

use volley_http::grpc::Code;
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{STREAM_MASK, write_go_away, write_ping};

/// The PING between the two GOAWAYs: once it is answered, the client has seen the first one.
const PING: [u8; 8] = *b"farewell";

/// How far a connection's shutdown is.
#[derive(Debug)]
pub(super) struct Farewell {
    /// Calls before the first GOAWAY; `None`: never.
    calls_left: Option<u64>,
    /// The final GOAWAY has been queued.
    is_final: bool,
}

impl Farewell {
    pub(super) fn new(after: Option<NonZeroU64>) -> Self {
        Self {
            calls_left: after.map(NonZeroU64::get),
            is_final: false,
        }
    }

    /// A call has started. The last one before the shutdown announces it.
    pub(super) fn on_call(&mut self, out: &mut Vec<u8>) {
        let Some(left) = &mut self.calls_left else {
            return;
        };
        if *left == 1 {
            write_go_away(out, STREAM_MASK, ErrorCode::NoError, b"");
            write_ping(out, false, PING);
        }
        *left = left.saturating_sub(1);
    }

    /// An answer to a PING. If it is ours, no stream above `last` will be accepted.
    pub(super) fn on_pong(&mut self, payload: [u8; 8], last: u32, out: &mut Vec<u8>) {
        if payload == PING && self.calls_left == Some(0) && !self.is_final {
            write_go_away(out, last, ErrorCode::NoError, b"");
            self.is_final = true;
        }
    }

    /// Whether the final GOAWAY has been queued: no new calls are accepted.
    #[inline]
    pub(super) fn is_final(&self) -> bool {
        self.is_final
    }
}

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
