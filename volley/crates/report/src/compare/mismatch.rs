//! What makes two runs no fair pair.

use std::path::Path;

use serde_json::Value;
use thiserror::Error;

use super::run::Run;
use crate::report::ghz_options::{CONCURRENCY_SCHEDULE, DIGEST, LOAD_SCHEDULE};

/// Why two runs cannot be compared at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MismatchError {
    /// A closed loop and an open one.
    #[error(
        "one run is a closed loop and the other has a rate (`--rps` or a schedule): their latencies are not the same thing; \
         make both in the same way"
    )]
    Loops,
    /// Failed calls are in one latency only.
    #[error(
        "the latencies of one run include failed calls (`--count-errors`), the other's do not: make both in the same way"
    )]
    FailedCalls,
}

/// The options that make a load beside its schedules, as ghz's JSON names them.
const LOAD: [&str; 18] = [
    "call",
    "data",
    "metadata",
    "binary",
    "enable-compression",
    "insecure",
    "rps",
    "concurrency",
    "connections",
    "async",
    "timeout",
    "duration",
    "total",
    "expect",
    "warmup",
    "window",
    "reconnect-every",
    "lb-strategy",
];

/// What is never quoted: it may be long, or secret.
const UNQUOTED: [&str; 2] = ["data", "metadata"];

/// What a reader of the comparison must know, the runs' own warnings included.
pub(super) fn warnings(old: &Run, new: &Run) -> Result<Vec<String>, MismatchError> {
    let [old_latency, new_latency] = [old, new].map(Run::latency);
    if old_latency.kind != new_latency.kind {
        return Err(MismatchError::Loops);
    }
    if old_latency.includes_failed != new_latency.includes_failed {
        return Err(MismatchError::FailedCalls);
    }
    let schedules = LOAD_SCHEDULE.iter().chain(&CONCURRENCY_SCHEDULE);
    let keys = LOAD.iter().chain(schedules);
    let differences = keys.filter_map(|key| difference(key, old, new));
    let mut warnings: Vec<String> = differences.collect();
    let [of_old, of_new] = [old.threads, new.threads];
    if of_old != of_new {
        let threads = format!("the runs differ in `threads`: {of_old} and {of_new}");
        warnings.push(threads);
    }
    for run in [old, new] {
        let of = |warning: &String| format!("{}: {warning}", shown(&run.path));
        warnings.extend(run.warnings.iter().map(of));
    }
    Ok(warnings)
}

fn difference(key: &str, old: &Run, new: &Run) -> Option<String> {
    let [of_old, of_new] = [old, new].map(|run| run.options.get(key));
    let [rest_of_old, rest_of_new] =
        [old, new].map(|run| run.options.get(DIGEST).filter(|_| key == "data"));
    // Reports of an older volley have no digest.
    let differ = |(old, new): (&Value, &Value)| old != new;
    if of_old == of_new && !rest_of_old.zip(rest_of_new).is_some_and(differ) {
        return None;
    }
    let words = match UNQUOTED.contains(&key) {
        true => String::new(),
        false => format!(": {} and {}", quoted(of_old), quoted(of_new)),
    };
    Some(format!("the runs differ in `{key}`{words}"))
}

fn quoted(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// A file's name for people.
pub(super) fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}
