//! A finished search as plain data, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use volley_base::units::numbers::{duration, grouped};
use volley_base::units::timestamp;
use volley_base::view;
use volley_load::pace::whole_ns;
use volley_report::report::{visible, write_json};

use super::search::{Answer, Step, Why};

/// The schema's version; it increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

/// All results of one search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// `--name`; empty if none was given.
    pub name: String,
    /// The target and the method, as the user gave them.
    pub target: String,
    pub call: String,
    /// What 99 % of the calls may take, and the share that may fail.
    pub limit: Duration,
    pub failed: f64,
    pub started_unix_ns: u64,
    /// With all waits.
    pub elapsed: Duration,
    pub answer: Answer,
    /// In the order in which they were made.
    pub steps: Vec<Step>,
}

/// The heads of the columns.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_heads(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "   calls/s      calls       over     failed        p99"
    )
}

/// A window, as soon as it is over.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_step(step: &Step, out: &mut impl Write) -> io::Result<()> {
    let counts = &step.counts;
    let p99 = counts.p99_ns.map_or_else(|| "–".to_owned(), duration);
    let [rate, calls, over, failed] = [
        u64::from(step.order.rate),
        counts.calls,
        counts.over,
        counts.failed,
    ]
    .map(grouped);
    let verdict = if step.kept { "kept" } else { "not kept" };
    let late = if counts.is_late { ", sent late" } else { "" };
    writeln!(
        out,
        "{rate:>10} {calls:>10} {over:>10} {failed:>10} {p99:>10}  {verdict}{late}"
    )
}

/// The same on a line that is drawn again.
pub fn line(step: &Step) -> String {
    let mut text = Vec::new();
    // Memory takes all.
    let _ = write_step(step, &mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// The answer, in one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_answer(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let name = match found.name.as_str() {
        "" => String::new(),
        name => format!("{}: ", visible(name)),
    };
    writeln!(out, "{name}{}", words(found))
}

fn words(found: &Found) -> String {
    let limit = duration(whole_ns(found.limit));
    let whole = |rate: f64| grouped(rate.round() as u64);
    match found.answer {
        Answer::Found { rate, low, high } => {
            let [rate, low, high] = [rate, low, high].map(four_digits).map(whole);
            format!("{rate}/s keeps p99 ≤ {limit} (95 %: {low}–{high})")
        }
        Answer::Below(lowest) => {
            let lowest = grouped(lowest.into());
            format!(
                "< {lowest}/s: the lowest rate that is tried does not keep p99 ≤ {limit}, or too many calls fail"
            )
        }
        Answer::Unknown => {
            format!("nothing is known: the search ended before a window kept p99 ≤ {limit}")
        }
        Answer::AtLeast { rate, why } => {
            let rate = whole(four_digits(rate));
            match why {
                Why::Volley => format!("≥ {rate}/s: volley was the limit"),
                Why::Streams => format!(
                    "≥ {rate}/s: calls waited, as the server allows no more streams on a connection; raise `--connections`"
                ),
                Why::Unbroken => {
                    format!("≥ {rate}/s: no rate that was tried has broken p99 ≤ {limit}")
                }
            }
        }
    }
}

/// No interval is narrower than the fourth digit.
fn four_digits(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.max(1.0).log10().floor() - 3.0).max(1.0);
    (rate / unit).round() * unit
}

/// Writes the search as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(found: &Found, out: &mut impl Write) -> io::Result<()> {
    write_json(&View::new(found), out)
}

view! {
    struct View<'a>(found: &'a Found) {
        find: u32 = SCHEMA,
        version: &'static str = env!("CARGO_PKG_VERSION"),
        date: String = timestamp::to_the_second(found.started_unix_ns.saturating_add(whole_ns(found.elapsed))),
        name: &'a str = &found.name,
        target: &'a str = &found.target,
        call: &'a str = &found.call,
        p99_limit_ns: u64 = whole_ns(found.limit),
        failed_limit: f64 = found.failed,
        elapsed_s: f64 = found.elapsed.as_secs_f64(),
        answer: AnswerView = AnswerView::new(&found.answer),
        steps: Vec<StepView> = found.steps.iter().map(StepView::new).collect(),
    }
}

/// `kind` is `found`, `below`, `at-least` or `unknown`. What does not apply is null.
#[derive(Serialize)]
struct AnswerView {
    kind: &'static str,
    rate: f64,
    low: Option<f64>,
    high: Option<f64>,
    volley_was_the_limit: bool,
}

impl AnswerView {
    fn new(answer: &Answer) -> Self {
        let (kind, rate, low, high) = match *answer {
            Answer::Found { rate, low, high } => ("found", rate, Some(low), Some(high)),
            Answer::Below(rate) => ("below", rate.into(), None, Some(rate.into())),
            Answer::AtLeast { rate, .. } => ("at-least", rate, Some(rate), None),
            Answer::Unknown => ("unknown", 0.0, None, None),
        };
        Self {
            kind,
            rate,
            low,
            high,
            volley_was_the_limit: matches!(
                answer,
                Answer::AtLeast {
                    why: Why::Volley,
                    ..
                }
            ),
        }
    }
}

view! {
    struct StepView(step: &Step) {
        rate: u32 = step.order.rate,
        settle_s: f64 = step.order.settle.as_secs_f64(),
        length_s: f64 = step.order.length.as_secs_f64(),
        calls: u64 = step.counts.calls,
        over: u64 = step.counts.over,
        failed: u64 = step.counts.failed,
        wrong: u64 = step.counts.wrong,
        p99_ns: Option<u64> = step.counts.p99_ns,
        late: bool = step.counts.is_late,
        kept: bool = step.kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Counts, Order};

    fn found(answer: Answer) -> Found {
        let order = Order {
            rate: 6400,
            settle: Duration::from_millis(250),
            length: Duration::from_millis(500),
        };
        let counts = Counts {
            calls: 3266,
            over: 33,
            failed: 1,
            wrong: 0,
            p99_ns: Some(10_100_000),
            is_late: true,
            is_full: false,
        };
        Found {
            name: String::new(),
            target: "l:1".to_owned(),
            call: "p.S/M".to_owned(),
            limit: Duration::from_millis(10),
            failed: 0.001,
            started_unix_ns: 0,
            elapsed: Duration::from_secs(70),
            answer,
            steps: vec![Step {
                order,
                counts,
                kept: false,
            }],
        }
    }

    #[test]
    fn each_answer_is_one_line() {
        let (rate, low, high) = (9_840.4, 9_600.0, 10_096.0);
        let below = "< 100/s: the lowest rate that is tried does not keep p99 ≤ 10.0 ms, or too many calls fail";
        let unbroken = "≥ 9,840/s: no rate that was tried has broken p99 ≤ 10.0 ms";
        for (answer, line) in [
            (
                Answer::Found { rate, low, high },
                "9,840/s keeps p99 ≤ 10.0 ms (95 %: 9,600–10,100)",
            ),
            (Answer::Below(100), below),
            (
                Answer::AtLeast {
                    rate,
                    why: Why::Volley,
                },
                "≥ 9,840/s: volley was the limit",
            ),
            (
                Answer::AtLeast {
                    rate,
                    why: Why::Unbroken,
                },
                unbroken,
            ),
        ] {
            let mut out = Vec::new();
            write_answer(&found(answer), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n"));
        }
    }

    #[test]
    fn a_search_is_one_line_of_json_with_every_window() {
        let mut out = Vec::new();
        write(&found(Answer::Below(100)), &mut out).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (&read["find"], &read["p99_limit_ns"]),
            (&1.into(), &10_000_000.into())
        );
        assert_eq!(read["answer"]["kind"], "below");
        assert_eq!(
            (&read["answer"]["high"], &read["answer"]["low"]),
            (&100.0.into(), &serde_json::Value::Null)
        );
        let step = &read["steps"][0];
        assert_eq!(
            (&step["rate"], &step["over"], &step["kept"]),
            (&6400.into(), &33.into(), &false.into())
        );
    }

    #[test]
    fn a_window_is_one_row() {
        let step = found(Answer::Below(100)).steps[0];
        let row = "     6,400      3,266         33          1    10.1 ms  not kept, sent late";
        assert_eq!(line(&step), row);
    }
}
