//! Sweeps for the tests of every output.

use std::collections::BTreeMap;

use super::{Interval, Point, Shot, Sweep};
use crate::measure::{Cost, Latency, LatencyKind, Warning};
use crate::report::Checks;

/// A point of one shot, with this rate and no failures.
pub fn point(connections: u32, requests: u32, per_s: f64) -> Point {
    let span_ns = match per_s {
        0.0 => 0,
        per_s => (f64::from(requests) / per_s * 1e9) as u64,
    };
    let ok = if per_s == 0.0 { 0 } else { requests.into() };
    Point {
        connections,
        requests,
        rate: Some(Interval {
            median: per_s,
            low: per_s / 2.0,
            high: per_s * 2.0,
        }),
        ok,
        failed: BTreeMap::new(),
        latency: Latency::from_samples(LatencyKind::Response, vec![span_ns; usize::from(ok > 0)]),
        shots: vec![Shot {
            order: 0,
            span_ns,
            ok,
            failed: BTreeMap::new(),
        }],
    }
}

/// Two ways; one of them partly failed and was cut short.
pub fn sweep() -> Sweep {
    let mut failing = point(8, 100, 40_000.0);
    failing.ok = 96;
    failing.failed = BTreeMap::from([("Internal", 1), ("Unavailable", 3)]);
    failing.shots[0].ok = 96;
    failing.shots[0].failed = failing.failed.clone();
    let unfired = Point {
        rate: None,
        ok: 0,
        latency: Latency::none(LatencyKind::Response),
        shots: Vec::new(),
        ..point(8, 10_000, 1.0)
    };
    Sweep {
        version: "0.1.0".to_owned(),
        name: "night".to_owned(),
        target: "localhost:8080".to_owned(),
        call: "benchmark.BenchmarkService/GetSum".to_owned(),
        options: serde_json::json!({"requests": [1, 100, 10_000]}),
        started_unix_ns: 1_795_165_716_000_000_000,
        elapsed_ns: 2_500_000_000,
        seed: 1,
        repetitions: 1,
        threads: 1,
        reconnects: 3,
        cost: Cost {
            cpu_s: 0.5,
            cpu_total_s: 0.75,
            busiest_thread_s: 0.0,
            peak_bytes: 12_345_678,
        },
        checks: Checks {
            compared: true,
            replies_checked: 20_397,
            failed: 1,
            samples: vec!["reply 0: `result` is 4, expected 3".to_owned()],
        },
        errors: BTreeMap::from([
            ("rpc error: code = Internal desc = \u{1b}[31m".to_owned(), 1),
            ("rpc error: code = Unavailable desc = gone".to_owned(), 3),
        ]),
        points: vec![
            point(1, 1, 5_000.0),
            point(1, 100, 49_000.0),
            point(1, 10_000, 50_000.0),
            point(8, 1, 4_000.0),
            failing,
            unfired,
        ],
        warnings: vec![Warning::CutShort {
            fired: 5,
            planned: 6,
            after: "2.50 s".to_owned(),
        }],
    }
}
