//! The text summary, in ghz's sections.
//!
//! Readers of ghz's summary refuse any additional line, so volley's own facts are printed
//! separately: see [`own_section`](super::own_section).

use std::io::{self, Write};

use volley_base::units::numbers::ghz_duration;

use super::escape::visible;
use super::ghz;
use super::model::Report;
use crate::measure::Bar;

const BAR_LONGEST: u64 = 40;

/// Writes ghz's summary. Count is ok + failed + cut; Requests/sec leaves out the cut calls.
/// Average, Slowest, Fastest and percentiles cover the same calls: OK ones, unless
/// `--count-errors`. If there are none, the first three are `-`.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let latency = &report.latency;
    writeln!(out, "\nSummary:")?;
    if !report.name.is_empty() {
        writeln!(out, "  Name:\t\t{}", visible(&report.name))?;
    }
    writeln!(out, "  Count:\t{}", report.calls.count())?;
    writeln!(out, "  Total:\t{}", ghz_duration(report.elapsed_ns.max(1)))?;
    for (name, ns) in [
        ("Slowest", latency.max_ns),
        ("Fastest", latency.min_ns),
        ("Average", latency.mean_ns),
    ] {
        let time = (latency.samples > 0).then(|| ghz_duration(ns));
        writeln!(out, "  {name}:\t{}", time.as_deref().unwrap_or("-"))?;
    }
    writeln!(out, "  Requests/sec:\t{:.2}", report.calls_per_s())?;

    writeln!(out, "\nResponse time histogram:")?;
    write_bars(&latency.bars, out)?;

    writeln!(out, "\nLatency distribution:")?;
    for (percent, ns) in ghz::percentiles(report) {
        writeln!(out, "  {percent} % in {}", ghz_duration(ns))?;
    }

    let statuses = ghz::statuses(report);
    if !statuses.is_empty() {
        writeln!(out, "\nStatus code distribution:")?;
    }
    let width = statuses
        .iter()
        .map(|(status, _)| status.len())
        .max()
        .unwrap_or_default();
    for (status, count) in statuses {
        let gap = width - status.len();
        writeln!(out, "  [{status}]{:gap$}   {count} responses", "")?;
    }

    let errors = ghz::errors(report);
    if !errors.is_empty() {
        writeln!(out, "\nError distribution:")?;
    }
    let width = errors
        .iter()
        .map(|(_, count)| count.to_string().len())
        .max()
        .unwrap_or_default();
    for (text, count) in errors {
        let count = count.to_string();
        let gap = width - count.len();
        writeln!(out, "  [{count}]{:gap$}   {}", "", visible(&text))?;
    }
    writeln!(out)
}

/// One line per bar: its end in ms, its calls, and a bar of at most 40 marks.
fn write_bars(bars: &[Bar], out: &mut impl Write) -> io::Result<()> {
    let most = bars
        .iter()
        .map(|bar| bar.count)
        .max()
        .unwrap_or_default()
        .max(1);
    let rows: Vec<_> = bars
        .iter()
        .map(|bar| {
            (
                format!("{:.3}", bar.up_to_ns as f64 / 1e6),
                bar.count.to_string(),
                bar.count,
            )
        })
        .collect();
    let mark_width = rows
        .iter()
        .map(|(mark, ..)| mark.len())
        .max()
        .unwrap_or_default();
    let count_width = rows
        .iter()
        .map(|(_, count, _)| count.len())
        .max()
        .unwrap_or_default();
    for (mark, count, calls) in rows {
        let length =
            (u128::from(calls) * u128::from(BAR_LONGEST) + u128::from(most) / 2) / u128::from(most);
        let gap = count_width - count.len();
        writeln!(
            out,
            "  {mark:mark_width$} [{count}]{:gap$} |{}",
            "",
            "∎".repeat(length as usize)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, written_by};

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn a_run_with_cut_and_failed_calls_reads_as_ghz_prints_it() {
        assert_eq!(
            written(&samples::stream()),
            include_str!("samples/stream.txt")
        );
    }

    #[test]
    fn a_run_without_calls_has_empty_sections() {
        assert_eq!(
            written(&samples::no_calls()),
            include_str!("samples/no_calls.txt")
        );
    }

    #[test]
    fn a_hostile_server_cannot_forge_a_line() {
        let report = samples::hostile();
        let text = written(&report);
        let lines = 8 + 1 + 2 + 11 + 2 + 7 + 2 + 4 + 2 + (report.errors.len() + 1) + 1;
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(
            text.chars()
                .all(|character| character == '\n' || character == '\t' || !character.is_control())
        );
    }
}
