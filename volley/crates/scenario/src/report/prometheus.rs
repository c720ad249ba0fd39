//! Prometheus' text format, version 0.0.4. All times are in seconds.

use std::io::{self, Write};

use super::events::EndedBy;
use super::model::{Report, StepReport};
use volley_http::grpc::Code;
use volley_report::report::escape::run_labels;
use volley_report::report::label_value;
use volley_report::report::prometheus::{quantiles, reached, seconds, sum_and_count};

/// Writes every metric that has a value, with its help and type. Labels: `scenario`, `step`, and by metric `outcome`, `status`, `reason`,
/// `check`, `verdict`, `quantile`.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let facts = &report.facts;
    let cost = (facts.ended_by != EndedBy::Running).then_some(&facts.cost);
    for (name, help, value) in [
        (
            "run_seconds",
            "Length of the run.",
            Some(facts.elapsed_ns as f64 / 1e9),
        ),
        (
            "run_cpu_seconds",
            "CPU time of the generator while it counted.",
            cost.map(|cost| cost.cpu_s),
        ),
        (
            "run_peak_bytes",
            "Peak resident memory of the generator.",
            cost.map(|cost| cost.peak_bytes as f64),
        ),
    ] {
        let Some(value) = value else { continue };
        head(out, name, help, "gauge")?;
        writeln!(out, "volley_scenario_{name} {value}")?;
    }
    let name = "run_info";
    head(out, name, "The run's name and tags.", "gauge")?;
    let own = [
        ("name", facts.name.as_str()),
        ("ended_by", facts.ended_by.name()),
    ];
    let labels = run_labels(&own, facts.tags.iter().map(|(tag, value)| (tag, value)));
    writeln!(out, "volley_scenario_{name}{{{labels}}} 1")?;
    let name = "iterations";
    head(
        out,
        name,
        "Iterations by what became of them; all but dropped and unfed ones began.",
        "gauge",
    )?;
    for one in &report.scenarios {
        let counts = &one.counts;
        for (outcome, count) in [
            ("ok", counts.ok),
            ("failed", counts.failed),
            ("cut_short", counts.cut_short),
            ("open", counts.open),
            ("dropped", counts.dropped),
            ("unfed", counts.unfed),
        ] {
            let scenario = label_value(&one.name);
            writeln!(
                out,
                "volley_scenario_{name}{{scenario=\"{scenario}\",outcome=\"{outcome}\"}} {count}"
            )?;
        }
    }
    let outcomes = |step: &StepReport| {
        let counts = &step.counts;
        [
            ("ok", counts.ok),
            ("failed", counts.failed),
            ("open", counts.open),
        ]
        .map(pair("outcome"))
        .into()
    };
    by_step(
        report,
        out,
        "requests",
        "Requests by what became of them; failed ones include those that could not be sent.",
        outcomes,
    )?;
    let statuses = |step: &StepReport| {
        let statuses = step.statuses.iter();
        let name = |status: u16| match step.names.is_grpc {
            true => Code::words(status),
            false => status.to_string(),
        };
        statuses
            .map(|(status, count)| (label("status", &name(*status)), *count as f64))
            .collect()
    };
    by_step(
        report,
        out,
        "responses",
        "Responses by HTTP status or gRPC code.",
        statuses,
    )?;
    let failures = |step: &StepReport| {
        let failures = step.failures.iter();
        failures
            .map(|failure| (label("reason", &failure.name), failure.count as f64))
            .collect()
    };
    by_step(
        report,
        out,
        "failures",
        "Failed requests by reason.",
        failures,
    )?;
    let checks = |step: &StepReport| {
        let verdicts = step.checks.iter().enumerate().flat_map(|(index, check)| {
            // Two checks may have the same name.
            let name = format!("index=\"{index}\",{}", label("check", &check.name));
            let verdict =
                |word: &str, count: u64| (format!("{name},verdict=\"{word}\""), count as f64);
            [
                verdict("passed", check.passed),
                verdict("failed", check.failed),
            ]
        });
        verdicts.collect()
    };
    by_step(report, out, "checks", "Checks of responses.", checks)?;
    let bytes = |step: &StepReport| {
        let counts = &step.counts;
        [
            ("sent", counts.sent_bytes),
            ("received", counts.received_bytes),
        ]
        .map(pair("direction"))
        .into()
    };
    by_step(
        report,
        out,
        "bytes",
        "Bytes of requests and responses.",
        bytes,
    )?;
    latencies(report, out)
}

fn latencies(report: &Report, out: &mut impl Write) -> io::Result<()> {
    const RANKS_PPM: [u32; 5] = [500_000, 900_000, 950_000, 990_000, 999_000];
    let name = "latency_seconds";
    head(
        out,
        name,
        "Latency of requests from when they were to be sent, or due; percentiles are estimated over ended and open ones.",
        "summary",
    )?;
    for step in &report.steps {
        let (full, labels) = (format!("volley_scenario_{name}"), labels(step));
        quantiles(&full, &step.latency, &labels, &RANKS_PPM, seconds, out)?;
        sum_and_count(&full, &step.latency, &labels, out)?;
    }
    let name = "latency_reached";
    head(
        out,
        name,
        "1 if that percentile is reached, 0 if it is a lower bound.",
        "gauge",
    )?;
    for step in &report.steps {
        let (full, labels) = (format!("volley_scenario_{name}"), labels(step));
        quantiles(&full, &step.latency, &labels, &RANKS_PPM, reached, out)?;
    }
    Ok(())
}

fn by_step(
    report: &Report,
    out: &mut impl Write,
    name: &str,
    help: &str,
    values: impl Fn(&StepReport) -> Vec<(String, f64)>,
) -> io::Result<()> {
    let mut is_first = true;
    for step in &report.steps {
        for (label, value) in values(step) {
            if std::mem::take(&mut is_first) {
                head(out, name, help, "gauge")?;
            }
            writeln!(
                out,
                "volley_scenario_{name}{{{},{label}}} {value}",
                labels(step)
            )?;
        }
    }
    Ok(())
}

fn pair(name: &'static str) -> impl Fn((&str, u64)) -> (String, f64) {
    move |(value, count)| (label(name, value), count as f64)
}

fn labels(step: &StepReport) -> String {
    let names = &step.names;
    format!(
        "{},{}",
        label("scenario", &names.scenario),
        label("step", &names.name)
    )
}

fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", label_value(value))
}

fn head(out: &mut impl Write, name: &str, help: &str, kind: &str) -> io::Result<()> {
    writeln!(
        out,
        "# HELP volley_scenario_{name} {help}\n# TYPE volley_scenario_{name} {kind}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::testkit::output::written_by;

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn a_run_reads_as_expected() {
        samples::assert_golden("shop.prom", &written(&samples::shop()));
    }

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        let text = written(&samples::hostile());
        assert_eq!(
            text.lines().count(),
            written(&samples::shop()).lines().count(),
            "{text}"
        );
        assert!(
            text.contains(r#"scenario="a\"} 1\nforged 2 \\<b>,"#),
            "{text}"
        );
    }
}
