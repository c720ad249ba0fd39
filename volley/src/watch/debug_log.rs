//! `--debug`: a log of the run in a file. As in ghz's, each line is a JSON object with a level, a time and a message.

use std::io::{self, BufWriter, Write};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};

use super::json_lines::warn;
use super::stats::SecondNow;
use crate::measure::DetailOutcome;
use crate::plain::{News, Stage};
use crate::report::{Report, ghz_options, write_json};
use crate::spec::Spec;
use crate::units::timestamp::{to_the_ns, unix_ns};

/// Writes what happens as it happens. If the file takes no more, the run goes on without it.
pub struct DebugLog {
    out: Option<BufWriter<Box<dyn Write + Send>>>,
}

#[derive(Serialize)]
struct Line<'a> {
    level: &'static str,
    time: String,
    message: &'a str,
    #[serde(flatten)]
    facts: Value,
}

impl DebugLog {
    /// Writes to `out`.
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        let out = Some(BufWriter::new(out));
        Self { out }
    }

    /// A run starts, with a command line of which this has no effect.
    pub fn start(&mut self, spec: &Spec, warnings: &[String]) {
        self.debug("start", json!({ "config": ghz_options::of(spec) }));
        for warning in warnings {
            self.write("warn", unix_ns(SystemTime::now()), warning, Value::Null);
        }
    }

    /// Something has happened.
    pub fn tell(&mut self, item: &News<'_>) {
        match item {
            News::Ready => self.debug("ready", Value::Null),
            News::Warm => self.debug("warm", Value::Null),
            News::Begun(Stage::Warmup) => self.debug("warm-up begins", Value::Null),
            News::Begun(_) => self.debug("window opens", Value::Null),
            News::Changed(command) => {
                let (what, value) = command.words();
                self.debug("load changes", json!({ "what": what, "value": value }));
            }
            News::Second(told) => {
                let (at, warmup, counts) = (told.at, told.is_warm_up, SecondNow::of(told));
                let facts = json!({ "second": at, "warmup": warmup, "counts": counts });
                self.debug("second", facts);
            }
        }
    }

    /// The run is over; the kept calls follow, with their own times.
    pub fn end(&mut self, report: &Report) {
        for detail in &report.details {
            let (status, error) = match &detail.outcome {
                DetailOutcome::Ok => ("OK", None),
                DetailOutcome::Failed { code, error } => (code.name(), Some(error)),
                DetailOutcome::Cut => ("cut", None),
            };
            let facts = json!({ "code": status, "error": error, "duration": detail.latency_ns });
            self.write("debug", detail.end_unix_ns, "call", facts);
        }
        for warning in &report.warnings {
            let now = unix_ns(SystemTime::now());
            self.write("warn", now, &warning.to_string(), Value::Null);
        }
        let calls = &report.calls;
        let facts = json!({ "ok": calls.ok, "failed": calls.failed, "cut": calls.cut });
        self.debug("end", facts);
    }

    /// The run could not be made.
    pub fn fail(&mut self, reason: &str) {
        self.write("error", unix_ns(SystemTime::now()), reason, Value::Null);
    }

    fn debug(&mut self, message: &str, facts: Value) {
        self.write("debug", unix_ns(SystemTime::now()), message, facts);
        // It may be read while the run goes on.
        let flushed = self.out.as_mut().map(Write::flush);
        self.note(flushed.unwrap_or(Ok(())));
    }

    fn write(&mut self, level: &'static str, unix_ns: u64, message: &str, facts: Value) {
        let Some(out) = &mut self.out else {
            return;
        };
        let facts = if facts.is_null() { json!({}) } else { facts };
        let line = Line {
            level,
            time: to_the_ns(unix_ns),
            message,
            facts,
        };
        let written = write_json(&line, out);
        self.note(written);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.out = None;
            // A reader that stops reading is not an error.
            if error.kind() != io::ErrorKind::BrokenPipe {
                warn("--debug", &error.to_string());
            }
        }
    }
}
