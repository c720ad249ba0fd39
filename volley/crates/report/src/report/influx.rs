//! The run as InfluxDB's line protocol, in ghz's measurements, tags and fields.
//!
//! ghz's text tags are in quotation marks, which InfluxDB takes for a part of the value; so are these. What they and the
//! fields hold is escaped as InfluxDB reads it:
//! <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/#special-characters>.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use volley_base::units::GoDuration;

use super::escape::visible;
use super::ghz;
use super::ghz_options::{CONCURRENCY_SCHEDULE, LOAD_SCHEDULE};
use super::model::Report;

/// Writes one line, `ghz_run`; its time is the end of the run.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_summary(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let latency = &report.latency;
    let errors = report.calls.failed_total() + report.calls.cut;
    let (tags, has_errors) = (tags(report), errors > 0);
    write!(
        out,
        "ghz_run,{tags},errors={errors},has_errors={has_errors} "
    )?;
    write!(
        out,
        "count={},total={},average={},fastest={},slowest={},rps={:.2}",
        report.calls.count(),
        report.elapsed_ns.max(1),
        latency.mean_ns,
        latency.min_ns,
        latency.max_ns,
        report.calls_per_s()
    )?;
    for (percent, ns) in ghz::percentiles(report) {
        match percent {
            50 => write!(out, ",median={ns}")?,
            95 => write!(out, ",p95={ns}")?,
            _ => {}
        }
    }
    let end_unix_ns = report.started_unix_ns.saturating_add(report.elapsed_ns);
    writeln!(out, ",errors={errors} {end_unix_ns}")
}

/// Writes a line, `ghz_detail`, for each single call that was kept; its time is the end of the call.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_details(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let tags = tags(report);
    for detail in &report.details {
        let (status, error) = ghz::status_and_error(detail);
        let has_error = !error.is_empty();
        let (ns, error, status) = (detail.latency_ns, field(&error), field(status));
        write!(out, "ghz_detail,{tags},hasError={has_error} latency={ns},")?;
        writeln!(out, "error={error},status={status} {}", detail.end_unix_ns)?;
    }
    Ok(())
}

/// What was run.
fn tags(report: &Report) -> String {
    let options = Options(&report.options);
    let mut tags: Vec<(&str, String)> = Vec::new();
    if !report.name.trim().is_empty() {
        tags.push(("name", tag(report.name.trim())));
    }
    if let Some(file) = options.text("proto") {
        tags.push(("proto", tag(file)));
    } else if let Some(file) = options.text("protoset") {
        tags.push(("Protoset", tag(file)));
    }
    tags.push(("call", tag(options.text("call").unwrap_or_default())));
    tags.push(("host", tag(options.text("host").unwrap_or_default())));
    tags.push(("n", options.number("total")));
    options.add_schedule("concurrency", ("c", "concurrency"), &mut tags);
    options.add_schedule("load", ("rps", "rps"), &mut tags);
    tags.push(("z", options.number("duration")));
    tags.push(("timeout", options.seconds("timeout")));
    tags.push(("dial_timeout", options.seconds("dial-timeout")));
    tags.push(("keepalive", options.seconds("keepalive")));
    let data = options.0.get("data").unwrap_or(&Value::Null);
    tags.push(("data", tag_of_json(&data.to_string())));
    let metadata = options.0.get("metadata").map(Value::to_string);
    let metadata = metadata.map_or_else(empty, |json| tag_of_json(&json));
    tags.push(("metadata", metadata));
    let own = serde_json::to_string(&report.tags).ok();
    let own = own.filter(|_| !report.tags.is_empty());
    tags.push(("tags", own.map_or_else(empty, |json| tag_of_json(&json))));
    let tags = tags.iter().map(|(name, value)| format!("{name}={value}"));
    tags.collect::<Vec<_>>().join(",")
}

/// The options in ghz's JSON report.
struct Options<'a>(&'a Value);

impl<'a> Options<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        let text = self.0.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    }

    fn number(&self, key: &str) -> String {
        let number = self.0.get(key).and_then(Value::as_i64);
        number.unwrap_or_default().to_string()
    }

    fn ns(&self, key: &str) -> u64 {
        self.0.get(key).and_then(Value::as_u64).unwrap_or_default()
    }

    fn seconds(&self, key: &str) -> String {
        (self.ns(key) as f64 / 1e9).to_string()
    }

    /// A steady load is one number, (its tag, its option); a schedule has six parts.
    fn add_schedule(&self, kind: &str, steady: (&'a str, &str), tags: &mut Vec<(&'a str, String)>) {
        let names = match kind {
            "load" => LOAD_SCHEDULE,
            _ => CONCURRENCY_SCHEDULE,
        };
        let [schedule, start, end, step, step_duration, max_duration] = names;
        let shape = self.text(schedule).unwrap_or(STEADY);
        if shape == STEADY {
            tags.push((steady.0, self.number(steady.1)));
            return;
        }
        tags.push((schedule, escaped(&visible(shape))));
        for name in [start, end, step] {
            tags.push((name, self.number(name)));
        }
        for name in [step_duration, max_duration] {
            let time = GoDuration(Duration::from_nanos(self.ns(name)));
            tags.push((name, time.to_string()));
        }
    }
}

const STEADY: &str = "const";

/// The value of a text tag.
fn tag(text: &str) -> String {
    format!("\"{}\"", escaped(&visible(text)))
}

/// The same for JSON: a JSON string that holds it.
fn tag_of_json(json: &str) -> String {
    escaped(&visible(&Value::from(json).to_string()))
}

/// What would end a tag's value, behind a backslash.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, ' ' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn empty() -> String {
    "\"\"".to_owned()
}

/// A text field.
fn field(text: &str) -> String {
    let text = visible(text).replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::samples::{self, written_by};

    /// The tags of a line, and the rest of it, as InfluxDB splits them.
    fn split(line: &str) -> (Vec<(String, String)>, String) {
        let (mut words, mut escaped) = (vec![String::new()], false);
        let mut rest = line.chars();
        for character in rest.by_ref() {
            match character {
                ' ' if !escaped => break,
                ',' if !escaped => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
            escaped = character == '\\' && !escaped;
        }
        let tag = |word: &String| {
            let (name, value) = word.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        (words[1..].iter().map(tag).collect(), rest.collect())
    }

    #[test]
    fn a_run_and_its_calls_are_written_as_ghz_writes_them() {
        let report = samples::few_calls();
        assert_eq!(
            written_by(&report, write_summary) + &written_by(&report, write_details),
            include_str!("samples/few_calls.influx")
        );
    }

    #[test]
    fn schedules_have_their_parts_in_the_place_of_one_number() {
        let mut report = samples::no_calls();
        report.options = json!({
            "load-schedule": "step", "load-start": 5, "load-step": -1, "load-step-duration": 1_500_000_000_u64,
            "concurrency-schedule": "const", "concurrency": 7,
        });
        let line = written_by(&report, write_summary);
        let tags = ",c=7,load-schedule=step,load-start=5,load-end=0,load-step=-1,load-step-duration=1.5s,\
                    load-max-duration=0s,z=0,";
        assert!(line.contains(tags), "{line}");
    }

    #[test]
    fn no_text_ends_its_tag_or_its_field() {
        let mut report = samples::few_calls();
        report.name = "a b,c=d\ne\\".to_owned();
        report.options["metadata"] = json!({"k, =\"": "v\\"});
        report.options["load-schedule"] = json!("a b,c=d\ne");
        let line = written_by(&report, write_summary);
        assert_eq!(line.lines().count(), 1);
        let (tags, fields) = split(&line);
        let value = |name: &str| &tags.iter().find(|(tag, _)| tag == name).unwrap().1;
        assert_eq!(value("name"), r#""a\ b\,c\=d\ne\""#);
        assert_eq!(value("load-schedule"), r"a\ b\,c\=d\ne");
        assert_eq!(value("metadata"), r#""{\"k\,\ \=\\\"\":\"v\\\\\"}""#);
        assert!(fields.starts_with("count=4,"), "{fields}");
        assert_eq!(field("\"a\" \\ b\n"), r#""\"a\" \\ b\\n""#);
    }
}
