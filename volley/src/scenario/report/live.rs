//! A run while it goes on: lines for the terminal, one for the load and one for each step, and thresholds that fail.

use std::time::Duration;

use serde::Serialize;

use super::super::plan::Goal;
use super::super::tally::{IterationCounts, Passed, StepCounts, Verdicts};
use super::figures::judge;
use super::model::{Facts, Report, ScenarioReport, StepReport, figures};
use super::names::{Names, StepNames};
use crate::measure::{Distribution, highest_of};
use crate::report::numbers::{duration, grouped, rate};
use crate::report::{Latency, LatencyKind, Verdict, visible};

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
    /// By step: the main latency of all requests so far.
    times: Vec<Distribution>,
    /// By step: how many requests ended within each bucket of times since the last lines.
    recent: Vec<Vec<(u16, u64)>>,
    /// By step: requests that had ended when the last lines were drawn.
    ended_before: Vec<u64>,
    /// By step: requests that setup sent.
    sent_before: Vec<u64>,
    drawn_at: Duration,
}

/// A step at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepNow {
    pub sent: u64,
    pub ok: u64,
    pub failed: u64,
    /// Requests that ended, per second.
    pub ended_per_s: f64,
    /// `None` if nothing ended well.
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
}

impl Progress {
    /// For so many threads and steps. `before`: what setup has counted.
    #[must_use]
    pub fn new(threads: usize, steps: usize, before: Passed) -> Self {
        let mut progress = Self {
            threads: vec![Passed::default(); threads + 1],
            stages: vec![Stage::default(); threads],
            times: vec![Distribution::new(); steps],
            recent: vec![Vec::new(); steps],
            ended_before: vec![0; steps],
            sent_before: vec![0; steps],
            drawn_at: Duration::ZERO,
        };
        progress.add(threads, before, Stage::Ended);
        // No second of the load has them.
        progress.recent.iter_mut().for_each(Vec::clear);
        let sums: Vec<_> = (0..steps).map(|step| progress.requests(step)).collect();
        progress.ended_before = sums.iter().map(StepCounts::ended).collect();
        progress.sent_before = sums.iter().map(|sum| sum.sent).collect();
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
        for ((recent, times), (_, seconds)) in steps.zip(&mut passed.steps) {
            for (bucket, count) in seconds.drain(..).flat_map(|second| second.latencies) {
                recent.push((bucket, count.into()));
                times.record_n(highest_of(bucket), count.into());
            }
        }
        *known = passed;
    }

    /// Sums of all scenarios.
    #[must_use]
    pub fn iterations(&self) -> IterationCounts {
        let mut sum = IterationCounts::default();
        self.threads
            .iter()
            .flat_map(|one| &one.scenarios)
            .for_each(|one| sum.add(one));
        sum
    }

    /// Sums of a step.
    #[must_use]
    pub fn requests(&self, step: usize) -> StepCounts {
        let mut sum = StepCounts::default();
        self.threads
            .iter()
            .filter_map(|one| one.steps.get(step))
            .for_each(|(one, _)| sum.add(one));
        sum
    }

    /// The thresholds that fail at this moment. Times are exact to 0.5 %. One whose figure is not known while the run
    /// goes on is left out: the only times that are known are the main latencies.
    #[must_use]
    pub fn failing(&self, names: &Names, goals: &[Goal], elapsed: Duration) -> Vec<Verdict> {
        let mut verdicts = self.verdicts(names, goals, elapsed);
        verdicts.retain(|verdict| verdict.failed && verdict.value.is_some());
        verdicts
    }

    /// What becomes of each threshold as far as is known. One without a value is not known.
    #[must_use]
    pub fn verdicts(&self, names: &Names, goals: &[Goal], elapsed: Duration) -> Vec<Verdict> {
        judge(&self.report(names, elapsed), goals)
    }

    /// A report of what is known so far.
    #[must_use]
    pub fn report(&self, names: &Names, elapsed: Duration) -> Report {
        let scenarios = names.scenarios.iter().enumerate().map(|(place, name)| {
            let mut counts = IterationCounts::default();
            self.threads
                .iter()
                .filter_map(|one| one.scenarios.get(place))
                .for_each(|one| counts.add(one));
            ScenarioReport::so_far(
                name,
                counts,
                self.latency_of(names, |step| step.scenario == *name),
            )
        });
        let steps =
            names
                .steps
                .iter()
                .zip(&self.times)
                .enumerate()
                .map(|(place, (names, times))| {
                    let mut verdicts = Verdicts::default();
                    self.threads
                        .iter()
                        .filter_map(|one| one.verdicts.get(place))
                        .for_each(|one| verdicts.add(one));
                    let latency = figures(times.clone(), LatencyKind::Service);
                    StepReport::so_far(names, self.requests(place), &verdicts, latency)
                });
        Report {
            facts: Facts::so_far(elapsed),
            scenarios: scenarios.collect(),
            steps: steps.collect(),
            latency: self.latency_of(names, |step| !step.scenario.is_empty()),
            thresholds: Vec::new(),
        }
    }

    fn latency_of(&self, names: &Names, is_own: impl Fn(&StepNames) -> bool) -> Latency {
        let mut all = Distribution::new();
        let own = names
            .steps
            .iter()
            .zip(&self.times)
            .filter(|(step, _)| is_own(step));
        own.for_each(|(_, times)| all.merge(times));
        figures(all, LatencyKind::Service)
    }

    /// Each step's sums, and its rate and times since the last time that this was asked.
    pub fn steps(&mut self, elapsed: Duration) -> Vec<StepNow> {
        let s = elapsed.saturating_sub(self.drawn_at).as_secs_f64();
        self.drawn_at = elapsed;
        let sums: Vec<_> = (0..self.times.len())
            .map(|step| self.requests(step))
            .collect();
        let all = sums
            .iter()
            .zip(&mut self.recent)
            .zip(&mut self.ended_before);
        all.map(|((sum, recent), before)| {
            let ended = sum.ended() - std::mem::replace(before, sum.ended()).min(sum.ended());
            recent.sort_unstable();
            let [p50_ns, p99_ns] = [50, 99].map(|percent| percentile(recent, percent));
            recent.clear();
            StepNow {
                sent: sum.sent,
                ok: sum.ok,
                failed: sum.failed,
                ended_per_s: if s > 0.0 { ended as f64 / s } else { 0.0 },
                p50_ns,
                p99_ns,
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
        let labels: Vec<String> = names
            .steps
            .iter()
            .map(|step| visible(&step.label()).into_owned())
            .collect();
        let width = labels
            .iter()
            .map(|label| label.chars().count())
            .max()
            .unwrap_or_default();
        let before = self.sent_before.iter();
        for (((now, label), step), before) in
            steps.iter().zip(&labels).zip(&names.steps).zip(before)
        {
            // Setup is over; its steps appear when a value of it is asked for again.
            if now.sent == *before && step.scenario.is_empty() {
                continue;
            }
            let mut line = format!("     {label:<width$}   {}/s", rate(now.ended_per_s));
            if let Some((p50_ns, p99_ns)) = now.p50_ns.zip(now.p99_ns) {
                line += &format!("   p50 {}   p99 {}", duration(p50_ns), duration(p99_ns));
            }
            line += &format!("   {} failed", grouped(now.failed));
            lines.push(line);
        }
        lines
    }
}

/// By nearest rank, of sorted buckets.
fn percentile(buckets: &[(u16, u64)], percent: u64) -> Option<u64> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let rank = (all * percent).div_ceil(100);
    let mut seen = 0;
    let at_rank = |(_, count): &&(u16, u64)| {
        seen += count;
        seen >= rank
    };
    buckets
        .iter()
        .find(at_rank)
        .map(|(bucket, _)| highest_of(*bucket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::SECOND_NS as S;
    use crate::scenario::report::{StepNames, samples};
    use crate::scenario::tally::{End, Failure, Reason, Tally, Timing};
    use crate::spec::threshold::Selected;

    fn second(tally: &mut Tally, at_ns: u64, requests: u64) -> Passed {
        for n in 0..requests {
            let timing = Timing {
                due_ns: None,
                sent_ns: at_ns,
                first_ns: None,
                end_ns: at_ns + n * 1_000_000,
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
            due_ns: None,
            sent_ns: 0,
            first_ns: None,
            end_ns: 1_000_000,
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
            (steps[0].sent, steps[0].ended_per_s, steps[0].p50_ns),
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
        let timing = Timing {
            due_ns: None,
            sent_ns: S,
            first_ns: None,
            end_ns: S,
        };
        first.ended(
            1,
            &timing,
            None,
            0,
            Err(&Failure {
                reason: Reason::Timeout,
                what: "2 s",
            }),
        );
        first.dropped(0, 7, S);
        first.iteration_began(0, None, S);
        progress.add(0, second(first, S, 10), Stage::Load);
        let lines = drawn(&mut progress, &names, Duration::from_secs(3));
        assert_eq!(
            lines[0],
            " 3 s   211 begun   210 ok   0 failed   7 dropped   1 open"
        );
        let goal = |fails_if: &str, of: &str| Goal {
            fails_if: fails_if.parse::<Selected>().unwrap().threshold,
            text: fails_if.to_owned(),
            of: Some(of.to_owned()),
            abort_after_ns: None,
        };
        let goals = [
            goal("p99 > 97ms", "create\n"),
            goal("p99 > 99ms", "create\n"),
            goal("failed >= 1", "create\n"),
            goal("service p99 > 1h", "token"),
            goal("dropped < 8", "crud"),
            goal("dropped < 7", "crud"),
        ];
        let failing = progress.failing(&names, &goals, Duration::from_secs(3));
        let failing: Vec<_> = failing.iter().map(|one| one.threshold.as_str()).collect();
        assert_eq!(failing, ["p99 > 97ms", "failed >= 1", "dropped < 8"]);
        assert_eq!(
            lines[1],
            r"     create\n   5.50/s   p50 4.01 ms   p99 9.01 ms   1 failed"
        );
    }
}
