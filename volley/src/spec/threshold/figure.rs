//! What a condition is about: `p99`, `first-message mean`, `failed`, `rate`.

use std::fmt;
use std::str::FromStr;

use super::{ThresholdError, Unit, number};
use crate::pace::whole_ns;
use crate::units::duration;

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

/// The names of times; the main latency has none.
const TIMES: [(&str, Times); 4] = [
    ("first-message", Times::FirstMessage),
    ("gap", Times::Gap),
    ("service", Times::Service),
    ("send-delay", Times::SendDelay),
];

/// The names of what is no time.
const PLAIN: [(&str, Figure); 12] = [
    ("rate", Figure::Rate(Rate::Calls)),
    ("messages", Figure::Rate(Rate::Messages)),
    ("ok", Figure::Count(Count::Ok)),
    ("failed", Figure::Count(Count::Failed)),
    ("wrong", Figure::Count(Count::Wrong)),
    ("cut", Figure::Count(Count::Cut)),
    ("sent", Figure::Count(Count::Sent)),
    ("missed", Figure::Count(Count::Missed)),
    ("late", Figure::Count(Count::Late)),
    ("checks", Figure::Count(Count::Checks)),
    ("dropped", Figure::Count(Count::Dropped)),
    ("iterations", Figure::Count(Count::Iterations)),
];

impl FromStr for Figure {
    type Err = ThresholdError;

    fn from_str(name: &str) -> Result<Self, ThresholdError> {
        let unknown = || ThresholdError::Figure(name.to_owned());
        let words: Vec<&str> = name.split_whitespace().collect();
        match words[..] {
            [name] => match PLAIN.iter().find(|(known, _)| *known == name) {
                Some((_, figure)) => Some(*figure),
                None => name
                    .parse()
                    .ok()
                    .map(|statistic| Self::Time(Times::Latency, statistic)),
            },
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
    pub(super) fn is_of_scenarios(self) -> bool {
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

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Time(times, statistic) = self {
            if let Some((name, _)) = TIMES.iter().find(|(_, known)| known == times) {
                write!(out, "{name} ")?;
            }
            return statistic.fmt(out);
        }
        let name = PLAIN.iter().find(|(_, known)| known == self);
        out.write_str(name.map_or("", |(name, _)| name))
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
        for (name, figure) in PLAIN {
            assert_eq!(name.parse(), Ok(figure));
            assert_eq!(figure.to_string(), name);
        }
    }
}
