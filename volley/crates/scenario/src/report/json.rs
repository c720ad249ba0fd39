//! The run as JSON. Durations are whole nanoseconds, rates are per second; null without samples.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::super::tally::{IterationCounts, StepCounts};
use super::events::Event;
use super::model::{CheckReport, FailureReport, Point, Report, ScenarioReport, Series, StepReport};
use volley_base::units::timestamp;
use volley_report::measure::Latency;
use volley_report::report::json::spread::Spread;
use volley_report::report::{Verdict, write_json, write_pretty_json};

/// The schema version; it increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

/// Writes the report as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_json(&view(report), out)
}

/// Writes the same for people: over many lines, indented by two spaces.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_pretty(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_pretty_json(&view(report), out)
}

#[derive(Serialize)]
struct View<'a> {
    /// Of the format.
    schema: u32,
    /// volley's own.
    version: &'a str,
    /// The file, or the name of the run.
    name: &'a str,
    tags: BTreeMap<&'a str, &'a str>,
    /// What was run, in words: a line for each target, and for each load.
    targets: &'a [String],
    load: &'a [String],
    /// When the window opened (RFC 3339).
    started: String,
    elapsed_s: f64,
    /// `finished`, `time`, `stopped` (by a signal), `order`, `threshold` or `failure`.
    ended_by: &'static str,
    threads: u32,
    connections: u32,
    cpu_s: f64,
    peak_bytes: u64,
    /// Sums of all scenarios.
    iterations: IterationsView,
    /// Sums of all steps but those of setup and teardown.
    requests: RequestsView,
    latency_ns: LatencyView<'a>,
    scenarios: Vec<ScenarioView<'a>>,
    /// In the file's order.
    steps: Vec<StepView<'a>>,
    thresholds: Vec<ThresholdView<'a>>,
    /// What was ordered while the load went on.
    events: &'a [Event],
    warnings: &'a [String],
}

/// `due = begun + dropped + unfed`, `begun = ok + failed + cut_short + open`.
#[derive(Serialize)]
struct IterationsView {
    due: u64,
    #[serde(flatten)]
    counts: IterationCounts,
}

/// `sent + unsent = ok + failed + open`.
#[derive(Serialize)]
struct RequestsView {
    sent: u64,
    /// Failed before anything was sent.
    unsent: u64,
    /// Sent, but not at once: all connections were busy.
    waited: u64,
    ok: u64,
    failed: u64,
    open: u64,
    ended_per_s: f64,
    sent_bytes: u64,
    received_bytes: u64,
    replies: u64,
}

#[derive(Serialize)]
struct LatencyView<'a> {
    #[serde(flatten)]
    spread: Spread,
    p9999: Option<u64>,
    /// HdrHistogram V2, deflated, base64.
    histogram: &'a str,
    /// The same of the ages of what was open.
    #[serde(skip_serializing_if = "str::is_empty")]
    ages: &'a str,
}

#[derive(Serialize)]
struct ScenarioView<'a> {
    name: &'a str,
    iterations: IterationsView,
    /// Of iterations that ended well, from their beginning.
    duration_ns: LatencyView<'a>,
    /// From the due moment to the beginning.
    delay_ns: LatencyView<'a>,
    /// Of the requests of all its steps.
    latency_ns: LatencyView<'a>,
    series: SeriesView,
    /// Coroutines of a program that say that they failed.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [FailureReport],
}

#[derive(Serialize)]
struct StepView<'a> {
    name: &'a str,
    /// Null: a step of setup or teardown.
    scenario: Option<&'a str>,
    protocol: &'static str,
    requests: RequestsView,
    /// HTTP statuses or gRPC codes.
    statuses: BTreeMap<u16, u64>,
    /// `2xx`; empty for gRPC.
    classes: BTreeMap<String, u64>,
    failures: &'a [FailureReport],
    checks: &'a [CheckReport],
    latency_ns: LatencyView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_latency_ns: Option<LatencyView<'a>>,
    blocked_ns: LatencyView<'a>,
    first_byte_ns: LatencyView<'a>,
    series: SeriesView,
}

/// One number for each interval; the last one may be cut. Percentiles are exact within 7 %.
#[derive(Serialize)]
struct SeriesView {
    interval_s: u64,
    due: Vec<u64>,
    sent: Vec<u64>,
    ok: Vec<u64>,
    failed: Vec<u64>,
    p50_ns: Vec<Option<u64>>,
    p99_ns: Vec<Option<u64>>,
}

#[derive(Serialize)]
struct ThresholdView<'a> {
    threshold: &'a str,
    figure: &'a str,
    value: Option<f64>,
    /// The value is only a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    unit: &'static str,
    failed: bool,
    /// Why it failed, if no figure shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
    /// It ended the load.
    ended_load: bool,
}

fn view(report: &Report) -> View<'_> {
    let facts = &report.facts;
    View {
        schema: SCHEMA,
        version: &facts.version,
        name: &facts.name,
        tags: facts
            .tags
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
        targets: &facts.targets,
        load: &facts.load,
        started: timestamp::to_the_ns(facts.started_unix_ns),
        elapsed_s: facts.elapsed_ns as f64 / 1e9,
        ended_by: facts.ended_by.name(),
        threads: facts.threads,
        connections: facts.connections,
        cpu_s: facts.cost.cpu_s,
        peak_bytes: facts.cost.peak_bytes,
        iterations: iterations(report.iterations()),
        requests: requests(report, &report.requests()),
        latency_ns: latency(&report.latency),
        scenarios: report.scenarios.iter().map(scenario).collect(),
        steps: report.steps.iter().map(|one| step(report, one)).collect(),
        thresholds: thresholds(report),
        events: &facts.events,
        warnings: &facts.warnings,
    }
}

fn iterations(counts: IterationCounts) -> IterationsView {
    IterationsView {
        due: counts.due(),
        counts,
    }
}

fn requests(report: &Report, counts: &StepCounts) -> RequestsView {
    RequestsView {
        sent: counts.sent,
        unsent: counts.unsent,
        waited: counts.waited,
        ok: counts.ok,
        failed: counts.failed,
        open: counts.open,
        ended_per_s: report.per_s(counts.ended()),
        sent_bytes: counts.sent_bytes,
        received_bytes: counts.received_bytes,
        replies: counts.replies,
    }
}

fn scenario(one: &ScenarioReport) -> ScenarioView<'_> {
    ScenarioView {
        name: &one.name,
        iterations: iterations(one.counts),
        duration_ns: latency(&one.duration),
        delay_ns: latency(&one.delay),
        latency_ns: latency(&one.latency),
        series: series(&one.series),
        failures: &one.failures,
    }
}

fn step<'a>(report: &Report, one: &'a StepReport) -> StepView<'a> {
    let classes = one.classes().into_iter();
    StepView {
        name: &one.names.name,
        scenario: Some(one.names.scenario.as_str()).filter(|name| !name.is_empty()),
        protocol: if one.names.is_grpc { "grpc" } else { "http" },
        requests: requests(report, &one.counts),
        statuses: one.statuses.iter().copied().collect(),
        classes: classes
            .map(|(class, count)| (format!("{class}xx"), count))
            .collect(),
        failures: &one.failures,
        checks: &one.checks,
        latency_ns: latency(&one.latency),
        service_latency_ns: one.service.as_ref().map(latency),
        blocked_ns: latency(&one.blocked),
        first_byte_ns: latency(&one.first_byte),
        series: series(&one.series),
    }
}

fn latency(latency: &Latency) -> LatencyView<'_> {
    LatencyView {
        spread: Spread::of(latency),
        p9999: latency.at(999_900).map(|found| found.ns),
        histogram: &latency.histogram,
        ages: &latency.ages,
    }
}

fn series(series: &Series) -> SeriesView {
    fn all<T>(series: &Series, one: impl Fn(&Point) -> T) -> Vec<T> {
        series.points.iter().map(one).collect()
    }
    SeriesView {
        interval_s: series.interval_s,
        due: all(series, |point| point.due),
        sent: all(series, |point| point.sent),
        ok: all(series, |point| point.ok),
        failed: all(series, |point| point.failed),
        p50_ns: all(series, |point| point.p50_ns),
        p99_ns: all(series, |point| point.p99_ns),
    }
}

fn thresholds(report: &Report) -> Vec<ThresholdView<'_>> {
    fn view<'a>(report: &Report, place: usize, verdict: &'a Verdict) -> ThresholdView<'a> {
        ThresholdView {
            threshold: &verdict.threshold,
            figure: &verdict.figure,
            value: verdict.value,
            at_least: verdict.is_at_least,
            unit: verdict.unit.name(),
            failed: verdict.failed,
            doubt: verdict.doubt.as_ref().map(ToString::to_string),
            ended_load: report.is_aborted_by(place),
        }
    }
    let all = report.thresholds.iter().enumerate();
    all.map(|(place, verdict)| view(report, place, verdict))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::testkit::output::written_by;
    use volley_report::measure::latency::decode;

    #[test]
    fn a_run_reads_as_expected() {
        let text = written_by(&samples::shop(), write_pretty);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let histogram = json["steps"][1]["latency_ns"]["histogram"]
            .as_str()
            .unwrap();
        let samples: u64 = decode(histogram)
            .unwrap()
            .iter()
            .map(|(_, count)| count)
            .sum();
        assert_eq!(json["steps"][1]["latency_ns"]["samples"], samples);
        // What deflate makes of a histogram is its own affair.
        let is_histogram = |line: &&str| line.trim_start().starts_with("\"histogram\"");
        let lines: Vec<_> = text.lines().filter(|line| !is_histogram(line)).collect();
        samples::assert_golden("shop.json", &(lines.join("\n") + "\n"));
    }

    #[test]
    fn a_run_of_nothing_has_nulls_and_zeros() {
        let text = written_by(&samples::nothing(), write);
        assert_eq!(text.lines().count(), 1);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(
            json["latency_ns"]["p99"].is_null()
                && json["steps"][1]["first_byte_ns"]["max"].is_null()
        );
        assert_eq!(json["requests"]["sent"], 0);
    }

    #[test]
    fn hostile_text_is_the_same_text_again_and_acts_on_no_terminal() {
        let text = written_by(&samples::hostile(), write);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["scenarios"][0]["name"], samples::HOSTILE);
        assert!(!text.trim_end().contains(char::is_control), "{text:?}");
    }
}
