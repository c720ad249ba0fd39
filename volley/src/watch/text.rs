//! What is known of a run in Prometheus' text format.

use std::fmt::Write;

use super::stats::Stats;
use crate::report::label_value;

/// The metrics of a run (Prometheus text exposition format 0.0.4).
#[must_use]
pub fn metrics(stats: &Stats) -> String {
    let mut out = String::new();
    let labels = format!(
        "name=\"{}\",host=\"{}\",call=\"{}\"",
        label_value(&stats.name),
        label_value(&stats.host),
        label_value(&stats.call)
    );
    let total = &stats.total;
    for (name, help, count) in [
        ("messages", "Replies received", total.messages),
        ("calls_sent", "Calls sent", total.sent),
        ("calls_due", "Calls that were due", total.due),
        ("calls_late", "Calls sent more than 1 ms late", total.late),
    ] {
        head(&mut out, &format!("volley_{name}_total"), help, "counter");
        let _ = writeln!(out, "volley_{name}_total{{{labels}}} {count}");
    }
    head(
        &mut out,
        "volley_calls_total",
        "Calls that ended",
        "counter",
    );
    for (outcome, count) in [("ok", total.ok), ("failed", total.failed)] {
        let _ = writeln!(
            out,
            "volley_calls_total{{{labels},outcome=\"{outcome}\"}} {count}"
        );
    }
    head(
        &mut out,
        "volley_latency_seconds",
        "Latency of the calls that ended in the last second, and of those that are open",
        "gauge",
    );
    let second = &stats.second;
    for (quantile, ns) in [
        ("0.5", second.p50_ns),
        ("0.99", second.p99_ns),
        ("1", second.max_ns),
    ] {
        if let Some(ns) = ns {
            let seconds = ns as f64 / 1e9;
            let _ = writeln!(
                out,
                "volley_latency_seconds{{{labels},quantile=\"{quantile}\"}} {seconds}"
            );
        }
    }
    let load = &stats.load;
    for (name, help, value) in [
        (
            "elapsed_seconds",
            "Seconds of the window, or of the warm-up, that are over",
            Some(stats.elapsed_s),
        ),
        ("load_rps", "The rate now", load.rps.map(u64::from)),
        (
            "load_concurrency",
            "Workers now",
            load.concurrency.map(u64::from),
        ),
        (
            "load_paused",
            "1 if no calls are started",
            Some(load.paused.into()),
        ),
        (
            "window_open",
            "1 once calls are counted",
            Some((stats.phase == "window").into()),
        ),
    ] {
        if let Some(value) = value {
            head(&mut out, &format!("volley_{name}"), help, "gauge");
            let _ = writeln!(out, "volley_{name}{{{labels}}} {value}");
        }
    }
    out
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    #[test]
    fn labels_are_escaped_and_every_line_is_whole() {
        let spec = Spec {
            name: "a \"b\"\n\\".to_owned(),
            ..Spec::default()
        };
        let text = metrics(&Stats::new(&spec));
        assert!(
            text.contains(
                r#"volley_calls_total{name="a \"b\"\n\\",host="",call="",outcome="ok"} 0"#
            ),
            "{text}"
        );
        for line in text.lines() {
            assert!(
                line.starts_with("# ") || line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok(),
                "{line}"
            );
        }
    }
}
