//! Conditions of a comparison: `p99 ratio > 1.1` is about the change, `p99 > 20ms` about the new run.

use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;
use volley_load::spec::threshold::{
    self, Comparison, Figure, Parts, Statistic, Threshold, ThresholdError, Times,
};

use super::figures::{self, Estimate};
use super::run::Run;
use crate::measure::Silence;
use crate::report::verdict::{self, Doubt};

/// A condition under which a comparison has failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// About the new run alone.
    Value(Threshold),
    /// About new over old. It is so only if the whole interval is beyond the limit.
    Ratio {
        /// As the user wrote it, with single spaces.
        text: String,
        /// Which ratio.
        figure: Figure,
        /// How it is compared.
        comparison: Comparison,
        /// With what.
        limit: f64,
    },
}

/// What became of a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The condition.
    pub threshold: String,
    /// The figure, in the unit; `None`: there is none, or too little data.
    pub value: Option<f64>,
    /// The unit; `ratio` has none.
    pub unit: &'static str,
    /// The interval of a ratio.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Whether it is so.
    pub failed: bool,
    /// All that in words.
    #[serde(skip)]
    pub words: String,
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// It is no threshold either.
    #[error(transparent)]
    Threshold(#[from] ThresholdError),
    /// The ratio of such a figure has no interval.
    #[error("`{0}` has no ratio: use rate, messages, mean or a percentile such as p99")]
    NoRatio(String),
    /// The limit is no ratio.
    #[error("a ratio is compared with a number such as 1.1, not `{0}`")]
    Limit(String),
}

/// The unit of ratios.
const RATIO: &str = "ratio";

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let Parts {
            name,
            comparison,
            limit,
        } = threshold::parts(text)?;
        let of_ratio = name.strip_suffix("ratio");
        let of_ratio = of_ratio.filter(|name| name.ends_with(char::is_whitespace));
        let Some(name) = of_ratio else {
            return Ok(Self::Value(text.parse()?));
        };
        let figure: Figure = name.parse()?;
        let has_ratio = match figure {
            Figure::Time(times, Statistic::Mean | Statistic::Percentile(..1_000_000)) => {
                times == Times::Latency
            }
            Figure::Time(..) | Figure::Count(_) => false,
            Figure::Rate(_) => true,
        };
        if !has_ratio {
            return Err(ConditionError::NoRatio(figure.to_string()));
        }
        let ratio = threshold::number(limit).filter(|ratio| *ratio > 0.0);
        Ok(Self::Ratio {
            text: format!("{figure} ratio {} {limit}", comparison.sign()),
            figure,
            comparison,
            limit: ratio.ok_or_else(|| ConditionError::Limit(limit.to_owned()))?,
        })
    }
}

impl Condition {
    pub(super) fn judge(&self, old: &Run, new: &Run) -> Judged {
        match self {
            Self::Value(threshold) => {
                let verdict = verdict::verdict(threshold, &new.figures());
                Judged {
                    words: format!("{} is {}", verdict.figure, verdict.shown()),
                    threshold: verdict.threshold,
                    value: verdict.value,
                    unit: verdict.unit.name(),
                    low: None,
                    high: None,
                    failed: verdict.failed,
                }
            }
            Self::Ratio {
                text,
                figure,
                comparison,
                limit,
            } => {
                let row = figures::ratio(old, new, *figure);
                let estimate = row.and_then(|row| row.change.estimate);
                let beyond =
                    |estimate: Estimate| comparison.holds(nearest(estimate, *comparison), *limit);
                let is_time = matches!(figure, Figure::Time(..));
                let silence = new.figures().silence.filter(|_| is_time);
                let mut words = match estimate {
                    None => "has too little data".to_owned(),
                    Some(estimate) => {
                        let [value, interval] = estimate.words(|value| format!("{value:.3}"));
                        format!("is {value} ({interval})")
                    }
                };
                if let Some(Silence { since_ns, .. }) = silence {
                    words += &format!(", {}", Doubt::Stalled { since_ns });
                }
                Judged {
                    threshold: text.clone(),
                    value: estimate.map(|estimate| estimate.value),
                    unit: RATIO,
                    low: estimate.map(|estimate| estimate.low),
                    high: estimate.map(|estimate| estimate.high),
                    // What is not decided has failed, as in a run.
                    failed: silence.is_some() || estimate.is_none_or(beyond),
                    words: format!("{figure} ratio {words}"),
                }
            }
        }
    }
}

/// The end of the interval that must be beyond a limit for all of it to be.
fn nearest(estimate: Estimate, comparison: Comparison) -> f64 {
    match comparison {
        Comparison::Above | Comparison::AtLeast => estimate.low,
        Comparison::Below | Comparison::AtMost => estimate.high,
    }
}

impl Judged {
    /// Whether there is too little data for a ratio.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.unit == RATIO && self.value.is_none()
    }

    /// Whether the ratio, or the new run, shows that it is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.failed && !self.is_undecided()
    }

    /// In a word.
    #[must_use]
    pub fn result(&self) -> &'static str {
        match self.failed {
            true if self.is_undecided() => "not decided",
            true => "failed",
            false => "passed",
        }
    }

    /// With its condition, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} (`--fail-if '{}'`)", self.words, self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Condition, String> {
        text.parse()
            .map_err(|error: ConditionError| error.to_string())
    }

    #[test]
    fn ratios_and_values_are_told_apart() {
        assert!(matches!(read("p99 > 20ms"), Ok(Condition::Value(_))));
        for (text, shown) in [
            ("p99.9  ratio>=1.10", "p99.9 ratio >= 1.10"),
            ("rate ratio < 0.95", "rate ratio < 0.95"),
            ("mean ratio > 2", "mean ratio > 2"),
        ] {
            let Ok(Condition::Ratio { text, .. }) = read(text) else {
                panic!("{text}");
            };
            assert_eq!(text, shown);
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_remedy() {
        for (text, words) in [
            ("ratio > 1", "write `p99 ratio > 1.1`"),
            ("p99ratio > 1", "there is no figure `p99ratio`"),
            ("max ratio > 1", "`max` has no ratio"),
            ("p100 ratio > 1", "`p100` has no ratio"),
            ("gap p99 ratio > 1", "`gap p99` has no ratio"),
            ("failed ratio > 1", "`failed` has no ratio"),
            ("p99 ratio > 10ms", "not `10ms`"),
            ("p99 ratio < 0", "not `0`"),
            ("p99 ratio", "write a figure"),
        ] {
            let line = read(text).unwrap_err();
            assert!(line.contains(words), "{text}: {line}");
        }
    }
}
