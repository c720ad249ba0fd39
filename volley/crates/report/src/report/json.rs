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
    write_json(&view(report), out)
}

/// ghz's report, in ghz's order.
#[derive(Serialize)]
pub(super) struct View<'a> {
    date: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(rename = "endReason")]
    end_reason: &'static str,
    options: &'a serde_json::Value,
    count: u64,
    total: u64,
    average: u64,
    fastest: u64,
    slowest: u64,
    rps: f64,
    #[serde(rename = "errorDistribution", serialize_with = "as_map")]
    errors: Vec<(String, u64)>,
    #[serde(rename = "statusCodeDistribution", serialize_with = "as_map")]
    statuses: Vec<(&'static str, u64)>,
    #[serde(rename = "latencyDistribution")]
    percentiles: Option<Vec<PercentileView>>,
    histogram: Option<Vec<BarView>>,
    details: Details<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: &'a BTreeMap<String, String>,
    volley: own::Member<'a>,
}

#[derive(Serialize)]
struct PercentileView {
    percentage: u32,
    latency: u64,
}

#[derive(Serialize)]
struct BarView {
    mark: f64,
    count: u64,
    frequency: f64,
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

pub(super) fn view(report: &Report) -> View<'_> {
    let latency = &report.latency;
    let sampled = latency.samples > 0;
    let whole = report.details_are_whole();
    let some = (!whole && !report.details.is_empty()).then_some(Details(&report.details));
    View {
        date: timestamp::to_the_second(report.started_unix_ns.saturating_add(report.elapsed_ns)),
        name: &report.name,
        end_reason: ghz::end_reason(report),
        options: &report.options,
        count: report.calls.count(),
        total: report.elapsed_ns.max(1),
        average: latency.mean_ns,
        fastest: latency.min_ns,
        slowest: latency.max_ns,
        rps: report.calls_per_s(),
        errors: ghz::errors(report),
        statuses: ghz::statuses(report),
        percentiles: sampled.then(|| {
            let view = |(percentage, latency)| PercentileView {
                percentage,
                latency,
            };
            ghz::percentiles(report).into_iter().map(view).collect()
        }),
        histogram: sampled.then(|| {
            let view = |bar: &Bar| BarView {
                mark: bar.up_to_ns as f64 / 1e9,
                count: bar.count,
                frequency: bar.count as f64 / latency.samples as f64,
            };
            latency.bars.iter().map(view).collect()
        }),
        details: Details(if whole { &report.details } else { &[] }),
        tags: &report.tags,
        volley: own::member(report, some),
    }
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
    write_pretty_json(&view(report), out)
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
