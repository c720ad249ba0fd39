//! The head of a request.

use std::borrow::Cow;

use super::encoding::Encoding;
use super::end::Failure;
use super::method::Method;
use crate::grpc::Code;
use crate::http2::hpack::HeaderList;

/// What a request's headers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: Method,
    pub(super) encoding: Encoding,
}

/// Reads a call's headers; an error says how to refuse the request.
pub(super) fn read(headers: &HeaderList) -> Result<Head, Failure> {
    let Some(path) = headers.get(b":path") else {
        return Err(Failure::Http(400));
    };
    if headers.get(b":method") != Some(b"POST") {
        return Err(Failure::Http(405));
    }
    // "application/grpc", optionally followed by "+proto", ";charset=…" (gRPC over HTTP/2, "Requests").
    let kind = headers.get(b"content-type").unwrap_or_default();
    match kind.strip_prefix(b"application/grpc") {
        Some([] | [b'+' | b';', ..]) => {}
        _ => return Err(Failure::Http(415)),
    }
    let Some(method) = Method::from_path(path) else {
        let words = format!("unknown method `{}`", String::from_utf8_lossy(path));
        return Err(Failure::Status(Code::Unimplemented, Cow::Owned(words)));
    };
    let encoding = Encoding::from_header(headers.get(b"grpc-encoding"));
    Ok(Head { method, encoding })
}
