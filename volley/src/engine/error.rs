//! Why a run cannot be made.

use std::io;

use thiserror::Error;

use super::proxy::ProxyError;
use super::tls::TlsError;
use crate::pace::PaceError;
use crate::request::{ReflectError, RequestError, SchemaError};
use crate::spec::SpecError;

/// A run that could not be made: nothing was measured.
#[derive(Debug, Error)]
pub enum EngineError {
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
    /// What is to be run makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A schedule is invalid.
    #[error(transparent)]
    Pace(#[from] PaceError),
    /// The schema cannot be read, or lacks the method.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// There would be more workers than a host has memory for.
    #[error(
        "more than {most} workers are requested: lower `-c`, or bound a rising concurrency with `--concurrency-end`"
    )]
    TooManyWorkers {
        /// The maximum.
        most: u32,
    },
    /// The server does not say its schema.
    #[error(
        "cannot get the schema from the server by reflection: {0}; give it with `--proto` or `--protoset`"
    )]
    Reflect(#[from] ReflectError),
    /// A request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The host refused something that a run needs.
    #[error("cannot {doing}: {error}")]
    Host {
        /// What was refused.
        doing: &'static str,
        /// The host's error.
        error: io::Error,
    },
    /// Nobody gave the agreed moment.
    #[error("no start: stdin gave no moment of CLOCK_MONOTONIC in ns (`--start-at`)")]
    NoStart,
    /// The agreed moment is over.
    #[error("the start is in the past (`--start-at`): nothing was sent")]
    StartPassed,
    /// stdin ended, and the window was not open.
    #[error(
        "stdin ended before a line opened the window (`--open-on-stdin`): nothing was measured"
    )]
    NotOpened,
    /// No line came in time.
    #[error(
        "no line on stdin opened the window within {seconds} s (`--warmup-at-most`): nothing was measured"
    )]
    OpenedTooLate {
        /// The limit.
        seconds: f64,
    },
    /// The moment that was chosen for the opening passed before the threads knew it.
    #[error(
        "this host stood still while the window opened, so that its counts were not exact: try again"
    )]
    StoodStill,
    /// A signal came before the window opened.
    #[error("interrupted before the window opened: nothing was measured")]
    Interrupted,
}

impl EngineError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Tls(_)
            | Self::Proxy(_)
            | Self::Spec(_)
            | Self::Pace(_)
            | Self::Schema(_)
            | Self::TooManyWorkers { .. }
            | Self::Request(_) => true,
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Reflect(_)
            | Self::Host { .. }
            | Self::NoStart
            | Self::StartPassed
            | Self::NotOpened
            | Self::OpenedTooLate { .. }
            | Self::StoodStill
            | Self::Interrupted => false,
        }
    }
}
