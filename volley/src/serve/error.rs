//! Why the server cannot run.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

/// The server cannot start, or cannot continue.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is taken, or does not belong to this host.
    #[error(
        "cannot listen on `{address}`: {reason}; choose another address, or port 0 for a free one"
    )]
    Listen {
        address: SocketAddr,
        reason: io::Error,
    },
    /// A PEM file is missing or broken.
    #[error("cannot use `{path}` for TLS: {reason}")]
    Pem { path: PathBuf, reason: String },
    /// The certificate and the key do not match.
    #[error("cannot start TLS with the certificate `{cert}` and the key `{key}`: {reason}")]
    Identity {
        cert: PathBuf,
        key: PathBuf,
        reason: rustls::Error,
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
    pub(super) fn host(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |reason| Self::Host { what, reason }
    }
}
