//! Short runs for the tests of this module.

use std::time::{Duration, SystemTime};

use volley_http::grpc::Code;
use volley_load::pace::{Agenda, Lane, Schedule};
use volley_load::spec::{CountSpec, Spec};

use super::{
    Awaits, Cause, Chronicle, Cost, Cut, Ended, EndedBy, Outcome, Part, RunFacts, Tally,
    TallyOptions,
};
use crate::report::model::Report;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

pub fn options() -> TallyOptions {
    TallyOptions {
        count: CountSpec::default(),
        open_loop: false,
        start_ns: 0,
        wall_start: SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000),
    }
}

/// A tally of a closed loop that counts so.
pub fn counting(count: CountSpec) -> Tally {
    Tally::new(&TallyOptions { count, ..options() })
}

/// The server's answer is an error.
pub fn failed(error: &str) -> Outcome {
    Outcome::Failed {
        code: Code::Unavailable,
        error: error.to_owned(),
        cause: Cause::Answer,
    }
}

pub fn ended(intended_ns: u64, sent_ns: u64, end_ns: u64, outcome: Outcome) -> Ended {
    Ended {
        intended_ns,
        sent_ns,
        end_ns,
        outcome,
    }
}

pub fn cut(intended_ns: u64, sent_ns: u64, at_ns: u64) -> Cut {
    let awaits = Awaits::NextReply { since_ns: sent_ns };
    Cut {
        intended_ns,
        sent_ns,
        at_ns,
        awaits,
    }
}

/// A run of that length without a schedule.
pub fn facts(spec: &Spec, elapsed_ns: u64) -> RunFacts {
    RunFacts {
        spec: spec.clone(),
        host: "localhost:8080".to_owned(),
        call: "benchmark.BenchmarkService/GetSum".to_owned(),
        warmup_ns: 0,
        opened_monotonic_ns: 0,
        late_ns: None,
        elapsed_ns,
        window_ns: elapsed_ns,
        ended_by: EndedBy::Window,
        threads: 1,
        connections: 1,
        reconnects: 0,
        planned_reconnects: 0,
        addresses: std::collections::BTreeMap::new(),
        cost: Cost::default(),
        events: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A run that is limited by time.
pub fn timed() -> Spec {
    let mut spec = Spec::default();
    spec.load.duration = Duration::from_secs(1);
    spec
}

/// The report of one thread's tally.
pub fn report(tally: Tally, run: RunFacts) -> Report {
    Report::from(part(tally, run, None))
}

/// The same for an open loop.
pub fn due_report(tally: Tally, run: RunFacts, schedule: &Schedule) -> Report {
    let agenda = Agenda::new(schedule, Lane { first: 0, every: 1 }, 0);
    Report::from(part(tally, run, Some(&agenda)))
}

fn part(mut tally: Tally, run: RunFacts, agenda: Option<&Agenda>) -> Part {
    let mut chronicle = Chronicle::new(1, 0, run.spec.load.share.is_part());
    chronicle.add(tally.rest());
    tally.into_part(run, agenda, chronicle)
}
