//! When iterations were due that never began.

use std::collections::BTreeMap;

/// The width of a bin, in ns.
const BIN_NS: u64 = 1_000_000;

/// An age is exact to one part in so many, or to a bin.
const PARTS: u64 = 1024;

/// With more bins, old ones are joined. A run of 30 years keeps fewer after that.
const MOST_BINS: usize = 32 << 10;

/// Iterations that never began, by bins of due moments.
///
/// Bins are joined while they are narrow compared with their age, which only grows. So the ages at the end do not depend
/// on when, or in which threads, bins were joined.
#[derive(Default)]
pub struct Dropped {
    /// The youngest moment of each bin, in units of its width, and the count. Ages from there are lower bounds.
    bins: BTreeMap<u64, u64>,
}

impl Dropped {
    /// So many were due at a moment. Moments are nanoseconds since the window's opening.
    pub fn count(&mut self, due_ns: u64, n: u64, now_ns: u64) {
        if n == 0 {
            return;
        }
        *self.bins.entry(due_ns.div_ceil(BIN_NS)).or_default() += n;
        if self.bins.len() > MOST_BINS {
            self.join(now_ns);
        }
    }

    /// Their ages at a moment, in ns, and their counts.
    pub fn ages(mut self, now_ns: u64) -> impl Iterator<Item = (u64, u64)> {
        self.join(now_ns);
        let bins = self.bins.into_iter();
        bins.map(move |(bin, n)| (now_ns.saturating_sub(bin * BIN_NS), n))
    }

    fn join(&mut self, now_ns: u64) {
        let now = now_ns / BIN_NS;
        let mut joined = BTreeMap::new();
        for (bin, n) in std::mem::take(&mut self.bins) {
            *joined.entry(youngest(bin, now)).or_default() += n;
        }
        self.bins = joined;
    }
}

/// The youngest bin of those that become one with this one: as many as a power of two, from a multiple of it on.
fn youngest(bin: u64, now: u64) -> u64 {
    let mut youngest = bin;
    let mut bins = 2;
    while now.saturating_sub(bin | (bins - 1)) / PARTS >= bins {
        youngest = bin | (bins - 1);
        bins *= 2;
    }
    youngest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use volley_load::pace::SECOND_NS as S;

    const HOUR: u64 = 3600 * S;

    fn ages(dropped: Dropped, now_ns: u64) -> Vec<(u64, u64)> {
        dropped.ages(now_ns).collect()
    }

    #[test]
    fn the_age_of_one_that_was_due_late_in_a_long_run_is_exact() {
        let (mut dropped, now_ns) = (Dropped::default(), 10 * HOUR);
        dropped.count(now_ns - S, 2, now_ns);
        dropped.count(now_ns - 5, 3, now_ns);
        dropped.count(now_ns - 5, 0, now_ns);
        assert_eq!(ages(dropped, now_ns), [(S, 2), (0, 3)]);
    }

    #[test]
    fn many_bins_take_little_memory() {
        let mut dropped = Dropped::default();
        for second in 0..10 * 3600 {
            for tenth in 0..10 {
                let now_ns = second * S + tenth * S / 10;
                dropped.count(now_ns, 1, now_ns);
            }
            assert!(dropped.bins.len() <= MOST_BINS);
        }
        let ages = ages(dropped, 10 * HOUR);
        assert_eq!(ages.iter().map(|(_, n)| n).sum::<u64>(), 360_000);
        assert!(ages.len() < MOST_BINS / 2, "{}", ages.len());
    }

    proptest! {
        #[test]
        fn ages_are_close_lower_bounds_whenever_bins_were_joined(
            dues in prop::collection::vec(0..100 * HOUR, 1..100), joins in prop::collection::vec(any::<bool>(), 100),
            after_ns in 0..HOUR,
        ) {
            let mut dues = dues;
            dues.sort_unstable();
            let end_ns = dues.last().unwrap() + after_ns;
            let [mut joined, mut whole] = [(); 2].map(|()| Dropped::default());
            for (due_ns, joins) in dues.iter().zip(joins) {
                joined.count(*due_ns, 1, *due_ns);
                whole.count(*due_ns, 1, *due_ns);
                if joins {
                    joined.join(*due_ns);
                }
            }
            let whole = ages(whole, end_ns);
            prop_assert_eq!(&ages(joined, end_ns), &whole);
            let found = whole.iter().flat_map(|(age_ns, n)| std::iter::repeat_n(*age_ns, *n as usize));
            prop_assert_eq!(found.clone().count(), dues.len());
            for (found_ns, due_ns) in found.zip(&dues) {
                let age_ns = end_ns - due_ns;
                prop_assert!(found_ns <= age_ns, "{found_ns} of {age_ns}");
                prop_assert!(age_ns - found_ns <= BIN_NS + age_ns / 1000, "{found_ns} of {age_ns}");
            }
        }
    }
}
