//! The model: figures with their names, and no live histogram.

use serde::Serialize;

use super::super::tally::{
    History, Interval, IterationCounts, Iterations, Reason, StepCounts, StepTally, Tally, Verdicts,
};
use super::events::{EndedBy, Event};
use super::names::{Names, StepNames};
use volley_report::measure::{Cost, Distribution, Latency, LatencyKind, Life};
use volley_report::report::Verdict;

/// What a run knows besides its counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// volley's own version, such as `0.1.0`.
    pub version: String,
    /// The file, or the name of the run.
    pub name: String,
    /// Names and values that the file gives the run.
    pub tags: Vec<(String, String)>,
    /// What was run, in words: a line for each target, and for each load.
    pub targets: Vec<String>,
    pub load: Vec<String>,
    /// When the window opened, in nanoseconds of the wall clock since 1970.
    pub started_unix_ns: u64,
    /// From then until the last request ended or was left open. Every rate is divided by this.
    pub elapsed_ns: u64,
    /// How long iterations began: those that are open then may end later.
    pub load_ns: u64,
    pub ended_by: EndedBy,
    /// Which data ran out, in words.
    pub ran_out: Vec<String>,
    /// What was ordered while the load went on.
    pub events: Vec<Event>,
    pub threads: u32,
    pub connections: u32,
    pub cost: Cost,
    pub warnings: Vec<String>,
}

/// All results of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub facts: Facts,
    pub scenarios: Vec<ScenarioReport>,
    /// In the file's order, setup and teardown included.
    pub steps: Vec<StepReport>,
    /// Requests of the load that ended well or were open at the end: from the due moment where there is one.
    pub latency: Latency,
    /// What became of the thresholds, in the words of the file.
    pub thresholds: Vec<Verdict>,
}

/// A scenario's iterations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioReport {
    pub name: String,
    pub counts: IterationCounts,
    /// Of iterations that ended well, were open at the end, or never began: from the due moment where there is one, think
    /// times included.
    pub duration: Latency,
    /// From the due moment to the beginning, also of those that never began; empty if the scenario has no rate.
    pub delay: Latency,
    /// The requests of all its steps, as [`Report::latency`].
    pub latency: Latency,
    pub series: Series,
    /// Coroutines of a program that say that they failed. A scenario fails with its steps, and has none.
    pub failures: Vec<FailureReport>,
}

/// A step's requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    pub names: StepNames,
    pub counts: StepCounts,
    /// In ns since the start.
    pub life: Life,
    /// Requests that failed before they had an expected status.
    pub without_status: u64,
    /// HTTP statuses or gRPC codes, ascending.
    pub statuses: Vec<(u16, u64)>,
    /// Most frequent first.
    pub failures: Vec<FailureReport>,
    /// First its status, and then all else of `expect` and `save`.
    pub checks: Vec<CheckReport>,
    /// The main latency: from when it was to be sent. The first step of an iteration with a due moment was due then.
    pub latency: Latency,
    /// From the sending, if that is another time.
    pub service: Option<Latency>,
    /// From when it was to be sent, if not due, to the sending: the wait for a connection.
    pub blocked: Latency,
    pub first_byte: Latency,
    pub series: Series,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureReport {
    /// The kind: `timeout`, `check`.
    pub reason: Reason,
    /// The reason in words: `check json /item/sku`.
    pub name: String,
    pub count: u64,
    /// The first ones.
    pub samples: Vec<String>,
}

/// A check's verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    pub name: String,
    pub passed: u64,
    pub failed: u64,
}

/// Counts over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// The length of an interval; the last one may be cut.
    pub interval_s: u64,
    pub points: Vec<Point>,
}

/// One interval. Of a scenario: iterations; of a step: requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Iterations that were due and were not refused by data. Of a step: 0.
    pub due: u64,
    /// Sent, or begun.
    pub sent: u64,
    pub ok: u64,
    pub failed: u64,
    /// Within 7 %; `None` if nothing ended well.
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
}

impl Report {
    /// The figures of the merged tallies of all threads. Thresholds are to be judged with [`value_of`](super::value_of).
    #[must_use]
    pub fn new(tally: Tally, names: &Names, facts: Facts) -> Self {
        let (scenarios, steps) = tally.into_parts();
        let mut all = Distribution::new();
        let scenarios = names.scenarios.iter().zip(scenarios).map(|(name, one)| {
            let mut latency = Distribution::new();
            let own = names
                .steps
                .iter()
                .zip(&steps)
                .filter(|(names, _)| names.scenario == *name);
            for (_, step) in own {
                if let Some(times) = &step.times {
                    latency.merge(&times.response);
                }
            }
            all.merge(&latency);
            scenario(name, one, latency)
        });
        let scenarios: Vec<_> = scenarios.collect();
        Self {
            facts,
            latency: figures(all, kind(steps.iter())),
            scenarios,
            steps: names
                .steps
                .iter()
                .zip(steps)
                .map(|(names, one)| step(names, one))
                .collect(),
            thresholds: Vec::new(),
        }
    }

    /// The sums of all scenarios.
    #[must_use]
    pub fn iterations(&self) -> IterationCounts {
        let mut sum = IterationCounts::default();
        self.scenarios.iter().for_each(|one| sum.add(&one.counts));
        sum
    }

    /// The sums of the load's steps, without setup and teardown.
    #[must_use]
    pub fn requests(&self) -> StepCounts {
        let mut sum = StepCounts::default();
        let steps = self
            .steps
            .iter()
            .filter(|step| !step.names.scenario.is_empty());
        steps.for_each(|step| sum.add(&step.counts));
        sum
    }

    /// Whether gRPC calls had replies: for them, there is a column.
    #[must_use]
    pub fn has_replies(&self) -> bool {
        self.shown_steps().any(|step| step.counts.replies > 0)
    }

    /// The load's steps, and those of setup and teardown that were to be sent.
    pub fn shown_steps(&self) -> impl Iterator<Item = &StepReport> {
        let is_shown =
            |step: &&StepReport| step.counts.all() > 0 || !step.names.scenario.is_empty();
        self.steps.iter().filter(is_shown)
    }

    /// All failures, with the name of the step or the program.
    pub fn failures(&self) -> impl Iterator<Item = (String, &FailureReport)> {
        let steps = self.steps.iter();
        let steps = steps.map(|step| (step.names.label(), &step.failures));
        let programs = self.scenarios.iter();
        let programs = programs.map(|one| (one.name.clone(), &one.failures));
        let all = steps.chain(programs);
        all.flat_map(|(label, failures)| failures.iter().map(move |one| (label.clone(), one)))
    }

    /// A number of this run per second.
    #[must_use]
    pub fn per_s(&self, number: u64) -> f64 {
        number as f64 / (self.facts.elapsed_ns.max(1) as f64 / 1e9)
    }

    /// Whether anything of the load ended well.
    #[must_use]
    pub fn has_success(&self) -> bool {
        self.requests().ok > 0
    }
}

impl StepReport {
    /// HTTP statuses by their first digit; without gRPC codes.
    #[must_use]
    pub fn classes(&self) -> Vec<(u16, u64)> {
        let mut classes: Vec<(u16, u64)> = Vec::new();
        for (status, count) in self.statuses.iter().filter(|_| !self.names.is_grpc) {
            match classes.last_mut() {
                Some((class, sum)) if *class == status / 100 => *sum += count,
                _ => classes.push((status / 100, *count)),
            }
        }
        classes
    }
}

/// Response times, if some of a step's are others than those from the sending.
fn kind<'a>(mut steps: impl Iterator<Item = &'a StepTally>) -> LatencyKind {
    let has_service = |step: &StepTally| {
        let times = step.times.as_ref();
        times.is_some_and(|times| times.service.is_some())
    };
    match steps.any(has_service) {
        true => LatencyKind::Response,
        false => LatencyKind::Service,
    }
}

pub(super) fn figures(distribution: Distribution, kind: LatencyKind) -> Latency {
    distribution
        .into_latency(kind)
        .unwrap_or_else(|| Latency::none(kind))
}

fn scenario(name: &str, one: Iterations, latency: Distribution) -> ScenarioReport {
    let mut report = ScenarioReport {
        name: name.to_owned(),
        counts: one.counts,
        ..ScenarioReport::default()
    };
    if let Some(times) = one.times {
        report.delay = figures(times.delay, LatencyKind::Response);
        // Each iteration of a rate has a delay, if only of nothing.
        let kind = match report.delay.samples {
            0 => LatencyKind::Service,
            _ => LatencyKind::Response,
        };
        report.duration = figures(times.duration, kind);
        report.series = series(&times.seconds.into_history());
    }
    report.latency = figures(latency, report.duration.kind);
    report
}

fn step(names: &StepNames, one: StepTally) -> StepReport {
    let verdicts = one.verdicts();
    let kind = kind(std::iter::once(&one));
    let failures = one.failures.into_iter();
    let mut failures: Vec<_> = failures
        .map(|(reason, failures)| FailureReport {
            reason,
            name: names.reason(reason),
            count: failures.calls,
            samples: failures.into_samples(),
        })
        .collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    let mut report = StepReport {
        checks: checks(names, &one.counts, &verdicts),
        without_status: verdicts.without_status(),
        names: names.clone(),
        counts: one.counts,
        life: one.life,
        statuses: one.statuses,
        failures,
        ..StepReport::default()
    };
    if let Some(mut times) = one.times {
        report.blocked = figures(times.blocked(), LatencyKind::Response);
        report.latency = figures(times.response, kind);
        let service = times.service;
        report.service = service.map(|service| figures(service, LatencyKind::Service));
        report.first_byte = figures(times.first_byte, LatencyKind::Service);
        report.series = series(&times.seconds.into_history());
    }
    report
}

/// The conditions of a step. What a request never came to, because it failed before, it did not keep. A step without
/// requests has no row of statuses.
pub(super) fn checks(
    names: &StepNames,
    counts: &StepCounts,
    verdicts: &Verdicts,
) -> Vec<CheckReport> {
    let ended = counts.ended();
    let check = |(condition, name): (Reason, String)| {
        let counts = verdicts.of(condition, ended);
        CheckReport {
            name,
            passed: counts.passed,
            failed: counts.failed,
        }
    };
    let conditions = names.conditions();
    let is_known = |(condition, _): &(Reason, String)| *condition != Reason::Status || ended > 0;
    conditions.filter(is_known).map(check).collect()
}

fn series(history: &History) -> Series {
    let point = |interval: &Interval| Point {
        due: interval.counts.due,
        sent: interval.counts.sent,
        ok: interval.counts.ok,
        failed: interval.counts.failed,
        p50_ns: interval.percentile(500_000),
        p99_ns: interval.percentile(990_000),
    };
    Series {
        interval_s: history.interval_s(),
        points: history.intervals().iter().map(point).collect(),
    }
}
