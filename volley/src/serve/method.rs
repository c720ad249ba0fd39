//! The four methods of `benchmark.BenchmarkService`.

/// The method of a call.
#[expect(clippy::enum_variant_names, reason = "the names are the service's own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    GetSum,
    StreamSum,
    CollectSum,
    EchoSum,
}

impl Method {
    /// The method at this `:path`.
    pub(super) fn from_path(path: &[u8]) -> Option<Self> {
        match path.strip_prefix(b"/benchmark.BenchmarkService/")? {
            b"GetSum" => Some(Self::GetSum),
            b"StreamSum" => Some(Self::StreamSum),
            b"CollectSum" => Some(Self::CollectSum),
            b"EchoSum" => Some(Self::EchoSum),
            _ => None,
        }
    }

    /// Whether a call has exactly one request message.
    pub(super) fn takes_one_message(self) -> bool {
        matches!(self, Self::GetSum | Self::StreamSum)
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
