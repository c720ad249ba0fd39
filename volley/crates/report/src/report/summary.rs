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
    let width = widest(statuses.iter().map(|(status, _)| status.len()));
    for (status, count) in statuses {
        let gap = width - status.len();
        writeln!(out, "  [{status}]{:gap$}   {count} responses", "")?;
    }

    let errors = ghz::errors(report).into_iter();
    let errors: Vec<_> = errors
        .map(|(text, count)| (text, count.to_string()))
        .collect();
    if !errors.is_empty() {
        writeln!(out, "\nError distribution:")?;
    }
    let width = widest(errors.iter().map(|(_, count)| count.len()));
    for (text, count) in errors {
        let gap = width - count.len();
        writeln!(out, "  [{count}]{:gap$}   {}", "", visible(&text))?;
    }
    writeln!(out)
}

/// One line per bar: its end in ms, its calls, and a bar of at most 40 marks.
fn write_bars(bars: &[Bar], out: &mut impl Write) -> io::Result<()> {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or_default();
    let most = u128::from(most.max(1));
    let mark = |bar: &Bar| format!("{:.3}", bar.up_to_ns as f64 / 1e6);
    let mark_width = widest(bars.iter().map(|bar| mark(bar).len()));
    let count_width = widest(bars.iter().map(|bar| bar.count.to_string().len()));
    for bar in bars {
        let (mark, count) = (mark(bar), bar.count.to_string());
        let length = (u128::from(bar.count) * u128::from(BAR_LONGEST) + most / 2) / most;
        let (gap, marks) = (count_width - count.len(), "∎".repeat(length as usize));
        writeln!(out, "  {mark:mark_width$} [{count}]{:gap$} |{marks}", "")?;
    }
    Ok(())
}

fn widest(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.max().unwrap_or_default()
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
