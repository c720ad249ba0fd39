//! A finished sweep of `volley blast` as plain data, and its output formats.

pub mod json;
#[cfg(test)]
mod samples;
pub mod summary;

use std::collections::BTreeMap;

use serde::Serialize;
use volley_base::units::numbers::grouped;

use super::model::Checks;
use crate::measure::{Cost, Latency, Warning};

/// A way stops growing at the first N whose throughput reaches this share of its highest.
const FULL: f64 = 0.95;

/// All results of one sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// volley's own version, such as `0.1.0`.
    pub version: String,
    /// `--name`; empty if none was given.
    pub name: String,
    /// The target as the user gave it, `localhost:8080`.
    pub target: String,
    /// `package.Service/Method`.
    pub call: String,
    /// The options, in the form of a run's report; durations in nanoseconds.
    pub options: serde_json::Value,
    /// When the first blast was ordered, after connecting.
    pub started_unix_ns: u64,
    /// From then until the last blast ended.
    pub elapsed_ns: u64,
    pub seed: u64,
    /// How often each point was to be measured.
    pub repetitions: u32,
    pub threads: u32,
    /// Connections reopened between blasts, after a GOAWAY or a loss.
    pub reconnects: u64,
    pub cost: Cost,
    pub checks: Checks,
    /// Error text to number of failed calls.
    pub errors: BTreeMap<String, u64>,
    /// By connections, then by requests.
    pub points: Vec<Point>,
    pub warnings: Vec<Warning>,
}

/// One number of calls over one number of connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The maximum: min(N, C) are used.
    pub connections: u32,
    /// N.
    pub requests: u32,
    /// OK calls per second, over its shots; `None` without any.
    #[serde(serialize_with = "json::rate")]
    pub rate: Option<Interval>,
    pub ok: u64,
    /// gRPC code name, as ghz spells it, to calls; no code with 0 calls.
    pub failed: BTreeMap<&'static str, u64>,
    /// Latency of the OK calls, from the moment they were released.
    #[serde(rename = "latency_ns", serialize_with = "json::spread")]
    pub latency: Latency,
    /// In the order of repetitions.
    pub shots: Vec<Shot>,
}

/// One blast that was completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shot {
    /// Its place in the whole sweep, from 0.
    pub order: u64,
    /// From the first send to the last OK response; 0 if no call was OK.
    pub span_ns: u64,
    pub ok: u64,
    /// As in [`Point`].
    pub failed: BTreeMap<&'static str, u64>,
}

/// A median, and the two values of the sample that bound its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Shot {
    /// OK calls per second, 0 if there are none.
    pub fn rate(&self) -> f64 {
        if self.ok == 0 {
            return 0.0;
        }
        self.ok as f64 / (self.span_ns.max(1) as f64 / 1e9)
    }
}

impl Point {
    /// Calls that failed, of all codes.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }
}

impl Sweep {
    /// The points, grouped by way.
    pub fn ways(&self) -> impl Iterator<Item = &[Point]> {
        self.points
            .chunk_by(|point, next| point.connections == next.connections)
    }

    /// Calls that were OK.
    pub fn ok(&self) -> u64 {
        self.points.iter().map(|point| point.ok).sum()
    }
}

/// The N at which a way's throughput stops growing: the smallest whose median is at least 95 % of the way's highest.
/// `None` if that is the largest N that was fired (it may still grow), or if no call was OK.
pub fn full_at(way: &[Point]) -> Option<u32> {
    let median = |point: &Point| point.rate.map_or(0.0, |rate| rate.median);
    let highest = way.iter().map(median).fold(0.0, f64::max);
    let full = |point: &&Point| highest > 0.0 && median(point) >= FULL * highest;
    let largest = largest_fired(way)?;
    let found = way.iter().find(full).map(|point| point.requests);
    found.filter(|requests| *requests < largest)
}

/// The largest N of a way that was fired; `None` if none was.
pub fn largest_fired(way: &[Point]) -> Option<u32> {
    let mut fired = way.iter().filter(|point| !point.shots.is_empty());
    fired.next_back().map(|point| point.requests)
}

/// The smallest N of a way with a call that failed.
pub fn failing_from(way: &[Point]) -> Option<u32> {
    let failing = way.iter().find(|point| !point.failed.is_empty());
    failing.map(|point| point.requests)
}

/// The progress of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The current repetition, from 1.
    pub repetition: u64,
    pub repetitions: u64,
    /// Blasts fired so far.
    pub fired: u64,
    pub planned: u64,
    /// Calls that have failed so far.
    pub failed: u64,
}

/// The line, as plain text without line ends.
///
/// `repetition 3 of 10   97 of 390 blasts   0 failed`
pub fn line(moment: &Moment) -> String {
    let [repetition, repetitions] = [moment.repetition, moment.repetitions].map(grouped);
    let [fired, planned, failed] = [moment.fired, moment.planned, moment.failed].map(grouped);
    format!(
        "repetition {repetition} of {repetitions}   {fired} of {planned} blasts   {failed} failed"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::{point, sweep};

    #[test]
    fn a_way_is_full_where_it_reaches_95_percent_of_its_highest() {
        let way = [
            point(1, 1, 10.0),
            point(1, 2, 94.9),
            point(1, 5, 95.0),
            point(1, 10, 80.0),
            point(1, 20, 100.0),
        ];
        assert_eq!(full_at(&way), Some(5));
        assert_eq!(full_at(&way[..2]), None, "it may grow on");
        assert_eq!(largest_fired(&way[..2]), Some(2));
    }

    #[test]
    fn a_way_of_failures_alone_is_never_full_and_one_without_any_fails_nowhere() {
        let dead = [point(1, 1, 0.0), point(1, 2, 0.0)];
        assert_eq!(full_at(&dead), None);
        assert_eq!(full_at(&[]), None);
        assert_eq!(failing_from(&dead), None);
        let mut failing = dead;
        failing[1].failed.insert("Internal", 1);
        assert_eq!(failing_from(&failing), Some(2));
    }

    #[test]
    fn a_shot_without_an_ok_call_has_a_rate_of_0() {
        let mut shot = Shot {
            order: 0,
            span_ns: 500_000_000,
            ok: 100,
            failed: BTreeMap::new(),
        };
        assert!((shot.rate() - 200.0).abs() < 1e-9);
        (shot.ok, shot.span_ns) = (0, 0);
        assert!(shot.rate() == 0.0);
    }

    #[test]
    fn the_ways_of_a_sweep_are_told_apart() {
        let sweep = sweep();
        let requests = |way: &[Point]| way.iter().map(|point| point.requests).collect();
        let ways: Vec<Vec<u32>> = sweep.ways().map(requests).collect();
        assert_eq!(ways, [[1, 100, 10_000], [1, 100, 10_000]]);
    }

    #[test]
    fn the_line_tells_the_repetition_and_how_far_it_is() {
        let moment = Moment {
            repetition: 3,
            repetitions: 10,
            fired: 1_097,
            planned: 3_900,
            failed: 0,
        };
        let expected = "repetition 3 of 10   1,097 of 3,900 blasts   0 failed";
        assert_eq!(line(&moment), expected);
    }
}
