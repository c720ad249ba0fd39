//! Figures that thresholds name.

use super::super::plan::Goal;
use super::super::tally::{IterationCounts, StepCounts};
use super::model::{Report, ScenarioReport, StepReport};
use volley_load::spec::Threshold;
use volley_load::spec::threshold::{Count, Figure, Rate, Times, Unit};
use volley_report::measure::{Latency, Silence};
use volley_report::report::Verdict;
use volley_report::report::verdict::Measured;

/// The value of a figure, as a threshold names it: `p99(crud.create)` is the figure `p99` of `crud.create`.
///
/// `of`: a scenario, a step (`crud.create`, or `create` in any scenario), or, for `checks`, a check of a step
/// (`crud.create.json /item/sku`). Without it: all of the load.
///
/// | figure | value | in percent of |
/// |---|---|---|
/// | `p99` and other percentiles, `mean`, `min`, `max` | ns of requests that ended well or were open at the end, from when they were to be sent, or due | |
/// | `service p99` | ns from the sending | |
/// | `blocked p99` | ns of waiting for a connection | |
/// | `first-byte p99` | ns from the sending to the first byte | |
/// | `iteration p99` | ns of an iteration that ended well, was open at the end or never began, from the due moment where there is one | |
/// | `delay p99` | ns from the due moment of an iteration to its beginning, also of those that never began | |
/// | `sent`, `ok`, `failed`, `open` | requests | requests that were to be sent |
/// | `wrong` | requests that failed although they had an expected status | requests that were to be sent |
/// | `rate` | requests that ended well, per second | |
/// | `messages` | replies of gRPC calls, per second | |
/// | `iterations`, `iterations-ok`, `iterations-failed` | iterations that began, that ended well, that failed | iterations begun |
/// | `dropped` | iterations that were due and never began | iterations due |
/// | `checks` | conditions of `expect` and `save` that held, the status of each request among them | checks of all requests that ended |
///
/// `None` if the run has no such value: no such figure, no such part, or no samples.
#[must_use]
pub fn value_of(
    report: &Report,
    figure: Figure,
    of: Option<&str>,
    in_percent: bool,
) -> Option<f64> {
    measured(report, figure, of, in_percent).map(|measured| measured.value)
}

fn measured(
    report: &Report,
    figure: Figure,
    of: Option<&str>,
    in_percent: bool,
) -> Option<Measured> {
    let chosen = Chosen::new(report, of);
    let requests = chosen.requests();
    let iterations = chosen.iterations();
    let per_s = |number| Some(Measured::exact(report.per_s(number)));
    let count = match figure {
        Figure::Time(times, statistic) => return Measured::time(&chosen.times(times), statistic),
        Figure::Rate(_) if chosen.steps.is_empty() => return None,
        Figure::Rate(Rate::Calls) => return per_s(requests.ok),
        Figure::Rate(Rate::Messages) => return per_s(requests.replies),
        Figure::Count(count) => count,
    };
    let (number, all) = match count {
        Count::Sent => (requests.sent, requests.all()),
        Count::Ok => (requests.ok, requests.all()),
        Count::Failed => (requests.failed, requests.all()),
        Count::Open => (requests.open, requests.all()),
        Count::Wrong => (
            requests.failed.saturating_sub(chosen.without_status()),
            requests.all(),
        ),
        Count::Iterations => (iterations?.begun, iterations?.begun),
        Count::IterationsOk => (iterations?.ok, iterations?.begun),
        Count::IterationsFailed => (iterations?.failed, iterations?.begun),
        Count::Dropped => (iterations?.dropped, iterations?.due()),
        Count::Checks => chosen.checks(),
        Count::Cut | Count::Missed | Count::Late => return None,
    };
    let value = match in_percent {
        _ if chosen.steps.is_empty() && iterations.is_none() => None,
        false => Some(number as f64),
        true => (all > 0).then(|| number as f64 / all as f64 * 100.0),
    };
    value.map(Measured::exact)
}

/// Compares a run with the thresholds of its file. A figure that is missing has failed.
#[must_use]
pub fn judge(report: &Report, goals: &[Goal]) -> Vec<Verdict> {
    let verdict = |goal: &Goal| {
        let Threshold { figure, unit, .. } = &goal.fails_if;
        let measured = measured(report, *figure, goal.of.as_deref(), *unit == Unit::Percent);
        let silence = Chosen::new(report, goal.of.as_deref()).silence();
        let verdict = Verdict::new(&goal.fails_if, measured, silence);
        Verdict {
            threshold: goal.text.clone(),
            figure: match &goal.of {
                Some(of) => format!("{figure}({of})"),
                None => verdict.figure,
            },
            ..verdict
        }
    };
    goals.iter().map(verdict).collect()
}

/// Since when none of these steps has got an answer, at the load's end.
pub(crate) fn silence<'a>(
    steps: impl Iterator<Item = &'a StepReport>,
    load_ns: u64,
) -> Option<Silence> {
    let mut longest_ns = 0;
    let lives = steps.map(|step| {
        let service = step.service.as_ref().unwrap_or(&step.latency);
        longest_ns = service.max_ns.max(longest_ns);
        step.life
    });
    let life = lives.reduce(|mut life, other| {
        life.merge(other);
        life
    })?;
    life.silence(load_ns, longest_ns)
}

/// The part of a report that a threshold is about.
struct Chosen<'a> {
    report: &'a Report,
    of: Option<&'a str>,
    /// The scenario, if the part is a whole one.
    scenario: Option<&'a ScenarioReport>,
    steps: Vec<&'a StepReport>,
    /// One of the step's checks.
    check: Option<usize>,
}

impl<'a> Chosen<'a> {
    fn new(report: &'a Report, of: Option<&'a str>) -> Self {
        let mut chosen = Self {
            report,
            of,
            scenario: None,
            steps: Vec::new(),
            check: None,
        };
        let steps = |is_chosen: &dyn Fn(&StepReport) -> bool| -> Vec<_> {
            report.steps.iter().filter(|step| is_chosen(step)).collect()
        };
        let Some(of) = of else {
            chosen.steps = steps(&|step| !step.names.scenario.is_empty());
            return chosen;
        };
        chosen.scenario = report.scenarios.iter().find(|one| one.name == of);
        chosen.steps = match chosen.scenario {
            Some(_) => steps(&|step| step.names.scenario == of),
            None => steps(&|step| step.names.label() == of || step.names.name == of),
        };
        if chosen.steps.is_empty() {
            let check = report.steps.iter().find_map(|step| {
                let name = of.strip_prefix(&step.names.label())?.strip_prefix('.')?;
                Some((
                    step,
                    step.checks.iter().position(|check| check.name == name)?,
                ))
            });
            chosen.steps.extend(check.map(|(step, _)| step));
            chosen.check = check.map(|(_, index)| index);
        }
        chosen
    }

    fn times(&self, times: Times) -> Vec<&'a Latency> {
        let scenarios = || -> Vec<&ScenarioReport> {
            match self.of {
                None => self.report.scenarios.iter().collect(),
                Some(_) => self.scenario.into_iter().collect(),
            }
        };
        let of_steps = |time: fn(&'a StepReport) -> &'a Latency| {
            self.steps.iter().copied().map(time).collect()
        };
        match times {
            Times::Latency => match (self.of, self.scenario) {
                (None, _) => vec![&self.report.latency],
                (_, Some(scenario)) => vec![&scenario.latency],
                _ => of_steps(|step| &step.latency),
            },
            Times::Service => of_steps(|step| step.service.as_ref().unwrap_or(&step.latency)),
            Times::FirstByte => of_steps(|step| &step.first_byte),
            Times::Blocked => of_steps(|step| &step.blocked),
            Times::Iteration => scenarios().into_iter().map(|one| &one.duration).collect(),
            Times::Delay => scenarios().into_iter().map(|one| &one.delay).collect(),
            Times::SendDelay | Times::FirstMessage | Times::Gap => Vec::new(),
        }
    }

    /// Of a load of users: since when nothing has come.
    fn silence(&self) -> Option<Silence> {
        let Report {
            facts, scenarios, ..
        } = self.report;
        // Each iteration of a rate has a delay, if only of nothing.
        let is_closed = |step: &&StepReport| {
            let mut scenarios = scenarios.iter();
            let own = scenarios.find(|one| one.name == step.names.scenario);
            own.is_some_and(|own| own.delay.is_empty())
        };
        silence(self.steps.iter().copied().filter(is_closed), facts.load_ns)
    }

    fn requests(&self) -> StepCounts {
        let mut sum = StepCounts::default();
        self.steps.iter().for_each(|step| sum.add(&step.counts));
        sum
    }

    fn without_status(&self) -> u64 {
        self.steps.iter().map(|step| step.without_status).sum()
    }

    /// A single step has no iterations of its own.
    fn iterations(&self) -> Option<IterationCounts> {
        match self.of {
            None => Some(self.report.iterations()),
            Some(_) => self.scenario.map(|one| one.counts),
        }
    }

    /// Checks that passed, and all that there should have been. What a request that failed early never came to has not
    /// passed.
    fn checks(&self) -> (u64, u64) {
        let of_step = |step: &&StepReport| {
            let checks = match self.check {
                Some(check) => step.checks.get(check..=check).unwrap_or_default(),
                None => &step.checks,
            };
            let passed: u64 = checks.iter().map(|check| check.passed).sum();
            (passed, step.counts.ended() * checks.len() as u64)
        };
        let add = |(passed, all): (u64, u64), (more, of): (u64, u64)| (passed + more, all + of);
        self.steps.iter().map(of_step).fold((0, 0), add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use volley_load::spec::threshold::Runs;
    use volley_report::measure::Life;

    fn read(figure: &str) -> Figure {
        Figure::read(figure, Runs::Scenarios).unwrap()
    }

    #[test]
    fn figures_are_those_of_the_part_that_is_named() {
        let report = samples::shop();
        for (figure, of, in_percent, value) in [
            ("sent", None, false, Some(43.0)),
            ("failed", Some("crud"), false, Some(5.0)),
            ("failed", Some("crud.create"), true, Some(12.5)),
            ("failed", Some("create"), false, Some(5.0)),
            ("wrong", Some("crud"), false, Some(3.0)),
            ("open", Some("orders.watch"), false, Some(1.0)),
            ("ok", Some("token"), false, Some(1.0)),
            ("rate", Some("crud.create"), false, Some(8.75)),
            ("messages", Some("orders"), false, Some(50.0)),
            ("iterations", None, false, Some(43.0)),
            ("iterations-failed", Some("crud"), true, Some(12.5)),
            ("dropped", Some("crud"), false, Some(3.0)),
            ("dropped", Some("crud"), true, Some(3.0 / 43.0 * 100.0)),
            ("dropped", Some("crud.create"), false, None),
            (
                "checks",
                Some("crud.create.json /item/sku"),
                false,
                Some(36.0),
            ),
            (
                "checks",
                Some("crud.create.json /item/sku"),
                true,
                Some(90.0),
            ),
            ("max", None, false, Some(900e6)),
            ("max", Some("crud"), false, Some(45e6)),
            ("min", Some("crud.create"), false, Some(6e6)),
            ("service min", Some("crud.create"), false, Some(5e6)),
            ("first-byte max", Some("crud.create"), false, Some(4e6)),
            ("delay mean", Some("crud"), false, Some(1e6)),
            ("iteration max", Some("orders"), false, Some(900e6)),
            ("iteration max", Some("crud.create"), false, None),
            ("p99", Some("nobody"), false, None),
            ("failed", Some("nobody"), false, None),
            ("failed", Some("nobody"), true, None),
        ] {
            assert_eq!(
                value_of(&report, read(figure), of, in_percent),
                value,
                "{figure} of {of:?}"
            );
        }
    }

    #[test]
    fn thresholds_are_judged_in_the_words_of_the_file_and_a_missing_figure_has_failed() {
        let goals = [
            ("max(crud.create) < 45ms", "max >= 45ms", "crud.create"),
            ("failed(crud) <= 12.5%", "failed > 12.5%", "crud"),
            ("p99(nobody) < 1h", "p99 >= 1h", "nobody"),
        ]
        .map(|(text, fails_if, of)| samples::goal(text, fails_if, of));
        let verdicts = judge(&samples::shop(), &goals);
        let shown: Vec<_> = verdicts
            .iter()
            .map(|one| (one.figure.as_str(), one.shown(), one.failed))
            .collect();
        assert_eq!(
            shown,
            [
                ("max(crud.create)", "45.0 ms".to_owned(), true),
                ("failed(crud)", "12.5%".to_owned(), false),
                ("p99(nobody)", "missing".to_owned(), true)
            ]
        );
        assert_eq!(verdicts[0].threshold, "max(crud.create) < 45ms");
    }

    #[test]
    fn a_step_of_users_whose_responses_stop_coming_fails_its_conditions() {
        let judged = |report: &Report, text: &str, of: &str| {
            judge(report, &[samples::goal(text, text, of)]).remove(0)
        };
        let mut report = samples::shop();
        let scenario = &mut report.scenarios[0];
        scenario.delay = Latency::none(scenario.delay.kind);
        let create = &mut report.steps[1];
        create.life = Life::default();
        create.life.heard(2_500_000_000);
        create.life.unanswered(2_400_000_000, 4_500_000_000);
        let verdict = judged(&report, "max > 1s", "crud.create");
        assert!(
            verdict
                .shown()
                .ends_with("no answer came from second 2.50 to the end"),
            "{verdict}"
        );
        assert!(!judged(&report, "max > 4s", "crud.create").failed);
        // After the load, nothing begins.
        report.facts.load_ns = 2_600_000_000;
        assert!(!judged(&report, "max > 1s", "crud.create").failed);
        // A rate has due moments.
        let mut report = samples::shop();
        report.steps[1].life = Life::default();
        report.steps[1].life.unanswered(0, 4_500_000_000);
        assert!(!judged(&report, "mean > 1s", "crud.create").failed);
    }

    #[test]
    fn a_percentile_of_several_steps_is_that_of_all_their_requests() {
        let mut report = samples::shop();
        report.steps[2].names.name = "create".to_owned();
        // 35 creations of up to 45 ms, and two streams of 900 ms.
        report.steps[2].latency.open = 0;
        report.steps[2].latency.ages.clear();
        let create = &mut report.steps[1].latency;
        assert_eq!(create.open, 1, "one took too long");
        (create.open, create.ages) = (0, String::new());
        let at = |figure| value_of(&report, read(figure), Some("create"), false).unwrap();
        assert!((29e6..29.1e6).contains(&at("p50")), "{}", at("p50"));
        assert!((45e6..45.1e6).contains(&at("p94.5")), "{}", at("p94.5"));
        assert_eq!((at("p99"), at("p100")), (900e6, 900e6));
        let exact = value_of(&report, read("p97.3"), None, false).unwrap();
        assert!((890e6..=900e6).contains(&exact), "{exact}");
    }

    #[test]
    fn checks_that_a_failed_request_never_came_to_have_not_passed() {
        // Of 40 creations, 38 had their status, 36 of these the right body, 38 the header, and 35 all that and the location.
        let report = samples::shop();
        let checks =
            |in_percent| value_of(&report, read("checks"), Some("crud"), in_percent).unwrap();
        assert_eq!(checks(false), 38.0 + 36.0 + 38.0 + 35.0);
        assert_eq!(checks(true), 147.0 / 160.0 * 100.0);
    }

    #[test]
    fn a_run_without_requests_has_counts_and_no_shares_or_times() {
        let report = samples::nothing();
        assert_eq!(value_of(&report, read("failed"), None, false), Some(0.0));
        for figure in ["failed", "dropped", "checks"] {
            assert_eq!(
                value_of(&report, read(figure), None, true),
                None,
                "{figure}"
            );
        }
        assert_eq!(value_of(&report, read("p99"), None, false), None);
    }
}
