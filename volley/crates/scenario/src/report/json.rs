//! The run as JSON. Durations are whole nanoseconds, rates are per second; null without samples.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::tally::{IterationCounts, StepCounts};
use super::events::Event;
use super::model::{CheckReport, FailureReport, Report, ScenarioReport, Series, StepReport};
use volley_base::units::timestamp;
use volley_base::view;
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
    write_json(&View::new(report), out)
}

/// Writes the same for people: over many lines, indented by two spaces.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_pretty(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_pretty_json(&View::new(report), out)
}

view! {
    struct View<'a>(report: &'a Report) {
        /// Of the format.
        schema: u32 = SCHEMA,
        /// volley's own.
        version: &'a str = &report.facts.version,
        /// The file, or the name of the run.
        name: &'a str = &report.facts.name,
        tags: BTreeMap<&'a str, &'a str> =
            report.facts.tags.iter().map(|(name, value)| (&**name, &**value)).collect(),
        /// What was run, in words: a line for each target, and for each load.
        targets: &'a [String] = &report.facts.targets,
        load: &'a [String] = &report.facts.load,
        /// When the window opened (RFC 3339).
        started: String = timestamp::to_the_ns(report.facts.started_unix_ns),
        elapsed_s: f64 = report.facts.elapsed_ns as f64 / 1e9,
        /// `finished`, `time`, `stopped` (by a signal), `order`, `threshold` or `failure`.
        ended_by: &'static str = report.facts.ended_by.name(),
        threads: u32 = report.facts.threads,
        connections: u32 = report.facts.connections,
        cpu_s: f64 = report.facts.cost.cpu_s,
        peak_bytes: u64 = report.facts.cost.peak_bytes,
        /// Sums of all scenarios.
        iterations: IterationsView = IterationsView::new(report.iterations()),
        /// Sums of all steps but those of setup and teardown.
        requests: RequestsView = RequestsView::new(report, &report.requests()),
        latency_ns: LatencyView<'a> = LatencyView::new(&report.latency),
        scenarios: Vec<ScenarioView<'a>> = report.scenarios.iter().map(ScenarioView::new).collect(),
        /// In the file's order.
        steps: Vec<StepView<'a>> =
            report.steps.iter().map(|one| StepView::new(report, one)).collect(),
        thresholds: Vec<ThresholdView<'a>> = {
            let all = report.thresholds.iter().enumerate();
            all.map(|(place, verdict)| ThresholdView::new(report, place, verdict)).collect()
        },
        /// What was ordered while the load went on.
        events: &'a [Event] = &report.facts.events,
        warnings: &'a [String] = &report.facts.warnings,
    }
}

view! {
    /// `due = begun + dropped + unfed`, `begun = ok + failed + cut_short + open`.
    struct IterationsView(counts: IterationCounts) {
        due: u64 = counts.due(),
        #[serde(flatten)]
        counts: IterationCounts = counts,
    }
}

view! {
    /// `sent + unsent = ok + failed + open`.
    struct RequestsView(report: &Report, counts: &StepCounts) {
        sent: u64 = counts.sent,
        /// Failed before anything was sent.
        unsent: u64 = counts.unsent,
        /// Sent, but not at once: all connections were busy.
        waited: u64 = counts.waited,
        ok: u64 = counts.ok,
        failed: u64 = counts.failed,
        open: u64 = counts.open,
        ended_per_s: f64 = report.per_s(counts.ended()),
        sent_bytes: u64 = counts.sent_bytes,
        received_bytes: u64 = counts.received_bytes,
        replies: u64 = counts.replies,
    }
}

view! {
    struct LatencyView<'a>(latency: &'a Latency) {
        #[serde(flatten)]
        spread: Spread = Spread::new(latency),
        p9999: Option<u64> = latency.at(999_900).map(|found| found.ns),
        /// HdrHistogram V2, deflated, base64.
        histogram: &'a str = &latency.histogram,
        /// The same of the ages of what was open.
        #[serde(skip_serializing_if = "str::is_empty")]
        ages: &'a str = &latency.ages,
    }
}

view! {
    struct ScenarioView<'a>(one: &'a ScenarioReport) {
        name: &'a str = &one.name,
        iterations: IterationsView = IterationsView::new(one.counts),
        /// Of iterations that ended well, from their beginning.
        duration_ns: LatencyView<'a> = LatencyView::new(&one.duration),
        /// From the due moment to the beginning.
        delay_ns: LatencyView<'a> = LatencyView::new(&one.delay),
        /// Of the requests of all its steps.
        latency_ns: LatencyView<'a> = LatencyView::new(&one.latency),
        series: SeriesView = SeriesView::new(&one.series),
        /// Coroutines of a program that say that they failed.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        failures: &'a [FailureReport] = &one.failures,
    }
}

view! {
    struct StepView<'a>(report: &Report, one: &'a StepReport) {
        name: &'a str = &one.names.name,
        /// Null: a step of setup or teardown.
        scenario: Option<&'a str> =
            Some(one.names.scenario.as_str()).filter(|name| !name.is_empty()),
        protocol: &'static str = if one.names.is_grpc { "grpc" } else { "http" },
        requests: RequestsView = RequestsView::new(report, &one.counts),
        /// HTTP statuses or gRPC codes.
        statuses: BTreeMap<u16, u64> = one.statuses.iter().copied().collect(),
        /// `2xx`; empty for gRPC.
        classes: BTreeMap<String, u64> = {
            let classes = one.classes().into_iter();
            classes.map(|(class, count)| (format!("{class}xx"), count)).collect()
        },
        failures: &'a [FailureReport] = &one.failures,
        checks: &'a [CheckReport] = &one.checks,
        latency_ns: LatencyView<'a> = LatencyView::new(&one.latency),
        #[serde(skip_serializing_if = "Option::is_none")]
        service_latency_ns: Option<LatencyView<'a>> = one.service.as_ref().map(LatencyView::new),
        blocked_ns: LatencyView<'a> = LatencyView::new(&one.blocked),
        first_byte_ns: LatencyView<'a> = LatencyView::new(&one.first_byte),
        series: SeriesView = SeriesView::new(&one.series),
    }
}

view! {
    /// One number for each interval; the last one may be cut. Percentiles are exact within 7 %.
    struct SeriesView(series: &Series) {
        interval_s: u64 = series.interval_s,
        due: Vec<u64> = series.points.iter().map(|point| point.due).collect(),
        sent: Vec<u64> = series.points.iter().map(|point| point.sent).collect(),
        ok: Vec<u64> = series.points.iter().map(|point| point.ok).collect(),
        failed: Vec<u64> = series.points.iter().map(|point| point.failed).collect(),
        p50_ns: Vec<Option<u64>> = series.points.iter().map(|point| point.p50_ns).collect(),
        p99_ns: Vec<Option<u64>> = series.points.iter().map(|point| point.p99_ns).collect(),
    }
}

view! {
    struct ThresholdView<'a>(report: &Report, place: usize, verdict: &'a Verdict) {
        threshold: &'a str = &verdict.threshold,
        figure: &'a str = &verdict.figure,
        value: Option<f64> = verdict.value,
        /// The value is only a lower bound.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        at_least: bool = verdict.is_at_least,
        unit: &'static str = verdict.unit.name(),
        failed: bool = verdict.failed,
        /// Why it failed, if no figure shows it.
        #[serde(skip_serializing_if = "Option::is_none")]
        doubt: Option<String> = verdict.doubt.as_ref().map(ToString::to_string),
        /// It ended the load.
        ended_load: bool = report.is_aborted_by(place),
    }
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
