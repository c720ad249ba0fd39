//! The settings of a tally.

use std::time::SystemTime;

/// How to count. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Debug)]
pub struct TallyOptions {
    /// `--skipFirst`: this many ended calls are left out of counts, latencies, errors and details,
    /// as in ghz. Their messages are counted, because they were received inside the window like all
    /// others.
    pub skip_first: u64,
    /// `--count-errors`: failed calls are included in latencies.
    pub count_errors: bool,
    /// Calls have a due time: latencies are also measured from it.
    pub open_loop: bool,
    /// How many single calls to keep: the first ones to end.
    pub details: usize,
    /// When the window opens.
    pub start_ns: u64,
    /// The window's length, if known: memory for its time series is reserved at once.
    pub window_ns: Option<u64>,
    /// The wall clock at the epoch, that is, at 0 ns.
    pub wall_start: SystemTime,
}

impl TallyOptions {
    /// The options of thread `index` of `threads`.
    ///
    /// `skip_first` is divided among the threads, so that they need not share a counter. The run
    /// then leaves out the first calls of each thread. A thread whose calls are fewer than its
    /// share leaves out fewer.
    #[must_use]
    pub fn for_thread(&self, index: u32, threads: u32) -> Self {
        let threads = u64::from(threads.max(1));
        let skip_first =
            self.skip_first / threads + u64::from(u64::from(index) < self.skip_first % threads);
        Self {
            skip_first,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_skipped_calls_add_up_to_the_whole() {
        let run = TallyOptions {
            skip_first: 11,
            count_errors: false,
            open_loop: false,
            details: 0,
            start_ns: 0,
            window_ns: None,
            wall_start: SystemTime::UNIX_EPOCH,
        };
        let shares: Vec<u64> = (0..4)
            .map(|index| run.for_thread(index, 4).skip_first)
            .collect();
        assert_eq!(shares, [3, 3, 3, 2]);
    }
}
