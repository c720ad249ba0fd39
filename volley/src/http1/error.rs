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
    #[error("peer sent a response head that cannot be read: {0}")]
    Head(#[source] httparse::Error),
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
    #[error("peer sent trailers that cannot be read: {0}")]
    Trailers(#[source] httparse::Error),
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
