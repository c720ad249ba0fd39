//! The report of a run that is over.

use super::driver::Harvest;
use super::plan::Plan;
use crate::cli::{DurationStop, Options};
use crate::measure::{RunFacts, Tally, TallyOptions, process};
use crate::report::{Cost, EndedBy, Report, Warning};

/// A run that is over.
pub(super) struct Finished {
    /// The results of each thread.
    pub harvests: Vec<Harvest<Tally>>,
    /// When the load started.
    pub started_ns: u64,
    /// When the window opened.
    pub opened_ns: u64,
    /// CPU seconds of this process, at the window's opening and at the end.
    pub cpu_s: (f64, f64),
}

/// Merges the threads' counts, and adds what only the engine knows.
pub fn report(
    options: &Options,
    plan: &Plan,
    counting: &TallyOptions,
    finished: Finished,
) -> Report {
    let Finished {
        harvests,
        started_ns,
        opened_ns,
        cpu_s: (cpu_at_opening_s, cpu_total_s),
    } = finished;
    let ended_ns = harvests.iter().map(|thread| thread.ended_ns).max();
    let elapsed_ns = ended_ns.unwrap_or(opened_ns).saturating_sub(opened_ns);
    let facts = RunFacts {
        name: options.name.clone(),
        tags: options.tags.clone(),
        options: options.given.clone(),
        host: plan.target.clone(),
        call: plan.method.path.trim_start_matches('/').to_owned(),
        warmup_ns: opened_ns
            .min(ended_ns.unwrap_or(opened_ns))
            .saturating_sub(started_ns),
        elapsed_ns,
        window_ns: plan.window.length_ns.unwrap_or(u64::MAX).min(elapsed_ns),
        ended_by: ended_by(&harvests),
        ignore_cut: plan.window.stop == DurationStop::Ignore,
        threads: plan.threads,
        connections: plan.connections,
        reconnects: harvests.iter().map(|thread| thread.reconnects).sum(),
        cost: Cost {
            cpu_s: cpu_total_s - cpu_at_opening_s,
            cpu_total_s,
            peak_bytes: process::peak_bytes(),
        },
        compared: !options.expect.is_empty() || options.expect_replies.is_some(),
        schedule: plan.schedule.clone(),
        total: plan.window.total,
        warnings: warnings(&harvests, plan.connections),
    };
    let mut tally = Tally::new(counting);
    tally.reset(opened_ns);
    for thread in harvests {
        tally.merge(thread.book);
    }
    tally.into_report(facts).exact_if_whole()
}

/// A signal takes precedence over a time limit, and that over the end of all calls.
fn ended_by(harvests: &[Harvest<Tally>]) -> EndedBy {
    let any = |why| harvests.iter().any(|thread| thread.ended_by == why);
    if any(EndedBy::Signal) {
        EndedBy::Signal
    } else if any(EndedBy::Window) {
        EndedBy::Window
    } else {
        EndedBy::Finished
    }
}

fn warnings(harvests: &[Harvest<Tally>], connections: u32) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let open: u64 = harvests.iter().map(|thread| thread.left_open).sum();
    if open > 0 {
        warnings.push(Warning::DrainTimedOut { open });
    }
    if let Some(limit) = harvests
        .iter()
        .filter_map(|thread| thread.stream_limit)
        .min()
    {
        warnings.push(Warning::StreamLimit { limit });
    }
    let mut down = harvests.iter().flat_map(|thread| &thread.down);
    if let Some(gave_up) = harvests.iter().find_map(|thread| thread.gave_up.clone()) {
        warnings.push(gave_up);
    } else if let Some(reason) = down.next() {
        warnings.push(Warning::Down {
            down: 1 + down.count() as u64,
            connections,
            reason: reason.clone(),
        });
    }
    warnings
}
