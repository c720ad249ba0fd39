//! Why there is no connection, or no load.

use std::io;

use thiserror::Error;

use super::proxy::ProxyError;
use super::tls_config::TlsError;

/// The network or the host refused something.
#[derive(Debug, Error)]
pub enum NetError {
    /// The target's name cannot be resolved.
    #[error("cannot resolve `{host}`: {reason}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's message.
        reason: String,
    },
    /// No connection was ready in time.
    #[error("cannot connect to {target}: {reason}")]
    Connect {
        /// The target as the user gave it.
        target: String,
        /// The obstacle, and the flag that may help.
        reason: String,
    },
    /// The environment's proxy is of no use.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// TLS cannot be set up as requested.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The host refused something that a run needs.
    #[error("cannot {doing}: {error}")]
    Host {
        /// What was refused.
        doing: &'static str,
        /// The host's error.
        error: io::Error,
    },
    /// A signal came before the window opened.
    #[error("interrupted before the window opened: nothing was measured")]
    Interrupted,
}

impl NetError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Tls(_) | Self::Proxy(_) => true,
            Self::Resolve { .. } | Self::Connect { .. } | Self::Host { .. } | Self::Interrupted => {
                false
            }
        }
    }

    /// Names what the host refused.
    pub fn host(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Host { doing, error }
    }
}
