//! How calls ended, and the errors.

use volley_base::units::numbers::grouped;

use super::figure::Table;
use crate::report::escape::html;
use crate::report::ghz;
use crate::report::model::Report;
use crate::report::verdict::Verdict;

/// What became of `--fail-if`; nothing without any.
pub fn thresholds(report: &Report) -> String {
    if report.thresholds.is_empty() {
        return String::new();
    }
    let row = |verdict: &Verdict| {
        let result = if verdict.failed { "failed" } else { "passed" };
        let threshold = verdict.threshold.clone();
        vec![threshold, verdict.shown(), result.to_owned()]
    };
    let table = Table {
        columns: ["Fails if", "Figure", "Result"].map(str::to_owned).to_vec(),
        rows: report.thresholds.iter().map(row).collect(),
        words: &[0, 2],
        label: "Thresholds".to_owned(),
        ..Table::default()
    };
    let table = table.html();
    format!("<section>\n<h2>Thresholds</h2>\n{table}</section>\n")
}

pub fn section(report: &Report) -> String {
    let count = report.calls.count();
    if count == 0 {
        return String::new();
    }
    let share = |calls: u64| format!("{:.2}", calls as f64 / count as f64 * 100.0);
    let calls = &report.calls;
    let statuses = calls.failed.iter().map(|(code, calls)| (*code, *calls));
    let rows = std::iter::once(("OK", calls.ok))
        .chain(statuses)
        .chain([("open at the end, cut", calls.cut)])
        .filter(|(_, calls)| *calls > 0)
        .map(|(status, calls)| vec![status.to_owned(), grouped(calls), share(calls)]);
    let statuses = Table {
        rows: rows.collect(),
        columns: ["Status", "Calls", "Share (%)"].map(str::to_owned).to_vec(),
        words: &[0],
        label: "Calls by status".to_owned(),
        ..Table::default()
    };
    let mut out = format!("<section>\n<h2>How calls ended</h2>\n{}", statuses.html());
    let errors = ghz::errors(report).into_iter();
    let errors = errors.filter(|(text, _)| text != ghz::CUT_ERROR);
    let rows: Vec<_> = errors
        .map(|(text, calls)| vec![grouped(calls), text])
        .collect();
    if !rows.is_empty() {
        let errors = Table {
            columns: ["Calls", "Error"].map(str::to_owned).to_vec(),
            rows,
            words: &[1],
            full: true,
            label: "Errors".to_owned(),
        };
        out += &errors.html();
    }
    if !report.checks.samples.is_empty() {
        out += "<p class=\"about\">The first replies that were not as expected:</p>\n<pre>";
        for sample in &report.checks.samples {
            out += &html(sample);
            out.push('\n');
        }
        out += "</pre>\n";
    }
    out + "</section>\n"
}
