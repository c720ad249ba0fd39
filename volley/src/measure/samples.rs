//! Short runs for the tests of this module.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::{Ended, Outcome, RunFacts, TallyOptions};
use crate::report::model::{Cost, EndedBy};

pub(super) const MS: u64 = 1_000_000;
pub(super) const S: u64 = 1_000_000_000;

pub(super) fn options() -> TallyOptions {
    TallyOptions {
        skip_first: 0,
        count_errors: false,
        open_loop: false,
        details: 0,
        start_ns: 0,
        window_ns: None,
        wall_start: SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000),
    }
}

pub(super) fn ended(intended_ns: u64, sent_ns: u64, end_ns: u64, outcome: Outcome) -> Ended {
    Ended {
        intended_ns,
        sent_ns,
        end_ns,
        outcome,
    }
}

/// A run of that length without a schedule.
pub(super) fn facts(elapsed_ns: u64) -> RunFacts {
    RunFacts {
        compared: false,
        name: String::new(),
        tags: BTreeMap::new(),
        options: serde_json::Value::Null,
        host: "localhost:8080".to_owned(),
        call: "benchmark.BenchmarkService/GetSum".to_owned(),
        warmup_ns: 0,
        elapsed_ns,
        window_ns: elapsed_ns,
        ended_by: EndedBy::Window,
        ignore_cut: false,
        threads: 1,
        connections: 1,
        reconnects: 0,
        cost: Cost::default(),
        schedule: None,
        total: None,
        warnings: Vec::new(),
    }
}
