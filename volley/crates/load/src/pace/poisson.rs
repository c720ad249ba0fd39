//! Calls that come at random, at a rate that may change: a Poisson process.

use std::sync::Arc;

use super::SECOND_NS;

/// After so many calls, the gaps come again in the same order. So each of them is at hand, for every thread.
const CALLS: usize = 1 << 18;

/// When each call is due, as the integral of the rate (calls per second × nanoseconds): the gaps between calls are independent
/// and exponential, and 1 on average.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    areas: Arc<[u64]>,
}

impl Arrivals {
    pub fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut area = 0;
        let areas = (0..CALLS).map(|_| {
            // From 0 to below 1, so the logarithm is finite.
            let gap = -(1.0 - random.f64()).ln();
            area += (gap * SECOND_NS as f64) as u64;
            area
        });
        Self {
            areas: areas.collect(),
        }
    }

    /// The integral at which call `n` is due.
    pub fn area(&self, n: u64) -> u128 {
        let (round, place) = (n / CALLS as u64, n % CALLS as u64);
        let area = self.areas.get(place as usize).copied().unwrap_or(0);
        u128::from(round) * self.all() + u128::from(area)
    }

    /// How many calls are due before it.
    pub fn count_until(&self, area: u128) -> u128 {
        let Some(last) = area.checked_sub(1) else {
            return 0;
        };
        let rest = last % self.all();
        let count = self.areas.partition_point(|area| u128::from(*area) <= rest);
        last / self.all() * CALLS as u128 + count as u128
    }

    fn all(&self) -> u128 {
        u128::from(self.areas.last().copied().unwrap_or(1).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_counted_after_the_integral_at_which_it_is_due() {
        let arrivals = Arrivals::new(1);
        let all = CALLS as u64;
        for n in [0, 1, 17, all - 1, all, all + 1, 5 * all - 1, 5 * all] {
            let area = arrivals.area(n);
            let counted = [area, area + 1].map(|area| arrivals.count_until(area));
            assert_eq!(counted, [n.into(), u128::from(n) + 1], "{n}");
        }
        assert_eq!(arrivals.count_until(0), 0);
    }

    #[test]
    fn gaps_are_exponential_and_a_seed_decides_them() {
        let arrivals = Arrivals::new(1);
        assert_eq!(arrivals, Arrivals::new(1));
        assert_ne!(arrivals, Arrivals::new(2));
        let gap = |n| (arrivals.area(n + 1) - arrivals.area(n)) as f64 / SECOND_NS as f64;
        let gaps: Vec<f64> = (0..100_000).map(gap).collect();
        let mean = gaps.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let beyond = gaps.iter().filter(|gap| **gap > 3.0).count();
        assert!((4600..5350).contains(&beyond), "{beyond}: e⁻³ are 4,979");
    }

    #[test]
    fn lanes_of_random_calls_are_the_whole() {
        let schedule = crate::pace::Schedule::new(&crate::pace::RateSpec {
            rps: 1000,
            poisson: Some(3),
            ..Default::default()
        });
        let schedule = schedule.unwrap().unwrap();
        let lane = |first, every| schedule.cursor(first, every).take(1000 / every as usize);
        let mut parts: Vec<u64> = (0..4)
            .flat_map(|first| lane(first, 4))
            .map(|one| one.intended_ns)
            .collect();
        parts.sort_unstable();
        let whole: Vec<u64> = lane(0, 1).map(|one| one.intended_ns).collect();
        assert_eq!(parts, whole);
        for (n, ns) in (0..).zip(whole) {
            let counted = [ns, ns + 1].map(|ns| crate::pace::Timetable::count_until(&schedule, ns));
            assert!(counted[0] <= n && n < counted[1], "{n} {ns} {counted:?}");
        }
    }
}
