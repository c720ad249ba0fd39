//! The member `volley`: facts that ghz's report has no place for.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Details;
use super::spread::{Spread, is_zero};
use crate::measure::{Compressed, Event, Latency, LatencySeries, Second, Silence, Use};
use crate::report::model::{Calls, Checks, Report, Sends, Series};
use crate::report::verdict::Verdict;

/// The schema version of the member; it increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub(super) struct Member<'a> {
    schema: u32,
    version: &'a str,
    messages: u64,
    data_frames: u64,
    messages_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed: Option<&'a Compressed>,
    window_s: f64,
    elapsed_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    silence: Option<Silence>,
    calls: &'a Calls,
    calls_per_s: f64,
    #[serde(flatten)]
    sends: Sends,
    latency_ns: LatencyView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_latency_ns: Option<LatencyView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_delay_ns: Option<LatencyView<'a>>,
    first_message_ns: Option<LatencyView<'a>>,
    gap_ns: Option<LatencyView<'a>>,
    series: &'a Series,
    #[serde(skip_serializing_if = "Option::is_none")]
    warmup: Option<WarmUpView<'a>>,
    seconds: Vec<SecondView>,
    latency_series: &'a LatencySeries,
    cpu_s: f64,
    cpu_total_s: f64,
    peak_bytes: u64,
    threads: u32,
    connections: u32,
    reconnects: u64,
    #[serde(skip_serializing_if = "is_zero")]
    planned_reconnects: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    addresses: &'a BTreeMap<String, Use>,
    checks: &'a Checks,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventView>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thresholds: Vec<ThresholdView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tally: Option<&'a Value>,
}

#[derive(Serialize)]
struct LatencyView<'a> {
    #[serde(flatten)]
    spread: Spread,
    p9999: Option<u64>,
    includes_failed: bool,
    histogram: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    ages: &'a str,
}

/// Replies per second since the first call; the last second may be cut.
#[derive(Serialize)]
struct WarmUpView<'a> {
    elapsed_s: f64,
    seconds: &'a [u64],
}

/// In ns, as the member's other latencies; null without samples.
#[derive(Serialize)]
struct SecondView {
    p50: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    samples: u64,
}

/// A change while the run went on; its time counts from the window's opening, and is negative in the warm-up.
#[derive(Serialize)]
struct EventView {
    at_s: f64,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
}

/// A condition of `--fail-if`; the value is null if there is none.
#[derive(Serialize)]
struct ThresholdView<'a> {
    threshold: &'a str,
    value: Option<f64>,
    /// The value is only a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    unit: &'static str,
    failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

pub(super) fn member<'a>(report: &'a Report, details: Option<Details<'a>>) -> Member<'a> {
    Member {
        schema: SCHEMA,
        version: &report.version,
        messages: report.messages,
        data_frames: report.data_frames,
        messages_per_s: report.messages_per_s(),
        compressed: Some(&report.compressed).filter(|compressed| compressed.messages > 0),
        window_s: report.window_ns as f64 / 1e9,
        elapsed_s: report.elapsed_s(),
        silence: report.silence,
        calls: &report.calls,
        calls_per_s: report.calls_per_s(),
        sends: report.sends,
        latency_ns: latency(&report.latency),
        service_latency_ns: report.service_latency.as_ref().map(latency),
        send_delay_ns: report.send_delay.as_ref().map(latency),
        first_message_ns: report.first_message.as_ref().map(latency),
        gap_ns: report.gap.as_ref().map(latency),
        series: &report.series,
        warmup: report.warm_up.as_ref().map(|warm_up| WarmUpView {
            elapsed_s: warm_up.elapsed_ns as f64 / 1e9,
            seconds: &warm_up.seconds,
        }),
        seconds: report.seconds.iter().map(second).collect(),
        latency_series: &report.latency_series,
        cpu_s: report.cost.cpu_s,
        cpu_total_s: report.cost.cpu_total_s,
        peak_bytes: report.cost.peak_bytes,
        threads: report.threads,
        connections: report.connections,
        reconnects: report.reconnects,
        planned_reconnects: report.planned_reconnects,
        addresses: &report.addresses,
        checks: &report.checks,
        events: report.events.iter().map(event).collect(),
        warnings: report.warnings.iter().map(ToString::to_string).collect(),
        thresholds: report.thresholds.iter().map(threshold).collect(),
        details,
        tally: report.tally.as_ref(),
    }
}

fn second(second: &Second) -> SecondView {
    let told = |ns| (second.samples > 0).then_some(ns);
    SecondView {
        p50: told(second.p50_ns),
        p99: told(second.p99_ns),
        max: told(second.max_ns),
        samples: second.samples,
    }
}

fn event(event: &Event) -> EventView {
    let (what, value) = event.what.words();
    EventView {
        at_s: event.at_ns as f64 / 1e9,
        what,
        value,
    }
}

fn threshold(verdict: &Verdict) -> ThresholdView<'_> {
    ThresholdView {
        threshold: &verdict.threshold,
        value: verdict.value,
        at_least: verdict.is_at_least,
        unit: verdict.unit.name(),
        failed: verdict.failed,
        doubt: verdict.doubt.as_ref().map(ToString::to_string),
    }
}

fn latency(latency: &Latency) -> LatencyView<'_> {
    LatencyView {
        spread: Spread::of(latency),
        p9999: latency.at(999_900).map(|found| found.ns),
        includes_failed: latency.includes_failed,
        histogram: &latency.histogram,
        ages: &latency.ages,
    }
}
