//! The buckets of the per-second histograms: 256 per octave, so a value is exact within 0.4 %.
//!
//! The log-linear scheme of HdrHistogram, one digit coarser: a thread sends its histogram of every
//! second to the conductor.

/// Values below this have one bucket each.
const LINEAR: u64 = 512;
/// Longer times count as 1 h.
pub(super) const MOST_NS: u64 = 3_600_000_000_000;

/// The number of buckets.
pub(super) const BUCKETS: usize = bucket_of(MOST_NS) as usize + 1;

/// The bucket of a value, below [`BUCKETS`].
#[inline]
pub(super) const fn bucket_of(ns: u64) -> u16 {
    let ns = if ns < MOST_NS { ns } else { MOST_NS };
    // Drops low bits until 256..512 is left: 512..1024 in steps of 2, 1024..2048 in steps of 4, …
    let dropped = (ns | (LINEAR - 1)).ilog2() - 8;
    (dropped as u64 * (LINEAR / 2) + (ns >> dropped)) as u16
}

/// The highest value of a bucket.
pub(crate) const fn highest_of(bucket: u16) -> u64 {
    let bucket = bucket as u64;
    let dropped = (bucket / (LINEAR / 2)).saturating_sub(1);
    ((bucket - dropped * (LINEAR / 2) + 1) << dropped) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for bucket in 1..BUCKETS as u16 {
            let first = highest_of(bucket - 1) + 1;
            assert_eq!(
                (bucket_of(first - 1), bucket_of(first)),
                (bucket - 1, bucket)
            );
        }
    }

    proptest! {
        #[test]
        fn a_bucket_stands_for_its_values_within_four_per_mille(ns in 0..MOST_NS) {
            let highest = highest_of(bucket_of(ns));
            prop_assert!(highest >= ns && highest - ns <= ns / 256, "{ns} is taken for {highest}");
        }

        #[test]
        fn what_takes_more_than_an_hour_is_in_the_last_bucket(ns in MOST_NS..) {
            prop_assert_eq!(usize::from(bucket_of(ns)), BUCKETS - 1);
        }
    }
}
