//! What becomes of the iterations of one scenario.

use serde::Serialize;

use super::dropped::Dropped;
use super::seconds::Seconds;
use volley_base::sums;
use volley_report::measure::Distribution;

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every step ended well.
    Ok,
    /// A step failed.
    Failed,
    /// A feed had no more rows.
    OutOfData,
}

sums! {
    /// Plain sums of a scenario. What was due is `begun + dropped + unfed`, and `begun` is `ok + failed + cut_short +
    /// open`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct IterationCounts {
        pub begun: u64,
        pub ok: u64,
        pub failed: u64,
        /// Ended early because a feed had no more rows.
        pub cut_short: u64,
        /// Without an end when the run ended.
        pub open: u64,
        /// Due, and never begun: too many were open.
        pub dropped: u64,
        /// Due, and never begun: a feed had no more rows.
        pub unfed: u64,
    }
}

/// The iterations of a scenario in one thread, or in several.
#[derive(Default)]
pub(crate) struct Iterations {
    pub counts: IterationCounts,
    /// Since its first iteration.
    pub times: Option<Box<IterationTimes>>,
}

#[derive(Default)]
pub(crate) struct IterationTimes {
    /// From the due moment, or without one from the beginning, to the end: of iterations that ended well, think times
    /// included, and of those that were open at the end, or never began.
    pub duration: Distribution,
    /// From the due moment to the beginning; also of those that never began.
    pub delay: Distribution,
    /// Those that never began, until the window closes.
    dropped: Dropped,
    pub seconds: Seconds,
}

impl Iterations {
    #[inline]
    pub fn times(&mut self) -> &mut IterationTimes {
        self.times.get_or_insert_with(super::first)
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.counts = IterationCounts::default();
        if let Some(times) = &mut self.times {
            times.duration.clear();
            times.delay.clear();
            times.dropped = Dropped::default();
            times.seconds.clear();
        }
    }

    /// So many were due at a moment since the window's opening, and never began. `now_ns` is the present one.
    #[cold]
    pub fn dropped(&mut self, due_ns: u64, n: u64, now_ns: u64) {
        self.counts.dropped += n;
        self.times().dropped.count(due_ns, n, now_ns);
    }

    /// The window closes, at a moment since its opening.
    pub fn close(&mut self, now_ns: u64) {
        let Some(times) = &mut self.times else {
            return;
        };
        for (age_ns, n) in std::mem::take(&mut times.dropped).ages(now_ns) {
            times.duration.record_open(age_ns, n);
            times.delay.record_open(age_ns, n);
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        match (&mut self.times, other.times) {
            (Some(times), Some(other)) => {
                times.duration.merge(&other.duration);
                times.delay.merge(&other.delay);
                times.seconds.merge(other.seconds);
            }
            (times @ None, other) => *times = other,
            (Some(_), None) => {}
        }
    }
}

impl IterationCounts {
    /// Iterations that were to begin.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.begun + self.dropped + self.unfed
    }

    /// Iterations that have begun and not ended, while the load goes on.
    #[must_use]
    pub fn under_way(&self) -> u64 {
        self.begun
            .saturating_sub(self.ok + self.failed + self.cut_short)
    }

    /// What was counted since these, which are earlier sums of the same.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        self.each(before, |count, before| *count -= before);
        self
    }
}
