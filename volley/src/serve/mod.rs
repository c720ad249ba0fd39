//! `volley serve`: a reference server of `benchmark.BenchmarkService`, faster than any generator.
//!
//! It is the maximum that a generator can be tested against, the ground truth for its counts, and a source of faults on
//! demand. [`connection::Connection`] is the protocol without sockets: bytes in, bytes out. A worker thread owns its
//! sockets and connections and keeps its own counts. Counts are requested by message, so nothing is shared while bytes
//! move.
//!
//! Every reply is a length-prefixed message in its own DATA frame, as in grpc-go, unless the peer's window has room for
//! only a part of it. `grpc-timeout` is left to the client: the server never cuts an answer.

mod answer;
mod blocks;
mod breach;
mod call;
mod config;
mod connection;
mod counts;
mod encoding;
mod end;
mod error;
mod farewell;
mod faults;
mod freeze;
mod inbound;
mod listener;
mod message;
mod method;
mod outbox;
mod peer;
mod piece;
mod reference;
mod replies;
mod reply;
mod requests;
mod rules;
mod run;
mod settings;
mod socket;
mod streams;
mod tls;
mod turn;
mod work;
mod worker;

pub use config::{Config, Identity};
pub use connection::Connection;
pub use counts::Counts;
pub use error::ServeError;
pub use faults::{Faults, Freeze};
pub use reference::Reference;
pub use run::run;

#[cfg(test)]
mod tests;
