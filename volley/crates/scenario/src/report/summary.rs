//! A run as text for people.

use std::io::{self, Write};

use super::super::plan::FAILS_IF;
use super::model::{Facts, FailureReport, Report, ScenarioReport};
use volley_base::units::numbers::{counted, duration, grouped, megabytes, rate};
use volley_report::measure::{Latency, LatencyKind};
use volley_report::report::{Verdict, visible};

/// Writes a title, the load, a line per step, what failed, the checks, and the thresholds.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let facts = &report.facts;
    let name = visible(&facts.name);
    writeln!(
        out,
        "{name}: {}, {}",
        duration(facts.elapsed_ns),
        visible(&report.ended())
    )?;
    let lines = |word, lines: &[String]| -> Vec<String> {
        let line = |line: &String| format!("  {word}: {}", visible(line));
        lines.iter().map(line).collect()
    };
    for line in [lines("Target", &facts.targets), lines("Load", &facts.load)].concat() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "  Latency: {}", latency(report))?;
    section("Iterations", &load(report), &[0], out)?;
    section("Requests", &steps(report), &[0], out)?;
    section("Failed", &failures(report), &[0, 2, 3], out)?;
    section("Checks", &checks(report), &[0, 1], out)?;
    writeln!(out)?;
    if let Some(orders) = report.orders() {
        writeln!(out, "  Orders: {}", visible(&orders))?;
    }
    writeln!(out, "  Own cost: {}", own_cost(report))?;
    for (place, verdict) in report.thresholds.iter().enumerate() {
        let word = if verdict.failed { "Failed" } else { "Passed" };
        writeln!(out, "  {word}: {}", threshold(report, place, verdict))?;
    }
    Ok(())
}

/// What its latencies are.
pub(super) fn latency(report: &Report) -> String {
    let from = match report.latency.kind {
        LatencyKind::Response => {
            "of an iteration and its first request, from when they were due; of later ones, from the sending"
        }
        LatencyKind::Service => "from the sending",
    };
    format!("{} ({from})", report.latency.kind.name())
}

/// What volley itself took.
pub(super) fn own_cost(report: &Report) -> String {
    let Facts { cost, threads, .. } = &report.facts;
    format!(
        "{:.2} s of CPU ({} per request), {} peak memory, {}",
        cost.cpu_s,
        duration((cost.cpu_s * 1e9 / report.requests().ended().max(1) as f64) as u64),
        megabytes(cost.peak_bytes),
        counted((*threads).into(), "thread"),
    )
}

/// Writes a line for each threshold that failed. They go to stderr with every format.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_failed(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for (place, verdict) in report.thresholds.iter().enumerate() {
        if verdict.failed {
            writeln!(out, "failed: {}", threshold(report, place, verdict))?;
        }
    }
    Ok(())
}

/// Writes a line for each thing that the reader must know. They go to stderr with every format.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_warnings(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for warning in &report.facts.warnings {
        writeln!(out, "warning: {}", visible(warning))?;
    }
    Ok(())
}

/// A threshold, and what its figure was.
pub(super) fn threshold(report: &Report, place: usize, verdict: &Verdict) -> String {
    let aborted = match report.is_aborted_by(place) {
        true => ", which ended the load",
        false => "",
    };
    let condition = match verdict.threshold.starts_with(FAILS_IF) {
        true => verdict.threshold.clone(),
        false => format!("`{}`", verdict.threshold),
    };
    visible(&format!(
        "{} is {} ({condition}){aborted}",
        verdict.figure,
        verdict.shown(),
    ))
    .into_owned()
}

/// What was due, and what became of it.
fn load(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![words(&[
        "scenario", "due", "begun", "dropped", "ok", "failed", "open", "p50", "p99",
    ])];
    let has_unfed = report.iterations().unfed + report.iterations().cut_short > 0;
    rows.extend(report.scenarios.iter().map(|one| iterations(one, at)));
    if has_unfed && let Some(head) = rows.first_mut() {
        head.push("no data".to_owned());
        for (row, one) in rows.iter_mut().skip(1).zip(&report.scenarios) {
            row.push(grouped(one.counts.unfed + one.counts.cut_short));
        }
    }
    rows
}

/// What became of a scenario's iterations. `at` writes a percentile.
pub(super) fn iterations(
    one: &ScenarioReport,
    at: impl Fn(&Latency, u32) -> String,
) -> Vec<String> {
    let counts = &one.counts;
    let numbers = [
        counts.due(),
        counts.begun,
        counts.dropped,
        counts.ok,
        counts.failed,
        counts.open,
    ];
    let mut row = vec![one.name.clone()];
    row.extend(numbers.map(grouped));
    row.extend([500_000, 990_000].map(|rank_ppm| at(&one.duration, rank_ppm)));
    row
}

fn steps(report: &Report) -> Vec<Vec<String>> {
    let heads = [
        "step", "sent", "unsent", "ok", "failed", "open", "replies", "rate/s", "p50", "p95", "p99",
        "max",
    ];
    let (heads, mut rows) = requests(report, &heads, at);
    rows.insert(0, words(&heads));
    rows
}

/// What became of each step's requests: the heads of the columns that there are, and rows. `at` writes a percentile.
pub(super) fn requests<'a>(
    report: &Report,
    heads: &[&'a str],
    at: impl Fn(&Latency, u32) -> String,
) -> (Vec<&'a str>, Vec<Vec<String>>) {
    let has_unsent = report.shown_steps().any(|step| step.counts.unsent > 0);
    let has_replies = report.has_replies();
    let heads = heads.iter().copied();
    let heads = heads.filter(|head| match *head {
        "unsent" | "Unsent" => has_unsent,
        "replies" | "Replies" => has_replies,
        _ => true,
    });
    let rows = report.shown_steps().map(|step| {
        let counts = &step.counts;
        let mut row = vec![step.names.label(), grouped(counts.sent)];
        row.extend(has_unsent.then(|| grouped(counts.unsent)));
        row.extend([counts.ok, counts.failed, counts.open].map(grouped));
        row.extend(has_replies.then(|| grouped(counts.replies)));
        row.push(rate(report.per_s(counts.ended())));
        let ranks = [500_000, 950_000, 990_000, 1_000_000];
        row.extend(ranks.map(|rank_ppm| at(&step.latency, rank_ppm)));
        row
    });
    (heads.collect(), rows.collect())
}

fn failures(report: &Report) -> Vec<Vec<String>> {
    let row = |(label, failure): (String, &FailureReport)| {
        let sample = match &failure.samples[..] {
            [] => String::new(),
            [only] => only.clone(),
            [first, ..] => format!("{first}, and others"),
        };
        vec![label, grouped(failure.count), failure.name.clone(), sample]
    };
    report.failures().map(row).collect()
}

fn checks(report: &Report) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for step in report.shown_steps() {
        for check in &step.checks {
            rows.push(vec![
                step.names.label(),
                check.name.clone(),
                format!("{} passed", grouped(check.passed)),
                format!("{} failed", grouped(check.failed)),
            ]);
        }
    }
    rows
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A percentile as text; `-` stands for one that nothing took.
fn at(latency: &Latency, rank_ppm: u32) -> String {
    let found = latency.percentile(rank_ppm);
    found.map_or_else(|| "-".to_owned(), |found| found.to_string())
}

fn section(
    title: &str,
    rows: &[Vec<String>],
    left: &[usize],
    out: &mut impl Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    write!(out, "\n  {title}:")?;
    table(rows, left, out)
}

/// Columns as wide as their cells; those in `left` are aligned left.
fn table(rows: &[Vec<String>], left: &[usize], out: &mut impl Write) -> io::Result<()> {
    let rows = rows
        .iter()
        .map(|row| row.iter().map(|cell| visible(cell)).collect());
    let rows: Vec<Vec<_>> = rows.collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let lengths = cells.map(|cell| cell.chars().count());
        lengths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    writeln!(out)?;
    for row in &rows {
        let mut line = " ".to_owned();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { " " } else { "   " };
            line += &if left.contains(&column) {
                format!("{gap}{cell:<width$}")
            } else {
                format!("{gap}{cell:>width$}")
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::testkit::output::written_by;

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn a_run_reads_as_expected() {
        samples::assert_golden("shop.txt", &written(&samples::shop()));
    }

    #[test]
    fn thresholds_that_failed_and_warnings_are_lines_of_their_own() {
        let mut out = Vec::new();
        write_failed(&samples::shop(), &mut out).unwrap();
        write_warnings(&samples::shop(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "failed: p99(crud.create) is 61.0 ms (`p99(crud.create) < 50ms`)\nwarning: the clock jumped\n"
        );
    }

    #[test]
    fn a_run_of_nothing_has_its_tables_all_the_same() {
        let text = written(&samples::nothing());
        assert!(
            text.contains(
                "crud.create       0    0        0      0     0.00     -     -     -     -"
            ),
            "{text}"
        );
        assert!(!text.contains("Failed"), "{text}");
    }

    #[test]
    fn a_hostile_server_or_file_cannot_forge_a_line() {
        let text = written(&samples::hostile());
        assert_eq!(
            text.lines().count(),
            written(&samples::shop()).lines().count(),
            "{text}"
        );
        assert!(
            text.chars()
                .all(|character| character == '\n' || !character.is_control()),
            "{text}"
        );
    }

    #[test]
    fn a_failure_says_that_others_of_its_kind_have_other_words() {
        let mut report = samples::shop();
        let failures = report.steps.iter_mut().flat_map(|step| &mut step.failures);
        for failure in failures {
            failure.samples = ["it took 2 s", "it took 3 s"].map(str::to_owned).into();
        }
        let text = written(&report);
        assert!(text.contains("   it took 2 s, and others\n"), "{text}");
        assert!(!text.contains("it took 3 s"), "{text}");
    }
}
