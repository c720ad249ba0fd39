//! What became of the thresholds of a run.

use std::fmt;
use std::time::Duration;

use thiserror::Error;
use volley_base::units::duration::GoDuration;
use volley_base::units::numbers::{self, at_least, grouped, rate};
use volley_load::spec::Threshold;
use volley_load::spec::threshold::{BEYOND, Count, Figure, Rate, Statistic, Times, Unit};

use super::model::Report;
use crate::measure::latency::percentile_of;
use crate::measure::{Latency, LatencyKind, Percentile, Silence};

/// What became of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The condition, such as `p99 > 20ms`.
    pub threshold: String,
    /// Its figure, such as `p99`.
    pub figure: String,
    /// The figure of this run, in the unit; `None`: it has none, as a latency without samples.
    pub value: Option<f64>,
    /// The value is only a lower bound: too many had no end.
    pub is_at_least: bool,
    pub unit: Unit,
    /// What it is compared with, in the unit.
    pub limit: f64,
    pub failed: bool,
    /// The length of the window that it is about, if it ended the load.
    pub window_ns: Option<u64>,
    /// Why it failed, if the value does not show that.
    pub doubt: Option<Doubt>,
}

/// Why a condition failed that its value does not show to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Doubt {
    /// The figure is a lower bound, and what it is a bound of may be on either side of the limit.
    #[error("not decided: too many had no end")]
    NotReached,
    /// A percentile of few samples is their maximum, or close to it.
    #[error("not decided: it needs {} samples, and there were {}", grouped(*.needed), grouped(*.samples))]
    TooFew {
        /// Times, ended or open.
        samples: u64,
        needed: u64,
    },
    /// A closed loop cannot see a stall: it sends nothing meanwhile.
    #[error("no answer came from second {:.2} to the end", *.since_ns as f64 / 1e9)]
    Stalled {
        /// Since the window's opening.
        since_ns: u64,
    },
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub value: f64,
    pub is_at_least: bool,
    /// Of a percentile: its samples, if they are too few.
    pub too_few: Option<Doubt>,
    /// Of such a percentile: one that ten samples are beyond. It is not above it.
    pub floor: Option<f64>,
}

/// The numbers of a run that thresholds can name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub elapsed_s: f64,
    pub messages: u64,
    pub ok: u64,
    pub failed: u64,
    pub cut: u64,
    pub wrong: u64,
    pub sent: u64,
    pub missed: u64,
    pub late: u64,
}

/// The figures of a run that thresholds can name.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    pub counts: Counts,
    pub latency: &'a Latency,
    pub service: Option<&'a Latency>,
    pub send_delay: Option<&'a Latency>,
    pub first_message: Option<&'a Latency>,
    pub gap: Option<&'a Latency>,
    pub silence: Option<Silence>,
}

/// Compares a run with its thresholds.
#[must_use]
pub fn judge(thresholds: &[Threshold], figures: &Figures<'_>) -> Vec<Verdict> {
    let judge = |threshold| verdict(threshold, figures);
    thresholds.iter().map(judge).collect()
}

pub fn verdict(threshold: &Threshold, figures: &Figures<'_>) -> Verdict {
    let measured = figures.measured(threshold.figure, threshold.unit);
    Verdict::new(threshold, measured, figures.silence)
}

impl<'a> From<&'a Report> for Figures<'a> {
    fn from(report: &'a Report) -> Self {
        let Report { calls, sends, .. } = report;
        let mut counts = Counts {
            elapsed_s: report.elapsed_s(),
            messages: report.messages,
            ok: calls.ok,
            failed: calls.failed_total(),
            cut: calls.cut,
            wrong: report.checks.failed,
            sent: sends.sent,
            missed: sends.missed,
            late: sends.late,
        };
        let (mut latency, mut send_delay) = (&report.latency, report.send_delay.as_ref());
        // Of streams that live, conditions are of their messages: their calls do not end.
        if let Some(paced) = &report.paced {
            counts.ok = paced.counts.answered;
            counts.cut = paced.counts.unanswered;
            counts.sent = paced.counts.sent;
            counts.missed = paced.unsent();
            counts.late = paced.counts.late;
            latency = paced.reply.as_ref().unwrap_or(latency);
            send_delay = paced.delay.as_ref();
        }
        Self {
            counts,
            latency,
            service: report.service_latency.as_ref(),
            send_delay,
            first_message: report.first_message.as_ref(),
            gap: report.gap.as_ref(),
            // A message is timed from when it was due, so that its percentiles show a stall.
            silence: report
                .silence
                .filter(|_| report.paced.is_none() && report.latency.kind == LatencyKind::Service),
        }
    }
}

impl Figures<'_> {
    /// A figure in that unit.
    pub fn measured(&self, figure: Figure, unit: Unit) -> Option<Measured> {
        match figure {
            Figure::Time(times, statistic) => Measured::time(&[self.times(times)?], statistic),
            _ => self.number(figure, unit).map(Measured::exact),
        }
    }

    /// A figure that is no time, in that unit.
    fn number(&self, figure: Figure, unit: Unit) -> Option<f64> {
        let counts = &self.counts;
        match figure {
            Figure::Rate(Rate::Calls) => Some(counts.ok as f64 / counts.elapsed_s),
            Figure::Rate(Rate::Messages) => Some(counts.messages as f64 / counts.elapsed_s),
            Figure::Time(..) => None,
            Figure::Count(count) => {
                let calls = self.count(count)? as f64;
                if unit != Unit::Percent {
                    return Some(calls);
                }
                // All calls that were due: those that were never sent are among them.
                let due = [counts.ok, counts.failed, counts.cut, counts.missed];
                let all = due.into_iter().fold(0, u64::saturating_add);
                (all > 0).then_some(calls / all as f64 * 100.0)
            }
        }
    }

    fn count(&self, count: Count) -> Option<u64> {
        let counts = &self.counts;
        Some(match count {
            Count::Ok => counts.ok,
            Count::Failed => counts.failed,
            Count::Wrong => counts.wrong,
            Count::Cut => counts.cut,
            Count::Sent => counts.sent,
            Count::Missed => counts.missed,
            Count::Late => counts.late,
            Count::Open
            | Count::Checks
            | Count::Dropped
            | Count::Iterations
            | Count::IterationsOk
            | Count::IterationsFailed => return None,
        })
    }

    fn times(&self, times: Times) -> Option<&Latency> {
        match times {
            Times::Latency => Some(self.latency),
            Times::Service => self.service,
            Times::SendDelay => self.send_delay,
            Times::FirstMessage => self.first_message,
            Times::Gap => self.gap,
            Times::FirstByte | Times::Blocked | Times::Delay | Times::Iteration => None,
        }
    }
}

impl Measured {
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            is_at_least: false,
            too_few: None,
            floor: None,
        }
    }

    /// A statistic of several distributions together, in ns. In a mean, ages count as times; it is a lower bound if p99
    /// is one. The minimum is of what ended.
    pub fn time(latencies: &[&Latency], statistic: Statistic) -> Option<Self> {
        let latencies = latencies.iter().copied();
        let latencies: Vec<_> = latencies.filter(|latency| !latency.is_empty()).collect();
        let found = |found: Percentile| Self {
            is_at_least: found.is_at_least,
            ..Self::exact(found.ns as f64)
        };
        let samples: u64 = latencies.iter().map(|one| one.samples).sum();
        let open: u64 = latencies.iter().map(|one| one.open).sum();
        match statistic {
            Statistic::Min => {
                let ended = latencies.iter().filter(|latency| latency.samples > 0);
                let min_ns = ended.map(|latency| latency.min_ns).min()?;
                Some(Self::exact(min_ns as f64))
            }
            Statistic::Mean => {
                let sums = latencies.iter().filter_map(|one| {
                    let mean_ns = one.mean()?.ns as f64;
                    Some(mean_ns * (one.samples + one.open) as f64)
                });
                let sum: f64 = sums.sum();
                let p99 = Self::time(&latencies, Statistic::Percentile(990_000))?;
                Some(Self {
                    is_at_least: p99.is_at_least,
                    ..Self::exact(sum / (samples + open) as f64)
                })
            }
            Statistic::Max | Statistic::Percentile(1_000_000..) => {
                let longest = latencies.iter().filter_map(|latency| latency.longest());
                let longest = longest.max_by_key(|one| (one.ns, one.is_at_least));
                longest.map(found)
            }
            Statistic::Percentile(rank_ppm) => {
                let percentile = |rank_ppm| match latencies[..] {
                    [one] => one.percentile(rank_ppm),
                    _ => percentile_of(&latencies, rank_ppm),
                };
                let (samples, needed) = (samples + open, statistic.samples_needed());
                let too_few = (samples < needed).then_some(Doubt::TooFew { samples, needed });
                let below = too_few.and(samples.checked_sub(BEYOND)).unwrap_or_default();
                let below_ppm = u32::try_from(below * 1_000_000 / samples.max(1)).ok();
                let floor = below_ppm.filter(|ppm| *ppm > 0).and_then(percentile);
                percentile(rank_ppm).map(|percentile| Self {
                    too_few,
                    floor: floor.map(|floor| floor.ns as f64),
                    ..found(percentile)
                })
            }
        }
    }
}

impl Verdict {
    /// Compares a figure with its threshold. One that is missing has failed: nothing shows that the run is as it must
    /// be. Neither does a lower bound that is within the limit, or a percentile of few samples.
    pub fn new(
        threshold: &Threshold,
        measured: Option<Measured>,
        silence: Option<Silence>,
    ) -> Self {
        let Threshold {
            text,
            figure,
            comparison,
            limit,
            unit,
        } = threshold;
        let is_at_least = measured.is_some_and(|measured| measured.is_at_least);
        // What a bound is of is greater than the bound.
        let exceeds = measured.is_some_and(|measured| comparison.holds(measured.value, *limit))
            && (!is_at_least || comparison.is_from_above());
        let is_sure = |measured: Measured| {
            let beyond = |floor| comparison.is_from_above() && comparison.holds(floor, *limit);
            measured.too_few.is_none() || measured.floor.is_some_and(beyond)
        };
        // What the bound is of is beyond it, and so even further from what would break the condition.
        let is_far = !comparison.is_from_above()
            && measured.is_some_and(|measured| !comparison.holds(measured.value, *limit));
        let is_time = matches!(figure, Figure::Time(..));
        let silence = silence.filter(|silence| is_time && silence.lasted_ns as f64 > *limit);
        let doubt = match (silence, measured) {
            (Some(Silence { since_ns, .. }), _) => Some(Doubt::Stalled { since_ns }),
            (None, Some(measured)) if exceeds && (is_at_least || is_sure(measured)) => None,
            (None, Some(_)) if is_at_least && is_far => None,
            (None, Some(_)) if is_at_least => Some(Doubt::NotReached),
            (None, measured) => measured.and_then(|measured| measured.too_few),
        };
        Self {
            threshold: text.clone(),
            figure: figure.to_string(),
            value: measured.map(|measured| measured.value),
            is_at_least,
            unit: *unit,
            limit: *limit,
            window_ns: None,
            failed: exceeds || measured.is_none() || doubt.is_some(),
            doubt,
        }
    }

    /// Whether its figure, or the lower bound of it, is beyond the limit.
    pub fn is_beyond(&self) -> bool {
        self.failed && self.doubt.is_none()
    }

    /// The figure for people, such as `23.4 ms`, and what is in doubt about it.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut shown = self.shown_value();
        if let Some(window_ns) = self.window_ns {
            let window = GoDuration(Duration::from_nanos(window_ns));
            shown += &format!(" in the last {window}");
        }
        match self.doubt {
            Some(doubt) => format!("{shown}, {doubt}"),
            None => shown,
        }
    }

    fn shown_value(&self) -> String {
        let Some(value) = self.value else {
            let figure = self.figure.parse::<Figure>();
            return match figure.is_ok_and(Figure::is_of_open_loop) {
                true => "missing: no call has it; only an open loop (`--rps` or a load schedule) measures it".to_owned(),
                false => "missing".to_owned(),
            };
        };
        let decimal = |digits: i32| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
        let (short, exact, scale, unit) = match self.unit {
            Unit::Calls => return grouped(value as u64),
            Unit::Ns => {
                let (ns, unit) = (value as u64, numbers::Unit::for_ns(value as u64));
                let (short, exact) = (unit.show(ns), unit.exactly(ns));
                (short, exact, unit.ns, format!(" {}", unit.name))
            }
            Unit::Percent => {
                let (short, exact) = (decimal(2), decimal(6));
                (short.to_string(), exact.to_string(), 1.0, "%".to_owned())
            }
            Unit::PerSecond => (rate(value), decimal(3).to_string(), 1.0, "/s".to_owned()),
        };
        // More digits only if they decide, or tell almost all from all.
        let rounded = short.replace(',', "").parse().unwrap_or(f64::NAN) * scale;
        let is_whole = self.unit == Unit::Percent && (rounded == 0.0 || rounded == 100.0);
        let decides = rounded.partial_cmp(&self.limit) != value.partial_cmp(&self.limit);
        let is_exact = decides || is_whole && rounded != value;
        let figure = if is_exact { exact } else { short } + &unit;
        at_least(&figure, self.is_at_least)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (figure, shown, condition) = (&self.figure, self.shown(), &self.threshold);
        write!(out, "{figure} is {shown} (`--fail-if '{condition}'`)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::PacedCounts;
    use crate::report::model::PacedStreams;
    use crate::report::samples;

    fn judged(report: &Report, text: &str) -> Verdict {
        judge(&[text.parse().unwrap()], &report.into()).remove(0)
    }

    /// Each condition with whether it fails, and what is shown.
    fn expect(report: &Report, conditions: &[(&str, bool, &str)]) {
        for (text, failed, shown) in conditions {
            let verdict = judged(report, text);
            assert_eq!(
                (verdict.failed, &*verdict.shown()),
                (*failed, *shown),
                "{text}"
            );
        }
    }

    #[test]
    fn a_run_is_compared_with_each_figure() {
        // 3,104 ok, 16 failed, 253 cut in 5.003 s; 15,623,110 messages.
        let report = samples::stream();
        let conditions = [
            ("ok < 3104", false, "3,104"),
            ("ok <= 3104", true, "3,104"),
            ("failed > 0.4%", true, "0.47%"),
            ("failed > 0.5%", false, "0.47%"),
            ("failed > 0.4743%", true, "0.474355%"),
            ("ok < 0.01%", false, "92.02%"),
            ("failed < 99%", true, "0.47%"),
            ("failed >= 16", true, "16"),
            ("wrong > 0", false, "0"),
            ("cut > 7.5%", true, "7.500741%"),
            ("sent < 3373", false, "3,373"),
            ("missed > 0%", false, "0%"),
            ("late > 0", false, "0"),
            ("rate < 619", false, "620/s"),
            ("rate > 620.2", true, "620.401/s"),
            ("messages < 4e6", true, "3,122,613/s"),
        ];
        expect(&report, &conditions);
    }

    #[test]
    fn times_of_every_kind_are_compared() {
        let mut report = samples::few_calls();
        report.gap = Some(Latency::from_samples(report.latency.kind, vec![7, 9]));
        let missing =
            "missing: no call has it; only an open loop (`--rps` or a load schedule) measures it";
        let conditions = [
            ("max > 4ms", false, "3.00 ms"),
            ("min >= 1.25ms", true, "1.25 ms"),
            ("max > 3ms", true, "3.000001 ms"),
            ("min < 1ms", false, "1.25 ms"),
            ("mean > 2ms", true, "2.12 ms"),
            ("gap max > 8ns", true, "9 ns"),
            ("first-message p99 > 1s", true, "missing"),
            ("service mean > 1s", true, missing),
        ];
        expect(&report, &conditions);
    }

    #[test]
    fn conditions_on_streams_that_live_are_of_their_messages() {
        let reply_ns: Vec<u64> = (1..=2000).map(|n| n * 1000).collect();
        let mut paced = PacedStreams {
            rate: 1,
            counts: PacedCounts::default(),
            reply: Some(Latency::from_samples(LatencyKind::Response, reply_ns)),
            delay: Some(Latency::from_samples(LatencyKind::Response, vec![70_000])),
        };
        (paced.counts.due, paced.counts.sent, paced.counts.late) = (2010, 2004, 3);
        (paced.counts.answered, paced.counts.unanswered) = (2000, 4);
        let report = Report {
            paced: Some(paced),
            ..samples::no_calls()
        };
        let conditions = [
            ("p99 > 1.9ms", true, "1.98 ms"),
            ("p99 > 2ms", false, "1.98 ms"),
            ("send-delay max > 60us", true, "70.0 µs"),
            ("ok < 2000", false, "2,000"),
            ("cut > 3", true, "4"),
            ("missed > 5", true, "6"),
            ("late > 3", false, "3"),
        ];
        expect(&report, &conditions);
    }

    #[test]
    fn what_was_not_measured_has_failed() {
        let report = samples::no_calls();
        for text in ["p99 > 1s", "p99 < 1s", "failed > 1%"] {
            let verdict = judged(&report, text);
            assert_eq!((verdict.failed, verdict.value), (true, None), "{text}");
        }
        let line = "p99 is missing (`--fail-if 'p99 > 1s'`)";
        assert_eq!(judged(&report, "p99 > 1s").to_string(), line);
        assert!(!judged(&report, "failed > 0").failed);
    }

    /// 900 calls took 5 ms; 100 were open at ages of 10 ms to 1 s.
    fn with_open() -> Report {
        let mut times = crate::measure::Distribution::new();
        times.record_n(5_000_000, 900);
        (1..=100).for_each(|n| times.record_open(n * 10_000_000, 1));
        Report {
            latency: times.into_latency(LatencyKind::Response).unwrap(),
            ..samples::no_calls()
        }
    }

    #[test]
    fn a_lower_bound_decides_only_if_it_is_beyond_the_limit() {
        let report = with_open();
        let undecided = "≥ 900 ms, not decided: too many had no end";
        let undecided_mean = "≥ 55.0 ms, not decided: too many had no end";
        let conditions = [
            ("p90 > 6ms", false, "5.00 ms"),
            ("p99 > 50ms", true, "≥ 900 ms"),
            ("p99 > 2s", true, undecided),
            ("p99 < 1s", true, undecided),
            ("p99 < 1ms", false, "≥ 900 ms"),
            ("max > 900ms", true, "≥ 1.00 s"),
            ("mean > 56ms", true, undecided_mean),
            ("mean > 54ms", true, "≥ 55.0 ms"),
            ("min > 5ms", false, "5.00 ms"),
        ];
        expect(&report, &conditions);
    }

    #[test]
    fn a_percentile_of_few_calls_decides_nothing_unless_it_is_beyond_the_limit() {
        let mut times = crate::measure::Distribution::new();
        times.record_n(5_000_000, 999);
        let report = Report {
            latency: times.into_latency(LatencyKind::Service).unwrap(),
            ..samples::no_calls()
        };
        let too_few = "5.00 ms, not decided: it needs 1,000 samples, and there were 999";
        let conditions = [
            ("p99 > 6ms", true, too_few),
            // Ten of them, too, are beyond the limit.
            ("p99 > 4ms", true, "5.00 ms"),
            ("p98 > 6ms", false, "5.00 ms"),
        ];
        expect(&report, &conditions);
    }

    #[test]
    fn a_closed_loop_in_which_nothing_ends_any_more_fails_whatever_ended_before() {
        let mut report = with_open();
        report.latency.kind = LatencyKind::Service;
        report.silence = Some(Silence {
            since_ns: 2_000_000_000,
            lasted_ns: 1_000_000_000,
        });
        let shown = "5.00 ms, no answer came from second 2.00 to the end";
        expect(&report, &[("p50 > 50ms", true, shown)]);
        // It may take as long as that.
        assert!(!judged(&report, "p50 > 3s").failed);
        assert!(!judged(&report, "failed > 0").failed);
        report.latency.kind = LatencyKind::Response;
        assert!(!judged(&report, "p50 > 50ms").failed);
    }

    proptest! {
        #[test]
        fn a_verdict_follows_the_exact_number(calls in 0..100_000_u64, limit in 0..100_000_u64) {
            let mut report = samples::no_calls();
            report.calls.ok = calls;
            for (sign, failed) in [(">", calls > limit), (">=", calls >= limit), ("<", calls < limit), ("<=", calls <= limit)] {
                prop_assert_eq!(judged(&report, &format!("ok {sign} {limit}")).failed, failed);
            }
        }
    }
}
