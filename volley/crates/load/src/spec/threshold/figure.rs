//! What a condition is about: `p99`, `first-message mean`, `failed`, `rate`.

use std::fmt;
use std::str::FromStr;

use volley_base::units::duration;

use super::{ThresholdError, Unit, number};
use crate::pace::whole_ns;

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
    /// Of scenarios: from a request's sending to the first byte of its response.
    FirstByte,
    /// Of scenarios: a request's wait for a connection.
    Blocked,
    /// Of scenarios: from when an iteration was due to its beginning.
    Delay,
    /// Of scenarios: from an iteration's beginning to its end.
    Iteration,
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
    /// Of scenarios: requests that were open at the end.
    Open,
    /// Of scenarios: conditions of `expect` that held.
    Checks,
    /// Of scenarios: iterations that were due while too many were open.
    Dropped,
    /// Of scenarios: iterations that began.
    Iterations,
    /// Of scenarios: iterations that ended well.
    IterationsOk,
    /// Of scenarios: iterations that failed.
    IterationsFailed,
}

/// What is counted per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Calls that ended, ok or failed.
    Calls,
    /// Replies.
    Messages,
}

/// Which runs have a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    Any,
    /// Those of one call, again and again.
    Calls,
    Scenarios,
}

/// So many samples must lie beyond a percentile: of fewer, it is their maximum, or close to it.
pub const BEYOND: u64 = 10;

impl Statistic {
    /// How many samples it needs: 1,000 for p99, 1 for a mean.
    #[must_use]
    pub fn samples_needed(self) -> u64 {
        match self {
            Self::Percentile(rank_ppm @ ..1_000_000) => {
                (BEYOND * 1_000_000).div_ceil(1_000_000 - u64::from(rank_ppm))
            }
            _ => 1,
        }
    }
}

/// The names of times; that of the main latency is empty.
const TIMES: [(&str, Times, Runs); 9] = [
    ("", Times::Latency, Runs::Any),
    ("first-message", Times::FirstMessage, Runs::Calls),
    ("gap", Times::Gap, Runs::Calls),
    ("service", Times::Service, Runs::Any),
    ("send-delay", Times::SendDelay, Runs::Calls),
    ("first-byte", Times::FirstByte, Runs::Scenarios),
    ("blocked", Times::Blocked, Runs::Scenarios),
    ("delay", Times::Delay, Runs::Scenarios),
    ("iteration", Times::Iteration, Runs::Scenarios),
];

/// The names of what is no time.
const PLAIN: [(&str, Figure, Runs); 15] = [
    ("rate", Figure::Rate(Rate::Calls), Runs::Any),
    ("messages", Figure::Rate(Rate::Messages), Runs::Any),
    ("ok", Figure::Count(Count::Ok), Runs::Any),
    ("failed", Figure::Count(Count::Failed), Runs::Any),
    ("wrong", Figure::Count(Count::Wrong), Runs::Any),
    ("cut", Figure::Count(Count::Cut), Runs::Calls),
    ("sent", Figure::Count(Count::Sent), Runs::Any),
    ("missed", Figure::Count(Count::Missed), Runs::Calls),
    ("late", Figure::Count(Count::Late), Runs::Calls),
    ("open", Figure::Count(Count::Open), Runs::Scenarios),
    ("checks", Figure::Count(Count::Checks), Runs::Scenarios),
    ("dropped", Figure::Count(Count::Dropped), Runs::Scenarios),
    (
        "iterations",
        Figure::Count(Count::Iterations),
        Runs::Scenarios,
    ),
    (
        "iterations-ok",
        Figure::Count(Count::IterationsOk),
        Runs::Scenarios,
    ),
    (
        "iterations-failed",
        Figure::Count(Count::IterationsFailed),
        Runs::Scenarios,
    ),
];

impl Runs {
    fn have(self, of: Self) -> bool {
        of == Self::Any || of == self
    }

    /// The figures that these runs have, for a message.
    pub(super) fn known(self) -> String {
        let times = TIMES.iter().skip(1).filter(|(.., of)| self.have(*of));
        let times = either(times.map(|(name, ..)| format!("`{name}`")));
        let plain = PLAIN.iter().filter(|(.., of)| self.have(*of));
        let plain = either(plain.map(|(name, ..)| (*name).to_owned()));
        format!("p50 (or any other percentile), mean, min or max, also after {times}; or {plain}")
    }
}

/// `a, b or c`.
fn either(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}

impl FromStr for Figure {
    type Err = ThresholdError;

    /// Of a run of calls.
    fn from_str(name: &str) -> Result<Self, ThresholdError> {
        Self::read(name, Runs::Calls)
    }
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
        let percentile = Self::Percentile(ppm.round() as u32);
        is_rank.then_some(percentile).ok_or(())
    }
}

impl Figure {
    /// Reads a figure that these runs have.
    pub fn read(name: &str, runs: Runs) -> Result<Self, ThresholdError> {
        let words: Vec<&str> = name.split_whitespace().collect();
        let time = |times: &str, statistic: &str| {
            let (_, times, of) = TIMES.iter().find(|(name, ..)| *name == times)?;
            Some((Self::Time(*times, statistic.parse().ok()?), *of))
        };
        let found = match words[..] {
            [name] => match PLAIN.iter().find(|(known, ..)| *known == name) {
                Some((_, figure, of)) => Some((*figure, *of)),
                None => time("", name),
            },
            [times, statistic] => time(times, statistic),
            _ => None,
        };
        match found {
            Some((figure, of)) if runs.have(of) => Ok(figure),
            Some((figure, Runs::Scenarios)) => Err(ThresholdError::Scenario(figure.to_string())),
            _ => Err(ThresholdError::Figure {
                name: name.to_owned(),
                runs,
            }),
        }
    }

    /// Reads a limit for it.
    pub(super) fn limit(self, text: &str) -> Result<(f64, Unit), ThresholdError> {
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
            Self::Count(count) => {
                let read = match text.strip_suffix('%') {
                    Some(share) => number(share).map(|share| (share, Unit::Percent)),
                    None => number(text).map(|calls| (calls, Unit::Calls)),
                };
                match read {
                    Some((share, Unit::Percent)) if share > 100.0 => {
                        Err(wrong("a share of at most 100%"))
                    }
                    // A few checks are no limit of use: other tools write 99 % so.
                    Some((calls, Unit::Calls))
                        if count == Count::Checks && calls > 0.0 && calls <= 100.0 =>
                    {
                        let percent = if calls > 1.0 { calls } else { calls * 100.0 };
                        Err(ThresholdError::Share {
                            limit: text.to_owned(),
                            share: ((percent * 1e6).round() / 1e6).to_string(),
                        })
                    }
                    Some((calls, Unit::Calls)) if calls.fract() > 0.0 => {
                        Err(wrong("a whole number of calls, or a share such as 0.1%"))
                    }
                    read => read.ok_or_else(|| wrong("a number of calls, or a share such as 0.1%")),
                }
            }
            Self::Rate(_) => match number(text) {
                Some(rate) => Ok((rate, Unit::PerSecond)),
                None => Err(wrong("a number per second")),
            },
        }
    }

    /// Whether it is of whole iterations, so that no step has it.
    pub fn is_of_iterations(self) -> bool {
        matches!(
            self,
            Self::Time(Times::Delay | Times::Iteration, _)
                | Self::Count(
                    Count::Dropped
                        | Count::Iterations
                        | Count::IterationsOk
                        | Count::IterationsFailed
                )
        )
    }

    /// Whether it is known while scenarios run: of the times, the main latency is.
    pub fn is_known_early(self) -> bool {
        matches!(
            self,
            Self::Time(Times::Latency, _) | Self::Count(_) | Self::Rate(_)
        )
    }

    /// Whether only an open loop has it.
    pub fn is_of_open_loop(self) -> bool {
        matches!(self, Self::Time(Times::Service | Times::SendDelay, _))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Time(times, statistic) = self {
            let mut named = TIMES.iter().skip(1);
            if let Some((name, ..)) = named.find(|(_, known, _)| known == times) {
                write!(out, "{name} ")?;
            }
            return statistic.fmt(out);
        }
        let name = PLAIN.iter().find(|(_, known, _)| known == self);
        out.write_str(name.map_or("", |(name, ..)| name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_figure_is_written_as_it_is_read() {
        for (name, figure, runs) in PLAIN {
            assert_eq!(Figure::read(name, runs), Ok(figure));
            assert_eq!(figure.to_string(), name);
        }
    }
}
