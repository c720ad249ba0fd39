//! Changes of a load while it goes on.

use serde::{Deserialize, Serialize};

/// What a user may ask of a run while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Calls per second, at least 1.
    Rate(u32),
    /// Workers, at least 1.
    Workers(u32),
    /// Start no calls; open ones go on.
    Pause,
    /// Start calls again.
    Resume,
    /// End the run, with a report.
    Stop,
}

impl Command {
    /// Whether no calls start from then on; `None`: it does not change that.
    #[must_use]
    pub fn pauses(self) -> Option<bool> {
        match self {
            Self::Pause => Some(true),
            Self::Resume => Some(false),
            Self::Rate(_) | Self::Workers(_) | Self::Stop => None,
        }
    }

    /// Its name, and its number if it has one, as reports and orders write them.
    #[must_use]
    pub fn words(self) -> (&'static str, Option<u32>) {
        match self {
            Self::Rate(rps) => ("rps", Some(rps)),
            Self::Workers(workers) => ("concurrency", Some(workers)),
            Self::Pause => ("pause", None),
            Self::Resume => ("resume", None),
            Self::Stop => ("stop", None),
        }
    }
}
