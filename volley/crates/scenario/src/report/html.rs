//! One self-contained page, with the style of the other reports: no scripts, no requests, light and dark.

use std::io::{self, Write};

use super::model::Report;
use super::summary;
use volley_base::units::numbers::{duration, grouped, rate};
use volley_base::units::timestamp;
use volley_http::grpc::Code;
use volley_report::measure::Latency;
use volley_report::measure::latency::shown;
use volley_report::report::escape::html;
use volley_report::report::html::figure::Table;
use volley_report::report::html::page;

mod pictures;

/// Writes the whole page.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    out.write_all(page::begin(&report.facts.name).as_bytes())?;
    out.write_all(header(report).as_bytes())?;
    out.write_all(b"<main>\n")?;
    for part in [
        verdict(report),
        tiles(report),
        page::warnings(&report.facts.warnings),
        thresholds(report),
        orders(report),
        load(report),
        steps(report),
        statuses(report),
        failures(report),
        checks(report),
        run(report),
    ] {
        out.write_all(part.as_bytes())?;
    }
    for (place, one) in report.scenarios.iter().enumerate() {
        out.write_all(pictures::iterations(place, one, report.facts.elapsed_ns).as_bytes())?;
    }
    for (place, step) in report.shown_steps().enumerate() {
        out.write_all(pictures::rates(place, step, report.facts.elapsed_ns).as_bytes())?;
        out.write_all(pictures::times(place, step, report.facts.elapsed_ns).as_bytes())?;
    }
    out.write_all(b"</main>\n")?;
    out.write_all(page::end(&report.facts.version).as_bytes())
}

fn header(report: &Report) -> String {
    let facts = &report.facts;
    let tags = facts.tags.iter();
    let tags = page::tags(tags.map(|(tag, value)| (tag.as_str(), value.as_str())));
    format!(
        "<header>\n<h1>{}</h1>\n<p>{} · {}, {}</p>\n{tags}</header>\n",
        html(&facts.name),
        timestamp::to_the_second(facts.started_unix_ns),
        duration(facts.elapsed_ns).replace(' ', "&nbsp;"),
        html(&report.ended())
    )
}

/// Whether the thresholds hold: what a reader looks for first.
fn verdict(report: &Report) -> String {
    let all = report.thresholds.len();
    let failed = report.thresholds.iter().enumerate();
    let failed = failed.filter(|(_, verdict)| verdict.failed);
    let failed: Vec<String> = failed
        .map(|(place, verdict)| summary::threshold(report, place, verdict))
        .collect();
    let s = if all == 1 { "" } else { "s" };
    match failed.len() {
        _ if all == 0 => String::new(),
        0 => format!("<div class=\"verdict\"><b>Passed:</b> {all} threshold{s}</div>\n"),
        some => format!(
            "<div class=\"verdict failed\"><b>Failed:</b> {some} of {all} threshold{s}\n{}</div>\n",
            page::list(&failed)
        ),
    }
}

fn tiles(report: &Report) -> String {
    let (requests, iterations) = (report.requests(), report.iterations());
    let dropped = iterations.dropped + iterations.unfed;
    let tiles = [
        (
            "Requests/s",
            rate(report.per_s(requests.ended())),
            format!("{} sent", grouped(requests.sent)),
        ),
        (
            "Iterations ok",
            grouped(iterations.ok),
            format!(
                "{} failed, {} never begun",
                grouped(iterations.failed),
                grouped(dropped)
            ),
        ),
        (
            "Requests ok",
            grouped(requests.ok),
            format!("{} failed", grouped(requests.failed)),
        ),
        (
            "Latency p50",
            at(&report.latency, 500_000),
            report.latency.kind.name().to_owned(),
        ),
        (
            "Latency p99",
            at(&report.latency, 990_000),
            format!("max {}", at(&report.latency, 1_000_000)),
        ),
    ];
    page::tiles(&tiles)
}

fn thresholds(report: &Report) -> String {
    let verdicts = report
        .thresholds
        .iter()
        .enumerate()
        .map(|(place, verdict)| {
            let word = match verdict.failed {
                true if report.is_aborted_by(place) => "failed, and ended the load",
                true => "failed",
                false => "passed",
            };
            vec![verdict.threshold.clone(), verdict.shown(), word.to_owned()]
        });
    section(
        "Thresholds",
        &["Threshold", "Value", "Verdict"],
        &[0, 2],
        verdicts.collect(),
    )
}

/// All of them.
fn orders(report: &Report) -> String {
    let rows = report.facts.events.iter().map(|event| {
        let at_s = format!("{:.2} s", event.at_ns as f64 / 1e9);
        let value = event.value.clone().unwrap_or_default();
        vec![
            at_s,
            event.what.to_owned(),
            event.scenarios.join(", "),
            value,
        ]
    });
    section(
        "Orders",
        &["Time", "Order", "Of", "To"],
        &[1, 2, 3],
        rows.collect(),
    )
}

fn load(report: &Report) -> String {
    let mut columns = vec![
        "Scenario", "Due", "Begun", "Dropped", "Ok", "Failed", "Open", "p50", "p99",
    ];
    let sum = report.iterations();
    let lacked_data = sum.unfed + sum.cut_short > 0;
    if lacked_data {
        columns.extend(["Without data", "Cut short"]);
    }
    let rows = report.scenarios.iter().map(|one| {
        let mut row = summary::iterations(one, at);
        if lacked_data {
            row.extend([one.counts.unfed, one.counts.cut_short].map(grouped));
        }
        row
    });
    section("Iterations", &columns, &[0], rows.collect())
}

fn steps(report: &Report) -> String {
    let heads = [
        "Step",
        "Sent",
        "Unsent",
        "Ok",
        "Failed",
        "Open",
        "Replies",
        "Per second",
        "p50",
        "p95",
        "p99",
        "Max",
        "First byte p50",
    ];
    let (columns, mut rows) = summary::requests(report, &heads, at);
    for (row, step) in rows.iter_mut().zip(report.shown_steps()) {
        row.push(at(&step.first_byte, 500_000));
    }
    section("Requests", &columns, &[0], rows)
}

fn statuses(report: &Report) -> String {
    let rows = report.shown_steps().flat_map(|step| {
        step.statuses.iter().map(|(status, count)| {
            let status = match step.names.is_grpc {
                true => Code::words(*status),
                false => status.to_string(),
            };
            vec![step.names.label(), status, grouped(*count)]
        })
    });
    section(
        "Statuses",
        &["Step", "Status", "Responses"],
        &[0, 1],
        rows.collect(),
    )
}

fn failures(report: &Report) -> String {
    let rows = report.failures().map(|(label, failure)| {
        vec![
            label,
            failure.name.clone(),
            grouped(failure.count),
            failure.samples.join("; "),
        ]
    });
    section(
        "Failures",
        &["Step", "Reason", "Count", "First ones"],
        &[0, 1, 3],
        rows.collect(),
    )
}

fn checks(report: &Report) -> String {
    let rows = report.shown_steps().flat_map(|step| {
        let label = step.names.label();
        step.checks.iter().map(move |check| {
            vec![
                label.clone(),
                check.name.clone(),
                grouped(check.passed),
                grouped(check.failed),
            ]
        })
    });
    section(
        "Checks",
        &["Step", "Check", "Passed", "Failed"],
        &[0, 1],
        rows.collect(),
    )
}

/// What was run.
fn run(report: &Report) -> String {
    let facts = &report.facts;
    let of = |word: &str, lines: &[String]| -> Vec<Vec<String>> {
        let row = |line: &String| vec![word.to_owned(), line.clone()];
        lines.iter().map(row).collect()
    };
    let latency = summary::latency(report);
    let latency = format!("{latency}; first bytes count from the sending");
    let rows = [
        of("Target", &facts.targets),
        of("Load", &facts.load),
        of("Latency", &[latency]),
        of("Own cost", &[summary::own_cost(report)]),
    ];
    section("The run", &["Part", "Value"], &[0, 1], rows.concat())
}

/// A table with a title; nothing without rows.
fn section(
    title: &str,
    columns: &[&str],
    words: &'static [usize],
    rows: Vec<Vec<String>>,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let table = Table {
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows,
        words,
        full: true,
        label: title.to_owned(),
    };
    format!("<section>\n<h2>{title}</h2>\n{}</section>\n", table.html())
}

fn at(latency: &Latency, rank_ppm: u32) -> String {
    shown(latency.percentile(rank_ppm))
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
        let page = written(&samples::shop()).replace(page::STYLE, "");
        samples::assert_golden("shop.html", &page);
    }

    #[test]
    fn the_verdict_is_the_first_thing_on_the_page() {
        let mut report = samples::shop();
        let page = written(&report);
        let failed = "<div class=\"verdict failed\"><b>Failed:</b> 1 of 2 thresholds\n<ul>\n<li>p99(crud.create) is 61.0 ms";
        let [verdict, tiles] = [failed, "class=\"tiles\""].map(|part| page.find(part).unwrap());
        assert!(verdict < tiles);
        report.thresholds.retain(|verdict| !verdict.failed);
        let passed = "<div class=\"verdict\"><b>Passed:</b> 1 threshold</div>";
        assert!(written(&report).contains(passed));
        report.thresholds.clear();
        assert!(!written(&report).contains("<div class=\"verdict"));
    }

    #[test]
    fn nothing_that_a_server_or_a_file_says_becomes_markup() {
        let page = written(&samples::hostile());
        for markup in ["<script", "<b>,", "\u{1b}", "\u{202e}", "\"} 1"] {
            assert!(!page.contains(markup), "{markup:?}");
        }
        assert!(page.contains("&lt;/title&gt;&lt;script&gt;&amp;"));
        assert_eq!(
            page.matches("</title>").count(),
            page.matches("<title").count()
        );
    }

    #[test]
    fn each_step_has_its_pictures_with_a_description_and_a_table() {
        let page = written(&samples::shop());
        // Two scenarios, and two steps that lasted longer than an interval.
        assert_eq!(page.matches("<figure>").count(), 6);
        assert_eq!(page.matches("<desc ").count(), 18);
        assert_eq!(page.matches("The same numbers as a table").count(), 6);
        for request in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(request), "{request}");
        }
    }

    #[test]
    fn a_run_of_nothing_has_no_pictures_and_no_lost_coordinate() {
        let page = written(&samples::nothing());
        assert!(
            !page.contains("<figure>") && !page.contains("NaN") && !page.contains("inf"),
            "{page}"
        );
        assert!(page.contains("max –"));
    }
}
