//! Streams that live: which message of each comes next, and when it is due.

use volley_load::pace::StreamPace;

/// The streams of a thread. A worker's stream that broke goes on in its next one, so that each of its messages is sent once.
pub struct Pacer {
    pace: StreamPace,
    /// When the load started.
    start_ns: u64,
    /// Messages that are due from here on count; nothing counts yet: `u64::MAX`.
    pub opens_ns: u64,
    /// Messages that are due from here on are not sent.
    pub closes_ns: u64,
    /// How many messages each worker has sent.
    sent: Vec<u64>,
}

impl Pacer {
    /// For so many workers, of whom this thread has some.
    pub fn new(pace: StreamPace, workers: u32) -> Self {
        Self {
            pace,
            start_ns: 0,
            opens_ns: u64::MAX,
            closes_ns: u64::MAX,
            sent: vec![0; workers as usize],
        }
    }

    /// The load starts.
    pub fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// How many messages a worker has sent, in all its streams.
    #[inline]
    pub fn sent(&self, worker: u32) -> u64 {
        self.sent.get(worker as usize).copied().unwrap_or(0)
    }

    /// It has sent the next one.
    pub fn count(&mut self, worker: u32) {
        if let Some(sent) = self.sent.get_mut(worker as usize) {
            *sent += 1;
        }
    }

    /// When a worker's next message is due.
    pub fn next_due_ns(&self, worker: u32) -> u64 {
        self.due_ns(worker, self.sent(worker))
    }

    /// When its message `n` is due.
    #[inline]
    pub fn due_ns(&self, worker: u32, n: u64) -> u64 {
        self.start_ns.saturating_add(self.pace.due_ns(worker, n))
    }

    /// When those of its messages that count were due, of those that it has sent: `count` from message `from` on.
    pub fn due(&self, worker: u32, from: u64, count: u64) -> impl Iterator<Item = u64> {
        let until = from.saturating_add(count).min(self.sent(worker));
        let due = (from..until).map(move |n| self.due_ns(worker, n));
        due.filter(|due_ns| *due_ns >= self.opens_ns)
    }
}
