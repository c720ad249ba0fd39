//! How a peer can break the rules.

/// A breach of RFC 9112 or RFC 9110, or the end of a connection inside of a response. The connection is of no use after
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The first bytes of a response are not `HTTP/1.`.
    #[error("peer does not speak http/1.1")]
    NotHttp1,
    /// Bytes came while no request was open.
    #[error("peer sent bytes that no request asked for")]
    Unasked,
    /// A response head that did not end within the limit, in bytes.
    #[error("peer sent a response head of more than {limit} bytes")]
    HeadTooLarge { limit: usize },
    /// RFC 9112 §4, §5.
    #[error("peer sent a response head that cannot be read: {}", words(*.0))]
    Head(httparse::Error),
    /// RFC 9112 §4: text behind the status.
    #[error(
        "peer sent a response head whose reason phrase, behind the status, has a control character"
    )]
    Reason,
    /// RFC 9110 §7.8: nothing was asked to be upgraded.
    #[error("peer switched protocols, which no request asked for")]
    SwitchedProtocols,
    /// RFC 9110 §8.6.
    #[error("peer sent a `content-length` that is not a number")]
    Length,
    /// RFC 9112 §6.3.
    #[error("peer sent two different `content-length` fields")]
    TwoLengths,
    /// RFC 9112 §6.1: only `chunked` is used without being asked for.
    #[error("peer sent a `transfer-encoding` other than one `chunked`")]
    Coding,
    /// RFC 9112 §7.1.
    #[error("peer sent a chunk that does not begin with its size")]
    ChunkSize,
    /// A chunk's first line that did not end within the limit, in bytes.
    #[error("peer sent more than {limit} bytes before the end of a chunk's first line")]
    ChunkLineTooLong { limit: usize },
    /// RFC 9112 §7.1: the end of a line follows a chunk.
    #[error("peer sent a chunk that is longer than its size")]
    ChunkEnd,
    /// RFC 9112 §7.1.2.
    #[error("peer sent trailers that cannot be read: {}", words(*.0))]
    Trailers(httparse::Error),
    /// Trailers that did not end within the limit, in bytes.
    #[error("peer sent trailers of more than {limit} bytes")]
    TrailersTooLarge { limit: usize },
    /// Nothing of the response had come: the request may not have been read.
    #[error("peer closed the connection before the response")]
    ClosedBefore,
    #[error("peer closed the connection inside of the response head")]
    ClosedInHead,
    #[error("peer closed the connection inside of the response body")]
    ClosedInBody,
}

/// What is wrong with fields, or with the line in front of them.
fn words(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName => {
            "the name of a field is empty, or has a character that no name has, such as a blank in front of its colon"
        }
        httparse::Error::HeaderValue => "the value of a field has a control character",
        httparse::Error::NewLine => "a line does not end where it must",
        httparse::Error::Status => "its status is not a number from 100 to 999",
        httparse::Error::Version => "it is neither of HTTP/1.0 nor of HTTP/1.1",
        httparse::Error::Token => "a character stands where none may be",
        httparse::Error::TooManyHeaders => "there are too many fields",
    }
}
