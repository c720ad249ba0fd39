//! Whole sweeps of `volley blast`: every call of every blast is accounted for, whatever the server does.

mod counts;
mod ends;
mod faults;
mod limits;

use std::collections::BTreeMap;

use serde_json::Value;
use volley::serve::{Counts, Faults, Reference};

use crate::common::shape::UNARY;
use crate::common::{Finished, Volley, reference, settled};

/// Five points per way, three ways: 15 points, twice.
const SWEEP: &str = "--requests 1,2,7,30,64 --connections 1,4,100 --repetitions 2";
const CALLS: u64 = 2 * 3 * (1 + 2 + 7 + 30 + 64);

fn blast() -> Volley {
    Volley::blast(UNARY.method)
        .arg("--insecure")
        .data(UNARY.data)
        .expect(UNARY.rule)
}

/// A sweep's report, as a reader sees it.
struct Sweep {
    json: Value,
    exit: i32,
    stderr: String,
}

impl Sweep {
    fn of(finished: &Finished) -> Self {
        let report = finished.report();
        Self {
            json: report.json,
            exit: report.exit,
            stderr: report.stderr,
        }
    }

    fn points(&self) -> &[Value] {
        self.json["points"].as_array().unwrap()
    }

    fn point(&self, connections: u64, requests: u64) -> &Value {
        let wanted =
            |point: &&Value| point["connections"] == connections && point["requests"] == requests;
        self.points().iter().find(wanted).unwrap()
    }

    fn ok(&self) -> u64 {
        let points = self.points().iter();
        points.map(|point| point["ok"].as_u64().unwrap()).sum()
    }

    /// Failed calls of all points, by status.
    fn failed(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for point in self.points() {
            for (status, count) in by_status(point) {
                *all.entry(status).or_default() += count;
            }
        }
        all
    }

    /// So many calls failed, all with this status.
    #[track_caller]
    fn fails(&self, status: &str, count: u64) {
        assert_eq!(self.failed(), BTreeMap::from([(status.to_owned(), count)]));
    }

    fn warns_of(&self, words: &str) -> bool {
        let warnings = self.json["warnings"].as_array().unwrap();
        let mut warnings = warnings.iter().map(|text| text.as_str().unwrap());
        warnings.any(|text| text.contains(words))
    }

    #[track_caller]
    fn warned_of(&self, words: &str) {
        assert!(self.warns_of(words), "{words}: {}", self.json["warnings"]);
    }

    /// Every call of every blast is in its point once, and every shot is in the order once.
    #[track_caller]
    fn check(&self) {
        let repetitions = self.json["repetitions"].as_u64().unwrap();
        let mut orders = Vec::new();
        for point in self.points() {
            let shots = point["shots"].as_array().unwrap();
            let requests = point["requests"].as_u64().unwrap();
            assert_eq!(shots.len() as u64, repetitions, "{point}");
            for shot in shots {
                let ended = shot["ok"].as_u64().unwrap() + total(shot);
                assert_eq!(ended, requests, "{point}");
                orders.push(shot["order"].as_u64().unwrap());
                let is_ok = shot["ok"] != 0;
                assert_eq!(shot["span_ns"] != 0, is_ok, "{point}");
            }
            let ok = point["ok"].as_u64().unwrap();
            assert_eq!(ok + total(point), requests * repetitions, "{point}");
            let latency = &point["latency_ns"];
            assert_eq!(latency["kind"], "response");
            assert_eq!(latency["samples"], ok, "{point}");
            let spans = shots.iter().map(|shot| &shot["span_ns"]);
            let longest = spans.max_by_key(|span| span.as_u64()).unwrap();
            if ok > 0 {
                assert_eq!(&latency["max"], longest, "{point}");
            } else {
                assert!(latency["p50"].is_null(), "{point}");
            }
        }
        orders.sort_unstable();
        let all: Vec<u64> = (0..self.points().len() as u64 * repetitions).collect();
        assert_eq!(orders, all);
    }
}

fn by_status(value: &Value) -> BTreeMap<String, u64> {
    let failed = value["failed"].as_object().unwrap();
    let counts = failed.iter();
    counts
        .map(|(status, count)| (status.clone(), count.as_u64().unwrap()))
        .collect()
}

fn total(value: &Value) -> u64 {
    by_status(value).values().sum()
}

/// A sweep against a server with these faults, checked, and the server's counts.
fn sweep(faults: Faults, flags: &str) -> (Sweep, Counts) {
    let server = reference(faults);
    sweep_against(&server, flags)
}

fn sweep_against(server: &Reference, flags: &str) -> (Sweep, Counts) {
    let finished = blast().flags(SWEEP).flags(flags).run(server);
    let sweep = Sweep::of(&finished);
    sweep.check();
    (sweep, settled(server))
}
