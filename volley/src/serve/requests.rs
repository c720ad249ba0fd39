//! The head of a request, and the methods: the four of `benchmark.BenchmarkService`, and those beside it.

use std::borrow::Cow;

use super::beside::Beside;
use super::encoding::Encoding;
use super::farewell::Failure;
use crate::grpc::Code;
use crate::http2::hpack::HeaderList;

/// What a request's headers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: Method,
    pub(super) encoding: Encoding,
}

/// Reads a call's headers; an error says how to refuse the request.
pub(super) fn read(headers: &HeaderList) -> Result<RequestHead, Failure> {
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
    Ok(RequestHead { method, encoding })
}

/// The method of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    GetSum,
    StreamSum,
    CollectSum,
    EchoSum,
    /// One of another service.
    Beside(Beside),
}

impl Method {
    /// The method at this `:path`.
    pub(super) fn from_path(path: &[u8]) -> Option<Self> {
        let Some(name) = path.strip_prefix(b"/benchmark.BenchmarkService/") else {
            return Beside::from_path(path).map(Self::Beside);
        };
        match name {
            b"GetSum" => Some(Self::GetSum),
            b"StreamSum" => Some(Self::StreamSum),
            b"CollectSum" => Some(Self::CollectSum),
            b"EchoSum" => Some(Self::EchoSum),
            _ => None,
        }
    }

    /// Whether a call has exactly one request message.
    pub(super) fn takes_one_message(self) -> bool {
        match self {
            Self::GetSum | Self::StreamSum => true,
            Self::CollectSum | Self::EchoSum => false,
            Self::Beside(beside) => beside != Beside::Reflect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_four_paths_of_the_service_are_methods() {
        let path = |name: &str| Method::from_path(format!("/benchmark.{name}").as_bytes());
        assert_eq!(path("BenchmarkService/GetSum"), Some(Method::GetSum));
        assert_eq!(path("BenchmarkService/StreamSum"), Some(Method::StreamSum));
        assert_eq!(
            path("BenchmarkService/CollectSum"),
            Some(Method::CollectSum)
        );
        assert_eq!(path("BenchmarkService/EchoSum"), Some(Method::EchoSum));
        assert_eq!(path("BenchmarkService/getsum"), None);
        assert_eq!(path("Other/GetSum"), None);
        assert_eq!(Method::from_path(b""), None);
    }
}
