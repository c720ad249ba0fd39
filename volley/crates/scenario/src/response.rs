//! Responses: what a step checks in them, and the values that it saves.
//!
//! A [`Reading`] is a step's `expect` and `save`, made ready once for each thread. The engine calls [`Reading::head`] when
//! the header fields are there and [`Reading::end`] when the response is over. Every check is evaluated, even after one
//! that failed, and every value is saved if it can be; what fails is gathered in [`Verdicts`].

mod cookie;
mod part;
mod read;
mod reply;
mod rule;

pub use part::ReadingError;
pub use read::{End, Head, Reading, reads_body};

/// What became of the checks and saves of one response. It is used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// A bit for each check of the step that failed.
    failed: u64,
    failures: Vec<Failure>,
}

/// Something that a response should have been or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub culprit: Culprit,
    /// What was expected and what was there: one line of at most about 200 characters.
    pub words: String,
}

/// What failed in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Culprit {
    /// The HTTP status, or the gRPC code.
    Status,
    /// Of [`Expect::checks`](super::plan::Expect), by index.
    Check(usize),
    /// Of [`Step::saves`](super::plan::Step), by index.
    Save(usize),
}

impl Verdicts {
    /// Forgets all of them, and keeps the memory.
    pub fn clear(&mut self) {
        self.failed = 0;
        self.failures.clear();
    }

    /// Whether a check failed, by its index; meaningful once the response is over.
    #[must_use]
    pub fn has_failed(&self, check: usize) -> bool {
        u32::try_from(check).is_ok_and(|check| self.failed.checked_shr(check).unwrap_or(0) & 1 == 1)
    }

    /// What failed, in the order in which it was found.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    #[cold]
    fn fail(&mut self, culprit: Culprit, words: String) {
        if let Culprit::Check(check) = culprit {
            self.failed |= u32::try_from(check)
                .ok()
                .and_then(|check| 1_u64.checked_shl(check))
                .unwrap_or(0);
        }
        self.failures.push(Failure { culprit, words });
    }
}

#[cfg(test)]
mod tests;
