//! A comparison as JSON. Times are in ns, rates per second, shares in percent. The end of an interval that is open, because
//! a figure is only a lower bound, is null (`high`) or 0 (`low`).

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::figures::Row;
use super::run::Run;
use super::{Comparison, Judged};
use crate::report::verdict::Measured;
use crate::report::write_json;

/// It increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct View<'a> {
    schema: u32,
    version: &'static str,
    verdict: String,
    old: RunView<'a>,
    new: RunView<'a>,
    confidence: f64,
    ratios: Vec<RowView<'a>>,
    /// Its change is a difference, in percentage points.
    failed: RowView<'a>,
    thresholds: &'a [Judged],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct RunView<'a> {
    file: &'a Path,
    name: &'a str,
}

#[derive(Serialize)]
struct RowView<'a> {
    figure: &'a str,
    unit: &'static str,
    old: Option<f64>,
    new: Option<f64>,
    /// Which of both are lower bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<&'static str>,
    change: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    verdict: &'static str,
}

/// Writes it as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let view = View {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        verdict: comparison.headline(),
        old: run(&comparison.old),
        new: run(&comparison.new),
        confidence: 0.95,
        ratios: comparison.rows.ratios.iter().map(row).collect(),
        failed: row(&comparison.rows.failed),
        thresholds: &comparison.thresholds,
        warnings: &comparison.warnings,
    };
    write_json(&view, out)
}

fn run(run: &Run) -> RunView<'_> {
    RunView {
        file: &run.path,
        name: &run.name,
    }
}

fn row(row: &Row) -> RowView<'_> {
    let estimate = row.change.estimate;
    let sides = [("old", row.old), ("new", row.new)].into_iter();
    let is_bound = |(_, side): &(_, Option<Measured>)| side.is_some_and(|it| it.is_at_least);
    RowView {
        figure: &row.name,
        unit: row.unit.name(),
        old: row.old.map(|old| old.value),
        new: row.new.map(|new| new.value),
        at_least: sides.filter(is_bound).map(|(name, _)| name).collect(),
        change: estimate.map(|estimate| estimate.value),
        low: estimate.map(|estimate| estimate.low),
        high: estimate.map(|estimate| estimate.high),
        verdict: row.change.verdict().words(),
    }
}
