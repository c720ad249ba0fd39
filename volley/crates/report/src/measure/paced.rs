//! Counting the messages of streams that live, each due at its own time, and the streams themselves.

use serde::{Deserialize, Serialize};
use volley_base::sums;

use super::count::LATE_NS;
use super::{Distribution, Tally};

/// What became of paced streams and of their messages that were due inside the window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Paced {
    pub counts: PacedCounts,
    /// From when a message was due to its reply.
    pub reply: Distribution,
    /// From when a message was due to when it was sent.
    pub delay: Distribution,
}

sums! {
    /// Plain sums.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct PacedCounts {
        /// Streams that there were to be.
        pub wanted: u64,
        /// Streams that were open when the window opened, and when it closed.
        pub open_first: u64,
        pub open_last: u64,
        /// Streams that ended before the window did, or with an error.
        pub broken: u64,
        /// How often the server refused a stream before it began it.
        pub refused: u64,
        /// Messages that were due inside the window.
        pub due: u64,
        /// Those that were sent, and those of them that were sent late.
        pub sent: u64,
        pub late: u64,
        /// Those that were answered.
        pub answered: u64,
        /// Those that were sent and had no reply by the end of their stream, or of the run.
        pub unanswered: u64,
    }
}

/// What happens to a paced stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// It ended too early, or with an error.
    Broke,
    /// The server refused it before it began it.
    Refused,
}

impl Paced {
    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.reply.merge(&other.reply);
        self.delay.merge(&other.delay);
    }

    pub(super) fn clear(&mut self) {
        self.counts = PacedCounts::default();
        self.reply.clear();
        self.delay.clear();
    }
}

impl Tally {
    fn paced(&mut self) -> &mut Paced {
        self.counted.paced.get_or_insert_default()
    }

    /// So many streams were to live, and so many of their messages were due inside the window.
    pub fn streams_planned(&mut self, wanted: u64, due: u64) {
        let counts = &mut self.paced().counts;
        (counts.wanted, counts.due) = (wanted, due);
    }

    /// So many streams are open at the window's opening, or at its end.
    pub fn streams_open(&mut self, count: u64, is_end: bool) {
        let counts = &mut self.paced().counts;
        match is_end {
            false => counts.open_first = count,
            true => counts.open_last = count,
        }
    }

    /// Something happened to a stream.
    #[cold]
    pub fn stream(&mut self, event: StreamEvent) {
        let counts = &mut self.paced().counts;
        match event {
            StreamEvent::Broke => counts.broken += 1,
            StreamEvent::Refused => counts.refused += 1,
        }
    }

    /// A message was sent that was due inside the window.
    pub fn message_sent(&mut self, due_ns: u64, now_ns: u64) {
        let paced = self.paced();
        let delay_ns = now_ns.saturating_sub(due_ns);
        paced.counts.sent += 1;
        paced.counts.late += u64::from(delay_ns > LATE_NS);
        paced.delay.record(delay_ns);
    }

    /// A message that was due then has its reply.
    pub fn message_answered(&mut self, due_ns: u64, now_ns: u64) {
        let paced = self.paced();
        paced.counts.answered += 1;
        paced.reply.record(now_ns.saturating_sub(due_ns));
    }

    /// A message that was due then has no reply, and will have none.
    #[cold]
    pub fn message_unanswered(&mut self, due_ns: u64, now_ns: u64) {
        let paced = self.paced();
        paced.counts.unanswered += 1;
        paced.reply.record_open(now_ns.saturating_sub(due_ns), 1);
    }
}
