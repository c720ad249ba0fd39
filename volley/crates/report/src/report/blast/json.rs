//! A sweep as one line of JSON; all durations are whole nanoseconds.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use volley_base::units::timestamp;
use volley_base::view;

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
    write_json(&View::new(sweep), out)
}

view! {
    struct View<'a>(sweep: &'a Sweep) {
        blast: u32 = SCHEMA,
        version: &'a str = &sweep.version,
        date: String =
            timestamp::to_the_second(sweep.started_unix_ns.saturating_add(sweep.elapsed_ns)),
        name: &'a str = &sweep.name,
        target: &'a str = &sweep.target,
        call: &'a str = &sweep.call,
        options: &'a serde_json::Value = &sweep.options,
        seed: u64 = sweep.seed,
        repetitions: u32 = sweep.repetitions,
        elapsed_s: f64 = sweep.elapsed_ns as f64 / 1e9,
        cpu_s: f64 = sweep.cost.cpu_s,
        cpu_total_s: f64 = sweep.cost.cpu_total_s,
        peak_bytes: u64 = sweep.cost.peak_bytes,
        threads: u32 = sweep.threads,
        reconnects: u64 = sweep.reconnects,
        checks: &'a Checks = &sweep.checks,
        points: &'a [Point] = &sweep.points,
        warnings: Vec<String> = sweep.warnings.iter().map(ToString::to_string).collect(),
    }
}

view! {
    struct RateView(rate: Option<Interval>) {
        median: Option<f64> = rate.map(|rate| rate.median),
        low: Option<f64> = rate.map(|rate| rate.low),
        high: Option<f64> = rate.map(|rate| rate.high),
    }
}

/// All are null without a blast.
pub(super) fn rate<S: Serializer>(rate: &Option<Interval>, to: S) -> Result<S::Ok, S::Error> {
    RateView::new(*rate).serialize(to)
}

pub(super) fn spread<S: Serializer>(latency: &Latency, to: S) -> Result<S::Ok, S::Error> {
    Spread::new(latency).serialize(to)
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
