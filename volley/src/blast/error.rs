//! Why a sweep cannot be made at all.

use thiserror::Error;

use crate::engine::EngineError;

/// A sweep that never was: nothing was measured.
#[derive(Debug, Error)]
pub enum BlastError {
    /// What keeps any load from being put on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Throughput is calls over time, which says little about streams.
    #[error(
        "`--call`: `{0}` is a streaming method, and `volley blast` makes unary calls: choose another"
    )]
    NotUnary(String),
    /// Nothing may be done per call behind the barrier.
    #[error(
        "the data or metadata has a template that differs from call to call, and all calls of a blast are made beforehand: \
         write it out, or send it as it stands with `--disable-template-data`"
    )]
    Template,
}

impl BlastError {
    /// Whether the command line, or a file it names, is what is wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Engine(error) => error.is_usage(),
            Self::NotUnary(_) | Self::Template => true,
        }
    }
}
