//! Where a thread writes down what becomes of its calls.

use super::call::Ticket;
use crate::measure::{Ended, Outcome, Progress, Tally};

/// A thread's own book, on the hot path: a run's is a [`Tally`]. What a book has no use for, it leaves to the
/// defaults, which do nothing.
pub trait Book {
    /// Workers wait for their calls, and are set free at their ends.
    const HAS_WORKERS: bool;

    /// A call is over.
    fn ended(&mut self, ticket: &Ticket, end_ns: u64, outcome: Outcome);

    /// A call failed because of a wrong reply; `what` tells of it in words.
    fn wrong_reply(&mut self, now_ns: u64, what: &str);

    /// `n` replies were received.
    fn messages(&mut self, n: u64, now_ns: u64);

    /// A call left, on its first try.
    fn sent(&mut self, _intended_ns: u64, _now_ns: u64) {}

    /// Calls were sent again because the server had not begun them.
    fn retried(&mut self, _calls: u64) {}

    /// A first reply came so long after its call was sent.
    fn first_message(&mut self, _ns: u64) {}

    /// A reply came so long after the one before it.
    fn gap(&mut self, _ns: u64) {}

    /// Replies came together with the one before them.
    fn zero_gaps(&mut self, _n: u64) {}

    /// Calls were due and never left.
    fn missed(&mut self, _calls: u64) {}

    /// A call was open at the end.
    fn cut_call(&mut self, _intended_ns: u64, _sent_ns: u64, _at_ns: u64) {}

    /// All is forgotten: the window opens.
    fn reset(&mut self, _start_ns: u64) {}

    /// How far it has got, for the live line.
    fn progress(&self) -> Progress {
        Progress::default()
    }
}

impl Book for Tally {
    const HAS_WORKERS: bool = true;

    #[inline]
    fn ended(&mut self, ticket: &Ticket, end_ns: u64, outcome: Outcome) {
        self.ended(&Ended {
            intended_ns: ticket.intended_ns,
            sent_ns: ticket.sent_ns,
            end_ns,
            outcome,
        });
    }

    fn wrong_reply(&mut self, now_ns: u64, what: &str) {
        self.wrong_reply(now_ns, what);
    }

    #[inline]
    fn messages(&mut self, n: u64, now_ns: u64) {
        self.messages(n, now_ns);
    }

    #[inline]
    fn sent(&mut self, intended_ns: u64, now_ns: u64) {
        self.sent(intended_ns, now_ns);
    }

    fn retried(&mut self, calls: u64) {
        self.retried(calls);
    }

    #[inline]
    fn first_message(&mut self, ns: u64) {
        self.first_message(ns);
    }

    #[inline]
    fn gap(&mut self, ns: u64) {
        self.gap(ns);
    }

    #[inline]
    fn zero_gaps(&mut self, n: u64) {
        self.zero_gaps(n);
    }

    fn missed(&mut self, calls: u64) {
        self.missed(calls);
    }

    fn cut_call(&mut self, intended_ns: u64, sent_ns: u64, at_ns: u64) {
        self.cut_call(intended_ns, sent_ns, at_ns);
    }

    fn reset(&mut self, start_ns: u64) {
        self.reset(start_ns);
    }

    fn progress(&self) -> Progress {
        self.progress()
    }
}
