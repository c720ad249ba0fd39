//! The parts that all JSON reports share.

use serde::Serialize;

use crate::measure::Latency;
use crate::measure::latency::bounds;

/// A distribution's figures, in ns; null without samples. Min and samples are of what ended.
#[derive(Serialize)]
pub struct Spread {
    kind: &'static str,
    mean: Option<u64>,
    min: Option<u64>,
    p50: Option<u64>,
    p75: Option<u64>,
    p90: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
    max: Option<u64>,
    samples: u64,
    /// What was still open, and the age of the oldest.
    #[serde(skip_serializing_if = "is_zero")]
    open: u64,
    #[serde(skip_serializing_if = "is_zero")]
    oldest: u64,
    /// The mean of what ended, if something was open.
    #[serde(skip_serializing_if = "is_zero")]
    ended_mean: u64,
    /// Which of the figures are lower bounds, because too many had no end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<&'static str>,
}

/// The percentiles by their names in JSON.
const PERCENTILES: [(&str, u32); 7] = [
    ("p50", 500_000),
    ("p75", 750_000),
    ("p90", 900_000),
    ("p95", 950_000),
    ("p99", 990_000),
    ("p999", 999_000),
    ("p9999", 999_900),
];

/// The names of those figures that are lower bounds.
pub fn at_least(latency: &Latency) -> Vec<&'static str> {
    let all = PERCENTILES.iter();
    let found = all.map(|(name, rank_ppm)| (*name, latency.at(*rank_ppm)));
    let others = [("mean", latency.mean()), ("max", latency.longest())];
    bounds(found.chain(others))
}

/// serde passes a reference.
pub fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Spread {
    pub fn of(latency: &Latency) -> Self {
        let told = |ns| (latency.samples > 0).then_some(ns);
        let at = |rank_ppm| latency.at(rank_ppm).map(|found| found.ns);
        Self {
            kind: latency.kind.name(),
            mean: latency.mean().map(|mean| mean.ns),
            min: told(latency.min_ns),
            p50: at(500_000),
            p75: at(750_000),
            p90: at(900_000),
            p95: at(950_000),
            p99: at(990_000),
            p999: at(999_000),
            max: latency.longest().map(|longest| longest.ns),
            samples: latency.samples,
            open: latency.open,
            oldest: latency.oldest_ns,
            ended_mean: if latency.open > 0 { latency.mean_ns } else { 0 },
            at_least: at_least(latency),
        }
    }
}
