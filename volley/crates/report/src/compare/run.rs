//! One run, as its JSON report tells it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;
use volley_base::input;

use crate::measure::latency::{decode, rounded_quotient};
use crate::measure::{Latency, LatencyKind, LatencySeries, Silence};
use crate::report::verdict::{Counts, Figures};

/// The schema of the member `volley` that is read.
const SCHEMA: u64 = 1;

/// A run.
#[derive(Debug)]
pub struct Run {
    /// Its file.
    pub path: PathBuf,
    /// Its name, if it has one.
    pub name: String,
    /// Its options, as ghz shows them.
    pub options: Map<String, Value>,
    /// Its threads.
    pub threads: u64,
    /// Its own warnings.
    pub warnings: Vec<String>,
    counts: Counts,
    latency: Latency,
    /// Ascending ages in ns of what was open at the end, and their counts.
    pub(super) ages: Vec<(u64, u64)>,
    service: Option<Latency>,
    send_delay: Option<Latency>,
    first_message: Option<Latency>,
    gap: Option<Latency>,
    silence: Option<Silence>,
    /// The length of a slice.
    pub(super) interval_s: f64,
    /// Its whole seconds, or longer slices.
    pub(super) slices: Vec<Slice>,
}

/// A part of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slice {
    pub ok: u64,
    pub failed: u64,
    pub messages: u64,
    /// Ascending times in ns, and their counts.
    pub latencies: Vec<(u64, u64)>,
}

/// Why a file is no run that can be compared.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is not JSON, or of another program.
    #[error("it is no JSON report of a run of volley (`-O json`): {0}")]
    Foreign(String),
    /// Another version wrote it.
    #[error("another version of volley wrote it: make it again with this one")]
    Version,
    /// It is one of several that belong together.
    #[error("it is the report of a share: make one of all shares with `volley merge … -O json`")]
    Share,
    /// It is of scenarios.
    #[error(
        "it is a report of `volley run`: only reports of `volley [FLAGS] HOST` can be compared"
    )]
    Scenarios,
    /// Somebody has changed it.
    #[error("its {0} are broken")]
    Broken(&'static str),
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: String,
    options: Map<String, Value>,
    volley: Member,
}

#[derive(Deserialize)]
struct Member {
    #[serde(default)]
    silence: Option<Silence>,
    elapsed_s: f64,
    messages: u64,
    calls: Calls,
    sent: u64,
    missed: u64,
    late: u64,
    threads: u64,
    checks: Checks,
    series: Series,
    latency_series: LatencySeries,
    latency_ns: Spread,
    service_latency_ns: Option<Spread>,
    send_delay_ns: Option<Spread>,
    first_message_ns: Option<Spread>,
    gap_ns: Option<Spread>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Calls {
    ok: u64,
    failed: BTreeMap<String, u64>,
    cut: u64,
}

#[derive(Deserialize)]
struct Checks {
    failed: u64,
}

#[derive(Deserialize)]
struct Series {
    interval_ms: u64,
    messages: Vec<u64>,
    ok: Vec<u64>,
    failed: Vec<u64>,
}

#[derive(Deserialize)]
struct Spread {
    kind: String,
    mean: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
    samples: u64,
    #[serde(default)]
    open: u64,
    #[serde(default)]
    oldest: u64,
    #[serde(default)]
    ended_mean: Option<u64>,
    includes_failed: bool,
    histogram: String,
    #[serde(default)]
    ages: String,
}

/// Whether a report is one of `volley run`.
pub fn is_of_scenarios(report: &Value) -> bool {
    report.get("scenarios").is_some() && report.get("steps").is_some()
}

impl Run {
    /// Reads a report.
    ///
    /// # Errors
    ///
    /// If the file is no report of a whole run, written by this version.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::parse(path, &input::text(path, input::DATA)?)
    }

    /// The same for its text.
    ///
    /// # Errors
    ///
    /// See [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, ReadError> {
        let foreign = |error: serde_json::Error| ReadError::Foreign(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(foreign)?;
        if is_of_scenarios(&value) {
            return Err(ReadError::Scenarios);
        }
        let own = value.get("volley").filter(|own| own.is_object());
        if own.is_some_and(|own| own.get("tally").is_some()) {
            return Err(ReadError::Share);
        }
        let is_run = |own: &&Value| own.get("latency_ns").is_some();
        if let Some(own) = own.filter(is_run) {
            let schema = own.get("schema").and_then(Value::as_u64);
            if schema != Some(SCHEMA) || own.get("latency_series").is_none() {
                return Err(ReadError::Version);
            }
        }
        let file: File = serde_json::from_value(value).map_err(foreign)?;
        let member = file.volley;
        if !member.elapsed_s.is_finite() || member.elapsed_s <= 0.0 {
            return Err(ReadError::Broken("times"));
        }
        let slices = slices(&member)?;
        let ages = times_of(&member.latency_ns.ages, "latencies")?;
        let failed = member.calls.failed.values().copied();
        let spread = |spread: Option<Spread>| spread.map(latency).transpose();
        Ok(Self {
            path: path.to_owned(),
            name: file.name,
            options: file.options,
            threads: member.threads,
            warnings: member.warnings,
            interval_s: member.latency_series.interval_s as f64,
            slices,
            counts: Counts {
                elapsed_s: member.elapsed_s,
                messages: member.messages,
                ok: member.calls.ok,
                failed: failed.fold(0, u64::saturating_add),
                cut: member.calls.cut,
                wrong: member.checks.failed,
                sent: member.sent,
                missed: member.missed,
                late: member.late,
            },
            latency: latency(member.latency_ns)?,
            silence: member.silence,
            ages,
            service: spread(member.service_latency_ns)?,
            send_delay: spread(member.send_delay_ns)?,
            first_message: spread(member.first_message_ns)?,
            gap: spread(member.gap_ns)?,
        })
    }

    /// Whether any call succeeded.
    #[must_use]
    pub fn any_ok(&self) -> bool {
        self.counts.ok > 0
    }

    /// The main latency.
    #[must_use]
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// What conditions can name.
    #[must_use]
    pub fn figures(&self) -> Figures<'_> {
        Figures {
            counts: self.counts,
            latency: &self.latency,
            service: self.service.as_ref(),
            send_delay: self.send_delay.as_ref(),
            first_message: self.first_message.as_ref(),
            gap: self.gap.as_ref(),
            silence: self
                .silence
                .filter(|_| self.latency.kind == LatencyKind::Service),
        }
    }
}

/// What a histogram holds, which is empty without times.
fn times_of(histogram: &str, part: &'static str) -> Result<Vec<(u64, u64)>, ReadError> {
    match histogram {
        "" => Ok(Vec::new()),
        text => decode(text).ok_or(ReadError::Broken(part)),
    }
}

fn latency(spread: Spread) -> Result<Latency, ReadError> {
    let broken = ReadError::Broken("latencies");
    let kind = match spread.kind.as_str() {
        "service" => LatencyKind::Service,
        "response" => LatencyKind::Response,
        _ => return Err(broken),
    };
    let none = Latency {
        includes_failed: spread.includes_failed,
        ..Latency::none(kind)
    };
    let open = match spread.open {
        0 => none,
        open => {
            let ages = times_of(&spread.ages, "latencies")?.into_iter();
            let ages = ages.map(|(ns, count)| u128::from(ns) * u128::from(count));
            let sum: u128 = ages.sum();
            Latency {
                open,
                oldest_ns: spread.oldest,
                open_mean_ns: rounded_quotient(sum, open.into()),
                ages: spread.ages,
                ..none
            }
        }
    };
    if spread.samples == 0 {
        return Ok(open);
    }
    let (Some(mean_ns), Some(min_ns), Some(max_ns)) = (spread.mean, spread.min, spread.max) else {
        return Err(broken);
    };
    let Some(ended) = decode(&spread.histogram).filter(|_| min_ns <= max_ns) else {
        return Err(broken);
    };
    // Percentiles are looked up in the histogram between the extremes of what ended. What was open counts in the others.
    let last_ns = ended.last().map_or(max_ns, |(ns, _)| *ns);
    let max_ns = match open.open {
        0 => max_ns,
        _ => max_ns.min(last_ns).max(min_ns),
    };
    let mean_ns = spread.ended_mean.unwrap_or(mean_ns);
    Ok(Latency {
        samples: spread.samples,
        mean_ns,
        min_ns,
        max_ns,
        histogram: spread.histogram,
        ..open
    })
}

/// The whole slices: the end of the run may cut the last one short.
fn slices(member: &Member) -> Result<Vec<Slice>, ReadError> {
    let (series, latencies) = (&member.series, &member.latency_series);
    let broken = ReadError::Broken("time series");
    let slice_ms = latencies.interval_s.saturating_mul(1000);
    let bins = slice_ms.checked_div(series.interval_ms).unwrap_or_default();
    if bins == 0 || bins.checked_mul(series.interval_ms) != Some(slice_ms) {
        return Err(broken);
    }
    let whole = (member.elapsed_s / latencies.interval_s as f64) as usize;
    let lists = [&series.ok, &series.failed, &series.messages];
    let slice = |(at, histogram): (usize, &String)| {
        let bins = usize::try_from(bins).unwrap_or(usize::MAX);
        let [ok, failed, messages] = lists.map(|list| {
            let own = list.iter().skip(at.saturating_mul(bins)).take(bins);
            own.fold(0, |sum: u64, count| sum.saturating_add(*count))
        });
        Ok(Slice {
            ok,
            failed,
            messages,
            latencies: times_of(histogram, "time series")?,
        })
    };
    let histograms = latencies.histograms.iter().enumerate();
    histograms.take(whole).map(slice).collect()
}

#[cfg(test)]
impl Run {
    /// A run of such seconds.
    pub(super) fn of(slices: Vec<Slice>) -> Self {
        let sum = |of: fn(&Slice) -> u64| slices.iter().map(of).sum();
        let times = slices.iter().flat_map(|slice| &slice.latencies);
        let samples = times.flat_map(|(ns, count)| std::iter::repeat_n(*ns, *count as usize));
        let mut latency = Latency::from_samples(LatencyKind::Service, samples.collect());
        latency.histogram = String::new();
        Self {
            path: "run.json".into(),
            name: String::new(),
            options: Map::new(),
            threads: 1,
            warnings: Vec::new(),
            counts: Counts {
                elapsed_s: slices.len() as f64,
                messages: sum(|slice| slice.messages),
                ok: sum(|slice| slice.ok),
                failed: sum(|slice| slice.failed),
                ..Counts::default()
            },
            latency,
            ages: Vec::new(),
            service: None,
            send_delay: None,
            first_message: None,
            gap: None,
            silence: None,
            interval_s: 1.0,
            slices,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use volley_testkit::table::table;

    use super::*;

    fn report() -> Value {
        let times = json!({"kind": "service", "mean": null, "min": null, "max": null, "samples": 0, "includes_failed": false,
            "histogram": ""});
        json!({"options": {}, "volley": {"schema": 1, "elapsed_s": 2.5, "messages": 9, "calls": {"ok": 9, "failed": {}, "cut": 0},
            "sent": 9, "missed": 0, "late": 0, "threads": 1, "checks": {"failed": 0}, "warnings": [], "latency_ns": times,
            "series": {"interval_ms": 500, "messages": [1, 2, 3, 4, 5], "ok": [1, 1, 1, 1, 9], "failed": [0, 0, 1, 0, 9]},
            "latency_series": {"interval_s": 1, "histograms": ["", "", ""]}}})
    }

    fn parse(value: &Value) -> Result<Run, ReadError> {
        Run::parse(Path::new("a.json"), &value.to_string())
    }

    fn refusal(value: &Value) -> String {
        parse(value).unwrap_err().to_string()
    }

    #[test]
    fn only_whole_seconds_are_read() {
        let second = |ok, failed, messages| Slice {
            ok,
            failed,
            messages,
            latencies: Vec::new(),
        };
        let seconds = parse(&report()).unwrap().slices;
        assert_eq!(seconds, [second(2, 0, 3), second(2, 1, 7)]);
    }

    #[test]
    fn what_is_no_report_of_a_whole_run_is_refused() {
        for [pointer, value, words] in table(
            r#"
            /volley/schema => 2 => another version
            /volley/schema => null => another version
            /volley/elapsed_s => 0.0 => times are broken
            /volley/elapsed_s => "1" => no JSON report
            /volley/series/interval_ms => 0 => time series are broken
            /volley/series/interval_ms => 300 => time series are broken
            /volley/latency_series/interval_s => 18446744073709551615 => time series are broken
            /volley/latency_series/histograms => ["?", ""] => time series are broken
            /volley/latency_ns/samples => 1 => latencies are broken
            /volley/latency_ns/kind => "x" => latencies are broken
            /volley => 3 => no JSON report
        "#,
        ) {
            let mut changed = report();
            *changed.pointer_mut(pointer).unwrap() = serde_json::from_str(value).unwrap();
            let refusal = refusal(&changed);
            assert!(refusal.contains(words), "{pointer}: {refusal}");
        }
        let mut old = report();
        let own = old["volley"].as_object_mut().unwrap();
        own.remove("latency_series");
        assert!(refusal(&old).contains("another version"));
        let mut share = report();
        share["volley"]["tally"] = json!({});
        assert!(refusal(&share).contains("volley merge"));
        assert!(refusal(&json!({"count": 3, "average": 1})).contains("no JSON report"));
        let scenarios = json!({"schema": 1, "scenarios": [], "steps": []});
        assert!(refusal(&scenarios).contains("`volley run`"));
    }

    proptest! {
        #[test]
        fn any_text_is_answered_in_one_line(text in "\\PC{0,40}", cut in 0..900_usize) {
            let whole = report().to_string();
            for text in [text.as_str(), whole.get(..cut).unwrap_or_default()] {
                if let Err(error) = Run::parse(Path::new("a.json"), text) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
        }

        #[test]
        fn a_broken_histogram_is_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            use base64::Engine;
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            let mut changed = report();
            changed["volley"]["latency_series"]["histograms"] = json!([text]);
            let _ = parse(&changed);
        }
    }
}
