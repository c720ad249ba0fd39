//! Why a sweep cannot be made.

use thiserror::Error;

use crate::engine::EngineError;

/// A sweep that could not be made: nothing was measured.
#[derive(Debug, Error)]
pub enum BlastError {
    /// The load could not be started.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A blast's throughput is calls over time, which says little about streams.
    #[error(
        "`--call`: `{0}` is a streaming method, but `volley blast` makes only unary calls: choose another"
    )]
    NotUnary(String),
    /// Work for each call is not allowed after the barrier.
    #[error(
        "the data or metadata has a template that differs from call to call, and all calls of a blast are made beforehand: \
         write it out, or send it as it stands with `--disable-template-data`"
    )]
    Template,
}

impl BlastError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Engine(error) => error.is_usage(),
            Self::NotUnary(_) | Self::Template => true,
        }
    }
}
