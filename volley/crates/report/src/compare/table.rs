//! A comparison as a table: for a terminal, or in Markdown.

use std::io::{self, Write};
use std::path::Path;

use volley_base::units::numbers::{at_least, duration, rate};
use volley_load::spec::threshold::Unit;

use super::figures::Row;
use super::{Comparison, Judged};
use crate::report::verdict::Measured;
use crate::report::visible;

const ABOUT: &str = "Ratios are new over old, with 95 % intervals from the seconds of these two runs; what changes from start to \
                     start is not in them. That of failed is a difference.";

/// Writes a table for people.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}\n", comparison.headline())?;
    let head = ["", "old", "new", "ratio", "95 % interval", "verdict"].map(str::to_owned);
    let rows = std::iter::once(head).chain(comparison.rows.all().map(cells));
    let rows: Vec<[String; 6]> = rows.collect();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let width = cells.map(|cell| cell.chars().count()).max();
            let width = width.unwrap_or_default();
            line += &match column {
                0 => format!("{cell:width$}"),
                5 => format!("  {cell}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    let [old, new] = [&comparison.old, &comparison.new].map(|run| name(&run.path));
    writeln!(out, "\nold: {old}\nnew: {new}")?;
    let shown = comparison.thresholds.iter();
    for judged in shown.filter(|judged| !judged.is_met()) {
        writeln!(out, "{}: {}", judged.result(), judged.line())?;
    }
    writeln!(out, "{ABOUT}")
}

/// Writes the same in Markdown, with all conditions and warnings: a comment on a pull request.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_markdown(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "**{}**\n", comparison.headline())?;
    writeln!(out, "| | old | new | ratio | 95 % interval | verdict |")?;
    writeln!(out, "|---|---:|---:|---:|---:|---|")?;
    for row in comparison.rows.all() {
        writeln!(out, "| {} |", cells(row).join(" | "))?;
    }
    let [old, new] = [&comparison.old, &comparison.new].map(|run| code(&run.path));
    writeln!(out, "\nold: {old}, new: {new}. {ABOUT}")?;
    list(out, comparison.thresholds.iter().map(condition))?;
    let warnings = comparison.warnings.iter();
    let warnings = warnings.map(|warning| format!("warning: {}", plain(warning)));
    list(out, warnings)
}

fn list(out: &mut impl Write, lines: impl Iterator<Item = String>) -> io::Result<()> {
    for (place, line) in lines.enumerate() {
        let gap = if place == 0 { "\n" } else { "" };
        writeln!(out, "{gap}- {line}")?;
    }
    Ok(())
}

fn condition(judged: &Judged) -> String {
    let mark = if judged.is_met() { "**" } else { "" };
    format!("{mark}{}{mark}: {}", judged.result(), judged.line())
}

fn cells(row: &Row) -> [String; 6] {
    let decimals = |value: f64| match row.unit {
        Unit::Percent => format!("{value:+.3}"),
        _ => format!("{value:.3}"),
    };
    let [ratio, interval] = match row.change.estimate {
        None => ["–".to_owned(), "–".to_owned()],
        Some(estimate) => estimate.words(decimals),
    };
    [
        row.name.clone(),
        shown(row.old, row.unit),
        shown(row.new, row.unit),
        ratio,
        interval,
        row.change.verdict().name().to_owned(),
    ]
}

fn shown(measured: Option<Measured>, unit: Unit) -> String {
    let Some(Measured {
        value, is_at_least, ..
    }) = measured
    else {
        return "–".to_owned();
    };
    match unit {
        Unit::Ns => at_least(&duration(value as u64), is_at_least),
        Unit::Percent => format!("{value:.3} %"),
        _ => format!("{}/s", rate(value)),
    }
}

fn name(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

fn code(path: &Path) -> String {
    format!("`{}`", name(path).replace('`', "'"))
}

/// Without markup. Warnings quote servers.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        if matches!(
            character,
            '<' | '>' | '[' | ']' | '*' | '_' | '@' | '#' | '|' | '\\' | '!' | '`' | '&' | '~'
        ) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
