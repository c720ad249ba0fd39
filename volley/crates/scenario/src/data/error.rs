//! Why there are no values.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What is wrong with a feed or its file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataError {
    #[error("cannot read `{}`: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("{}:{line}: {reason}", file.display())]
    Broken {
        file: PathBuf,
        /// From 1.
        line: u64,
        reason: String,
    },
    #[error("{}`data.{feed}` has no rows: add one", file.as_ref().map_or_else(String::new, |file| format!("{}: ", file.display())))]
    Empty { feed: String, file: Option<PathBuf> },
    #[error("`data.{feed}` has {rows} rows for {parts} {what}: add rows, or use `slice: all`")]
    Few {
        feed: String,
        rows: u64,
        parts: u64,
        what: &'static str,
    },
}

/// Why a draw gives no values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Undrawn {
    /// `at_end: stop`.
    #[error("`data.{0}` has no more rows")]
    Stop(String),
    /// `at_end: fail`.
    #[error("`data.{0}` has no more rows, and `at_end: fail` ends the run")]
    Fail(String),
    /// The file has changed since the run began, or can no longer be read.
    #[error(transparent)]
    Broken(Box<DataError>),
}

impl DataError {
    pub(super) fn unreadable(file: &Path, error: &io::Error) -> Self {
        Self::Unreadable {
            file: file.to_owned(),
            reason: error.to_string(),
        }
    }
}
