//! Why a run cannot be made at all.

use std::io;

use thiserror::Error;

use super::tls::TlsError;
use crate::pace::PaceError;
use crate::request::{RequestError, SchemaError};

/// A run that never was: nothing was measured.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The target's name means nothing here.
    #[error("cannot resolve `{host}`: {reason}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// No connection came about in time.
    #[error("cannot connect to {target}: {reason}")]
    Connect {
        /// The target as the user named it.
        target: String,
        /// What stood in the way, and the flag that may help.
        reason: String,
    },
    /// TLS cannot be set up as asked.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A schedule makes no sense.
    #[error(transparent)]
    Pace(#[from] PaceError),
    /// The schema cannot be read, or does not have the method.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// There would be more workers than a host has memory for.
    #[error(
        "more than {most} workers are asked for: lower `-c`, or give a rising concurrency a `--concurrency-end`"
    )]
    TooManyWorkers {
        /// The most there may be.
        most: u32,
    },
    /// A request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The host refused something a run needs.
    #[error("cannot {doing}: {error}")]
    Host {
        /// What was refused.
        doing: &'static str,
        /// The host's words.
        error: io::Error,
    },
    /// A signal came before the window opened.
    #[error("interrupted before the window opened: nothing was measured")]
    Interrupted,
}

impl EngineError {
    /// Whether the command line, or a file it names, is what is wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Tls(_)
            | Self::Pace(_)
            | Self::Schema(_)
            | Self::TooManyWorkers { .. }
            | Self::Request(_) => true,
            Self::Resolve { .. } | Self::Connect { .. } | Self::Host { .. } | Self::Interrupted => {
                false
            }
        }
    }
}
