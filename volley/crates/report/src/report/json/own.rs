//! The member `volley`: facts that ghz's report has no place for.

use std::collections::BTreeMap;

use serde_json::Value;
use volley_base::view;

use super::Details;
use super::spread::{Spread, is_zero};
use crate::measure::{
    Compressed, Event, Latency, LatencySeries, PacedCounts, Second, Silence, Use,
};
use crate::report::model::{Calls, Checks, PacedStreams, Report, Sends, Series, WarmUp};
use crate::report::verdict::Verdict;

/// The schema version of the member; it increases when readers of the old one would be misled.
const SCHEMA: u32 = 1;

view! {
    pub(super) struct Member<'a>(report: &'a Report, details: Option<Details<'a>>) {
        schema: u32 = SCHEMA,
        version: &'a str = &report.version,
        messages: u64 = report.messages,
        data_frames: u64 = report.data_frames,
        messages_per_s: f64 = report.messages_per_s(),
        #[serde(skip_serializing_if = "Option::is_none")]
        compressed: Option<&'a Compressed> =
            Some(&report.compressed).filter(|compressed| compressed.messages > 0),
        window_s: f64 = report.window_ns as f64 / 1e9,
        elapsed_s: f64 = report.elapsed_s(),
        #[serde(skip_serializing_if = "Option::is_none")]
        silence: Option<Silence> = report.silence,
        calls: &'a Calls = &report.calls,
        calls_per_s: f64 = report.calls_per_s(),
        #[serde(flatten)]
        sends: Sends = report.sends,
        #[serde(skip_serializing_if = "Option::is_none")]
        due: Option<u64> = report.due(),
        latency_ns: LatencyView<'a> = LatencyView::new(&report.latency),
        #[serde(skip_serializing_if = "Option::is_none")]
        service_latency_ns: Option<LatencyView<'a>> = report.service_latency.as_ref().map(LatencyView::new),
        #[serde(skip_serializing_if = "Option::is_none")]
        send_delay_ns: Option<LatencyView<'a>> = report.send_delay.as_ref().map(LatencyView::new),
        first_message_ns: Option<LatencyView<'a>> = report.first_message.as_ref().map(LatencyView::new),
        gap_ns: Option<LatencyView<'a>> = report.gap.as_ref().map(LatencyView::new),
        #[serde(skip_serializing_if = "Option::is_none")]
        paced_streams: Option<PacedView<'a>> = report.paced.as_ref().map(PacedView::new),
        series: &'a Series = &report.series,
        #[serde(skip_serializing_if = "Option::is_none")]
        warmup: Option<WarmUpView<'a>> = report.warm_up.as_ref().map(WarmUpView::new),
        seconds: Vec<SecondView> = report.seconds.iter().map(SecondView::new).collect(),
        latency_series: &'a LatencySeries = &report.latency_series,
        cpu_s: f64 = report.cost.cpu_s,
        cpu_total_s: f64 = report.cost.cpu_total_s,
        peak_bytes: u64 = report.cost.peak_bytes,
        threads: u32 = report.threads,
        connections: u32 = report.connections,
        reconnects: u64 = report.reconnects,
        #[serde(skip_serializing_if = "is_zero")]
        planned_reconnects: u64 = report.planned_reconnects,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        addresses: &'a BTreeMap<String, Use> = &report.addresses,
        checks: &'a Checks = &report.checks,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        events: Vec<EventView> = report.events.iter().map(EventView::new).collect(),
        warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect(),
        #[serde(skip_serializing_if = "Vec::is_empty")]
        thresholds: Vec<ThresholdView<'a>> = report.thresholds.iter().map(ThresholdView::new).collect(),
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details<'a>> = details,
        #[serde(skip_serializing_if = "Option::is_none")]
        tally: Option<&'a Value> = report.tally.as_ref(),
    }
}

view! {
    struct LatencyView<'a>(latency: &'a Latency) {
        #[serde(flatten)]
        spread: Spread = Spread::new(latency),
        p9999: Option<u64> = latency.at(999_900).map(|found| found.ns),
        includes_failed: bool = latency.includes_failed,
        histogram: &'a str = &latency.histogram,
        #[serde(skip_serializing_if = "str::is_empty")]
        ages: &'a str = &latency.ages,
    }
}

view! {
    /// Streams that live. Times count from when a message was due.
    struct PacedView<'a>(paced: &'a PacedStreams) {
        rate: u32 = paced.rate,
        #[serde(flatten)]
        counts: PacedCounts = paced.counts,
        unsent: u64 = paced.unsent(),
        reply_latency_ns: Option<LatencyView<'a>> = paced.reply.as_ref().map(LatencyView::new),
        send_delay_ns: Option<LatencyView<'a>> = paced.delay.as_ref().map(LatencyView::new),
    }
}

view! {
    /// Replies per second since the first call; the last second may be cut.
    struct WarmUpView<'a>(warm_up: &'a WarmUp) {
        elapsed_s: f64 = warm_up.elapsed_ns as f64 / 1e9,
        seconds: &'a [u64] = &warm_up.seconds,
    }
}

view! {
    /// In ns, as the member's other latencies; null without samples.
    struct SecondView(second: &Second) {
        p50: Option<u64> = (second.samples > 0).then_some(second.p50_ns),
        p99: Option<u64> = (second.samples > 0).then_some(second.p99_ns),
        max: Option<u64> = (second.samples > 0).then_some(second.max_ns),
        samples: u64 = second.samples,
    }
}

view! {
    /// A change while the run went on; its time counts from the window's opening, and is negative in the warm-up.
    struct EventView(event: &Event) {
        at_s: f64 = event.at_ns as f64 / 1e9,
        what: &'static str = event.what.words().0,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<u32> = event.what.words().1,
    }
}

view! {
    /// A condition of `--fail-if`; the value is null if there is none.
    struct ThresholdView<'a>(verdict: &'a Verdict) {
        threshold: &'a str = &verdict.threshold,
        value: Option<f64> = verdict.value,
        /// The value is only a lower bound.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        at_least: bool = verdict.is_at_least,
        unit: &'static str = verdict.unit.name(),
        failed: bool = verdict.failed,
        #[serde(skip_serializing_if = "Option::is_none")]
        doubt: Option<String> = verdict.doubt.as_ref().map(ToString::to_string),
    }
}
