//! The report of a run that is over.

use std::collections::BTreeMap;

use super::orders::Change;
use super::plan::Plan;
use super::thread_result::ThreadResult;
use volley_base::units::numbers::duration;
use volley_load::pace::Agenda;
use volley_report::measure::{
    Chronicle, Cost, EndedBy, Event, RunFacts, Tally, TallyOptions, Use, Warning, process,
};
use volley_report::report::Report;

/// A run that is over.
pub(super) struct Finished {
    /// The results of each thread.
    pub results: Vec<ThreadResult<Tally>>,
    /// The seconds that they have passed.
    pub chronicle: Chronicle,
    /// When their calls were due.
    pub agenda: Option<Agenda>,
    /// What was changed.
    pub changes: Vec<Change>,
    /// When the load started.
    pub started_ns: u64,
    /// When the window opened, since the run's epoch, and on CLOCK_MONOTONIC.
    pub opened_ns: u64,
    pub opened_monotonic_ns: u64,
    /// CPU seconds of this process, at the window's opening and at the end.
    pub cpu_s: (f64, f64),
}

/// Merges the threads' counts, and adds what only the engine knows.
pub fn report(plan: &Plan, counting: &TallyOptions, finished: Finished) -> Report {
    let Finished {
        results,
        chronicle,
        agenda,
        changes,
        started_ns,
        opened_ns,
        opened_monotonic_ns,
        cpu_s: (cpu_at_opening_s, cpu_total_s),
    } = finished;
    let ended_ns = results.iter().map(|thread| thread.ended_ns).max();
    let elapsed_ns = ended_ns.unwrap_or(opened_ns).saturating_sub(opened_ns);
    let facts = RunFacts {
        spec: plan.spec.public(),
        host: plan.target.clone(),
        call: plan.method.path.trim_start_matches('/').to_owned(),
        warmup_ns: opened_ns
            .min(ended_ns.unwrap_or(opened_ns))
            .saturating_sub(started_ns),
        opened_monotonic_ns,
        late_ns: results.iter().map(|thread| thread.late_ns).max(),
        elapsed_ns,
        window_ns: plan.window.length_ns.unwrap_or(u64::MAX).min(elapsed_ns),
        ended_by: results
            .iter()
            .map(|thread| thread.ended_by)
            .fold(EndedBy::Finished, EndedBy::over),
        threads: plan.threads,
        connections: plan.own_connections(),
        reconnects: results.iter().map(|thread| thread.reconnects).sum(),
        planned_reconnects: results.iter().map(|thread| thread.planned_reconnects).sum(),
        addresses: uses(&results),
        cost: Cost {
            cpu_s: cpu_total_s - cpu_at_opening_s,
            cpu_total_s,
            busiest_thread_s: results
                .iter()
                .map(|thread| thread.cpu_s)
                .fold(0.0, f64::max),
            peak_bytes: process::peak_bytes(),
        },
        events: changes
            .iter()
            .map(|change| event(change, opened_ns))
            .collect(),
        warnings: warnings(plan, &results),
    };
    let mut tally = Tally::new(counting);
    tally.reset(opened_ns);
    let opens_ns = opened_ns.saturating_sub(started_ns);
    let paced = plan.paced_streams(opens_ns, opens_ns.saturating_add(facts.window_ns));
    if let Some((wanted, due)) = paced {
        tally.streams_planned(wanted, due);
    }
    for thread in results {
        for (since_ns, _) in &thread.down {
            tally.without_connection(*since_ns, thread.ended_ns);
        }
        tally.merge(thread.recorder);
    }
    let part = tally.into_part(facts, agenda.as_ref(), chronicle);
    Report::from(part).exact_if_whole()
}

fn event(change: &Change, opened_ns: u64) -> Event {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    Event {
        at_ns: signed(change.at_ns).saturating_sub(signed(opened_ns)),
        what: change.command,
    }
}

/// What went to each address, from all threads.
fn uses(results: &[ThreadResult<Tally>]) -> BTreeMap<String, Use> {
    let mut all = BTreeMap::<String, Use>::new();
    for (address, part) in results.iter().flat_map(|thread| &thread.uses) {
        all.entry(address.clone()).or_default().add(part);
    }
    all
}

fn warnings(plan: &Plan, results: &[ThreadResult<Tally>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let unresolved = plan.names.unresolved();
    if !unresolved.is_empty() {
        let names = unresolved.join(", ");
        warnings.push(Warning::Unresolved { names });
    }
    if plan.coalesce_ns > 0 {
        let every = duration(plan.coalesce_ns);
        warnings.push(Warning::LateSends { every });
    }
    let open: u64 = results.iter().map(|thread| thread.left_open).sum();
    if open > 0 {
        warnings.push(Warning::DrainTimedOut { open });
    }
    let waited: u64 = results.iter().map(|thread| thread.waited).sum();
    if waited > 0 {
        warnings.push(Warning::Waited { waited });
    }
    if let Some(limit) = results
        .iter()
        .filter_map(|thread| thread.stream_limit)
        .min()
    {
        warnings.push(Warning::StreamLimit { limit });
    }
    let addresses = results.iter().filter_map(|thread| thread.addresses).max();
    let connections = plan.connections;
    if let Some(addresses) = addresses.filter(|addresses| *addresses > connections as usize) {
        warnings.push(Warning::FewConnections {
            addresses: addresses as u64,
            connections,
        });
    }
    if results.iter().any(|thread| thread.without_alpn) {
        warnings.push(Warning::NoAlpn);
    }
    let mut down = results.iter().flat_map(|thread| &thread.down);
    if let Some(gave_up) = results.iter().find_map(|thread| thread.gave_up.clone()) {
        warnings.push(gave_up);
    } else if let Some((_, reason)) = down.next() {
        warnings.push(Warning::Down {
            down: 1 + down.count() as u64,
            connections: plan.own_connections(),
            reason: reason.clone(),
        });
    }
    warnings
}
