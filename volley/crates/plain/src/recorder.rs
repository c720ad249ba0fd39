//! The interface through which a thread records what becomes of its calls.

use super::call::Ticket;
use volley_report::measure::{Cut, Ended, Outcome, Passed, StreamEvent, Tally};

/// A thread's own recorder, used on the hot path; a run's recorder is a [`Tally`]. The default methods do nothing: a recorder
/// implements only those that it needs.
pub trait Recorder {
    /// Whether workers wait for the end of their calls.
    const HAS_WORKERS: bool;

    /// A call ended.
    fn ended(&mut self, ticket: &Ticket, end_ns: u64, outcome: Outcome);

    /// A call failed because of a wrong reply; `what` describes it.
    fn wrong_reply(&mut self, now_ns: u64, what: &str);

    /// `n` replies were received, in `frames` DATA frames with content.
    fn messages(&mut self, n: u64, frames: u64, now_ns: u64);

    /// One of these replies was compressed: its bytes on the wire, and what they became.
    fn compressed(&mut self, _wire_bytes: u64, _bytes: u64) {}

    /// A call was sent, on its first try.
    fn sent(&mut self, _intended_ns: u64, _now_ns: u64) {}

    /// Calls were sent again because the server had not begun them.
    fn retried(&mut self, _calls: u64) {}

    /// The time from a call's sending to its first reply.
    fn first_message(&mut self, _ns: u64) {}

    /// The time between two replies of a stream.
    fn gap(&mut self, _ns: u64) {}

    /// Replies were read together with the one before them.
    fn zero_gaps(&mut self, _n: u64) {}

    /// So many calls were due at about that time and never sent, until the end.
    fn missed(&mut self, _intended_ns: u64, _at_ns: u64, _count: u64) {}

    /// A call was open at the end.
    fn cut_call(&mut self, _cut: &Cut) {}

    /// So many streams that live are open, at the window's opening or at its end.
    fn streams_open(&mut self, _count: u64, _is_end: bool) {}

    /// Something happened to one of them.
    fn stream(&mut self, _event: StreamEvent) {}

    /// One of their messages was sent, that was due then.
    fn message_sent(&mut self, _due_ns: u64, _now_ns: u64) {}

    /// It has its reply.
    fn message_answered(&mut self, _due_ns: u64, _now_ns: u64) {}

    /// It will have none.
    fn message_unanswered(&mut self, _due_ns: u64, _now_ns: u64) {}

    /// The warm-up begins.
    fn start(&mut self, _start_ns: u64) {}

    /// The window opens: everything counted so far is discarded.
    fn reset(&mut self, _start_ns: u64) {}

    /// The seconds that have passed by now, if any has since the last time.
    fn passed(&mut self, _now_ns: u64) -> Option<Passed> {
        None
    }
}

impl Recorder for Tally {
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
    fn messages(&mut self, n: u64, frames: u64, now_ns: u64) {
        self.messages(n, frames, now_ns);
    }

    fn compressed(&mut self, wire_bytes: u64, bytes: u64) {
        self.compressed(wire_bytes, bytes);
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

    fn missed(&mut self, intended_ns: u64, at_ns: u64, count: u64) {
        self.missed(intended_ns, at_ns, count);
    }

    fn cut_call(&mut self, cut: &Cut) {
        self.cut_call(cut);
    }

    fn streams_open(&mut self, count: u64, is_end: bool) {
        self.streams_open(count, is_end);
    }

    fn stream(&mut self, event: StreamEvent) {
        self.stream(event);
    }

    fn message_sent(&mut self, due_ns: u64, now_ns: u64) {
        self.message_sent(due_ns, now_ns);
    }

    fn message_answered(&mut self, due_ns: u64, now_ns: u64) {
        self.message_answered(due_ns, now_ns);
    }

    fn message_unanswered(&mut self, due_ns: u64, now_ns: u64) {
        self.message_unanswered(due_ns, now_ns);
    }

    fn start(&mut self, start_ns: u64) {
        self.start(start_ns);
    }

    fn reset(&mut self, start_ns: u64) {
        self.reset(start_ns);
    }

    fn passed(&mut self, now_ns: u64) -> Option<Passed> {
        self.passed(now_ns)
    }
}
