//! What ended a load, and what was ordered while it went on.

use serde::{Serialize, Serializer};

use super::model::Report;
use volley_base::named;
use volley_base::units::numbers::grouped;

/// The text of a report shows at most this many orders: the first ones and the last one.
const MOST_ORDERS: usize = 6;

named! {
    /// What ended a load. The last one that is true of any thread counts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum EndedBy {
        /// Nothing yet: it goes on.
        #[default]
        Running = "running",
        /// All iterations began and ended.
        Finished = "finished",
        /// The same, as far as there were rows for them.
        Data = "data",
        /// Its time, or that for open iterations to end.
        Time = "time",
        /// A failure that ends the run: of a step with `on_failure: end_run`, or of a feed.
        Failure = "failure",
        /// A signal.
        Signal = "stopped",
        /// Somebody who watched it.
        Order = "order",
        /// A threshold that had failed for too long: its place in [`Report::thresholds`].
        Threshold(usize) = "threshold",
    }
}

/// An order that the load obeyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When it took effect, since the load began.
    #[serde(rename = "at_s", serialize_with = "in_s")]
    pub at_ns: u64,
    /// `rate`, `users`, `phases`, `weights`, `pause`, `resume` or `stop`.
    pub what: &'static str,
    /// Those of the load that it is about, if there are several loads.
    pub scenarios: Vec<String>,
    /// Such as `0.5/s`.
    pub value: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn in_s<S: Serializer>(ns: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(*ns as f64 / 1e9)
}

impl Report {
    /// Why the load ended, in words.
    #[must_use]
    pub fn ended(&self) -> String {
        match self.facts.ended_by {
            EndedBy::Running => "running".to_owned(),
            EndedBy::Finished => format!("all iterations ended{}", self.failed_iterations()),
            EndedBy::Data => format!(
                "{}{}",
                self.facts.ran_out.join(", "),
                self.failed_iterations()
            ),
            EndedBy::Time => "not all iterations ended".to_owned(),
            EndedBy::Failure => "ended by a failure".to_owned(),
            EndedBy::Signal => "stopped".to_owned(),
            EndedBy::Order => "stopped by order".to_owned(),
            EndedBy::Threshold(place) => match self.thresholds.get(place) {
                Some(verdict) => format!("ended by a failed threshold: {}", verdict.threshold),
                None => "ended by a failed threshold".to_owned(),
            },
        }
    }

    /// What a run that came to its end has in common with no good one.
    fn failed_iterations(&self) -> String {
        let counts = self.iterations();
        match counts.failed {
            0 => String::new(),
            failed if failed == counts.begun => format!(", all {} failed", grouped(failed)),
            failed => format!(", {} of {} failed", grouped(failed), grouped(counts.begun)),
        }
    }

    /// Whether a threshold ended the load.
    #[must_use]
    pub fn is_aborted_by(&self, threshold: usize) -> bool {
        self.facts.ended_by == EndedBy::Threshold(threshold)
    }

    /// What was ordered, as text: `pause at 0.53 s, rate of crud 0.5/s at 1.05 s`.
    #[must_use]
    pub fn orders(&self) -> Option<String> {
        let events = &self.facts.events;
        let shown = |event: &Event| {
            let of = match &event.scenarios[..] {
                [] => String::new(),
                scenarios => format!(" of {}", scenarios.join(" and ")),
            };
            let value = event.value.as_ref();
            let value = value.map_or(String::new(), |value| format!(" {value}"));
            let at_s = event.at_ns as f64 / 1e9;
            format!("{}{of}{value} at {at_s:.2} s", event.what)
        };
        let (last, others) = events.split_last()?;
        let mut words: Vec<String> = others.iter().take(MOST_ORDERS - 1).map(shown).collect();
        let more = others.len() - words.len();
        words.extend((more > 0).then(|| format!("{more} more")));
        words.push(shown(last));
        Some(words.join(", "))
    }
}

/// Millionths as an exact decimal: `0.5`.
#[must_use]
pub fn decimal(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn of_many_orders_the_first_ones_and_the_last_one_are_shown() {
        let mut report = samples::shop();
        let event = |second: u64| Event {
            at_ns: second * 1_000_000_000,
            what: if second == 9 { "stop" } else { "phases" },
            scenarios: Vec::new(),
            value: None,
        };
        report.facts.events = (1..=9).map(event).collect();
        let text = report.orders().unwrap();
        assert!(
            text.starts_with("phases at 1.00 s, phases at 2.00 s, "),
            "{text}"
        );
        assert!(
            text.ends_with(", phases at 5.00 s, 3 more, stop at 9.00 s"),
            "{text}"
        );
    }

    #[test]
    fn millionths_are_written_without_needless_digits() {
        let all = [0, 1, 500_000, 1_000_000, 90_000_000, 5_250_000].map(decimal);
        assert_eq!(all, ["0", "0.000001", "0.5", "1", "90", "5.25"]);
    }
}
