//! What a thread records of one blast: one slot per call, allocated before the calls leave.

use crate::{Recorder, Ticket};
use volley_http::grpc::Code;
use volley_report::measure::{Errors, Failures, Outcome};

/// What became of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallResult {
    /// It is open, or waits for room.
    #[default]
    Open,
    /// It was OK at this moment, in nanoseconds of the run's clock.
    Ok(u64),
    /// It failed.
    Failed(Code),
}

/// A thread's recorder of one blast. Only a failed call costs more than writing one word into its slot.
#[derive(Debug, Default)]
pub struct CallResults {
    slots: Vec<CallResult>,
    open: usize,
    /// Replies received.
    pub replies: u64,
    /// Calls with a wrong reply.
    pub wrong: Failures,
    /// Error texts.
    pub errors: Errors,
}

impl CallResults {
    /// Makes slots for this thread's calls of a blast.
    pub fn for_calls(calls: usize) -> Self {
        Self {
            slots: vec![CallResult::Open; calls],
            open: calls,
            ..Self::default()
        }
    }

    /// Whether there is any call.
    pub fn any(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether any call has not ended.
    pub fn any_open(&self) -> bool {
        self.open > 0
    }

    /// What became of the calls.
    pub fn iter(&self) -> impl Iterator<Item = CallResult> {
        self.slots.iter().copied()
    }
}

impl Recorder for CallResults {
    const HAS_WORKERS: bool = false;

    #[inline]
    fn ended(&mut self, ticket: &Ticket, end_ns: u64, outcome: Outcome) {
        let Some(slot) = self.slots.get_mut(ticket.worker as usize) else {
            return;
        };
        *slot = match outcome {
            Outcome::Ok => CallResult::Ok(end_ns),
            Outcome::Failed { code, error, .. } => {
                self.errors.count(&error);
                CallResult::Failed(code)
            }
        };
        self.open -= 1;
    }

    fn wrong_reply(&mut self, now_ns: u64, what: &str) {
        self.wrong.count(now_ns, what);
    }

    #[inline]
    fn messages(&mut self, n: u64, _frames: u64, _now_ns: u64) {
        self.replies += n;
    }
}
