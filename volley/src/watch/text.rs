//! What is known of a run in Prometheus' text format.

use std::fmt::Write;

use super::stats::Stats;
use crate::report::escape::run_labels;

/// The metrics of a run (Prometheus text exposition format 0.0.4).
#[must_use]
pub fn metrics(stats: &Stats) -> String {
    let mut out = String::new();
    let own = [
        ("name", &stats.name),
        ("host", &stats.host),
        ("call", &stats.call),
    ];
    let labels = run_labels(&own.map(|(name, value)| (name, &**value)), []);
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
    let name = "volley_calls_total";
    head(&mut out, name, "Calls that ended", "counter");
    for (outcome, count) in [("ok", total.ok), ("failed", total.failed)] {
        let _ = writeln!(out, "{name}{{{labels},outcome=\"{outcome}\"}} {count}");
    }
    let name = "volley_latency_seconds";
    let help = "Latency of the calls that ended in the last second, and of those that are open";
    head(&mut out, name, help, "gauge");
    let second = &stats.second;
    let times = [
        ("0.5", second.p50_ns),
        ("0.99", second.p99_ns),
        ("1", second.max_ns),
    ];
    for (quantile, ns) in times {
        if let Some(ns) = ns {
            let seconds = ns as f64 / 1e9;
            let _ = writeln!(out, "{name}{{{labels},quantile=\"{quantile}\"}} {seconds}");
        }
    }
    let load = &stats.load;
    let [rps, workers] = [load.rps, load.concurrency].map(|number| number.map(u64::from));
    let is_open = stats.phase == "window";
    let elapsed = "Seconds of the window, or of the warm-up, that are over";
    for (name, help, value) in [
        ("elapsed_seconds", elapsed, Some(stats.elapsed_s)),
        ("load_rps", "The rate now", rps),
        ("load_concurrency", "Workers now", workers),
        (
            "load_paused",
            "1 if no calls are started",
            Some(load.paused.into()),
        ),
        (
            "window_open",
            "1 once calls are counted",
            Some(is_open.into()),
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
        let labels = r#"{name="a \"b\"\n\\",host="",call="",outcome="ok"}"#;
        let line = format!("volley_calls_total{labels} 0");
        assert!(text.contains(&line), "{text}");
        for line in text.lines().filter(|line| !line.starts_with("# ")) {
            let (_, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
