//! Conditions under which a run has failed: `p99 > 20ms`, `failed > 0.1%`, `rate < 9000`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use volley_base::named;

mod figure;
#[cfg(test)]
mod tests;

pub use figure::{BEYOND, Count, Figure, Rate, Runs, Statistic, Times};

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

named! {
    /// The unit of a figure and its limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unit {
        /// Nanoseconds.
        Ns = "ns",
        /// A number of calls.
        Calls = "calls",
        /// Of all calls, in percent.
        Percent = "%",
        /// Per second.
        PerSecond = "1/s",
    }
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
    #[error("there is no figure `{name}`: use {}", runs.known())]
    Figure {
        /// What was written.
        name: String,
        /// The runs that do not have it.
        runs: Runs,
    },
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
    /// A number of checks that is meant as a share of them.
    #[error("`checks` needs a share, not `{limit}`: write `{share}%`")]
    Share {
        /// The limit.
        limit: String,
        /// In percent.
        share: String,
    },
    /// A condition of scenarios.
    #[error("`{0}` is for scenarios: write it into `thresholds` of a scenario file")]
    Scenario(String),
    /// A condition of `volley compare`.
    #[error("a ratio needs two reports: write `p99 ratio > 1.1` in `volley compare`")]
    Ratio,
}

/// `p99`, `>` and `20ms`.
pub struct Parts<'a> {
    pub name: &'a str,
    pub comparison: Comparison,
    pub limit: &'a str,
}

/// Divides a condition.
pub fn parts(text: &str) -> Result<Parts<'_>, ThresholdError> {
    let place = text.find(['<', '>']).ok_or(ThresholdError::Form)?;
    let (name, rest) = text.split_at(place);
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
    let split = |(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?));
    let found = signs.into_iter().find_map(split);
    let (comparison, limit) = found.ok_or(ThresholdError::Form)?;
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
pub fn number(text: &str) -> Option<f64> {
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
        Self::read(parts(text)?, Runs::Calls)
    }
}

impl FromStr for Selected {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        // A part's name may have any character.
        let split = text.split_once('(');
        let split = split.filter(|(name, _)| !name.contains(['<', '>']));
        let Some((name, rest)) = split else {
            return Ok(Self {
                threshold: Threshold::read(parts(text)?, Runs::Scenarios)?,
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
            threshold: Threshold::read(parts(&whole)?, Runs::Scenarios)?,
            of: Some(of.trim().to_owned()),
        })
    }
}

impl fmt::Display for Selected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.threshold.text;
        let figure = text.find(['<', '>']).map(|at| text.split_at(at));
        match (&self.of, figure) {
            (Some(of), Some((figure, rest))) => write!(out, "{}({of}) {rest}", figure.trim_end()),
            _ => out.write_str(text),
        }
    }
}

impl Threshold {
    /// The threshold that is met if this one is not.
    #[must_use]
    pub fn opposite(&self) -> Self {
        let comparison = self.comparison.opposite();
        let signs = [self.comparison, comparison].map(|one| format!(" {} ", one.sign()));
        Self {
            text: self.text.replacen(&signs[0], &signs[1], 1),
            comparison,
            ..self.clone()
        }
    }

    /// A threshold with a figure that these runs have.
    fn read(parts: Parts<'_>, runs: Runs) -> Result<Self, ThresholdError> {
        let Parts {
            name,
            comparison,
            limit: text,
        } = parts;
        if name.split_whitespace().any(|word| word == "ratio") {
            return Err(ThresholdError::Ratio);
        }
        let figure = Figure::read(name, runs)?;
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

    /// Whether values above the limit are beyond it.
    #[must_use]
    pub fn is_from_above(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
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

#[cfg(feature = "docs")]
impl schemars::JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "[<>]", "examples": ["p99 > 20ms", "failed > 0.1%", "rate < 9000"]})
    }
}
