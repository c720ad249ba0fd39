//! The run as JSON: ghz's members, plus one, `volley`.
//!
//! All durations are whole nanoseconds; ghz's histogram marks are seconds. `details` holds either
//! every call, as readers of ghz's reports expect, or none. An incomplete list goes to
//! `volley.details`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::ser::{SerializeSeq, Serializer};
use serde::{Serialize, ser};
use volley_base::units::timestamp;
use volley_base::view;

use super::escape::{write_json, write_pretty_json};
use super::ghz;
use super::model::{Detail, Report};
use crate::measure::Bar;

mod own;
pub mod spread;

/// Writes the report as one line.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_json(&View::new(report, report.details_are_whole()), out)
}

view! {
    /// ghz's report, in ghz's order.
    pub(super) struct View<'a>(report: &'a Report, whole: bool) {
        date: String =
            timestamp::to_the_second(report.started_unix_ns.saturating_add(report.elapsed_ns)),
        #[serde(skip_serializing_if = "str::is_empty")]
        name: &'a str = &report.name,
        #[serde(rename = "endReason")]
        end_reason: &'static str = ghz::end_reason(report),
        options: &'a serde_json::Value = &report.options,
        count: u64 = report.calls.count(),
        total: u64 = report.elapsed_ns.max(1),
        average: u64 = report.latency.mean_ns,
        fastest: u64 = report.latency.min_ns,
        slowest: u64 = report.latency.max_ns,
        rps: f64 = report.calls_per_s(),
        #[serde(rename = "errorDistribution", serialize_with = "as_map")]
        errors: Vec<(String, u64)> = ghz::errors(report),
        #[serde(rename = "statusCodeDistribution", serialize_with = "as_map")]
        statuses: Vec<(&'static str, u64)> = ghz::statuses(report),
        #[serde(rename = "latencyDistribution")]
        percentiles: Option<Vec<PercentileView>> = (report.latency.samples > 0)
            .then(|| ghz::percentiles(report).into_iter().map(PercentileView::new).collect()),
        histogram: Option<Vec<BarView>> = (report.latency.samples > 0)
            .then(|| report.latency.bars.iter().map(|bar| BarView::new(bar, report)).collect()),
        details: Details<'a> = Details(if whole { &report.details } else { &[] }),
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        tags: &'a BTreeMap<String, String> = &report.tags,
        volley: own::Member<'a> = {
            let has_some = !whole && !report.details.is_empty();
            own::Member::new(report, has_some.then_some(Details(&report.details)))
        },
    }
}

view! {
    struct PercentileView(found: (u32, u64)) {
        percentage: u32 = found.0,
        latency: u64 = found.1,
    }
}

view! {
    struct BarView(bar: &Bar, report: &Report) {
        mark: f64 = bar.up_to_ns as f64 / 1e9,
        count: u64 = bar.count,
        frequency: f64 = bar.count as f64 / report.latency.samples as f64,
    }
}

/// Serialized one by one: there may be a million.
struct Details<'a>(&'a [Detail]);

#[derive(Serialize)]
struct DetailView<'a> {
    timestamp: String,
    latency: u64,
    error: &'a str,
    status: &'static str,
}

fn as_map<K: Serialize, S: Serializer>(
    rows: &[(K, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rows.iter().map(|(key, count)| (key, count)))
}

impl ser::Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for detail in self.0 {
            let (status, error) = ghz::status_and_error(detail);
            list.serialize_element(&DetailView {
                timestamp: timestamp::to_the_ns(detail.end_unix_ns),
                latency: detail.latency_ns,
                error: &error,
                status,
            })?;
        }
        list.end()
    }
}

/// Writes the same for people: over many lines, indented by two spaces.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_pretty(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_pretty_json(&View::new(report, report.details_are_whole()), out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn loaded(report: &Report) -> serde_json::Value {
        let mut out = Vec::new();
        write(report, &mut out).unwrap();
        let ends = out.iter().filter(|byte| **byte == b'\n');
        assert_eq!(ends.count(), 1, "one line");
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn details_that_are_only_some_calls_are_volleys_own() {
        let mut report = samples::few_calls();
        let details = |report: &Report| {
            let json = loaded(report);
            let lists = [json.get("details"), json["volley"].get("details")];
            lists.map(|list| Some(list?.as_array().unwrap().len()))
        };
        assert_eq!(details(&report), [Some(4), None]);
        report.details.pop();
        assert_eq!(details(&report), [Some(0), Some(3)]);
    }

    #[test]
    fn a_run_without_calls_has_nulls_where_ghz_has_them() {
        let report = loaded(&samples::no_calls());
        for key in ["latencyDistribution", "histogram"] {
            assert!(report[key].is_null(), "{key}");
        }
        assert!(report["volley"]["latency_ns"]["p50"].is_null());
    }

    #[test]
    fn a_few_calls_read_as_expected() {
        let mut out = Vec::new();
        write_pretty(&samples::few_calls(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            include_str!("samples/few_calls.json")
        );
    }
}
