//! `volley serve`: a reference server of `benchmark.BenchmarkService`, faster than any generator, and of [`items`] over
//! HTTP/1.1 and HTTP/2.
//!
//! It is fast enough never to be the limit of a generator's test, counts what it receives, and makes faults on demand
//! ([`Faults`] draws them). [`connection::ServerSide`] and [`http1::Http1`] are the protocols without sockets: bytes in, bytes out. A worker thread owns its
//! sockets and connections and keeps its own counts. Another thread asks a worker for its counts by a message, so
//! nothing is shared while bytes move.
//!
//! Every reply is a length-prefixed message in its own DATA frame, as in grpc-go, unless the peer's window has room for
//! only a part of it. Health and reflection are offered beside that service. `grpc-timeout` is left to the client: the server
//! never cuts an answer.
//!
//! Words:
//!
//! - *reference*: a running server. *Worker*: a thread that owns connections. *Peer*: a socket and its connection.
//! - *call*: an open stream of a connection. *Work*: what it has requested, and what it still has to answer.
//! - *turn*: as much of a call's answer as is sent at once; then the next call continues.
//! - *farewell*: how a connection or a call ends. *Fault*: what it does wrong because it was told to.
//! - *exchange*: a request for items and its answer.
//! - *station*: servers for whom calls queue, and that serve each for a random time (`--service`).

mod beside;
mod blocks;
mod call;
mod config;
mod connection;
mod counts;
mod encoding;
mod farewell;
mod faults;
mod http1;
mod inbound;
mod items;
mod listener;
mod message;
mod outbox;
mod peer;
mod protocol;
mod reference;
mod replies;
mod reply;
mod requests;
mod run;
mod socket;
mod station;
mod turn;
mod work;
mod worker;

use std::io;
use std::path::PathBuf;

pub use config::{Config, Identity};
pub use connection::ServerSide;
pub use counts::Counts;
pub use faults::{Faults, Freeze};
pub use reference::Reference;
pub use run::run;
pub use socket::load_tls;
pub use station::Service;
use thiserror::Error;

/// The server cannot start, or cannot continue.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is taken, or does not belong to this host.
    #[error(
        "cannot listen on `{address}`: {reason}; choose another address, or port 0 for a free one"
    )]
    Listen { address: String, reason: io::Error },
    /// A PEM file is missing or broken.
    #[error("cannot use `{path}` for TLS: {reason}")]
    Pem { path: PathBuf, reason: String },
    /// The certificate and the key do not match, or are of no known kind.
    #[error("cannot start TLS with the certificate `{cert}` and the key `{key}`: {reason}")]
    Identity {
        cert: PathBuf,
        key: PathBuf,
        reason: String,
    },
    /// The window size is not one that RFC 9113 §6.9.1 allows.
    #[error("a window cannot be {0} bytes; give it 1 to 2147483647")]
    Window(u32),
    /// The host refuses threads, polls or signals.
    #[error("the host refuses {what}: {reason}")]
    Host {
        what: &'static str,
        reason: io::Error,
    },
}

impl ServeError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Pem { .. } | Self::Identity { .. } | Self::Window(_) => true,
            Self::Listen { .. } | Self::Host { .. } => false,
        }
    }

    /// Wraps an error of the host; for `map_err`.
    pub(crate) fn host(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |reason| Self::Host { what, reason }
    }
}

#[cfg(test)]
mod tests;
