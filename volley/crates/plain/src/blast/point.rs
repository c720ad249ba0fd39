//! Adds up the shots of a point, and finds their median.

use std::collections::BTreeMap;

use super::results::{CallResult, CallResults};
use super::way::Way;
use volley_report::measure::{Latency, LatencyKind};
use volley_report::report::blast::{Interval, Point, Shot};

/// A point that is being measured.
#[derive(Debug)]
pub struct Gathering {
    pub way: Way,
    pub requests: u32,
    /// Latency of every OK call, from the barrier on.
    latencies_ns: Vec<u64>,
    shots: Vec<Shot>,
}

impl Gathering {
    pub fn new(way: Way, requests: u32) -> Self {
        Self {
            way,
            requests,
            latencies_ns: Vec::new(),
            shots: Vec::new(),
        }
    }

    /// Counts what all threads recorded of one blast, released at `released_ns`. Returns the number of failed calls.
    pub fn add(&mut self, order: u64, released_ns: u64, threads: &[CallResults]) -> u64 {
        let mut shot = Shot {
            order,
            span_ns: 0,
            ok: 0,
            failed: BTreeMap::new(),
        };
        for slot in threads.iter().flat_map(CallResults::iter) {
            match slot {
                CallResult::Ok(end_ns) => {
                    let latency_ns = end_ns.saturating_sub(released_ns);
                    shot.ok += 1;
                    shot.span_ns = shot.span_ns.max(latency_ns);
                    self.latencies_ns.push(latency_ns);
                }
                CallResult::Failed(code) => *shot.failed.entry(code.name()).or_default() += 1,
                CallResult::Open => {}
            }
        }
        let failed = shot.failed.values().sum();
        self.shots.push(shot);
        failed
    }

    /// Whether a call was OK.
    pub fn has_ok(&self) -> bool {
        !self.latencies_ns.is_empty()
    }

    /// The point's figures.
    pub fn finish(self) -> Point {
        let mut failed = BTreeMap::new();
        for (code, count) in self.shots.iter().flat_map(|shot| &shot.failed) {
            *failed.entry(*code).or_default() += count;
        }
        Point {
            connections: self.way.connections,
            requests: self.requests,
            rate: median(self.shots.iter().map(Shot::rate).collect()),
            ok: self.shots.iter().map(|shot| shot.ok).sum(),
            failed,
            latency: Latency::from_samples(LatencyKind::Response, self.latencies_ns),
            shots: self.shots,
        }
    }
}

/// The minimum confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// The median of a sample with its interval; `None` without a sample.
///
/// The interval is bounded by two values of the sample and contains the median with at least 95 % confidence, whatever
/// the distribution: the sign test's interval (Conover, Practical Nonparametric Statistics, 3.2). Fewer than 6 values
/// cannot reach that confidence; their interval is the minimum and the maximum.
pub fn median(mut sample: Vec<f64>) -> Option<Interval> {
    sample.sort_by(f64::total_cmp);
    let rank = low_rank(sample.len());
    let last = sample.len().checked_sub(1)?;
    let at = |place: usize| sample.get(place).copied();
    Some(Interval {
        median: f64::midpoint(at(last / 2)?, at(sample.len() / 2)?),
        low: at(rank - 1)?,
        high: at(sample.len() - rank)?,
    })
}

/// The rank, from 1, of the lower bound; the upper bound has the same rank from above. The median is below the k-th of
/// n values with probability P(B < k), where B is binomial with n and ½.
fn low_rank(n: usize) -> usize {
    let mut tail = 0.0;
    // The logarithm of the probability of exactly k, starting at 0: C(n, k) / 2ⁿ.
    let mut exactly = -(n as f64) * std::f64::consts::LN_2;
    let mut rank = 0;
    while rank < n / 2 {
        tail += exactly.exp();
        if 1.0 - 2.0 * tail < CONFIDENCE {
            break;
        }
        exactly += ((n - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    rank.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u32) -> Interval {
        median((1..=n).rev().map(f64::from).collect()).unwrap()
    }

    /// The ranks in published tables of the sign test at 5 %, two-sided.
    #[test]
    fn the_interval_ends_at_the_ranks_of_the_sign_test() {
        let low: Vec<f64> = (1..=12).map(|n| of(n).low).collect();
        assert_eq!(low, [1., 1., 1., 1., 1., 1., 1., 1., 2., 2., 2., 3.]);
        for n in 1..=12 {
            let interval = of(n);
            assert_eq!(interval.low + interval.high, f64::from(n + 1), "n = {n}");
        }
        assert_eq!(low_rank(20), 6);
        assert_eq!(low_rank(100), 40);
    }

    #[test]
    fn a_thousand_repetitions_still_have_an_interval() {
        assert_eq!(low_rank(1000), 469);
        assert_eq!(low_rank(5000), 2431);
    }

    #[test]
    fn the_median_lies_between_the_two_in_the_middle() {
        assert_eq!(of(5).median, 3.0);
        assert_eq!(of(10).median, 5.5);
        assert_eq!(median(Vec::new()), None);
    }
}
