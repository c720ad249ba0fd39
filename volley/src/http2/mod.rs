//! An HTTP/2 client without I/O: bytes in, events and bytes out (RFC 9113, RFC 7541).
//!
//! Nothing here knows a socket, a clock or a thread. [`Connection`] takes the bytes that a peer sent, reports to a
//! [`Handler`] what they mean for each call, and keeps the bytes to send. The owner of the socket moves the bytes.
//!
//! ```text
//! bytes read → Connection::receive → Handler::{on_headers, on_data, on_closed}
//! Connection::{open, send, cancel, ping} → Connection::output → bytes to write
//! ```

mod client;
mod config;
mod ended;
mod error;
mod error_code;
pub mod frame;
mod go_away;
mod handler;
mod head;
mod header_block;
pub mod hpack;
mod id_map;
mod output;
mod pending;
mod response;
mod seen;
mod settings;
mod streams;
mod window;

pub use client::Connection;
pub use config::Config;
pub use error::Violation;
pub use error_code::ErrorCode;
pub use go_away::GoAway;
pub use handler::{Closed, Handler, Next};
pub use head::Head;
