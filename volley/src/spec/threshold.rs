//! Conditions under which a run has failed: `p99 > 20ms`, `failed > 0.1%`, `rate < 9000`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::pace::whole_ns;
use crate::units::duration;

/// A figure, a comparison and a limit. Written as `p99 > 20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As the user wrote it, with single spaces.
    pub text: String,
    /// What is compared.
    pub figure: Figure,
    /// How.
    pub comparison: Comparison,
    /// In ns, calls, percent of all calls, or 1/s, as `unit` says.
    pub limit: f64,
    /// The unit of `limit`.
    pub unit: Unit,
}

/// A threshold of one part of a run: `p99(crud.create) < 50ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// The condition, without the part.
    pub threshold: Threshold,
    /// The scenario, step or check; `None`: the whole run.
    pub of: Option<String>,
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A time.
    Time(Times, Statistic),
    /// A number of calls, or a share of them.
    Count(Count),
    /// A number per second.
    Rate(Rate),
}

/// The times that a run measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The main latency.
    Latency,
    /// In an open loop: from when a call was really sent.
    Service,
    /// In an open loop: from when a call was due to when it was sent.
    SendDelay,
    /// From a call's sending to its first reply.
    FirstMessage,
    /// Between two replies of a stream.
    Gap,
}

/// One number that stands for many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The shortest.
    Min,
    /// The longest.
    Max,
    /// In millionths: p99 is 990,000.
    Percentile(u32),
}

/// Calls that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// They ended well.
    Ok,
    /// They failed, for any reason.
    Failed,
    /// They failed because of a reply.
    Wrong,
    /// They were open at the end.
    Cut,
    /// They were sent.
    Sent,
    /// They were due and never sent.
    Missed,
    /// They were sent late.
    Late,
    /// Of scenarios: conditions of `expect` that held.
    Checks,
    /// Of scenarios: iterations that were due while too many were open.
    Dropped,
    /// Of scenarios: iterations that began.
    Iterations,
}

/// What is counted per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Calls that ended, ok or failed.
    Calls,
    /// Replies.
    Messages,
}

/// How a figure is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// The unit of a figure and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A number of calls.
    Calls,
    /// Of all calls, in percent.
    Percent,
    /// Per second.
    PerSecond,
}

/// Why a text is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ThresholdError {
    /// Something is missing.
    #[error(
        "write a figure, one of > >= < <=, and a limit, such as `p99 > 20ms` or `failed > 0.1%`"
    )]
    Form,
    /// The first part is unknown.
    #[error(
        "there is no figure `{0}`: use p50 (or any other percentile), mean, min or max, also after `first-message`, `gap`, \
         `service` or `send-delay`; or rate, messages, ok, failed, wrong, cut, sent, missed or late"
    )]
    Figure(String),
    /// The last part does not fit the first.
    #[error("`{figure}` needs {wanted}, not `{limit}`")]
    Limit {
        /// The figure.
        figure: String,
        /// What it is compared with.
        wanted: &'static str,
        /// The limit.
        limit: String,
    },
    /// A condition of scenarios.
    #[error("`{0}` is for scenarios: write it into `thresholds` of a scenario file")]
    Scenario(String),
    /// A condition of `volley compare`.
    #[error("a ratio needs two reports: write `p99 ratio > 1.1` in `volley compare`")]
    Ratio,
}

/// The names of times; the main latency has none.
const TIMES: [(&str, Times); 4] = [
    ("first-message", Times::FirstMessage),
    ("gap", Times::Gap),
    ("service", Times::Service),
    ("send-delay", Times::SendDelay),
];

/// `p99`, `>` and `20ms`.
pub(crate) struct Parts<'a> {
    pub name: &'a str,
    pub comparison: Comparison,
    pub limit: &'a str,
}

/// Divides a condition.
pub(crate) fn parts(text: &str) -> Result<Parts<'_>, ThresholdError> {
    let place = text.find(['<', '>']).ok_or(ThresholdError::Form)?;
    let (name, rest) = text.split_at(place);
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
    let split = |(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?));
    let (comparison, limit) = signs
        .into_iter()
        .find_map(split)
        .ok_or(ThresholdError::Form)?;
    let (name, limit) = (name.trim(), limit.trim());
    if name.is_empty() || limit.is_empty() {
        return Err(ThresholdError::Form);
    }
    Ok(Parts {
        name,
        comparison,
        limit,
    })
}

/// A number of at least 0. A comma or an underscore may stand before each group of three digits; `0,1` is none.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_whole = |c: char| c.is_ascii_digit() || matches!(c, ',' | '_');
    let (whole, rest) = text.split_at(text.find(|c| !is_whole(c)).unwrap_or(text.len()));
    let mut groups = whole.split([',', '_']);
    let first = groups.next().unwrap_or_default();
    let is_grouped = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups.all(|group| group.len() == 3);
    if first != whole && !is_grouped {
        return None;
    }
    let number: f64 = (whole.replace([',', '_'], "") + rest).parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let threshold = Self::any(parts(text)?)?;
        if threshold.figure.is_of_scenarios() {
            return Err(ThresholdError::Scenario(threshold.figure.to_string()));
        }
        Ok(threshold)
    }
}

impl FromStr for Selected {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        // A part's name may have any character.
        let Some((name, rest)) = text
            .split_once('(')
            .filter(|(name, _)| !name.contains(['<', '>']))
        else {
            let threshold = Threshold::any(parts(text)?)?;
            return Ok(Self {
                threshold,
                of: None,
            });
        };
        let close = rest.rmatch_indices(')').find_map(|(place, _)| {
            let (of, after) = rest.split_at(place);
            let after = after.strip_prefix(')')?.trim_start();
            after.starts_with(['<', '>']).then_some((of, after))
        });
        let (of, after) = close.ok_or(ThresholdError::Form)?;
        let whole = format!("{name} {after}");
        Ok(Self {
            threshold: Threshold::any(parts(&whole)?)?,
            of: Some(of.trim().to_owned()),
        })
    }
}

impl Threshold {
    /// The threshold that is met if this one is not.
    #[must_use]
    pub fn opposite(&self) -> Self {
        let comparison = self.comparison.opposite();
        let (sign, other) = (self.comparison.sign(), comparison.sign());
        Self {
            text: self
                .text
                .replacen(&format!(" {sign} "), &format!(" {other} "), 1),
            comparison,
            ..self.clone()
        }
    }

    /// A threshold with any figure.
    fn any(parts: Parts<'_>) -> Result<Self, ThresholdError> {
        let Parts {
            name,
            comparison,
            limit: text,
        } = parts;
        if name.split_whitespace().any(|word| word == "ratio") {
            return Err(ThresholdError::Ratio);
        }
        let figure: Figure = name.parse()?;
        let (limit, unit) = figure.limit(text)?;
        Ok(Self {
            text: format!("{figure} {} {text}", comparison.sign()),
            figure,
            comparison,
            limit,
            unit,
        })
    }
}

impl FromStr for Figure {
    type Err = ThresholdError;

    fn from_str(name: &str) -> Result<Self, ThresholdError> {
        let unknown = || ThresholdError::Figure(name.to_owned());
        let words: Vec<&str> = name.split_whitespace().collect();
        match words[..] {
            [statistic] => plain(statistic),
            [times, statistic] => {
                let times = TIMES.iter().find(|(name, _)| *name == times);
                let statistic = statistic.parse().ok();
                times
                    .zip(statistic)
                    .map(|((_, times), statistic)| Self::Time(*times, statistic))
            }
            _ => None,
        }
        .ok_or_else(unknown)
    }
}

fn plain(name: &str) -> Option<Figure> {
    Some(match name {
        "rate" => Figure::Rate(Rate::Calls),
        "messages" => Figure::Rate(Rate::Messages),
        "ok" => Figure::Count(Count::Ok),
        "failed" => Figure::Count(Count::Failed),
        "wrong" => Figure::Count(Count::Wrong),
        "cut" => Figure::Count(Count::Cut),
        "sent" => Figure::Count(Count::Sent),
        "missed" => Figure::Count(Count::Missed),
        "late" => Figure::Count(Count::Late),
        "checks" => Figure::Count(Count::Checks),
        "dropped" => Figure::Count(Count::Dropped),
        "iterations" => Figure::Count(Count::Iterations),
        _ => Figure::Time(Times::Latency, name.parse().ok()?),
    })
}

impl FromStr for Statistic {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "mean" => return Ok(Self::Mean),
            "min" => return Ok(Self::Min),
            "max" => return Ok(Self::Max),
            _ => {}
        }
        let percent: f64 = name.strip_prefix('p').and_then(number).ok_or(())?;
        let ppm = percent * 10_000.0;
        // Nothing finer than a millionth can be told apart.
        let is_rank = ppm > 0.5 && ppm <= 1e6 && (ppm - ppm.round()).abs() < 1e-6;
        is_rank
            .then_some(Self::Percentile(ppm.round() as u32))
            .ok_or(())
    }
}

impl Figure {
    /// Reads a limit for it.
    fn limit(self, text: &str) -> Result<(f64, Unit), ThresholdError> {
        let wrong = |wanted| ThresholdError::Limit {
            figure: self.to_string(),
            wanted,
            limit: text.to_owned(),
        };
        match self {
            Self::Time(..) => match duration::parse(text) {
                Ok(time) => Ok((whole_ns(time) as f64, Unit::Ns)),
                Err(_) => Err(wrong("a time such as 20ms")),
            },
            Self::Count(_) => match text.strip_suffix('%') {
                Some(share) => number(share).map(|share| (share, Unit::Percent)),
                None => number(text).map(|calls| (calls, Unit::Calls)),
            }
            .ok_or_else(|| wrong("a number of calls, or a share such as 0.1%")),
            Self::Rate(_) => number(text)
                .map(|rate| (rate, Unit::PerSecond))
                .ok_or_else(|| wrong("a number per second")),
        }
    }

    /// Whether only scenarios have it.
    fn is_of_scenarios(self) -> bool {
        matches!(
            self,
            Self::Count(Count::Checks | Count::Dropped | Count::Iterations)
        )
    }

    /// Whether only an open loop has it.
    pub(crate) fn is_of_open_loop(self) -> bool {
        matches!(self, Self::Time(Times::Service | Times::SendDelay, _))
    }
}

impl Comparison {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// What holds if this one does not.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
        }
    }

    /// Whether a value is beyond the limit.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

impl Unit {
    /// As JSON names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Calls => "calls",
            Self::Percent => "%",
            Self::PerSecond => "1/s",
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Rate(Rate::Calls) => "rate",
            Self::Rate(Rate::Messages) => "messages",
            Self::Count(Count::Ok) => "ok",
            Self::Count(Count::Failed) => "failed",
            Self::Count(Count::Wrong) => "wrong",
            Self::Count(Count::Cut) => "cut",
            Self::Count(Count::Sent) => "sent",
            Self::Count(Count::Missed) => "missed",
            Self::Count(Count::Late) => "late",
            Self::Count(Count::Checks) => "checks",
            Self::Count(Count::Dropped) => "dropped",
            Self::Count(Count::Iterations) => "iterations",
            Self::Time(times, statistic) => {
                if let Some((name, _)) = TIMES.iter().find(|(_, known)| known == times) {
                    write!(out, "{name} ")?;
                }
                return statistic.fmt(out);
            }
        })
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => out.write_str("mean"),
            Self::Min => out.write_str("min"),
            Self::Max => out.write_str("max"),
            Self::Percentile(ppm) => write!(out, "p{}", f64::from(*ppm) / 10_000.0),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "[<>]", "examples": ["p99 > 20ms", "failed > 0.1%", "rate < 9000"]})
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    fn refusal(text: &str) -> String {
        text.parse::<Threshold>().unwrap_err().to_string()
    }

    #[test]
    fn figures_limits_and_units_are_read() {
        for (text, shown, limit, unit) in [
            ("p99>20ms", "p99 > 20ms", 2e7, Unit::Ns),
            (" p99.95 >= 1.5s ", "p99.95 >= 1.5s", 1.5e9, Unit::Ns),
            ("p100 > 0", "p100 > 0", 0.0, Unit::Ns),
            (
                "first-message  p50 <= 1us",
                "first-message p50 <= 1us",
                1e3,
                Unit::Ns,
            ),
            (
                "send-delay max > 2ms",
                "send-delay max > 2ms",
                2e6,
                Unit::Ns,
            ),
            ("failed > 0.1%", "failed > 0.1%", 0.1, Unit::Percent),
            ("cut > 1_000", "cut > 1_000", 1e3, Unit::Calls),
            ("rate < 9,000", "rate < 9,000", 9e3, Unit::PerSecond),
            (
                "messages < 1,234,567.5",
                "messages < 1,234,567.5",
                1_234_567.5,
                Unit::PerSecond,
            ),
        ] {
            let threshold = read(text);
            assert_eq!(
                (threshold.text.as_str(), threshold.limit, threshold.unit),
                (shown, limit, unit)
            );
            assert_eq!(read(&threshold.text), threshold);
        }
    }

    #[test]
    fn a_threshold_of_scenarios_may_be_about_one_part() {
        for (text, shown, of) in [
            ("p99(crud.create) < 50ms", "p99 < 50ms", Some("crud.create")),
            ("checks( a ) > 99.9%", "checks > 99.9%", Some("a")),
            (
                "first-message p50(GET /a(b)>c) <= 1s",
                "first-message p50 <= 1s",
                Some("GET /a(b)>c"),
            ),
            ("dropped < 0.1%", "dropped < 0.1%", None),
            ("iterations >= 7", "iterations >= 7", None),
        ] {
            let selected: Selected = text.parse().unwrap();
            assert_eq!(
                (selected.threshold.text.as_str(), selected.of.as_deref()),
                (shown, of)
            );
        }
        for text in ["p99(a < 1s", "p99(a) 1s", "p99)a( < 1s", "(a) < 1s"] {
            assert!(text.parse::<Selected>().is_err(), "{text}");
        }
        assert_eq!(
            refusal("checks > 99%"),
            "`checks` is for scenarios: write it into `thresholds` of a scenario file"
        );
    }

    #[test]
    fn the_opposite_holds_if_a_threshold_does_not() {
        for (text, opposite) in [
            ("p99 > 1s", "p99 <= 1s"),
            ("p99 >= 1s", "p99 < 1s"),
            ("p99 < 1s", "p99 >= 1s"),
            ("p99 <= 1s", "p99 > 1s"),
        ] {
            assert_eq!(read(text).opposite(), read(opposite));
            assert_eq!(read(opposite).opposite(), read(text));
        }
    }

    #[test]
    fn what_is_no_threshold_is_refused_with_the_remedy() {
        for text in ["", "p99", "> 20ms", "p99 >", "p99 = 20ms"] {
            assert!(refusal(text).starts_with("write a figure"), "{text}");
        }
        for name in [
            "p0",
            "p101",
            "pNaN",
            "p-1",
            "p99.99999",
            "latency",
            "gap",
            "gap rate",
            "a b c",
            "first-message p",
            "p9,9",
        ] {
            let line = refusal(&format!("{name} > 20ms"));
            assert!(
                line.starts_with(&format!("there is no figure `{name}`")),
                "{line}"
            );
        }
        for (text, words) in [
            ("p99 > 20", "`p99` needs a time such as 20ms, not `20`"),
            ("p99 > 1%", "needs a time"),
            ("failed > 1ms", "needs a number of calls"),
            ("failed > -1", "needs a number of calls"),
            ("rate < 5%", "needs a number per second"),
            ("rate < inf", "needs a number per second"),
            ("failed > 0,1%", "or a share such as 0.1%, not `0,1%`"),
            ("failed > 0,100%", "not `0,100%`"),
            ("rate < 1.500,000", "not `1.500,000`"),
            ("rate < 1000,000", "not `1000,000`"),
            ("rate < ,100", "not `,100`"),
            ("rate < 1,", "not `1,`"),
            ("p99 ratio > 1.1", "in `volley compare`"),
        ] {
            assert!(refusal(text).contains(words), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_rank_of_a_millionth_can_be_asked_for(ppm in 1..=1_000_000_u32) {
            let text = format!("{} > 1s", Statistic::Percentile(ppm));
            prop_assert_eq!(read(&text).figure, Figure::Time(Times::Latency, Statistic::Percentile(ppm)));
        }

        #[test]
        fn any_text_is_answered_in_one_line(text in "\\PC{0,30}|[a-z0-9. ]{0,9}[<>]=?[ 0-9a-z%.]{0,9}") {
            if let Err(error) = text.parse::<Threshold>() {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
