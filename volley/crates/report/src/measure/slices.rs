//! Histograms over time: one for each second of a run, or for longer slices of a long one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SECOND_NS;
use super::bucket::highest_of;
use super::distribution::Encoder;

/// If there are more slices than this, pairs are folded into slices of twice the length. That limits the size of a report.
const MOST_SLICES: u64 = 128;

/// The main latency over time, for statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySeries {
    /// The length of a slice.
    pub interval_s: u64,
    /// One for each slice of the run, encoded like [`Latency::histogram`](super::Latency::histogram), within 0.4 %; empty without samples.
    pub histograms: Vec<String>,
}

/// Counts of buckets, in slices of equal length.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    interval_s: u64,
    slices: BTreeMap<u64, BTreeMap<u16, u64>>,
}

impl Default for Slices {
    fn default() -> Self {
        Self {
            interval_s: 1,
            slices: BTreeMap::new(),
        }
    }
}

impl Slices {
    /// Adds the latencies of a second.
    pub fn add(&mut self, at: u64, counts: &[(u16, u32)]) {
        self.reach(at);
        let slice = self.slices.entry(at / self.interval_s).or_default();
        for (bucket, count) in counts {
            *slice.entry(*bucket).or_default() += u64::from(*count);
        }
    }

    /// For the report on a run of that length.
    pub fn finish(mut self, elapsed_ns: u64) -> LatencySeries {
        let last = elapsed_ns.saturating_sub(1) / SECOND_NS;
        self.reach(last);
        let latest = self.slices.last_key_value().map_or(0, |(at, _)| *at);
        let mut encoder = Encoder::new();
        let histogram = |at| match self.slices.get(&at) {
            Some(counts) if !counts.is_empty() => {
                let counts = counts.iter();
                encoder.encode(counts.map(|(bucket, count)| (highest_of(*bucket), *count)))
            }
            _ => String::new(),
        };
        LatencySeries {
            interval_s: self.interval_s,
            histograms: (0..=latest.max(last / self.interval_s))
                .map(histogram)
                .collect(),
        }
    }

    /// Makes the slices so long that a second has one.
    fn reach(&mut self, at: u64) {
        while at / self.interval_s >= MOST_SLICES {
            self.interval_s *= 2;
            for (at, counts) in std::mem::take(&mut self.slices) {
                let slice = self.slices.entry(at / 2).or_default();
                for (bucket, count) in counts {
                    *slice.entry(bucket).or_default() += count;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::bucket_of;
    use super::*;
    use crate::measure::latency::decode;

    #[test]
    fn each_second_has_a_histogram_within_a_bucket() {
        let mut slices = Slices::default();
        slices.add(0, &[(bucket_of(1_000_000), 3), (bucket_of(7), 1)]);
        slices.add(2, &[(bucket_of(5), 1)]);
        let series = slices.finish(3 * SECOND_NS + 1);
        assert_eq!((series.interval_s, series.histograms.len()), (1, 4));
        let first = decode(&series.histograms[0]).unwrap();
        assert_eq!((first[0], first[1].1), ((7, 1), 3));
        assert!((1_000_000..1_004_000).contains(&first[1].0), "{first:?}");
        assert_eq!([&*series.histograms[1], &*series.histograms[3]], ["", ""]);
    }

    #[test]
    fn a_long_run_has_longer_slices_and_loses_no_call() {
        let mut slices = Slices::default();
        for at in 0..1000 {
            slices.add(at, &[(bucket_of(at), 1)]);
        }
        slices.add(365 * 86_400, &[(0, 1)]);
        let series = slices.finish(SECOND_NS);
        assert!(series.histograms.len() <= MOST_SLICES as usize);
        let counts = series.histograms.iter().filter(|text| !text.is_empty());
        let counts = counts.flat_map(|text| decode(text).unwrap());
        assert_eq!(counts.map(|(_, count)| count).sum::<u64>(), 1001);
    }
}
