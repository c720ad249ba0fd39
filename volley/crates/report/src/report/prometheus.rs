//! Prometheus' text format, version 0.0.4: ghz's metric names, all times in seconds, cumulative
//! buckets.

use std::io::{self, Write};

use super::escape::{label_value, run_labels};
use super::ghz;
use super::model::Report;
use crate::measure::latency::fixed_marks;
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
    let gauges: [(&str, &str, f64); 15] = [
        (
            "ghz_run_count",
            "Calls that ended, cut ones included.",
            report.calls.count() as f64,
        ),
        (
            "ghz_run_total",
            "Length of the run in seconds.",
            report.elapsed_s(),
        ),
        (
            "ghz_run_average",
            "Mean call latency in seconds.",
            s(latency.mean_ns),
        ),
        (
            "ghz_run_fastest",
            "Minimum call latency in seconds.",
            s(latency.min_ns),
        ),
        (
            "ghz_run_slowest",
            "Maximum call latency in seconds.",
            s(latency.max_ns),
        ),
        (
            "ghz_run_rps",
            "Calls served per second, ok or failed.",
            report.calls_per_s(),
        ),
        (
            "ghz_run_errors",
            "Calls that failed, cut calls not included.",
            report.calls.failed_total() as f64,
        ),
        (
            "volley_run_messages",
            "Replies received.",
            report.messages as f64,
        ),
        (
            "volley_run_messages_per_second",
            "Replies received per second.",
            report.messages_per_s(),
        ),
        (
            "volley_run_cut",
            "Calls that were open when the window closed.",
            report.calls.cut as f64,
        ),
        ("volley_run_sent", "Calls sent.", report.sends.sent as f64),
        (
            "volley_run_missed",
            "Calls that were due but never sent.",
            report.sends.missed as f64,
        ),
        (
            "volley_run_late",
            "Calls sent more than 1 ms after they were due.",
            report.sends.late as f64,
        ),
        (
            "volley_run_cpu_seconds",
            "CPU time of the generator while it counted.",
            report.cost.cpu_s,
        ),
        (
            "volley_run_peak_bytes",
            "Peak resident memory of the generator.",
            report.cost.peak_bytes as f64,
        ),
    ];
    for (name, help, value) in gauges {
        head(out, name, help, "gauge")?;
        writeln!(out, "{name}{{{labels}}} {value}")?;
    }

    head(
        out,
        "volley_run_status",
        "Calls by gRPC status code; cut calls count as Canceled.",
        "gauge",
    )?;
    for (status, count) in ghz::statuses(report) {
        writeln!(
            out,
            "volley_run_status{{{labels},status=\"{}\"}} {count}",
            label_value(status)
        )?;
    }
    write_histogram(latency, &labels, out)?;
    write_summary(latency, &labels, out)?;
    write_percentiles(latency, &labels, out)
}

/// The latency in buckets whose bounds are the same for every run, so that runs can be added up.
fn write_histogram(latency: &Latency, labels: &str, out: &mut impl Write) -> io::Result<()> {
    let name = "ghz_run_histogram";
    head(out, name, "Call latency in seconds.", "histogram")?;
    let empty = crate::measure::latency::bars(&fixed_marks(), []);
    let buckets = if latency.buckets.is_empty() {
        &empty
    } else {
        &latency.buckets
    };
    let mut below = 0;
    for bucket in buckets {
        below += bucket.count;
        if !is_round(bucket.up_to_ns) {
            continue;
        }
        writeln!(
            out,
            "{name}_bucket{{{labels},le=\"{}\"}} {below}",
            bucket.up_to_ns as f64 / 1e9
        )?;
    }
    writeln!(
        out,
        "{name}_bucket{{{labels},le=\"+Inf\"}} {}",
        latency.samples
    )?;
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
    head(
        out,
        name,
        &format!(
            "Call latency in seconds ({}), of calls that ended.",
            latency.kind.name()
        ),
        "summary",
    )?;
    for rank_ppm in [
        100_000, 250_000, 500_000, 750_000, 900_000, 950_000, 990_000, 999_000, 999_900,
    ] {
        if let Some(ns) = latency.ended_at(rank_ppm) {
            let quantile = f64::from(rank_ppm) / 1e6;
            writeln!(
                out,
                "{name}{{{labels},quantile=\"{quantile}\"}} {}",
                ns as f64 / 1e9
            )?;
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
        assert!(
            text.contains(r#"ghz_run_count{name="a\"} 1\nforged 2 \\","#),
            "{text}"
        );
        assert!(text.contains(r#",tag_a_b="1",tag_le="x"} 4"#), "{text}");
        assert_eq!(
            text.lines().count(),
            written(&samples::few_calls()).lines().count()
        );
    }
}
