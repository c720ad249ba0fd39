//! A run while it goes on: lines for the terminal, one for the load and one for each step, and thresholds that fail.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::super::plan::Goal;
use super::super::tally::{IterationCounts, Passed, StepCounts, Verdicts};
use super::figures::judge;
use super::model::{Facts, Report, ScenarioReport, StepReport, checks, figures};
use super::names::{Names, StepNames};
use volley_base::units::numbers::{grouped, rate};
use volley_load::pace::whole_ns;
use volley_report::measure::estimate::Estimate;
use volley_report::measure::latency::bounds;
use volley_report::measure::{Distribution, Latency, LatencyKind, Percentile, highest_of};
use volley_report::report::{Verdict, visible};

/// What a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Its load goes on, or has ended by itself.
    #[default]
    Load,
    /// A signal ended its load: it waits for the iterations that are open.
    Waits,
    Ended,
}

/// What setup has counted, and all threads together have reported since the window's opening.
#[derive(Clone, Debug)]
pub struct Progress {
    /// By thread: its sums so far; the last ones are those of setup.
    threads: Vec<Passed>,
    /// By thread: what it does.
    stages: Vec<Stage>,
    /// By step: the main latency of all requests that have ended.
    times: Vec<Distribution>,
    /// By step: how many ended within each bucket of times since the last mark.
    unmarked: Vec<Vec<(u16, u64)>>,
    /// Earlier moments, ascending.
    marks: VecDeque<Mark>,
    /// By step: how many requests ended within each bucket of times since the last lines.
    recent: Vec<Vec<(u16, u64)>>,
    /// By step: requests that had ended when the last lines were drawn.
    ended_before: Vec<u64>,
    /// By step: requests that setup sent.
    sent_before: Vec<u64>,
    drawn_at: Duration,
}

/// The sums at a moment of the load, from which on a window may count.
#[derive(Clone, Debug)]
struct Mark {
    elapsed: Duration,
    sums: Sums,
    /// By step: how many requests ended within each bucket of times between the mark before and this one.
    times: Vec<Vec<(u16, u64)>>,
}

/// By scenario and by step: what all threads have counted.
#[derive(Clone, Debug, Default)]
struct Sums {
    scenarios: Vec<IterationCounts>,
    steps: Vec<(StepCounts, Verdicts)>,
}

/// A step at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepNow {
    pub sent: u64,
    pub ok: u64,
    pub failed: u64,
    /// Requests that ended, per second.
    pub ended_per_s: f64,
    /// Of what ended well since then, and of what is open; `None` if nothing did or is.
    #[serde(rename = "p50_ns", serialize_with = "in_ns")]
    pub p50: Option<Percentile>,
    #[serde(rename = "p99_ns", serialize_with = "in_ns")]
    pub p99: Option<Percentile>,
    /// Which of them are lower bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<&'static str>,
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn in_ns<S: Serializer>(found: &Option<Percentile>, to: S) -> Result<S::Ok, S::Error> {
    found.map(|found| found.ns).serialize(to)
}

impl Sums {
    fn since(mut self, before: &Self) -> Self {
        for (sum, before) in self.scenarios.iter_mut().zip(&before.scenarios) {
            *sum = sum.since(before);
        }
        for ((counts, verdicts), before) in self.steps.iter_mut().zip(&before.steps) {
            (*counts, *verdicts) = (counts.since(&before.0), verdicts.since(&before.1));
        }
        self
    }
}

impl Progress {
    /// For so many threads and steps. `before`: what setup has counted.
    #[must_use]
    pub fn new(threads: usize, steps: usize, before: Passed) -> Self {
        let mut progress = Self {
            threads: vec![Passed::default(); threads + 1],
            stages: vec![Stage::default(); threads],
            times: vec![Distribution::new(); steps],
            unmarked: vec![Vec::new(); steps],
            marks: VecDeque::new(),
            recent: vec![Vec::new(); steps],
            ended_before: vec![0; steps],
            sent_before: vec![0; steps],
            drawn_at: Duration::ZERO,
        };
        progress.add(threads, before, Stage::Ended);
        // No second of the load has them.
        progress.recent.iter_mut().for_each(Vec::clear);
        progress.mark(Duration::ZERO, Duration::ZERO);
        let sums = progress.sums().steps.into_iter();
        (progress.ended_before, progress.sent_before) =
            sums.map(|(sum, _)| (sum.ended(), sum.sent)).unzip();
        progress
    }

    /// Whether a signal has ended the load, and no thread begins an iteration any more.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.stages.contains(&Stage::Waits) && !self.stages.contains(&Stage::Load)
    }

    /// Takes what a thread has reported.
    pub fn add(&mut self, thread: usize, mut passed: Passed, stage: Stage) {
        if let Some(known) = self.stages.get_mut(thread) {
            *known = stage;
        }
        let Some(known) = self.threads.get_mut(thread) else {
            return;
        };
        let steps = self.recent.iter_mut().zip(&mut self.times);
        let steps = steps.zip(&mut self.unmarked);
        for (((recent, times), unmarked), (_, seconds)) in steps.zip(&mut passed.steps) {
            for (bucket, count) in seconds.drain(..).flat_map(|second| second.latencies) {
                recent.push((bucket, count.into()));
                unmarked.push((bucket, count.into()));
                times.record_n(highest_of(bucket), count.into());
            }
        }
        *known = passed;
    }

    /// Sums of all scenarios.
    #[must_use]
    pub fn iterations(&self) -> IterationCounts {
        let mut sum = IterationCounts::default();
        let all = self.threads.iter().flat_map(|one| &one.scenarios);
        all.for_each(|one| sum.add(one));
        sum
    }

    /// What became of a threshold within the window of that length that ends now; `None`: the load is younger, or its
    /// figure is not known. The only times that are known are the main latencies, exact to 0.5 %.
    #[must_use]
    pub fn verdict(
        &self,
        names: &Names,
        goal: &Goal,
        elapsed: Duration,
        window: Duration,
    ) -> Option<Verdict> {
        let from = elapsed.checked_sub(window)?;
        let before = self.marks.iter().rposition(|mark| mark.elapsed <= from)?;
        let mark = self.marks.get(before)?;
        let later = self.marks.iter().skip(before + 1);
        let mut times = vec![Distribution::new(); self.times.len()];
        for parts in later.map(|mark| &mark.times).chain([&self.unmarked]) {
            for (times, part) in times.iter_mut().zip(parts) {
                for (bucket, count) in part {
                    times.record_n(highest_of(*bucket), *count);
                }
            }
        }
        let all = self.sums();
        let mut sums = all.clone().since(&mark.sums);
        // Of a window: what ended within it, whenever it was sent, and what is open at its end.
        for ((counts, _), (all, _)) in sums.steps.iter_mut().zip(&all.steps) {
            counts.open = all.all().saturating_sub(all.ended());
            counts.sent = (counts.ended() + counts.open).saturating_sub(counts.unsent);
        }
        let report = self.report_of(names, sums, times, elapsed.saturating_sub(mark.elapsed));
        let verdict = judge(&report, std::slice::from_ref(goal)).pop();
        verdict.filter(|verdict| verdict.value.is_some())
    }

    /// Notes the sums at this moment. Moments before the last one that is older than `kept` are forgotten.
    pub fn mark(&mut self, elapsed: Duration, kept: Duration) {
        let from = elapsed.saturating_sub(kept);
        while self.marks.get(1).is_some_and(|mark| mark.elapsed <= from) {
            self.marks.pop_front();
        }
        let none = vec![Vec::new(); self.unmarked.len()];
        self.marks.push_back(Mark {
            elapsed,
            sums: self.sums(),
            times: std::mem::replace(&mut self.unmarked, none),
        });
    }

    /// A report of what is known so far.
    #[must_use]
    pub fn report(&self, names: &Names, elapsed: Duration) -> Report {
        self.report_of(names, self.sums(), self.times.clone(), elapsed)
    }

    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for one in &self.threads {
            sums.scenarios.resize(
                one.scenarios.len().max(sums.scenarios.len()),
                IterationCounts::default(),
            );
            for (sum, counts) in sums.scenarios.iter_mut().zip(&one.scenarios) {
                sum.add(counts);
            }
            sums.steps.resize_with(self.times.len(), Default::default);
            let steps = one.steps.iter().zip(&one.verdicts);
            for (sum, ((counts, _), verdicts)) in sums.steps.iter_mut().zip(steps) {
                sum.0.add(counts);
                sum.1.add(verdicts);
            }
        }
        sums
    }

    /// A report of these sums and of these times of what ended, with the ages of what is open now.
    fn report_of(
        &self,
        names: &Names,
        sums: Sums,
        mut times: Vec<Distribution>,
        elapsed: Duration,
    ) -> Report {
        for (step, age_ns) in self.threads.iter().flat_map(|one| &one.open) {
            if let Some(times) = times.get_mut(*step) {
                times.record_open(*age_ns, 1);
            }
        }
        let latency_of = |is_own: &dyn Fn(&StepNames) -> bool| {
            let mut all = Distribution::new();
            let own = names.steps.iter().zip(&times);
            let own = own.filter(|(step, _)| is_own(step));
            own.for_each(|(_, times)| all.merge(times));
            figures(all, LatencyKind::Service)
        };
        let latency = latency_of(&|step| !step.scenario.is_empty());
        let scenarios = names.scenarios.iter().zip(&sums.scenarios);
        let scenarios = scenarios.map(|(name, counts)| {
            let latency = latency_of(&|step| step.scenario == *name);
            ScenarioReport {
                name: name.clone(),
                counts: *counts,
                latency,
                ..ScenarioReport::default()
            }
        });
        let scenarios = scenarios.collect();
        let steps = names.steps.iter().zip(&sums.steps).zip(times);
        let steps = steps.map(|((names, (counts, verdicts)), times)| {
            StepReport {
                names: names.clone(),
                counts: *counts,
                without_status: verdicts.without_status(),
                checks: checks(names, counts, verdicts),
                latency: figures(times, LatencyKind::Service),
                // It is not known: the main latency is another one.
                service: Some(Latency::default()),
                ..StepReport::default()
            }
        });
        Report {
            facts: Facts {
                elapsed_ns: whole_ns(elapsed),
                ..Facts::default()
            },
            scenarios,
            steps: steps.collect(),
            latency,
            thresholds: Vec::new(),
        }
    }

    /// Each step's sums, and its rate and times since the last time that this was asked.
    pub fn steps(&mut self, elapsed: Duration) -> Vec<StepNow> {
        let s = elapsed.saturating_sub(self.drawn_at).as_secs_f64();
        self.drawn_at = elapsed;
        let sums = self.sums().steps;
        let mut ages = vec![Vec::new(); self.times.len()];
        for (step, age_ns) in self.threads.iter().flat_map(|one| &one.open) {
            if let Some(ages) = ages.get_mut(*step) {
                ages.push((*age_ns, 1));
            }
        }
        let all = sums.iter().zip(&mut self.recent).zip(ages);
        all.zip(&mut self.ended_before)
            .map(|((((sum, _), recent), mut ages), before)| {
                let ended = sum.ended() - std::mem::replace(before, sum.ended()).min(sum.ended());
                recent.sort_unstable();
                ages.sort_unstable();
                let times = recent.drain(..);
                let times: Vec<_> = times.map(|(at, count)| (highest_of(at), count)).collect();
                let estimate = Estimate::new(&times, &ages);
                let (p50, p99) = (estimate.at(500_000), estimate.at(990_000));
                StepNow {
                    sent: sum.sent,
                    ok: sum.ok,
                    failed: sum.failed,
                    ended_per_s: if s > 0.0 { ended as f64 / s } else { 0.0 },
                    p50,
                    p99,
                    at_least: bounds([("p50_ns", p50), ("p99_ns", p99)]),
                }
            })
            .collect()
    }

    /// The lines for this moment, as plain text without line ends.
    ///
    /// ` 3 s   1,204 begun   1,180 ok   3 failed   0 dropped   21 open`
    ///
    /// `     crud.create   400/s   p50 1.20 ms   p99 7.31 ms   3 failed`
    #[must_use]
    pub fn lines(&self, names: &Names, steps: &[StepNow], elapsed: Duration) -> Vec<String> {
        let sum = self.iterations();
        let numbers = [
            (sum.begun, "begun"),
            (sum.ok, "ok"),
            (sum.failed, "failed"),
            (sum.dropped, "dropped"),
            (sum.under_way(), "open"),
        ];
        let numbers = numbers.map(|(number, word)| format!("   {} {word}", grouped(number)));
        let mut lines = vec![format!("{:>2} s{}", elapsed.as_secs(), numbers.concat())];
        let labels = names.steps.iter().map(StepNames::label);
        let labels: Vec<String> = labels.map(|label| visible(&label).into_owned()).collect();
        let lengths = labels.iter().map(|label| label.chars().count());
        let width = lengths.max().unwrap_or_default();
        let before = self.sent_before.iter();
        for (((now, label), step), before) in
            steps.iter().zip(&labels).zip(&names.steps).zip(before)
        {
            // Setup is over; its steps appear when a value of it is asked for again.
            if now.sent == *before && step.scenario.is_empty() {
                continue;
            }
            let mut line = format!("     {label:<width$}   {}/s", rate(now.ended_per_s));
            if let Some((p50, p99)) = now.p50.zip(now.p99) {
                line += &format!("   p50 {p50}   p99 {p99}");
            }
            line += &format!("   {} failed", grouped(now.failed));
            lines.push(line);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{StepNames, samples};
    use crate::tally::{End, Failure, Reason, Tally, Timing};
    use volley_load::pace::SECOND_NS as S;

    fn second(tally: &mut Tally, at_ns: u64, requests: u64) -> Passed {
        for n in 0..requests {
            let timing = Timing {
                end_ns: at_ns + n * 1_000_000,
                ..Timing::at(at_ns)
            };
            tally.iteration_began(0, None, at_ns);
            tally.sent(1, at_ns, 1);
            tally.ended(1, &timing, Some(200), 1, Ok(()));
            tally.iteration_ended(0, (0, at_ns, timing.end_ns), End::Ok);
        }
        tally.passed(at_ns + S)
    }

    fn drawn(progress: &mut Progress, names: &Names, elapsed: Duration) -> Vec<String> {
        let steps = progress.steps(elapsed);
        progress.lines(names, &steps, elapsed)
    }

    #[test]
    fn setup_is_known_from_the_start_and_is_in_no_second() {
        let names = samples::names();
        let mut tally = Tally::new(2, 3, 0);
        tally.passed(0);
        let timing = Timing {
            end_ns: 1_000_000,
            ..Timing::at(0)
        };
        tally.sent(0, 0, 1);
        tally.ended(0, &timing, Some(200), 1, Ok(()));
        let mut progress = Progress::new(1, 3, tally.passed(2 * S));
        let report = progress.report(&names, Duration::from_secs(1));
        assert_eq!(report.steps[0].counts.ok, 1);
        assert_eq!(report.steps[0].latency.samples, 1);
        assert_eq!(report.requests().sent, 0);
        let steps = progress.steps(Duration::from_secs(1));
        assert_eq!(
            (steps[0].sent, steps[0].ended_per_s, steps[0].p50),
            (1, 0.0, None)
        );
        let lines = progress
            .lines(&names, &steps, Duration::from_secs(1))
            .concat();
        assert!(!lines.contains("token"), "{lines}");
    }

    #[test]
    fn a_run_waits_when_no_thread_begins_anything_after_a_signal() {
        let mut progress = Progress::new(2, 0, Passed::default());
        for (thread, stage, is_waiting) in [
            (0, Stage::Load, false),
            (0, Stage::Waits, false),
            (1, Stage::Waits, true),
            (0, Stage::Ended, true),
            (1, Stage::Ended, false),
        ] {
            progress.add(thread, Passed::default(), stage);
            assert_eq!(progress.is_waiting(), is_waiting, "{thread} {stage:?}");
        }
    }

    #[test]
    fn each_step_has_a_line_with_the_rate_and_the_times_since_the_last_one() {
        let step = |name: &str| StepNames {
            name: name.to_owned(),
            ..StepNames::default()
        };
        let names = Names {
            scenarios: vec!["crud".to_owned()],
            steps: vec![step("token"), step("create\n")],
        };
        let mut progress = Progress::new(2, 2, Passed::default());
        let mut threads = [Tally::new(1, 2, 0), Tally::new(1, 2, 0)];
        for (thread, tally) in threads.iter_mut().enumerate() {
            progress.add(thread, second(tally, 0, 100), Stage::Load);
        }
        let lines = drawn(&mut progress, &names, Duration::from_secs(1));
        assert_eq!(
            lines[0],
            " 1 s   200 begun   200 ok   0 failed   0 dropped   0 open"
        );
        // Nothing was sent for the setup.
        assert_eq!(
            lines[1..],
            [r"     create\n   200/s   p50 49.0 ms   p99 98.0 ms   0 failed"]
        );
        let [first, _] = &mut threads;
        let failure = Failure {
            reason: Reason::Timeout,
            what: "2 s",
        };
        first.ended(1, &Timing::at(S), None, 0, Err(&failure));
        first.dropped(0, 7, S, S);
        first.iteration_began(0, None, S);
        progress.add(0, second(first, S, 10), Stage::Load);
        let lines = drawn(&mut progress, &names, Duration::from_secs(3));
        assert_eq!(
            lines[0],
            " 3 s   211 begun   210 ok   0 failed   7 dropped   1 open"
        );
        let goals = [
            ("p95 > 90ms", "create\n"),
            ("p95 > 97ms", "create\n"),
            ("failed >= 1", "create\n"),
            ("service p99 > 1h", "token"),
            ("dropped < 8", "crud"),
            ("dropped < 7", "crud"),
        ]
        .map(|(fails_if, of)| samples::goal(fails_if, fails_if, of));
        let all = Duration::from_secs(3);
        let verdicts = goals
            .iter()
            .filter_map(|goal| progress.verdict(&names, goal, all, all));
        let failing = verdicts.filter(Verdict::is_beyond);
        let failing: Vec<_> = failing.map(|one| one.threshold).collect();
        assert_eq!(failing, ["p95 > 90ms", "failed >= 1", "dropped < 8"]);
        assert_eq!(
            lines[1],
            r"     create\n   5.50/s   p50 4.01 ms   p99 9.01 ms   1 failed"
        );
    }
}
