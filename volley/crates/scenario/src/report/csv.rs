//! A line per step.

use std::io::{self, Write};

use super::model::Report;
use volley_report::measure::Latency;
use volley_report::report::escape;
use volley_report::report::json::spread::at_least;

const COLUMNS: &str = "scenario,step,sent,unsent,ok,failed,open,ended_per_s,mean_ns,min_ns,p50_ns,p90_ns,p95_ns,p99_ns,p999_ns,\
                       max_ns,first_byte_p50_ns,first_byte_p99_ns,checks_passed,checks_failed,sent_bytes,received_bytes,\
                       replies,at_least";

/// Writes a header, and a line per step. A time without samples is empty; a step of setup or teardown has no scenario.
/// `at_least` names those times that are lower bounds, because too many requests were open.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")?;
    for step in &report.steps {
        let (counts, latency) = (&step.counts, &step.latency);
        let exact = |ns: u64| (latency.samples > 0).then_some(ns);
        let at = |latency: &Latency, rank_ppm| latency.at(rank_ppm).map(|found| found.ns);
        let checked = step.checks.iter().fold((0, 0), |sum, check| {
            (sum.0 + check.passed, sum.1 + check.failed)
        });
        write!(
            out,
            "{},{}",
            escape::csv(&step.names.scenario),
            escape::csv(&step.names.name)
        )?;
        write!(
            out,
            ",{},{},{},{},{}",
            counts.sent, counts.unsent, counts.ok, counts.failed, counts.open
        )?;
        write!(out, ",{:.3}", report.per_s(counts.ended()))?;
        for ns in [
            latency.mean().map(|mean| mean.ns),
            exact(latency.min_ns),
            at(latency, 500_000),
            at(latency, 900_000),
            at(latency, 950_000),
            at(latency, 990_000),
            at(latency, 999_000),
            latency.longest().map(|longest| longest.ns),
            at(&step.first_byte, 500_000),
            at(&step.first_byte, 990_000),
        ] {
            write!(out, ",{}", ns.map_or_else(String::new, |ns| ns.to_string()))?;
        }
        let bytes = (counts.sent_bytes, counts.received_bytes);
        writeln!(
            out,
            ",{},{},{},{},{},{}",
            checked.0,
            checked.1,
            bytes.0,
            bytes.1,
            counts.replies,
            at_least(latency).join(" ")
        )?;
    }
    Ok(())
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
    fn every_step_is_a_line() {
        samples::assert_golden("shop.csv", &written(&samples::shop()));
    }

    #[test]
    fn a_hostile_name_is_one_field() {
        let text = written(&samples::hostile());
        assert_eq!(text.lines().count(), 4, "{text}");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let fields = reader.headers().unwrap().len();
        assert!(
            reader
                .records()
                .all(|record| record.unwrap().len() == fields)
        );
    }
}
