//! The parts that all JSON reports share.

use serde::Serialize;

use crate::report::latency::Latency;
use crate::report::model::Checks;

/// A distribution's figures, in ns; null without samples.
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
}

impl Spread {
    pub fn of(latency: &Latency) -> Self {
        let told = |ns| (latency.samples > 0).then_some(ns);
        Self {
            kind: latency.kind.name(),
            mean: told(latency.mean_ns),
            min: told(latency.min_ns),
            p50: latency.at(500_000),
            p75: latency.at(750_000),
            p90: latency.at(900_000),
            p95: latency.at(950_000),
            p99: latency.at(990_000),
            p999: latency.at(999_000),
            max: told(latency.max_ns),
            samples: latency.samples,
        }
    }
}

/// Replies compared with what they should have been.
#[derive(Serialize)]
pub struct ChecksView<'a> {
    compared: bool,
    replies_checked: u64,
    failed: u64,
    samples: &'a [String],
}

impl<'a> ChecksView<'a> {
    pub fn of(checks: &'a Checks) -> Self {
        Self {
            compared: checks.compared,
            replies_checked: checks.replies_checked,
            failed: checks.failed,
            samples: &checks.samples,
        }
    }
}
