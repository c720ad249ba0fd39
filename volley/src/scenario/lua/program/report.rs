//! The report of a program: that of a scenario, whose iterations are the program's coroutines.

use std::time::SystemTime;

use super::rows;
use super::shared::Shared;
use super::worker::Harvest;
use crate::measure::process;
use crate::report::Cost;
use crate::report::timestamp::unix_ns;
use crate::scenario::engine::{Finished, RunError};
use crate::scenario::report::{EndedBy, Facts, Report};
use crate::scenario::tally::Tally;

/// How large a run was.
pub struct Scale {
    pub started: SystemTime,
    pub threads: u32,
    /// Of a thread, to each host.
    pub connections: u32,
    pub cpu_s: f64,
}

/// What came of all threads.
pub fn finished(shared: &Shared, harvests: Vec<Harvest>, scale: Scale) -> Finished {
    let names = shared.rows.names(&shared.options.name);
    let mut tally = Tally::new(1, rows::MOST, 0);
    let mut facts = Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: shared.options.name.clone(),
        tags: Vec::new(),
        targets: Vec::new(),
        load: vec![format!(
            "{} threads of a program, each with up to {} connections to a host",
            scale.threads, scale.connections
        )],
        started_unix_ns: unix_ns(scale.started),
        elapsed_ns: 0,
        ended_by: EndedBy::Finished,
        ran_out: Vec::new(),
        events: Vec::new(),
        threads: scale.threads,
        connections: scale.threads.saturating_mul(scale.connections),
        cost: Cost {
            cpu_s: scale.cpu_s,
            cpu_total_s: process::cpu_s(),
            peak_bytes: process::peak_bytes(),
            ..Cost::default()
        },
        warnings: Vec::new(),
    };
    let mut failure = None;
    for harvest in harvests {
        tally.merge(harvest.tally);
        facts.ended_by = facts.ended_by.max(harvest.ended_by);
        facts.elapsed_ns = facts.elapsed_ns.max(harvest.elapsed_ns);
        facts.cost.busiest_thread_s = facts.cost.busiest_thread_s.max(harvest.cpu_s);
        failure = failure.or(harvest.failure);
        if facts.warnings.is_empty() {
            let words = harvest.first_words;
            facts
                .warnings
                .extend(words.map(|words| format!("a coroutine has failed: {words}")));
        }
    }
    Finished {
        report: Report::new(tally, &names, facts),
        failure: failure.map(|trouble| RunError::Program(trouble.into_words())),
    }
}
