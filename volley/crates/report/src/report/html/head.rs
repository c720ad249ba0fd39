//! The top of the page: the target and the main figures.

use volley_base::units::numbers::{duration, grouped, rate};
use volley_base::units::timestamp;

use super::page;
use crate::measure::EndedBy;
use crate::measure::latency::shown;
use crate::report::escape::html;
use crate::report::model::Report;

pub fn header(report: &Report, title: &str) -> String {
    let call = match report.name.as_str() {
        "" => String::new(),
        _ => format!("{} · ", html(&report.call)),
    };
    let ended = match report.ended_by {
        EndedBy::Finished => "every call was made",
        EndedBy::Window => "ended with its window",
        EndedBy::Signal if report.is_stopped() => "stopped by order",
        EndedBy::Signal => "ended by a signal",
    };
    // A long name may break between its parts.
    let title = html(title).replace('.', ".<wbr>").replace('/', "/<wbr>");
    let (host, started) = (
        html(&report.host),
        timestamp::to_the_second(report.started_unix_ns),
    );
    let elapsed = duration(report.elapsed_ns).replace(' ', "&nbsp;");
    let mut out = format!(
        "<header>\n<h1>{title}</h1>\n<p>{call}{host} · {started} · {elapsed}, {ended}</p>\n"
    );
    let tags = report.tags.iter();
    out += &page::tags(tags.map(|(tag, value)| (tag.as_str(), value.as_str())));
    out + "</header>\n"
}

pub fn tiles(report: &Report) -> String {
    let calls = &report.calls;
    let at = |rank_ppm| shown(report.latency.at(rank_ppm));
    let max = shown(report.latency.longest());
    let kind = report.latency.kind.name();
    let mut rest = format!("{} failed", grouped(calls.failed_total()));
    for (count, word) in [(calls.cut, "cut"), (calls.ignored, "ignored")] {
        if count > 0 {
            rest += &format!(", {} {word}", grouped(count));
        }
    }
    let (messages_per_s, calls_per_s) = (report.messages_per_s(), report.calls_per_s());
    let total = format!("{} in total", grouped(report.messages));
    let tiles = [
        ("Messages/s", rate(messages_per_s), total),
        ("Calls/s", rate(calls_per_s), "ok or failed".to_owned()),
        ("Calls ok", grouped(calls.ok), rest),
        ("Latency p50", at(500_000), kind.to_owned()),
        ("Latency p99", at(990_000), format!("max {max}")),
    ];
    page::tiles(&tiles)
}
