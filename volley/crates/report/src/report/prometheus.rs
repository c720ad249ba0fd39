//! Prometheus' text format, version 0.0.4: ghz's metric names, all times in seconds, cumulative
//! buckets.

use std::io::{self, Write};

use super::escape::{label_value, run_labels};
use super::ghz;
use super::model::Report;
use crate::measure::latency::{bars, fixed_marks};
use crate::measure::{Latency, Percentile};

/// Writes every metric with its help, type, and the labels `name`, `call`, `host`, `end_reason` and
/// `tag_…`.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let labels = common_labels(report);
    let s = |ns: u64| ns as f64 / 1e9;
    let latency = &report.latency;
    let (calls, sends, cost) = (&report.calls, &report.sends, &report.cost);
    let mut gauge = |name: &str, help: &str, value: f64| {
        head(out, name, help, "gauge")?;
        writeln!(out, "{name}{{{labels}}} {value}")
    };
    let help = "Calls that ended, cut ones included.";
    gauge("ghz_run_count", help, calls.count() as f64)?;
    let help = "Length of the run in seconds.";
    gauge("ghz_run_total", help, report.elapsed_s())?;
    let help = "Mean call latency in seconds.";
    gauge("ghz_run_average", help, s(latency.mean_ns))?;
    let help = "Minimum call latency in seconds.";
    gauge("ghz_run_fastest", help, s(latency.min_ns))?;
    let help = "Maximum call latency in seconds.";
    gauge("ghz_run_slowest", help, s(latency.max_ns))?;
    let help = "Calls served per second, ok or failed.";
    gauge("ghz_run_rps", help, report.calls_per_s())?;
    let help = "Calls that failed, cut calls not included.";
    gauge("ghz_run_errors", help, calls.failed_total() as f64)?;
    let help = "Replies received.";
    gauge("volley_run_messages", help, report.messages as f64)?;
    let (name, help) = (
        "volley_run_messages_per_second",
        "Replies received per second.",
    );
    gauge(name, help, report.messages_per_s())?;
    let help = "Calls that were open when the window closed.";
    gauge("volley_run_cut", help, calls.cut as f64)?;
    gauge("volley_run_sent", "Calls sent.", sends.sent as f64)?;
    let help = "Calls that were due but never sent.";
    gauge("volley_run_missed", help, sends.missed as f64)?;
    let help = "Calls sent more than 1 ms after they were due.";
    gauge("volley_run_late", help, sends.late as f64)?;
    let help = "CPU time of the generator while it counted.";
    gauge("volley_run_cpu_seconds", help, cost.cpu_s)?;
    let help = "Peak resident memory of the generator.";
    gauge("volley_run_peak_bytes", help, cost.peak_bytes as f64)?;

    let name = "volley_run_status";
    let help = "Calls by gRPC status code; cut calls count as Canceled.";
    head(out, name, help, "gauge")?;
    for (status, count) in ghz::statuses(report) {
        let status = label_value(status);
        writeln!(out, "{name}{{{labels},status=\"{status}\"}} {count}")?;
    }
    write_histogram(latency, &labels, out)?;
    write_summary(latency, &labels, out)?;
    write_percentiles(latency, &labels, out)
}

/// The latency in buckets whose bounds are the same for every run, so that runs can be added up.
fn write_histogram(latency: &Latency, labels: &str, out: &mut impl Write) -> io::Result<()> {
    let name = "ghz_run_histogram";
    head(out, name, "Call latency in seconds.", "histogram")?;
    let empty = bars(&fixed_marks(), []);
    let buckets = match latency.buckets.is_empty() {
        true => &empty,
        false => &latency.buckets,
    };
    let mut below = 0;
    for bucket in buckets {
        below += bucket.count;
        if is_round(bucket.up_to_ns) {
            let end_s = bucket.up_to_ns as f64 / 1e9;
            writeln!(out, "{name}_bucket{{{labels},le=\"{end_s}\"}} {below}")?;
        }
    }
    let samples = latency.samples;
    writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {samples}")?;
    sum_and_count(name, latency, labels, out)
}

/// 1, 2 or 5 times a power of ten: three bounds per decade are enough here. With cumulative
/// counts, the other bounds can be left out.
fn is_round(mut ns: u64) -> bool {
    while ns >= 10 && ns.is_multiple_of(10) {
        ns /= 10;
    }
    matches!(ns, 1 | 2 | 5)
}

fn write_summary(latency: &Latency, labels: &str, out: &mut impl Write) -> io::Result<()> {
    let name = "ghz_run_latency";
    let kind = latency.kind.name();
    let help = format!("Call latency in seconds ({kind}), of calls that ended.");
    head(out, name, &help, "summary")?;
    for rank_ppm in [
        100_000, 250_000, 500_000, 750_000, 900_000, 950_000, 990_000, 999_000, 999_900,
    ] {
        if let Some(ns) = latency.ended_at(rank_ppm) {
            let (quantile, s) = (f64::from(rank_ppm) / 1e6, ns as f64 / 1e9);
            writeln!(out, "{name}{{{labels},quantile=\"{quantile}\"}} {s}")?;
        }
    }
    sum_and_count(name, latency, labels, out)
}

/// Percentiles with the calls that were open, and whether each of them is reached.
fn write_percentiles(latency: &Latency, labels: &str, out: &mut impl Write) -> io::Result<()> {
    const RANKS_PPM: [u32; 6] = [500_000, 900_000, 950_000, 990_000, 999_000, 999_900];
    let mut write = |name, help, value: fn(Percentile) -> f64| {
        head(out, name, help, "gauge")?;
        quantiles(name, latency, labels, &RANKS_PPM, value, out)
    };
    write(
        "volley_run_latency",
        "Call latency in seconds, estimated over ended and open calls.",
        seconds,
    )?;
    write(
        "volley_run_latency_reached",
        "1 if volley_run_latency is the percentile, 0 if it is a lower bound of it.",
        reached,
    )
}

/// Writes a value of each of these percentiles that is known.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn quantiles(
    name: &str,
    latency: &Latency,
    labels: &str,
    ranks_ppm: &[u32],
    value: fn(Percentile) -> f64,
    out: &mut impl Write,
) -> io::Result<()> {
    for found in ranks_ppm.iter().filter_map(|rank| latency.at(*rank)) {
        let (quantile, value) = (f64::from(found.rank_ppm) / 1e6, value(found));
        writeln!(out, "{name}{{{labels},quantile=\"{quantile}\"}} {value}")?;
    }
    Ok(())
}

/// A percentile in seconds.
pub fn seconds(found: Percentile) -> f64 {
    found.ns as f64 / 1e9
}

/// 1 if a percentile is reached, 0 if it is a lower bound.
pub fn reached(found: Percentile) -> f64 {
    f64::from(u8::from(!found.is_at_least))
}

/// Writes the sum and the number of what ended.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn sum_and_count(
    name: &str,
    latency: &Latency,
    labels: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let sum_s = latency.mean_ns as f64 * latency.samples as f64 / 1e9;
    writeln!(out, "{name}_sum{{{labels}}} {sum_s}")?;
    writeln!(out, "{name}_count{{{labels}}} {}", latency.samples)
}

fn head(out: &mut impl Write, name: &str, help: &str, kind: &str) -> io::Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn common_labels(report: &Report) -> String {
    let own = [
        ("name", report.name.as_str()),
        ("call", report.call.as_str()),
        ("host", report.host.as_str()),
        ("end_reason", ghz::end_reason(report)),
    ];
    run_labels(&own, &report.tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, written_by};

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn a_few_calls_read_as_expected() {
        assert_eq!(
            written(&samples::few_calls()),
            include_str!("samples/few_calls.prom")
        );
    }

    #[test]
    fn buckets_never_fall_and_end_at_the_count() {
        let report = samples::stream();
        let text = written(&report);
        let buckets: Vec<u64> = text
            .lines()
            .filter(|line| line.starts_with("ghz_run_histogram_bucket"))
            .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(buckets.is_sorted());
        assert_eq!(buckets.last(), Some(&report.latency.samples));
    }

    #[test]
    fn hostile_names_and_tags_stay_inside_their_quotes() {
        let mut report = samples::few_calls();
        report.name = "a\"} 1\nforged 2 \\".to_owned();
        report.tags = [("le", "x"), ("a-b", "1"), ("a.b", "2")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into();
        let text = written(&report);
        let name = r#"ghz_run_count{name="a\"} 1\nforged 2 \\","#;
        assert!(text.contains(name), "{text}");
        assert!(text.contains(r#",tag_a_b="1",tag_le="x"} 4"#), "{text}");
        let expected = written(&samples::few_calls());
        assert_eq!(text.lines().count(), expected.lines().count());
    }
}
