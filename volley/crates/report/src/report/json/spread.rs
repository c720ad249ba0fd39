//! The parts that all JSON reports share.

use volley_base::view;

use crate::measure::Latency;
use crate::measure::latency::bounds;

view! {
    /// A distribution's figures, in ns; null without samples. Min and samples are of what ended.
    pub struct Spread(latency: &Latency) {
        kind: &'static str = latency.kind.name(),
        mean: Option<u64> = latency.mean().map(|mean| mean.ns),
        min: Option<u64> = (latency.samples > 0).then_some(latency.min_ns),
        p50: Option<u64> = latency.at(500_000).map(|found| found.ns),
        p75: Option<u64> = latency.at(750_000).map(|found| found.ns),
        p90: Option<u64> = latency.at(900_000).map(|found| found.ns),
        p95: Option<u64> = latency.at(950_000).map(|found| found.ns),
        p99: Option<u64> = latency.at(990_000).map(|found| found.ns),
        p999: Option<u64> = latency.at(999_000).map(|found| found.ns),
        max: Option<u64> = latency.longest().map(|longest| longest.ns),
        samples: u64 = latency.samples,
        /// What was still open, and the age of the oldest.
        #[serde(skip_serializing_if = "is_zero")]
        open: u64 = latency.open,
        #[serde(skip_serializing_if = "is_zero")]
        oldest: u64 = latency.oldest_ns,
        /// The mean of what ended, if something was open.
        #[serde(skip_serializing_if = "is_zero")]
        ended_mean: u64 = if latency.open > 0 { latency.mean_ns } else { 0 },
        /// Which of the figures are lower bounds, because too many had no end.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        at_least: Vec<&'static str> = at_least(latency),
    }
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
