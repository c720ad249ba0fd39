//! HTTP/2, HTTP/1.1 and gRPC without I/O: bytes in, events and bytes out. Nothing here knows a name, a socket, TLS, a clock
//! or a file. The modules, lowest first; each uses only those listed before it:
//!
//! - [`http2`]: the protocol of RFC 9113 and RFC 7541, and a client connection.
//! - [`http1`]: the same for HTTP/1.1, with the same handler.
//! - [`http`]: what users of either version need: encodings of bodies, cookies, redirects, URLs.
//! - [`grpc`]: gRPC over HTTP/2: messages, statuses, timeouts.
//!
//! Words:
//!
//! - *connection*: all that goes over one socket, in both directions, from its first byte on.
//! - *stream*: one request and its response on a connection of HTTP/2, by its number.
//! - *request*, *response*: a head, a body and, perhaps, trailers; a response may have informational heads before it.
//! - *head*: the pseudo-header fields and the header fields. *Block*: a head or trailers, as HPACK encodes them.
//! - *frame*: nine bytes of header and a payload. *Window*: the bytes of DATA that may still be sent, or received.
//! - *handler*: gets the events of a connection's responses. *Call*: the owner's own data about an open request.
//! - *violation*: an error of the peer that ends the connection. *Closed*: how one stream ended.
//! - *encoding*: what `content-encoding` or `grpc-encoding` says that a body or a message is compressed with.
//! - *message*: of gRPC, behind a prefix of five bytes. *Splitter*: finds messages in the bytes of DATA frames.
//! - *status*: how a call of gRPC ended: its code and a text.

pub mod grpc;
pub mod http;
pub mod http1;
pub mod http2;
