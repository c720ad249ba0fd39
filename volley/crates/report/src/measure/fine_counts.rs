//! Counts of times, in the buckets of an HdrHistogram with three digits: counting one is a few instructions.

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bucket::{MOST_NS, highest_in, log_linear};

/// Values below this have one bucket each.
const LINEAR: u64 = 2048;
/// The last value with a bucket of its own: the end of the octave of [`MOST_NS`].
const LAST_NS: u64 = MOST_NS.next_power_of_two() - 1;

/// How often a time fell into each bucket. Times above [`LAST_NS`] count as [`MOST_NS`].
#[derive(Clone, Debug)]
pub(super) struct FineCounts(Vec<u64>);

impl FineCounts {
    pub fn new() -> Self {
        Self(vec![0; bucket_of(LAST_NS) + 1])
    }

    #[inline]
    pub fn record(&mut self, ns: u64, count: u64) {
        if let Some(sum) = self.0.get_mut(bucket_of(ns)) {
            *sum = sum.saturating_add(count);
        }
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(&other.0) {
            // What is written becomes resident.
            if *count > 0 {
                *sum = sum.saturating_add(*count);
            }
        }
    }

    /// How many times there are.
    pub fn len(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Ascending: the highest time of each bucket in use, and its count.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(bucket, count)| (highest_of(bucket), *count))
    }

    /// The same counts as others read them.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = new_histogram();
        for (ns, count) in self.iter() {
            histogram.saturating_record_n(ns, count);
        }
        histogram
    }
}

/// As those buckets that are in use.
impl Serialize for FineCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for FineCounts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut counts = Self::new();
        for (ns, count) in Vec::<(u64, u64)>::deserialize(from)? {
            counts.record(ns, count);
        }
        Ok(counts)
    }
}

/// An empty histogram with the same buckets.
pub(super) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MOST_NS, 3).expect("1 ns to 1 h at 3 digits is in bounds")
}

/// The highest time in the same bucket.
pub(super) fn highest_like(ns: u64) -> u64 {
    highest_of(bucket_of(ns))
}

#[inline]
fn bucket_of(ns: u64) -> usize {
    let ns = if ns > LAST_NS { MOST_NS } else { ns };
    log_linear(ns, LINEAR) as usize
}

fn highest_of(bucket: usize) -> u64 {
    highest_in(bucket as u64, LINEAR)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_buckets_are_those_of_hdrhistogram(
            times in prop::collection::vec((0_u32..64, any::<u64>(), 1_u64..5), 1..60),
        ) {
            let mut theirs = new_histogram();
            let mut ours = FineCounts::new();
            for (zeros, bits, count) in times {
                let ns = bits >> zeros;
                theirs.saturating_record_n(ns, count);
                ours.record(ns, count);
                let known = if ns > LAST_NS { MOST_NS } else { ns };
                prop_assert_eq!(highest_like(ns), theirs.highest_equivalent(known));
            }
            let counts: Vec<_> = theirs
                .iter_recorded()
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                .collect();
            prop_assert_eq!(ours.iter().collect::<Vec<_>>(), counts);
            prop_assert_eq!(ours.len(), theirs.len());
            prop_assert_eq!(&ours.histogram(), &theirs);
        }
    }
}
