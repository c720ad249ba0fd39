//! What volley knows beyond ghz's [`summary`](super::summary), as text for people: the other half of what a terminal shows. It goes to stderr: a reader of ghz's
//! summary on stdout would take every extra line as a part of the last error.

use std::io::{self, Write};

use volley_base::units::numbers::{counted, grouped, megabytes, rate};

use super::escape::visible;
use super::model::{Calls, Checks, PacedStreams, Report};
use super::verdict::Verdict;
use crate::measure::{Compressed, Latency, LatencyKind, PacedCounts, Use, Warning};

/// Writes a title, one line per fact, then the warnings.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "volley {}", report.version)?;
    let mut line = |label: &str, text: String| writeln!(out, "  {label:<15}{text}");
    let (messages, per_s) = (grouped(report.messages), rate(report.messages_per_s()));
    line("Messages:", format!("{messages}, {per_s} per second"))?;
    if report.compressed.messages > 0 {
        line("Compressed:", compressed(&report.compressed))?;
    }
    line("Calls:", calls(&report.calls))?;
    for latency in std::iter::once(&report.latency).chain(&report.service_latency) {
        line(&format!("{} time:", latency.kind.title()), spread(latency))?;
    }
    if let Some([due, written]) = report.late_p99() {
        let text = format!(" p99 from due {due}, from written {written}");
        line("volley was late:", text)?;
    }
    if let Some(first) = &report.first_message {
        line("First message:", spread(first))?;
    }
    if let Some(gap) = &report.gap {
        line("Message gap:", spread(gap))?;
    }
    if let Some(paced) = &report.paced {
        for (label, text) in streams(paced) {
            line(label, text)?;
        }
    }
    let p99 = report.latency.at(990_000);
    if p99.is_some_and(|p99| p99.is_at_least) {
        let open = grouped(report.latency.open);
        let text = format!("ghz's times are of calls that ended; {open} had no end");
        line("Left out:", text)?;
    }
    line("Sends:", sends(report))?;
    for (index, (address, used)) in report.addresses.iter().enumerate() {
        let label = if index == 0 { "Addresses:" } else { "" };
        line(label, format!("{} {}", visible(address), uses(used)))?;
    }
    if report.planned_reconnects > 0 {
        let text = format!("{} as planned", grouped(report.planned_reconnects));
        line("Reconnects:", text)?;
    }
    if let Some(orders) = report.orders() {
        line("Orders:", orders)?;
    }
    line("Checked:", checked(&report.checks))?;
    for (index, sample) in report.checks.samples.iter().enumerate() {
        let label = if index == 0 { "Samples:" } else { "" };
        line(label, visible(sample).into_owned())?;
    }
    line("Own cost:", cost(report))?;
    for verdict in report.thresholds.iter().filter(|verdict| !verdict.failed) {
        line("Passed:", visible(&verdict.to_string()).into_owned())?;
    }
    write_warnings(&report.warnings, out)
}

/// Writes a line for each threshold that failed. They go to stderr with every format.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_failed(thresholds: &[Verdict], out: &mut impl Write) -> io::Result<()> {
    for verdict in thresholds.iter().filter(|verdict| verdict.failed) {
        writeln!(out, "failed: {}", visible(&verdict.to_string()))?;
    }
    Ok(())
}

/// Writes only the warnings, one per line. They go to stderr with every format.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_warnings(warnings: &[Warning], out: &mut impl Write) -> io::Result<()> {
    for warning in warnings {
        writeln!(out, "warning: {}", visible(&warning.to_string()))?;
    }
    Ok(())
}

fn compressed(compressed: &Compressed) -> String {
    let messages = grouped(compressed.messages);
    let bytes = [compressed.wire_bytes, compressed.bytes].map(grouped);
    let [on_the_wire, inflated] = bytes;
    format!("{messages} messages, {on_the_wire} bytes on the wire, {inflated} decompressed")
}

fn calls(calls: &Calls) -> String {
    let [ok, failed, cut, ignored] =
        [calls.ok, calls.failed_total(), calls.cut, calls.ignored].map(grouped);
    let mut text = format!("{ok} ok, {failed} failed");
    if calls.cut > 0 {
        text += &format!(", {cut} cut at the end (in Count, not in Requests/sec)");
    }
    if calls.ignored > 0 {
        text += &format!(", {ignored} ignored at the end (in no count)");
    }
    text
}

fn spread(latency: &Latency) -> String {
    if latency.is_empty() {
        return "no samples".to_owned();
    }
    let figures = [
        ("p50", latency.at(500_000)),
        ("p99", latency.at(990_000)),
        ("p99.9", latency.at(999_000)),
        ("p99.99", latency.at(999_900)),
        ("max", latency.longest()),
    ];
    let shown = figures.map(|(name, found)| match found {
        Some(found) => format!("{name} {found}"),
        None => format!("{name} -"),
    });
    shown.join(", ")
}

fn sends(report: &Report) -> String {
    let sends = &report.sends;
    let [sent, missed, late, retried] =
        [sends.sent, sends.missed, sends.late, sends.retried].map(grouped);
    let mut text = format!("{sent} sent");
    if report.latency.kind == LatencyKind::Response {
        text += &format!(", {missed} missed, {late} late");
    }
    if sends.retried > 0 {
        text += &format!(", {retried} retried");
    }
    text
}

/// Streams that live, and their messages.
fn streams(paced: &PacedStreams) -> Vec<(&'static str, String)> {
    let PacedCounts {
        wanted,
        open_first,
        open_last,
        broken,
        refused,
        due,
        sent,
        late,
        answered,
        unanswered,
    } = paced.counts;
    let [wanted, first, last, broken, refused] =
        [wanted, open_first, open_last, broken, refused].map(grouped);
    let [due, sent, late, answered, unanswered, unsent] =
        [due, sent, late, answered, unanswered, paced.unsent()].map(grouped);
    let reply = paced.reply.as_ref();
    let reply = reply.map_or_else(|| "no samples".to_owned(), spread);
    vec![
        (
            "Streams:",
            format!(
                "{wanted}, {first} open at first, {last} at the end, {broken} broken, {refused} refused"
            ),
        ),
        (
            "In streams:",
            format!(
                "{due} due, {sent} sent ({late} late), {unsent} not; {answered} answered, {unanswered} not"
            ),
        ),
        ("Reply latency:", reply),
    ]
}

fn uses(used: &Use) -> String {
    let [calls, connections] = [used.calls, used.connections].map(grouped);
    let [lost, lost_calls] = [used.lost_connections, used.lost_calls].map(grouped);
    let mut text = format!("calls: {calls}, connections: {connections}");
    if used.lost_connections > 0 {
        text += &format!(" ({lost} lost, with {lost_calls} calls)");
    }
    text
}

fn checked(checks: &Checks) -> String {
    let [replies, failed] = [checks.replies_checked, checks.failed].map(grouped);
    let plural = match checks.replies_checked {
        1 => "reply",
        _ => "replies",
    };
    if !checks.compared {
        return format!("{replies} {plural} decoded, not compared (no `--expect`)");
    }
    let calls = if checks.failed == 1 { "call" } else { "calls" };
    format!("{replies} {plural}, {failed} {calls} with a wrong one")
}

fn cost(report: &Report) -> String {
    let per_message = report.cost_per_message();
    let per_message = per_message.map_or(String::new(), |it| format!(" ({it} per message)"));
    let (cpu_s, peak) = (report.cost.cpu_s, megabytes(report.cost.peak_bytes));
    let threads = counted(report.threads.into(), "thread");
    let spins = if report.spins {
        ", all the time (`--spin`)"
    } else {
        ""
    };
    format!("{cpu_s:.2} s of CPU{per_message}, {peak} peak memory, {threads}{spins}")
}

#[cfg(test)]
mod tests {
    use volley_load::spec::Command;

    use super::*;
    use crate::measure::{Event, Warning};
    use crate::report::samples::{self, written_by};

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn a_closed_loop_tells_its_facts() {
        assert_eq!(
            written(&samples::stream()),
            include_str!("samples/stream.own.txt")
        );
    }

    #[test]
    fn several_addresses_are_listed_with_what_they_got_and_lost() {
        let mut report = Report {
            planned_reconnects: 7,
            ..samples::stream()
        };
        let used = Use {
            calls: 1234,
            lost_calls: 5,
            connections: 3,
            lost_connections: 2,
        };
        let unused = Use::default();
        report.addresses = [("10.0.0.1:80", used), ("10.0.0.2:80", unused)]
            .map(|(address, used)| (address.to_owned(), used))
            .into();
        let expected = "  Addresses:     10.0.0.1:80 calls: 1,234, connections: 3 (2 lost, with 5 calls)\n                 \
                        10.0.0.2:80 calls: 0, connections: 0\n  Reconnects:    7 as planned\n";
        assert!(written(&report).contains(expected), "{}", written(&report));
    }

    #[test]
    fn a_warning_is_one_line_whatever_it_quotes() {
        let reason = "reset\nwarning: forged".to_owned();
        let report = Report {
            warnings: vec![Warning::ServerGone { reason }],
            ..samples::stream()
        };
        let mut out = Vec::new();
        write_warnings(&report.warnings, &mut out).unwrap();
        assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
    }

    #[test]
    fn orders_are_listed_and_only_the_first_ones() {
        let event = |at_ms: i64, what| Event {
            at_ns: at_ms * 1_000_000,
            what,
        };
        let mut report = samples::stream();
        report.checks.compared = false;
        report.checks.replies_checked = 1;
        report.events = vec![
            event(-530, Command::Pause),
            event(1050, Command::Rate(500)),
            event(2000, Command::Resume),
        ];
        let text = written(&report);
        let line = "  Orders:        pause at -0.53 s, rps 500 at 1.05 s, resume at 2.00 s\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains(" 1 reply decoded"), "{text}");
        report.events = vec![event(0, Command::Workers(3)); 8];
        assert!(written(&report).contains("concurrency 3 at 0.00 s and 2 more\n"));
    }

    #[test]
    fn an_open_loop_has_both_times_and_what_it_missed() {
        assert_eq!(
            written(&samples::open_loop()),
            include_str!("samples/open_loop.own.txt")
        );
    }
}
