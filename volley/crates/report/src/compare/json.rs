//! A comparison as JSON. Times are in ns, rates per second, shares in percent. The end of an interval that is open, because
//! a figure is only a lower bound, is null (`high`) or 0 (`low`).

use std::io::{self, Write};
use std::path::Path;

use volley_base::view;

use super::figures::Row;
use super::run::Run;
use super::{Comparison, Judged};
use crate::report::write_json;

/// It increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

view! {
    struct View<'a>(comparison: &'a Comparison) {
        schema: u32 = SCHEMA,
        version: &'static str = env!("CARGO_PKG_VERSION"),
        verdict: String = comparison.headline(),
        old: RunView<'a> = RunView::new(&comparison.old),
        new: RunView<'a> = RunView::new(&comparison.new),
        confidence: f64 = 0.95,
        ratios: Vec<RowView<'a>> = comparison.rows.ratios.iter().map(RowView::new).collect(),
        /// Its change is a difference, in percentage points.
        failed: RowView<'a> = RowView::new(&comparison.rows.failed),
        thresholds: &'a [Judged] = &comparison.thresholds,
        warnings: &'a [String] = &comparison.warnings,
    }
}

view! {
    struct RunView<'a>(run: &'a Run) {
        file: &'a Path = &run.path,
        name: &'a str = &run.name,
    }
}

view! {
    struct RowView<'a>(row: &'a Row) {
        figure: &'a str = &row.name,
        unit: &'static str = row.unit.name(),
        old: Option<f64> = row.old.map(|old| old.value),
        new: Option<f64> = row.new.map(|new| new.value),
        /// Which of both are lower bounds.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        at_least: Vec<&'static str> = {
            let sides = [("old", row.old), ("new", row.new)].into_iter();
            let bounds = sides.filter(|(_, side)| side.is_some_and(|it| it.is_at_least));
            bounds.map(|(name, _)| name).collect()
        },
        change: Option<f64> = row.change.estimate.map(|estimate| estimate.value),
        low: Option<f64> = row.change.estimate.map(|estimate| estimate.low),
        high: Option<f64> = row.change.estimate.map(|estimate| estimate.high),
        verdict: &'static str = row.change.verdict().name(),
    }
}

/// Writes it as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    write_json(&View::new(comparison), out)
}
