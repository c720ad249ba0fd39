//! The one clock of a run.

use std::time::Instant;

/// Nanoseconds since the run's epoch. Copies share the epoch, so all threads agree on the time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock that starts at 0 now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            epoch: Instant::now(),
        }
    }

    /// Nanoseconds since the epoch. Reading the clock takes about 25 ns: do it once per read, not
    /// once per message.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let since = self.epoch.elapsed();
        since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos())
    }
}
