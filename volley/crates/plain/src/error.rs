//! Why a run cannot be made.

use thiserror::Error;

use volley_load::pace::PaceError;
use volley_load::spec::SpecError;
use volley_net::NetError;
use volley_request::{ReflectError, RequestError, SchemaError};

/// A run that could not be made: nothing was measured.
#[derive(Debug, Error)]
pub enum LoadError {
    /// There is no connection, or the host refused something.
    #[error(transparent)]
    Net(#[from] NetError),
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
    /// Nothing answers each message of a client.
    #[error(
        "`--stream-rate` times the reply to each message of a stream: name a method whose client and server both stream"
    )]
    NoPacedStreams,
    /// The server does not say its schema.
    #[error(
        "cannot get the schema from the server by reflection: {0}; give it with `--proto` or `--protoset`"
    )]
    Reflect(#[from] ReflectError),
    /// A request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
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
}

impl LoadError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Net(error) => error.is_usage(),
            Self::Spec(_)
            | Self::Pace(_)
            | Self::Schema(_)
            | Self::TooManyWorkers { .. }
            | Self::NoPacedStreams
            | Self::Request(_) => true,
            Self::Reflect(_)
            | Self::NoStart
            | Self::StartPassed
            | Self::NotOpened
            | Self::OpenedTooLate { .. }
            | Self::StoodStill => false,
        }
    }
}
