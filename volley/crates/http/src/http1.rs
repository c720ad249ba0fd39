//! An HTTP/1.1 client without I/O: bytes in, events and bytes out (RFC 9112, RFC 9110). One request at a time.
//!
//! Nothing here knows a socket, a clock or a thread. [`Connection`] takes the bytes that a peer sent, and reports to the
//! same [`Handler`](crate::http2::Handler) as an HTTP/2 connection what they mean: fields come in a
//! [`HeaderList`](crate::http2::hpack::HeaderList), with names in lower case and `:status` first.
//!
//! ```text
//! bytes read → Connection::{receive, end_of_stream} → Handler::{on_headers, on_data, on_closed}
//! Connection::{open, send} → Connection::output → bytes to write
//! ```
//!
//! What curl reads is read: lines that end with LF alone, folded lines, blanks before a colon, a length that is repeated,
//! `chunked` beside a length or in HTTP/1.0 (the connection is then not used again). What nobody can read for certain is
//! refused: two lengths, codings that nobody asked for, NUL in a field, bytes that no request asked for.

mod chunk;
mod client;
mod error;
mod gather;
mod head;
mod receive;
mod seen;
#[cfg(test)]
mod tests;

pub use client::{Config, Connection};
pub use error::Violation;
