//! The latencies of each second: one dense histogram for the current second, sparse ones for past
//! seconds.

use super::SECOND_NS;
use super::bucket::{BUCKETS, bucket_of, highest_of};
use crate::report::model::Second;

/// Seconds after the first day have no histogram, which limits the memory of an endless run.
const MOST_SECONDS: usize = 86_400;
/// Buckets that a second is expected to use; more only cost an allocation.
const TOUCHED: usize = 1024;

/// Records latencies by the second in which calls ended.
pub(super) struct Seconds {
    /// Start of the current second, since the window opened.
    from_ns: u64,
    counts: Box<[u32]>,
    /// The non-zero buckets of `counts`, in the order of their first use.
    touched: Vec<u16>,
    max_ns: u64,
    past: Vec<Past>,
}

/// A past second.
#[derive(Clone, Default)]
struct Past {
    /// (bucket, count); a bucket may occur several times.
    counts: Vec<(u16, u16)>,
    max_ns: u64,
}

impl Seconds {
    /// With room for a window of that length.
    pub fn new(window_ns: u64) -> Self {
        let seconds = usize::try_from(window_ns / SECOND_NS)
            .unwrap_or(MOST_SECONDS)
            .min(3600)
            + 2;
        Self {
            from_ns: 0,
            counts: vec![0; BUCKETS].into(),
            touched: Vec::with_capacity(TOUCHED),
            max_ns: 0,
            past: Vec::with_capacity(seconds),
        }
    }

    /// A call with latency `latency_ns` ended `ns` after the window opened.
    #[inline]
    pub fn record(&mut self, ns: u64, latency_ns: u64) {
        if ns.wrapping_sub(self.from_ns) >= SECOND_NS {
            self.turn(ns);
        }
        let bucket = bucket_of(latency_ns);
        if let Some(count) = self.counts.get_mut(usize::from(bucket)) {
            if *count == 0 {
                self.touched.push(bucket);
            }
            *count = count.saturating_add(1);
        }
        self.max_ns = self.max_ns.max(latency_ns);
    }

    pub fn clear(&mut self) {
        self.turn(0);
        self.past.clear();
    }

    pub fn merge(&mut self, mut other: Self) {
        self.turn(0);
        other.turn(0);
        if self.past.len() < other.past.len() {
            self.past.resize_with(other.past.len(), Past::default);
        }
        for (mine, theirs) in self.past.iter_mut().zip(other.past) {
            mine.counts.extend(theirs.counts);
            mine.max_ns = mine.max_ns.max(theirs.max_ns);
        }
    }

    /// The figures of each second; at least as many as `elapsed_ns` has started.
    pub fn summaries(mut self, elapsed_ns: u64) -> Vec<Second> {
        self.turn(0);
        let begun = usize::try_from(elapsed_ns.div_ceil(SECOND_NS))
            .unwrap_or(MOST_SECONDS)
            .min(MOST_SECONDS);
        if self.past.len() < begun {
            self.past.resize_with(begun, Past::default);
        }
        self.past.iter_mut().map(Past::summary).collect()
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.counts) + self.past.capacity() * size_of::<Past>()
    }

    /// Stores the current second and starts the one that contains `ns`.
    #[cold]
    fn turn(&mut self, ns: u64) {
        let second = usize::try_from(self.from_ns / SECOND_NS).unwrap_or(MOST_SECONDS);
        if !self.touched.is_empty() && second < MOST_SECONDS && self.past.len() <= second {
            self.past.resize_with(second + 1, Past::default);
        }
        let mut past = self.past.get_mut(second);
        if let Some(past) = &mut past {
            past.counts.reserve(self.touched.len());
        }
        for bucket in self.touched.drain(..) {
            let Some(count) = self.counts.get_mut(usize::from(bucket)) else {
                continue;
            };
            if let Some(past) = &mut past {
                past.add(bucket, *count);
            }
            *count = 0;
        }
        if let Some(past) = past {
            past.max_ns = past.max_ns.max(self.max_ns);
        }
        self.max_ns = 0;
        self.from_ns = ns - ns % SECOND_NS;
    }
}

impl Past {
    fn add(&mut self, bucket: u16, mut count: u32) {
        while count > 0 {
            let part = u16::try_from(count).unwrap_or(u16::MAX);
            self.counts.push((bucket, part));
            count -= u32::from(part);
        }
    }

    fn summary(&mut self) -> Second {
        self.counts.sort_unstable();
        let samples = self
            .counts
            .iter()
            .map(|&(_, count)| u64::from(count))
            .sum::<u64>();
        Second {
            p50_ns: self.at(50, samples),
            p99_ns: self.at(99, samples),
            max_ns: self.max_ns,
            samples,
        }
    }

    /// The latency that `percent` of the samples do not exceed: nearest rank, then the highest
    /// value of its bucket.
    fn at(&self, percent: u64, samples: u64) -> u64 {
        let rank = (samples * percent).div_ceil(100);
        let mut seen = 0;
        for &(bucket, count) in &self.counts {
            seen += u64::from(count);
            if seen >= rank {
                return highest_of(bucket).min(self.max_ns);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = SECOND_NS;

    fn second(p50_ns: u64, p99_ns: u64, max_ns: u64, samples: u64) -> Second {
        Second {
            p50_ns,
            p99_ns,
            max_ns,
            samples,
        }
    }

    #[test]
    fn each_second_has_its_own_percentiles() {
        let mut seconds = Seconds::new(0);
        for latency_ns in 1..=100 {
            seconds.record(S - latency_ns, latency_ns);
            seconds.record(2 * S, 300);
        }
        let seen = seconds.summaries(4 * S);
        let quiet = Second::default();
        assert_eq!(
            seen,
            [
                second(50, 99, 100, 100),
                quiet,
                second(300, 300, 300, 100),
                quiet
            ]
        );
    }

    #[test]
    fn no_percentile_exceeds_the_exact_maximum() {
        let mut seconds = Seconds::new(0);
        seconds.record(0, 1_000_001);
        assert_eq!(
            seconds.summaries(0),
            [second(1_000_001, 1_000_001, 1_000_001, 1)]
        );
    }

    #[test]
    fn more_calls_than_fit_sixteen_bits_are_all_counted() {
        let mut seconds = Seconds::new(0);
        for _ in 0..200_000 {
            seconds.record(5, 7);
        }
        seconds.record(5, 400);
        assert_eq!(seconds.summaries(0), [second(7, 7, 400, 200_001)]);
    }

    #[test]
    fn a_cleared_second_leaves_nothing_behind() {
        let mut seconds = Seconds::new(0);
        seconds.record(0, 500);
        seconds.record(S, 500);
        seconds.clear();
        seconds.record(S, 7);
        assert_eq!(
            seconds.summaries(0),
            [Second::default(), second(7, 7, 7, 1)]
        );
    }

    #[test]
    fn a_call_far_beyond_a_day_takes_no_room() {
        let mut seconds = Seconds::new(0);
        seconds.record(365 * 86_400 * S, 500);
        seconds.record(0, 7);
        assert_eq!(seconds.summaries(0), [second(7, 7, 7, 1)]);
    }
}
