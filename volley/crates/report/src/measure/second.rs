//! A thread's current second. Once it is over, it is sent to the conductor and forgotten.

use serde::{Deserialize, Serialize};
use volley_base::sums;

use super::SECOND_NS;
use super::bucket::{BUCKETS, bucket_of};

/// The parts of a second.
pub const BINS: usize = 10;

/// The length of such a part.
pub const BIN_NS: u64 = SECOND_NS / BINS as u64;

/// The number of buckets for which memory is reserved at once.
const TOUCHED: usize = 1024;

/// Latency of the calls that ended within one second; all 0 if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    pub samples: u64,
}

sums! {
    /// Counts: of a tenth of a second, or of a longer time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Bin {
        /// Replies received.
        pub messages: u64,
        /// Calls that ended well.
        pub ok: u64,
        /// Calls that failed.
        pub failed: u64,
        /// Calls that were sent.
        pub sent: u64,
        /// Calls that were sent late.
        pub late: u64,
        /// Calls that were due.
        pub due: u64,
    }
}

/// What a thread counted in a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecondCounts {
    /// Which second, from 0.
    pub at: u64,
    /// It belongs to the warm-up, whose seconds count from its own start.
    pub is_warm_up: bool,
    /// Its parts.
    pub bins: [Bin; BINS],
    /// How many calls ended with a latency in each of these buckets. Those of several threads follow one another.
    pub latencies: Vec<(u16, u32)>,
    /// The longest latency.
    pub max_ns: u64,
}

/// The second that is being counted. The current bin is kept separately, so that counting is one comparison and one
/// addition.
pub struct Current {
    second: SecondCounts,
    /// Since when the current bin counts, and which one it is.
    bin_from_ns: u64,
    bin: usize,
    at_hand: Bin,
    counts: Box<[u32]>,
    touched: Vec<u16>,
}

impl Default for Current {
    fn default() -> Self {
        Self::new()
    }
}

impl Current {
    pub fn new() -> Self {
        Self {
            second: SecondCounts::default(),
            bin_from_ns: 0,
            bin: 0,
            at_hand: Bin::default(),
            counts: vec![0; BUCKETS].into(),
            touched: Vec::with_capacity(TOUCHED),
        }
    }

    /// Whether a moment belongs to a later bin.
    #[inline]
    pub fn is_over(&self, ns: u64) -> bool {
        ns.saturating_sub(self.bin_from_ns) >= BIN_NS
    }

    /// The current bin.
    #[inline]
    pub fn bin(&mut self) -> &mut Bin {
        &mut self.at_hand
    }

    /// A call of the current second ended.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        let bucket = bucket_of(latency_ns);
        if let Some(count) = self.counts.get_mut(usize::from(bucket)) {
            if *count == 0 {
                self.touched.push(bucket);
            }
            *count = count.saturating_add(1);
        }
        self.second.max_ns = self.second.max_ns.max(latency_ns);
    }

    /// Goes on to a moment's bin. Returns the second that is over by then, unless it is empty.
    pub fn turn(&mut self, ns: u64) -> Option<SecondCounts> {
        let at = ns / SECOND_NS;
        let over = (at > self.second.at).then(|| self.finish());
        self.put_away();
        self.second.at = at.max(self.second.at);
        self.bin = ((ns % SECOND_NS) / BIN_NS) as usize;
        self.bin_from_ns = ns - ns % BIN_NS;
        over.filter(|second| !second.is_empty())
    }

    /// What the current second has so far; it starts again, empty.
    pub fn finish(&mut self) -> SecondCounts {
        self.put_away();
        let counts = &mut self.counts;
        let touched = self.touched.drain(..);
        let latencies = touched.filter_map(|bucket| {
            let count = counts.get_mut(usize::from(bucket))?;
            Some((bucket, std::mem::take(count)))
        });
        let at = self.second.at;
        let mut over = std::mem::take(&mut self.second);
        over.latencies = latencies.collect();
        self.second.at = at;
        over
    }

    /// Forgets everything, and begins at 0.
    pub fn clear(&mut self) {
        self.finish();
        self.second.at = 0;
        (self.bin, self.bin_from_ns) = (0, 0);
    }

    fn put_away(&mut self) {
        let at_hand = std::mem::take(&mut self.at_hand);
        if let Some(bin) = self.second.bins.get_mut(self.bin) {
            bin.add(&at_hand);
        }
    }
}

impl SecondCounts {
    /// Whether nothing happened in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latencies.is_empty() && self.bins == [Bin::default(); BINS]
    }

    /// The sum of its parts.
    #[must_use]
    pub fn sum(&self) -> Bin {
        let mut sum = Bin::default();
        for bin in &self.bins {
            sum.add(bin);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const S: u64 = SECOND_NS;

    /// Counts one call that ended at each moment; returns all seconds.
    fn seconds(moments_ns: &[u64]) -> Vec<SecondCounts> {
        let mut current = Current::new();
        let mut seconds = Vec::new();
        for ns in moments_ns {
            if current.is_over(*ns) {
                seconds.extend(current.turn(*ns));
            }
            current.bin().ok += 1;
            current.record(100 + ns / S);
        }
        seconds.push(current.finish());
        seconds
    }

    fn ok(second: &SecondCounts) -> [u64; BINS] {
        second.bins.map(|bin| bin.ok)
    }

    #[test]
    fn a_moment_belongs_to_the_bin_that_it_begins() {
        let seconds = seconds(&[0, 99 * MS, 100 * MS, 300 * MS - 1, 300 * MS]);
        assert_eq!(ok(&seconds[0]), [2, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn each_second_is_sent_once_and_empty_ones_are_not() {
        let seconds = seconds(&[0, S - 1, S, 365 * 86_400 * S]);
        let at: Vec<_> = seconds.iter().map(|second| second.at).collect();
        assert_eq!(at, [0, 1, 365 * 86_400]);
        assert_eq!(ok(&seconds[0]), [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(seconds[0].latencies, [(100, 2)]);
        assert_eq!(seconds[1].latencies, [(101, 1)]);
        assert_eq!(seconds[1].max_ns, 101);
    }

    #[test]
    fn a_moment_gone_by_counts_in_the_current_bin() {
        assert_eq!(ok(&seconds(&[250 * MS, 50 * MS])[0])[2], 2);
    }

    #[test]
    fn a_cleared_second_leaves_nothing_behind() {
        let mut current = Current::new();
        current.turn(5 * S);
        current.bin().ok += 1;
        current.record(7);
        current.clear();
        assert_eq!(current.finish(), SecondCounts::default());
    }
}
