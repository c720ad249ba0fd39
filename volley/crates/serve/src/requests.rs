//! The head of a request, and the methods: the four of `benchmark.BenchmarkService`, and those beside it. All other
//! requests are for the service of items.

use std::borrow::Cow;

use super::beside::Beside;
use super::encoding::Encoding;
use super::farewell::Failure;
use super::faults::Hit;
use super::items::{Head, HeadReader};
use volley_http::grpc::Code;
use volley_http::http2::hpack::HeaderList;

/// What a request's headers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Rpc(RequestHead),
    Items(Head),
}

impl Request {
    /// The faults that can hit it; `None`: they are not for this one.
    pub(super) fn hit(self) -> Option<Hit> {
        match self {
            Self::Rpc(head) if matches!(head.method, Method::Beside(_)) => None,
            Self::Rpc(_) => Some(Hit::Rpc),
            Self::Items(head) => Some(head.hit()),
        }
    }
}

/// What the headers of a gRPC call ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: Method,
    pub(super) encoding: Encoding,
}

/// Reads a request's headers; an error says how to refuse it.
pub(super) fn read(headers: &HeaderList) -> Result<Request, Failure> {
    let Some(path) = headers.get(b":path") else {
        return Err(Failure::Http(400));
    };
    let is_rpc = || {
        let kind = headers.get(b"content-type").unwrap_or_default();
        kind.starts_with(b"application/grpc") || Method::from_path(path).is_some()
    };
    if Head::serves(path) || !is_rpc() {
        let mut reader = HeadReader::default();
        for (name, value) in headers.iter() {
            reader.field(name, value);
        }
        let method = headers.get(b":method").unwrap_or_default();
        return Ok(Request::Items(reader.head(method, path)));
    }
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
    Ok(Request::Rpc(RequestHead { method, encoding }))
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
