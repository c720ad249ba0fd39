//! What became of the thresholds of a run.

use std::fmt;

use super::latency::Latency;
use super::model::Report;
use super::numbers::{self, grouped, rate};
use crate::spec::Threshold;
use crate::spec::threshold::{Count, Figure, Rate, Statistic, Times, Unit};

/// What became of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The condition, such as `p99 > 20ms`.
    pub threshold: String,
    /// Its figure, such as `p99`.
    pub figure: String,
    /// The figure of this run, in the unit; `None`: it has none, as a latency without samples.
    pub value: Option<f64>,
    pub unit: Unit,
    /// What it is compared with, in the unit.
    pub limit: f64,
    pub failed: bool,
}

/// The figures of a run that thresholds can name.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    pub elapsed_s: f64,
    pub messages: u64,
    pub ok: u64,
    pub failed: u64,
    pub cut: u64,
    pub wrong: u64,
    pub sent: u64,
    pub missed: u64,
    pub late: u64,
    pub latency: &'a Latency,
    pub service: Option<&'a Latency>,
    pub send_delay: Option<&'a Latency>,
    pub first_message: Option<&'a Latency>,
    pub gap: Option<&'a Latency>,
}

/// Compares a run with its thresholds.
#[must_use]
pub fn judge(thresholds: &[Threshold], figures: &Figures<'_>) -> Vec<Verdict> {
    let judge = |threshold| verdict(threshold, figures);
    thresholds.iter().map(judge).collect()
}

/// A figure that is missing has failed: nothing shows that the run is as it must be.
pub(crate) fn verdict(threshold: &Threshold, figures: &Figures<'_>) -> Verdict {
    let Threshold {
        text,
        figure,
        comparison,
        limit,
        unit,
    } = threshold;
    let value = figures.value(*figure, *unit);
    Verdict {
        threshold: text.clone(),
        figure: figure.to_string(),
        value,
        unit: *unit,
        limit: *limit,
        failed: value.is_none_or(|value| comparison.holds(value, *limit)),
    }
}

impl<'a> From<&'a Report> for Figures<'a> {
    fn from(report: &'a Report) -> Self {
        let Report { calls, sends, .. } = report;
        Self {
            elapsed_s: report.elapsed_s(),
            messages: report.messages,
            ok: calls.ok,
            failed: calls.failed_total(),
            cut: calls.cut,
            wrong: report.checks.failed,
            sent: sends.sent,
            missed: sends.missed,
            late: sends.late,
            latency: &report.latency,
            service: report.service_latency.as_ref(),
            send_delay: report.send_delay.as_ref(),
            first_message: report.first_message.as_ref(),
            gap: report.gap.as_ref(),
        }
    }
}

impl Figures<'_> {
    /// A figure in that unit.
    #[must_use]
    pub fn value(&self, figure: Figure, unit: Unit) -> Option<f64> {
        match figure {
            Figure::Rate(Rate::Calls) => Some(self.ended() as f64 / self.elapsed_s),
            Figure::Rate(Rate::Messages) => Some(self.messages as f64 / self.elapsed_s),
            Figure::Time(times, statistic) => time(self.times(times)?, statistic),
            Figure::Count(count) => {
                let calls = self.count(count)? as f64;
                if unit != Unit::Percent {
                    return Some(calls);
                }
                // All calls that were due: those that were never sent are among them.
                let all = self
                    .ended()
                    .saturating_add(self.cut)
                    .saturating_add(self.missed);
                (all > 0).then_some(calls / all as f64 * 100.0)
            }
        }
    }

    fn ended(&self) -> u64 {
        self.ok.saturating_add(self.failed)
    }

    fn count(&self, count: Count) -> Option<u64> {
        Some(match count {
            Count::Ok => self.ok,
            Count::Failed => self.failed,
            Count::Wrong => self.wrong,
            Count::Cut => self.cut,
            Count::Sent => self.sent,
            Count::Missed => self.missed,
            Count::Late => self.late,
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
            Times::FirstByte | Times::Delay | Times::Iteration => None,
        }
    }
}

fn time(latency: &Latency, statistic: Statistic) -> Option<f64> {
    let ns = match statistic {
        _ if latency.samples == 0 => return None,
        Statistic::Mean => latency.mean_ns,
        Statistic::Min => latency.min_ns,
        Statistic::Max => latency.max_ns,
        Statistic::Percentile(ppm) => latency.percentile(ppm)?,
    };
    Some(ns as f64)
}

impl Verdict {
    /// The figure for people, such as `23.4 ms`.
    #[must_use]
    pub fn shown(&self) -> String {
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
        format!("{}{unit}", if is_exact { exact } else { short })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} is {} (`--fail-if '{}'`)",
            self.figure,
            self.shown(),
            self.threshold
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::samples;

    fn judged(report: &Report, text: &str) -> Verdict {
        judge(&[text.parse().unwrap()], &report.into()).remove(0)
    }

    #[test]
    fn a_run_is_compared_with_each_figure() {
        // 3,104 ok, 16 failed, 253 cut in 5.003 s; 15,623,110 messages.
        let report = samples::stream();
        for (text, failed, shown) in [
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
            ("rate < 623", false, "624/s"),
            ("rate < 623.7", true, "623.599/s"),
            ("messages < 4e6", true, "3,122,613/s"),
        ] {
            let verdict = judged(&report, text);
            assert_eq!(
                (verdict.failed, verdict.shown().as_str()),
                (failed, shown),
                "{text}"
            );
        }
    }

    #[test]
    fn times_of_every_kind_are_compared() {
        let mut report = samples::few_calls();
        report.gap = Some(Latency::from_samples(report.latency.kind, vec![7, 9]));
        for (text, failed, shown) in [
            ("p50 > 1.25ms", false, "1.25 ms"),
            ("p50 >= 1.25ms", true, "1.25 ms"),
            ("max > 3ms", true, "3.000001 ms"),
            ("min < 1ms", false, "1.25 ms"),
            ("mean > 2ms", true, "2.12 ms"),
            ("gap max > 8ns", true, "9 ns"),
            ("first-message p99 > 1s", true, "missing"),
            (
                "service mean > 1s",
                true,
                "missing: no call has it; only an open loop (`--rps` or a load schedule) measures it",
            ),
        ] {
            let verdict = judged(&report, text);
            assert_eq!(
                (verdict.failed, verdict.shown().as_str()),
                (failed, shown),
                "{text}"
            );
        }
    }

    #[test]
    fn what_was_not_measured_has_failed() {
        let report = samples::no_calls();
        for text in ["p99 > 1s", "p99 < 1s", "failed > 1%"] {
            let verdict = judged(&report, text);
            assert_eq!((verdict.failed, verdict.value), (true, None), "{text}");
        }
        assert_eq!(
            judged(&report, "p99 > 1s").to_string(),
            "p99 is missing (`--fail-if 'p99 > 1s'`)"
        );
        assert!(!judged(&report, "failed > 0").failed);
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
