//! A sweep as one line of JSON; all durations are whole nanoseconds.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use volley_base::units::timestamp;

use super::{Interval, Point, Sweep};
use crate::measure::Latency;
use crate::report::Checks;
use crate::report::escape::write_json;
use crate::report::json::spread::Spread;

/// The schema's version; it increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

/// Writes the sweep as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(sweep: &Sweep, out: &mut impl Write) -> io::Result<()> {
    write_json(&view(sweep), out)
}

#[derive(Serialize)]
struct View<'a> {
    blast: u32,
    version: &'a str,
    date: String,
    name: &'a str,
    target: &'a str,
    call: &'a str,
    options: &'a serde_json::Value,
    seed: u64,
    repetitions: u32,
    elapsed_s: f64,
    cpu_s: f64,
    cpu_total_s: f64,
    peak_bytes: u64,
    threads: u32,
    reconnects: u64,
    checks: &'a Checks,
    points: &'a [Point],
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct RateView {
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

fn view(sweep: &Sweep) -> View<'_> {
    View {
        blast: SCHEMA,
        version: &sweep.version,
        date: timestamp::to_the_second(sweep.started_unix_ns.saturating_add(sweep.elapsed_ns)),
        name: &sweep.name,
        target: &sweep.target,
        call: &sweep.call,
        options: &sweep.options,
        seed: sweep.seed,
        repetitions: sweep.repetitions,
        elapsed_s: sweep.elapsed_ns as f64 / 1e9,
        cpu_s: sweep.cost.cpu_s,
        cpu_total_s: sweep.cost.cpu_total_s,
        peak_bytes: sweep.cost.peak_bytes,
        threads: sweep.threads,
        reconnects: sweep.reconnects,
        checks: &sweep.checks,
        points: &sweep.points,
        warnings: sweep.warnings.iter().map(ToString::to_string).collect(),
    }
}

/// All are null without a blast.
pub(super) fn rate<S: Serializer>(rate: &Option<Interval>, to: S) -> Result<S::Ok, S::Error> {
    let view = RateView {
        median: rate.map(|rate| rate.median),
        low: rate.map(|rate| rate.low),
        high: rate.map(|rate| rate.high),
    };
    view.serialize(to)
}

pub(super) fn spread<S: Serializer>(latency: &Latency, to: S) -> Result<S::Ok, S::Error> {
    Spread::of(latency).serialize(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::blast::samples;

    #[test]
    fn a_sweep_is_one_line_with_every_figure() {
        let mut out = Vec::new();
        write(&samples::sweep(), &mut out).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert_eq!(line.trim_end().lines().count(), 1);
        let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&line), read(include_str!("samples/sweep.json")));
    }
}
