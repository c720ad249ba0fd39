//! Signs that a load was more than the server or the connections could take.

use super::super::plan::{Plan, WhenFull};
use super::super::tally::StepCounts;
use super::figures::silence;
use super::model::{Report, ScenarioReport, StepReport};
use volley_base::units::numbers::grouped;
use volley_report::measure::{Silence, Warning};

/// So many requests of a hundred may wait for a connection before a warning says so.
const MOST_WAITING: u64 = 1;

/// A warning if no answer came any more at the load's end, or else one for each scenario whose iterations were dropped, or
/// whose requests waited for connections.
#[must_use]
pub fn overload(plan: &Plan, report: &Report) -> Vec<String> {
    let of_load = |step: &&StepReport| !step.names.scenario.is_empty();
    let steps = report.steps.iter().filter(of_load);
    if let Some(Silence { since_ns, .. }) = silence(steps, report.facts.load_ns) {
        let dropped: u64 = report.scenarios.iter().map(|one| one.counts.dropped).sum();
        let mut words = Warning::Silent {
            since_ns,
            missed: 0,
        }
        .to_string();
        if dropped > 0 {
            words += &format!(", and {} iterations were dropped", grouped(dropped));
        }
        return vec![words];
    }
    let scenarios = report.scenarios.iter();
    scenarios
        .flat_map(|one| [dropped(plan, one), waited(report, one)])
        .flatten()
        .collect()
}

fn dropped(plan: &Plan, one: &ScenarioReport) -> Option<String> {
    let (limits, counts) = (&plan.limits, &one.counts);
    let or_wait = match limits.when_full {
        WhenFull::Drop => ", or set `limits.when_full: wait`",
        WhenFull::Wait => "",
    };
    (counts.dropped > 0).then(|| {
        format!(
            "scenario `{}`: {} of {} iterations were dropped, because at most {} may be open: raise `limits.iterations_open`, lower the rate{or_wait}",
            one.name,
            grouped(counts.dropped),
            grouped(counts.due()),
            grouped(limits.iterations_open.into()),
        )
    })
}

fn waited(report: &Report, one: &ScenarioReport) -> Option<String> {
    let mut counts = StepCounts::default();
    let steps = report.steps.iter();
    let own = steps.filter(|step| step.names.scenario == one.name);
    own.for_each(|step| counts.add(&step.counts));
    (counts.waited * 100 > counts.sent * MOST_WAITING).then(|| {
        format!(
            "scenario `{}`: {} of {} requests waited for a connection: raise `http.connections`, or with HTTP/2 `http.streams`",
            one.name,
            grouped(counts.waited),
            grouped(counts.sent)
        )
    })
}
