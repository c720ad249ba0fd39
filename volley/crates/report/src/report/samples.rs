//! Hand-made runs for the tests of the outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use volley_testkit::output::written_by;

use volley_http::grpc::Code;

use super::model::{Calls, Checks, Detail, Report, Sends, Series, WarmUp};
use crate::measure::{
    Compressed, Cost, DetailOutcome, EndedBy, Latency, LatencyKind, LatencySeries, Second, Warning,
};

const STARTED_UNIX_NS: u64 = 1_795_165_716_611_263_826;
const S: u64 = 1_000_000_000;

/// Four calls, all kept: two ok, one failed, one cut.
pub fn few_calls() -> Report {
    let detail = |end_ns, latency_ns, outcome| Detail {
        end_unix_ns: STARTED_UNIX_NS + end_ns,
        latency_ns,
        outcome,
    };
    let boom: Arc<str> = "rpc error: code = Internal desc = \"boom\", twice".into();
    let failed = DetailOutcome::Failed {
        code: Code::Internal,
        error: Arc::clone(&boom),
    };
    Report {
        name: "four <calls>".to_owned(),
        tags: BTreeMap::from([("branch".to_owned(), "main".to_owned())]),
        elapsed_ns: 10_000_000,
        window_ns: 10_000_000,
        messages: 3,
        data_frames: 2,
        calls: Calls {
            ok: 2,
            failed: BTreeMap::from([("Internal", 1)]),
            cut: 1,
            ignored: 0,
        },
        errors: BTreeMap::from([(boom.to_string(), 1)]),
        sends: Sends {
            sent: 4,
            ..Sends::default()
        },
        latency: Latency {
            histogram: "HISTFAAAAA8=".to_owned(),
            ..Latency::from_samples(LatencyKind::Service, vec![1_250_000, 3_000_001])
        },
        warm_up: Some(WarmUp {
            seconds: vec![1, 2],
            elapsed_ns: 1_500_000_000,
        }),
        series: Series {
            interval_ms: 100,
            messages: vec![3],
            ok: vec![2],
            failed: vec![1],
            sent: vec![4],
            intended: vec![0],
        },
        seconds: vec![Second {
            p50_ns: 1_250_000,
            p99_ns: 3_000_001,
            max_ns: 3_000_001,
            samples: 2,
        }],
        checks: Checks {
            compared: true,
            replies_checked: 3,
            ..Checks::default()
        },
        details: vec![
            detail(1_300_000, 1_250_000, DetailOutcome::Ok),
            detail(2_000_000, 7_005, failed),
            detail(5_000_000, 3_000_001, DetailOutcome::Ok),
            detail(10_000_000, 4_000_000, DetailOutcome::Cut),
        ],
        ..no_calls()
    }
}

/// A window in which nothing ended.
pub fn no_calls() -> Report {
    Report {
        version: "0.1.0".to_owned(),
        name: String::new(),
        tags: BTreeMap::new(),
        options: serde_json::json!({"call": "benchmark.BenchmarkService/GetSum", "host": "localhost:8080", "concurrency": 4}),
        host: "localhost:8080".to_owned(),
        call: "benchmark.BenchmarkService/GetSum".to_owned(),
        started_unix_ns: STARTED_UNIX_NS,
        elapsed_ns: 1_530_000,
        window_ns: 1_530_000,
        silence: None,
        ended_by: EndedBy::Window,
        threads: 1,
        spins: false,
        connections: 1,
        reconnects: 0,
        planned_reconnects: 0,
        addresses: BTreeMap::new(),
        messages: 0,
        data_frames: 0,
        compressed: Compressed::default(),
        calls: Calls::default(),
        errors: BTreeMap::new(),
        sends: Sends::default(),
        latency: Latency::none(LatencyKind::Service),
        service_latency: None,
        send_delay: None,
        first_message: None,
        gap: None,
        warm_up: None,
        series: Series {
            interval_ms: 100,
            ..Series::default()
        },
        seconds: Vec::new(),
        latency_series: LatencySeries {
            interval_s: 1,
            histograms: Vec::new(),
        },
        cost: Cost {
            cpu_s: 0.001,
            cpu_total_s: 0.002,
            busiest_thread_s: 0.0,
            peak_bytes: 4_000_000,
        },
        checks: Checks::default(),
        details: Vec::new(),
        events: Vec::new(),
        tally: None,
        thresholds: Vec::new(),
        warnings: Vec::new(),
        paced: None,
    }
}

/// The classic profile for five seconds: streams of 5000 messages, 256 at a time; the last ones are
/// cut.
pub fn stream() -> Report {
    let times = |count, typical_ns, width| {
        Latency::from_samples(LatencyKind::Service, spread(count, typical_ns, width))
    };
    let exhausted = "rpc error: code = ResourceExhausted desc = try later";
    Report {
        name: "stream-grpc".to_owned(),
        tags: BTreeMap::from([
            ("branch".to_owned(), "main".to_owned()),
            ("host".to_owned(), "2 cores".to_owned()),
        ]),
        options: serde_json::json!({
            "call": "benchmark.BenchmarkService/StreamSum", "host": "localhost:8080",
            "proto": "requests/benchmark.proto", "insecure": true, "concurrency": 256, "connections": 64,
            "duration": 5 * S, "timeout": 20 * S, "data": {"a": 1, "b": 2, "count": 5000},
        }),
        call: "benchmark.BenchmarkService/StreamSum".to_owned(),
        elapsed_ns: 5_003_217_000,
        window_ns: 5 * S,
        threads: 2,
        connections: 64,
        messages: 15_623_110,
        data_frames: 15_623_110,
        calls: Calls {
            ok: 3_104,
            failed: BTreeMap::from([("Internal", 14), ("ResourceExhausted", 2)]),
            cut: 253,
            ignored: 0,
        },
        errors: BTreeMap::from([
            ("rpc error: code = Internal desc = boom".to_owned(), 14),
            (exhausted.to_owned(), 2),
        ]),
        sends: Sends {
            sent: 3_373,
            ..Sends::default()
        },
        first_message: Some(times(3_120, 2_100_000, 0.6)),
        gap: Some(times(5_000, 900, 0.9)),
        latency: times(3_104, 310_000_000, 0.35),
        series: wobbling_series(51, 312_400),
        seconds: (0..6)
            .map(|s| Second {
                p50_ns: 300_000_000 + s * 1_000_000,
                p99_ns: 700_000_000,
                max_ns: 900_000_000,
                samples: 620,
            })
            .collect(),
        cost: Cost {
            cpu_s: 0.281,
            cpu_total_s: 0.34,
            busiest_thread_s: 0.0,
            peak_bytes: 38_200_000,
        },
        checks: Checks {
            compared: true,
            replies_checked: 15_623_110,
            ..Checks::default()
        },
        ..no_calls()
    }
}

/// 1000 calls per second for five seconds, against a server that stalls for one second.
pub fn open_loop() -> Report {
    let service: Vec<u64> = spread(4_980, 420_000, 0.4);
    let waited = |(place, ns): (usize, &u64)| match place % 5 {
        2 => ns + (place as u64 * 200_000) % S,
        _ => *ns,
    };
    let stalled = |bin: u64| match bin {
        20..30 => 0,
        _ => 100 + bin % 3,
    };
    let response = service.iter().enumerate().map(waited).collect();
    Report {
        name: String::new(),
        elapsed_ns: 5_000_400_000,
        window_ns: 5 * S,
        ended_by: EndedBy::Finished,
        messages: 4_980,
        data_frames: 4_980,
        calls: Calls {
            ok: 4_980,
            ..Calls::default()
        },
        sends: Sends {
            sent: 4_980,
            missed: 20,
            late: 996,
            retried: 3,
        },
        latency: Latency::from_samples(LatencyKind::Response, response),
        service_latency: Some(Latency::from_samples(LatencyKind::Service, service)),
        series: Series {
            messages: (0..50).map(stalled).collect(),
            ..wobbling_series(50, 100)
        },
        checks: Checks {
            compared: true,
            replies_checked: 4_980,
            ..Checks::default()
        },
        cost: Cost {
            cpu_s: 0.031,
            cpu_total_s: 0.034,
            busiest_thread_s: 0.0,
            peak_bytes: 9_100_000,
        },
        warnings: vec![
            Warning::Missed {
                missed: 20,
                intended: 5_000,
            },
            Warning::Late {
                late: 996,
                sent: 4_980,
            },
        ],
        ..stream()
    }
    .without_failures()
}

/// All texts that a server or a user chooses are hostile.
pub fn hostile() -> Report {
    let sample = "reply 17: `result` is <b>20</b>, expected 19 = a + b + i";
    let texts = [
        "rpc error: code = Internal desc = <script>alert('&\"x\"')</script>",
        "rpc error: code = Internal desc = a\nError distribution:\n  [9]   forged",
        "rpc error: code = Internal desc = \u{1b}[2J\u{202e}gone\r\n\u{0}",
        "rpc error: code = Internal desc = ",
        "rpc error: code = Canceled desc = grpc: the client connection is closing",
        "rpc error: code = Unavailable desc = error reading from server: EOF  ",
        "[66]   rpc error, \"quoted\", =1+1 日本",
    ];
    Report {
        name: "first\nStatus code distribution:\n  [OK]   999 responses</title>".to_owned(),
        tags: BTreeMap::from([("a\"b\n<i>".to_owned(), "\\\"\n</td>".to_owned())]),
        calls: Calls {
            ok: 3_104,
            failed: BTreeMap::from([("Canceled", 2), ("Internal", 10), ("Unavailable", 2)]),
            cut: 253,
            ignored: 0,
        },
        errors: texts.map(|text| (text.to_owned(), 2)).into(),
        checks: Checks {
            compared: true,
            replies_checked: 9,
            failed: 1,
            samples: vec![sample.to_owned()],
        },
        warnings: vec![
            Warning::WrongReplies {
                wrong: 1,
                sample: sample.to_owned(),
            },
            Warning::Reconnected { reconnects: 2 },
        ],
        ..stream()
    }
}

/// One call that was answered.
pub fn one_call() -> Report {
    Report {
        ended_by: EndedBy::Finished,
        messages: 1,
        data_frames: 1,
        calls: Calls {
            ok: 1,
            ..Calls::default()
        },
        latency: Latency::from_samples(LatencyKind::Service, vec![1_298_123]),
        series: Series {
            interval_ms: 100,
            messages: vec![1],
            ok: vec![1],
            failed: vec![0],
            sent: vec![1],
            intended: vec![0],
        },
        ..no_calls()
    }
}

impl Report {
    fn without_failures(mut self) -> Self {
        self.calls.failed.clear();
        self.calls.cut = 0;
        self.errors.clear();
        self.first_message = None;
        self.gap = None;
        self
    }
}

/// Values around `typical_ns` with a long tail to the right, the same each time.
fn spread(count: u64, typical_ns: u64, width: f64) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    (0..count)
        .map(|_| (typical_ns as f64 * (normal() * width).exp()) as u64 + 1)
        .collect()
}

fn wobbling_series(intervals: u64, typical: u64) -> Series {
    let wobbling = |bin: u64| match bin {
        50 => typical / 20,
        _ => typical + typical * (bin * 7 % 11) / 60 - typical / 12,
    };
    let messages: Vec<u64> = (0..intervals).map(wobbling).collect();
    let calls: Vec<u64> = messages.iter().map(|messages| messages / 5_000).collect();
    let none = vec![0; messages.len()];
    Series {
        interval_ms: 100,
        ok: calls.clone(),
        failed: none.clone(),
        sent: calls,
        intended: none,
        messages,
    }
}
