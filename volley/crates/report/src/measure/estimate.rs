//! Percentiles of times of which some have not ended.

use super::Percentile;

/// So much of a weight may be lost to rounding.
const ROUNDING: f64 = 1e-12;

/// Times that ended, and the ages of what was still open, as one distribution.
///
/// An age says that its time is longer, but not how much longer: it is a right-censored sample. Percentiles are those of
/// the Kaplan–Meier estimate (Kaplan & Meier 1958), computed by redistribution to the right (Efron 1967): the weight of
/// what was open goes, in equal parts, to all that came later. At the same time, ends come before ages.
pub struct Estimate {
    /// Ascending: a time, and the weight of all that ended by then.
    ends: Vec<(u64, f64)>,
    /// Ascending: a time, and how many had ended by then, or were not older.
    either: Vec<(u64, u64)>,
    /// How many times there are, ended or not.
    all: u64,
    has_open: bool,
}

impl Estimate {
    /// Both lists ascend: (ns, count).
    pub fn new(ended: &[(u64, u64)], open: &[(u64, u64)]) -> Self {
        let count = |times: &[(u64, u64)]| times.iter().map(|(_, count)| count).sum::<u64>();
        let all = count(ended) + count(open);
        let mut estimate = Self {
            ends: Vec::with_capacity(ended.len()),
            either: Vec::with_capacity(ended.len() + open.len()),
            all,
            has_open: !open.is_empty(),
        };
        let mut ages = open.iter().peekable();
        let (mut weight, mut reached, mut seen) = (1.0, 0.0, 0);
        for (ns, count) in ended {
            while let Some((age_ns, count)) = ages.next_if(|(age_ns, _)| age_ns < ns) {
                seen += count;
                weight *= 1.0 + *count as f64 / (all - seen) as f64;
                estimate.either.push((*age_ns, seen));
            }
            seen += count;
            reached += weight * *count as f64;
            estimate.ends.push((*ns, reached));
            estimate.either.push((*ns, seen));
        }
        for (age_ns, count) in ages {
            seen += count;
            estimate.either.push((*age_ns, seen));
        }
        estimate
    }

    /// A percentile, which is one of the times; `None` without any. Without ages it is the nearest rank (Hyndman & Fan
    /// 1996, definition 1). Where the ends do not reach it, it is a lower bound: the one that counting ages as ends would
    /// give, or the last end, if that is later.
    pub fn at(&self, rank_ppm: u32) -> Option<Percentile> {
        let rank = (u128::from(rank_ppm) * u128::from(self.all)).div_ceil(1_000_000);
        let goal = match self.has_open {
            false => rank as f64,
            true => f64::from(rank_ppm) * self.all as f64 / 1e6 * (1.0 - ROUNDING),
        };
        let reached = self.ends.partition_point(|(_, weight)| *weight < goal);
        let bound = || {
            let counted = |(_, seen): &(u64, u64)| u128::from(*seen) < rank;
            let (ns, _) = self.either.get(self.either.partition_point(counted))?;
            // What the ends reach is lower.
            let last_ns = self.ends.last().map_or(0, |(ns, _)| *ns);
            Some((last_ns.max(*ns), true))
        };
        let (ns, is_at_least) = match self.ends.get(reached) {
            Some((ns, _)) => (*ns, false),
            None => bound()?,
        };
        Some(Percentile {
            rank_ppm,
            ns,
            is_at_least,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(mut samples: Vec<u64>) -> Vec<(u64, u64)> {
        samples.sort_unstable();
        samples.into_iter().map(|ns| (ns, 1)).collect()
    }

    fn at(ended: &[u64], open: &[u64], rank_ppm: u32) -> (u64, bool) {
        let found = Estimate::new(&of(ended.to_vec()), &of(open.to_vec())).at(rank_ppm);
        found.map(|found| (found.ns, found.is_at_least)).unwrap()
    }

    /// The product-limit formula as textbooks have it.
    fn product_limit(ended: &[u64], open: &[u64], rank_ppm: u32) -> Option<u64> {
        let mut survival = 1.0;
        let mut times = ended.to_vec();
        times.sort_unstable();
        times.dedup();
        times.into_iter().find(|at| {
            let ends = ended.iter().filter(|ns| *ns == at).count();
            let later = |times: &[u64]| times.iter().filter(|ns| *ns >= at).count();
            survival *= 1.0 - ends as f64 / (later(ended) + later(open)) as f64;
            1.0 - survival >= f64::from(rank_ppm) / 1e6 - 1e-9
        })
    }

    #[test]
    fn an_early_age_says_nothing_and_a_late_one_moves_the_percentile() {
        let ended = [10, 20, 30, 40];
        assert_eq!(at(&ended, &[], 500_000), (20, false));
        assert_eq!(at(&ended, &[1, 2, 3], 500_000), (20, false));
        assert_eq!(at(&ended, &[25, 25, 25, 25], 500_000), (30, false));
    }

    #[test]
    fn what_the_ends_do_not_reach_is_bounded_by_the_ages() {
        let ended = [10, 20, 30, 40];
        assert_eq!(at(&ended, &[50, 60], 600_000), (40, false));
        assert_eq!(at(&ended, &[50, 60], 700_000), (50, true));
        assert_eq!(at(&ended, &[50, 60], 1_000_000), (60, true));
        assert_eq!(at(&[], &[7, 9], 500_000), (7, true));
        assert!(Estimate::new(&[], &[]).at(500_000).is_none());
    }

    #[test]
    fn at_the_same_time_ends_come_before_ages() {
        assert_eq!(at(&[10], &[10], 500_000), (10, false));
        assert_eq!(at(&[10, 20], &[10, 10], 600_000), (20, false));
    }

    /// Workers make one call after another, until a window of five mean lengths closes. Returns percentiles of what
    /// ended, and of the estimate, in mean lengths, on average over many seeds.
    fn simulated(length: impl Fn(&mut fastrand::Rng) -> f64) -> [[f64; 3]; 2] {
        const SEEDS: u64 = 50;
        const WORKERS: u32 = 2000;
        const MEAN_NS: f64 = 1e9;
        const RANKS_PPM: [u32; 3] = [500_000, 900_000, 990_000];
        let mut sums = [[0.0; 3]; 2];
        for seed in 0..SEEDS {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut ended, mut open) = (Vec::new(), Vec::new());
            for _ in 0..WORKERS {
                let mut left = 5.0;
                while left > 0.0 {
                    let took = length(&mut random);
                    let (list, lasted) = match took > left {
                        true => (&mut open, left),
                        false => (&mut ended, took),
                    };
                    list.push((lasted * MEAN_NS) as u64);
                    left -= took;
                }
            }
            let ended = of(ended);
            let estimates = [Estimate::new(&ended, &[]), Estimate::new(&ended, &of(open))];
            for (sums, estimate) in sums.iter_mut().zip(estimates) {
                for (sum, rank_ppm) in sums.iter_mut().zip(RANKS_PPM) {
                    *sum += estimate.at(rank_ppm).unwrap().ns as f64 / MEAN_NS / SEEDS as f64;
                }
            }
        }
        sums
    }

    #[test]
    fn calls_that_the_window_cuts_do_not_bias_it() {
        let truth = [2_f64.ln(), 10_f64.ln(), 100_f64.ln()];
        let [of_ended, estimate] = simulated(|random| -(1.0 - random.f64()).ln());
        for ((truth, of_ended), estimate) in truth.iter().zip(of_ended).zip(estimate) {
            let (low, off) = (1.0 - of_ended / truth, (estimate / truth - 1.0).abs());
            assert!(low > 0.05 && off < 0.01, "{truth}: {of_ended}, {estimate}");
        }
        let [of_ended, estimate] = simulated(|_| 1.0);
        let mut all = of_ended.iter().chain(&estimate);
        assert!(all.all(|one| (one - 1.0).abs() < 1e-6));
    }

    proptest! {
        #[test]
        fn percentiles_ascend(
            ended in prop::collection::vec(0..40_u64, 0..60),
            open in prop::collection::vec(0..40_u64, 0..60),
        ) {
            prop_assume!(ended.len() + open.len() > 0);
            let found = (1..=100).map(|percent| at(&ended, &open, percent * 10_000));
            prop_assert!(found.collect::<Vec<_>>().is_sorted_by_key(|(ns, is_at_least)| (*is_at_least, *ns)));
        }

        #[test]
        fn it_is_the_product_limit(
            ended in prop::collection::vec(0..40_u64, 0..60),
            open in prop::collection::vec(0..40_u64, 1..60),
            rank_ppm in 1..=1_000_000_u32,
        ) {
            let (ns, is_at_least) = at(&ended, &open, rank_ppm);
            match product_limit(&ended, &open, rank_ppm) {
                Some(reached) => prop_assert_eq!((ns, is_at_least), (reached, false)),
                None => {
                    let (ends, all) = (ended.clone(), of([ended, open].concat()));
                    let rank = (u64::from(rank_ppm) * all.len() as u64).div_ceil(1_000_000);
                    let last = of(ends).last().map_or(0, |(ns, _)| *ns);
                    prop_assert_eq!((ns, is_at_least), (last.max(all[rank as usize - 1].0), true));
                }
            }
        }
    }
}
