//! An HTTP/2 client without I/O: bytes in, events and bytes out (RFC 9113, RFC 7541). The reference server shares its
//! frames, windows and settings.
//!
//! Nothing here knows a socket, a clock or a thread. [`Connection`] takes the bytes that a peer sent, reports to a
//! [`Handler`] what they mean for each call, and keeps the bytes to send. The owner of the socket moves the bytes.
//!
//! ```text
//! bytes read → Connection::receive → Handler::{on_headers, on_data, on_closed}
//! Connection::{open, send, cancel, ping} → Connection::output → bytes to write
//! ```

mod client;
mod error;
mod error_code;
pub mod frame;
mod handler;
mod head;
mod header_block;
pub mod hpack;
mod id_map;
pub(crate) mod output;
mod pending;
pub mod reader;
pub(crate) mod response;
pub(crate) mod seen;
pub mod settings;
mod streams;
pub mod window;

pub use client::Connection;
pub use error::Violation;
pub use error_code::{ErrorCode, GoAway};
pub use handler::{Closed, Handler, Next};
pub use head::{Head, Own};
pub use pending::Content;
pub use settings::Config;
