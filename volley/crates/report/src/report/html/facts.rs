//! The section about the run: its parts, its cost and its options.

use std::fmt::Write;

use volley_base::units::numbers::{Unit, grouped, megabytes};

use crate::measure::LatencyKind;
use crate::report::escape::html;
use crate::report::model::Report;

pub fn section(report: &Report) -> String {
    let sends = &report.sends;
    let mut facts = vec![
        ("Calls sent", grouped(sends.sent)),
        ("Sent again", grouped(sends.retried)),
        ("Window", span(report.window_ns)),
        ("Whole run", span(report.elapsed_ns)),
        ("Connections", grouped(report.connections.into())),
        ("Reopened connections", grouped(report.reconnects)),
        ("Threads", grouped(report.threads.into())),
        ("Own CPU time", cpu(report)),
        ("Own memory, peak", megabytes(report.cost.peak_bytes)),
    ];
    let decoded = grouped(report.checks.replies_checked);
    if report.checks.compared {
        facts.push(("Replies checked", decoded));
        facts.push(("Calls with a wrong reply", grouped(report.checks.failed)));
    } else {
        facts.push(("Replies decoded, not compared", decoded));
    }
    if report.latency.kind == LatencyKind::Response {
        let due = [
            ("Due but never sent", grouped(sends.missed)),
            ("Sent over 1 ms late", grouped(sends.late)),
        ];
        facts.splice(1..1, due);
    }
    if let Some(orders) = report.orders() {
        facts.push(("Orders", orders));
    }
    let mut out = "<section>\n<h2>The run</h2>\n<dl class=\"facts\">\n".to_owned();
    for (name, value) in facts {
        let _ = writeln!(out, "<dt>{name}</dt><dd>{value}</dd>");
    }
    // A Value has string keys only, so this cannot fail.
    let options = serde_json::to_string_pretty(&report.options).unwrap_or_default();
    let options = options.lines().map(html).collect::<Vec<_>>().join("\n");
    out += "</dl>\n<details>\n<summary>Options, durations in ns</summary>\n<pre>";
    out + &options + "</pre>\n</details>\n</section>\n"
}

/// With three decimals, so that the run and its window can be told apart.
fn span(ns: u64) -> String {
    let unit = Unit::for_ns(ns);
    format!("{} {}", unit.precise(ns), unit.name)
}

fn cpu(report: &Report) -> String {
    let per_message = report.cost_per_message();
    let per_message = per_message.map_or(String::new(), |it| format!(", {it} per message"));
    format!("{:.2} s{per_message}", report.cost.cpu_s)
}
