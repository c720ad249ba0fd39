//! A sweep as a table for people: one block for each way.

use std::io::{self, Write};

use volley_base::units::numbers::{duration, grouped, rate};

use super::{Point, Sweep, failing_from, full_at, largest_fired};
use crate::measure::latency::shown;
use crate::report::escape::visible;

/// How many error texts are shown.
const MOST_ERRORS: usize = 10;

/// Fewer blasts than this cannot give an interval of 95 % confidence.
const LEAST_FOR_AN_INTERVAL: usize = 6;

const HEADS: [&str; 7] = ["requests", "calls/s", "low", "high", "p50", "p99", "max"];

/// Writes a heading, a table for each way, and the errors, most frequent first.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(sweep: &Sweep, out: &mut impl Write) -> io::Result<()> {
    let name = match sweep.name.as_str() {
        "" => String::new(),
        name => format!("{}: ", visible(name)),
    };
    let (call, target) = (visible(&sweep.call), visible(&sweep.target));
    writeln!(out, "{name}{call} at {target}")?;
    let shots = sweep.points.iter().map(|point| point.shots.len() as u64);
    let planned = sweep.points.len() as u64 * u64::from(sweep.repetitions);
    let [fired, planned] = [shots.sum(), planned].map(grouped);
    let (elapsed, seed) = (duration(sweep.elapsed_ns), sweep.seed);
    let low_and_high = meaning_of_low_and_high(sweep);
    writeln!(
        out,
        "{fired} of {planned} blasts in {elapsed}, seed {seed}; calls/s is the median, low and high are {low_and_high}"
    )?;
    for way in sweep.ways() {
        writeln!(out)?;
        write_way(way, out)?;
    }
    write_errors(sweep, out)
}

fn meaning_of_low_and_high(sweep: &Sweep) -> &'static str {
    let fewest = sweep.points.iter().map(|point| point.shots.len()).min();
    match fewest.unwrap_or(0) < LEAST_FOR_AN_INTERVAL {
        true => "its 95 % confidence interval (of fewer than 6 blasts: the extremes)",
        false => "its 95 % confidence interval",
    }
}

fn write_way(way: &[Point], out: &mut impl Write) -> io::Result<()> {
    let connections = way.first().map_or(0, |point| point.connections);
    match connections {
        1 => writeln!(out, "1 connection")?,
        most => writeln!(out, "up to {} connections", grouped(most.into()))?,
    }
    let rows: Vec<_> = way.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(HEADS[column].len())
    };
    let widths: [usize; HEADS.len()] = std::array::from_fn(width);
    write_row(&HEADS, &widths, "failed", out)?;
    for (row, point) in rows.iter().zip(way) {
        let cells = row.each_ref().map(String::as_str);
        write_row(&cells, &widths, &failed(point), out)?;
    }
    let full = match full_at(way) {
        Some(requests) => format!("throughput stops growing at {}", grouped(requests.into())),
        None => match largest_fired(way).filter(|_| way.iter().any(|point| point.ok > 0)) {
            Some(requests) => format!("throughput still grows at {}", grouped(requests.into())),
            None => "no call succeeded".to_owned(),
        },
    };
    let failing = match failing_from(way) {
        Some(requests) => format!("calls fail from {} on", grouped(requests.into())),
        None => "no call failed".to_owned(),
    };
    writeln!(out, "  {full}; {failing}")
}

fn write_row(
    cells: &[&str; HEADS.len()],
    widths: &[usize; HEADS.len()],
    failed: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, " ")?;
    for (cell, width) in cells.iter().zip(widths) {
        write!(out, " {cell:>width$} ")?;
    }
    writeln!(out, " {failed}")
}

fn row(point: &Point) -> [String; HEADS.len()] {
    let told = |per_s: Option<f64>| per_s.map_or_else(|| "–".to_owned(), rate);
    let latency = &point.latency;
    [
        grouped(point.requests.into()),
        told(point.rate.map(|rate| rate.median)),
        told(point.rate.map(|rate| rate.low)),
        told(point.rate.map(|rate| rate.high)),
        shown(latency.at(500_000)),
        shown(latency.at(990_000)),
        shown(latency.longest()),
    ]
}

/// `0`, or the number of calls of each status.
fn failed(point: &Point) -> String {
    if point.failed.is_empty() {
        let number = if point.shots.is_empty() { "–" } else { "0" };
        return number.to_owned();
    }
    let statuses = point.failed.iter();
    let statuses = statuses.map(|(status, count)| format!("{} {status}", grouped(*count)));
    statuses.collect::<Vec<_>>().join(", ")
}

fn write_errors(sweep: &Sweep, out: &mut impl Write) -> io::Result<()> {
    if sweep.errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nErrors:")?;
    let mut errors: Vec<_> = sweep.errors.iter().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (text, count) in errors.into_iter().take(MOST_ERRORS) {
        writeln!(out, "  {} × {}", grouped(*count), visible(text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::blast::samples;
    use crate::report::samples::written_by;

    fn written(sweep: &Sweep) -> String {
        written_by(sweep, write)
    }

    #[test]
    fn each_way_is_a_table() {
        assert_eq!(
            written(&samples::sweep()),
            include_str!("samples/sweep.txt")
        );
    }

    #[test]
    fn a_way_whose_every_call_failed_says_so() {
        let mut sweep = samples::sweep();
        sweep.points = vec![samples::point(1, 5, 0.0)];
        sweep.points[0].failed.insert("Unavailable", 5);
        let text = written(&sweep);
        let end = "  no call succeeded; calls fail from 5 on\n";
        assert!(text.contains(end), "{text}");
    }
}
