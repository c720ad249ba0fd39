//! The report of a program: that of a scenario, whose iterations are the program's coroutines.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::rows;
use super::shared::{Group, Shared};
use super::worker::Harvest;
use crate::engine::{Finished, RunError};
use crate::report::{EndedBy, Facts, FailureReport, Report};
use crate::tally::{Reason, Tally};
use volley_base::units::numbers::counted;
use volley_base::units::timestamp::unix_ns;
use volley_report::measure::{Cost, Failures, process};

/// So many hosts are named.
const MOST_HOSTS: usize = 8;

/// What came of all threads, which have begun then and used that much of the CPU.
pub fn finished(
    shared: &Shared,
    harvests: Vec<Harvest>,
    started: SystemTime,
    group: Group,
    cpu_s: f64,
) -> Finished {
    let names = shared.rows.names(&shared.options.name);
    let mut tally = Tally::new(1, rows::MOST, 0);
    let Group {
        threads,
        connections,
        coroutines,
    } = group;
    let mut facts = Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: shared.options.name.clone(),
        load: vec![format!(
            "{} of a program, each an iteration; {}, with up to {} each to a host",
            counted(coroutines, "coroutine"),
            counted(threads.into(), "thread"),
            counted(connections.into(), "connection")
        )],
        started_unix_ns: unix_ns(started),
        ended_by: EndedBy::Finished,
        threads,
        connections: threads.saturating_mul(connections),
        cost: Cost {
            cpu_s,
            cpu_total_s: process::cpu_s(),
            peak_bytes: process::peak_bytes(),
            ..Cost::default()
        },
        warnings: shared.servers.warnings(),
        ..Facts::default()
    };
    let (mut failure, mut fails, mut hosts) = (None, Failures::default(), BTreeSet::new());
    for harvest in harvests {
        tally.merge(harvest.tally);
        facts.ended_by = facts.ended_by.max(harvest.ended_by);
        facts.elapsed_ns = facts.elapsed_ns.max(harvest.elapsed_ns);
        facts.load_ns = facts.elapsed_ns;
        facts.cost.busiest_thread_s = facts.cost.busiest_thread_s.max(harvest.cpu_s);
        failure = failure.or(harvest.failure);
        fails.merge(harvest.fails);
        hosts.extend(harvest.hosts);
    }
    let more = hosts.len().saturating_sub(MOST_HOSTS);
    facts.targets = hosts.into_iter().take(MOST_HOSTS).collect();
    if more > 0 {
        facts.targets.push(format!("{more} more"));
    }
    let mut report = Report::new(tally, &names, facts);
    let is_idle = report.requests().all() == 0 && report.iterations().failed == 0;
    if is_idle && failure.is_none() && !shared.servers.any_was_started() {
        let idle = "the program has sent no request, and started no server";
        report.facts.warnings.push(idle.to_owned());
    }
    let program = report.scenarios.first_mut().filter(|_| fails.calls > 0);
    if let Some(program) = program {
        program.failures = vec![FailureReport {
            reason: Reason::LuaCheck,
            name: Reason::LuaCheck.name().to_owned(),
            count: fails.calls,
            samples: fails.into_samples(),
        }];
    }
    Finished {
        report,
        failure: failure.map(|trouble| RunError::Program(trouble.into_words())),
    }
}
