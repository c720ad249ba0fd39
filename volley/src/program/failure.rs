//! What ends a command before its result: an error, and the exit status that it gives.

use std::borrow::Cow;
use std::io;

use super::status::WRONG;
use crate::net::NetError;
use crate::plain::LoadError;
use crate::report::visible;
use crate::scenario::engine::RunError;
use crate::serve::ServeError;

/// The error that ended the program, and its exit status.
#[derive(Debug)]
pub struct Failure {
    /// 2 if the command line is wrong; 3 and 4 if there was no agreed start, or it was over; 3 also if `volley edit` was not
    /// built; otherwise 1.
    pub status: u8,
    /// What went wrong; it may quote a server.
    pub message: String,
}

impl Failure {
    pub(super) fn new(status: u8, problem: impl ToString) -> Self {
        Self {
            status,
            message: problem.to_string(),
        }
    }

    /// The command line, or a file that it names, must be mended.
    pub(super) fn usage(problem: impl ToString) -> Self {
        Self::new(WRONG, problem)
    }

    /// The message on one line, whatever it quotes.
    #[must_use]
    pub fn line(&self) -> Cow<'_, str> {
        visible(&self.message)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let status = match error {
            LoadError::NoStart => 3,
            LoadError::StartPassed => 4,
            _ if error.is_usage() => WRONG,
            _ => 1,
        };
        Self::new(status, error)
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        Self::new(if error.is_usage() { WRONG } else { 1 }, error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(1, error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let status = match error {
            RunError::Net(error) => return error.into(),
            // The file, or what it names, must be mended.
            RunError::Request(_)
            | RunError::Reading(_)
            | RunError::Data(_)
            | RunError::Script(_) => WRONG,
            RunError::Undrawn { .. }
            | RunError::EndedByStep { .. }
            | RunError::Broken { .. }
            | RunError::Program(_)
            | RunError::Setup { .. }
            | RunError::Teardown { .. } => 1,
        };
        Self::new(status, error)
    }
}
