//! The ages of the calls that are open, for live figures.

use super::bucket::{BUCKETS, bucket_of, highest_of};

/// Counts ages by bucket: a count takes no memory of its own.
pub struct Ages {
    counts: Box<[u64]>,
    oldest_ns: u64,
}

impl Default for Ages {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into(),
            oldest_ns: 0,
        }
    }
}

impl Ages {
    /// So many calls are open at that age, in ns.
    #[inline]
    pub fn record(&mut self, age_ns: u64, count: u64) {
        if let Some(sum) = self.counts.get_mut(usize::from(bucket_of(age_ns))) {
            *sum = sum.saturating_add(count);
        }
        self.oldest_ns = self.oldest_ns.max(age_ns);
    }

    /// All of them: an age in ns, and how many have it. The ages ascend; the last one is exact. Starts again, empty.
    pub fn take(&mut self) -> Vec<(u64, u64)> {
        let counts = (0..).zip(self.counts.iter_mut());
        let counts = counts.map(|(bucket, sum)| (highest_of(bucket), std::mem::take(sum)));
        let mut ages: Vec<_> = counts.filter(|(_, sum)| *sum > 0).collect();
        let oldest_ns = std::mem::take(&mut self.oldest_ns);
        if let Some((ns, _)) = ages.last_mut() {
            *ns = oldest_ns;
        }
        ages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_by_bucket_and_the_oldest_one_is_exact() {
        const TWO_HOURS_NS: u64 = 7_200_000_000_000;
        let mut ages = Ages::default();
        for (age_ns, count) in [(100_001, 2), (7, 1), (TWO_HOURS_NS, 1), (100_000, 3)] {
            ages.record(age_ns, count);
        }
        let highest_ns = highest_of(bucket_of(100_000));
        let told = [(7, 1), (highest_ns, 5), (TWO_HOURS_NS, 1)];
        assert_eq!(ages.take(), told);
        assert_eq!(ages.take(), []);
    }
}
