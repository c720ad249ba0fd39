//! The log-linear buckets of HdrHistogram, and those of the per-second histograms: 256 per octave, so a value is exact
//! within 0.4 %. They are one digit coarser: a thread sends its histogram of every second to the conductor.

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
    log_linear(ns, LINEAR) as u16
}

/// The highest value of a bucket.
pub const fn highest_of(bucket: u16) -> u64 {
    highest_in(bucket as u64, LINEAR)
}

/// The bucket of a value, where values below `linear`, a power of two, have one each.
#[inline]
pub(super) const fn log_linear(value: u64, linear: u64) -> u64 {
    let half = linear / 2;
    // Drops low bits until half..linear is left: linear..2 * linear in steps of 2, the next octave in steps of 4, …
    let dropped = (value | (linear - 1)).ilog2() - half.ilog2();
    dropped as u64 * half + (value >> dropped)
}

/// The highest value of such a bucket.
pub(super) const fn highest_in(bucket: u64, linear: u64) -> u64 {
    let half = linear / 2;
    let dropped = (bucket / half).saturating_sub(1);
    ((bucket - dropped * half + 1) << dropped) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for bucket in 1..BUCKETS as u16 {
            let first = highest_of(bucket - 1) + 1;
            let found = [bucket_of(first - 1), bucket_of(first)];
            assert_eq!(found, [bucket - 1, bucket]);
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
