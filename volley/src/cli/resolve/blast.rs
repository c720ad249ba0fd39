//! Turns the flags of `volley blast` into its options.

use std::io::Read;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cli::args::{Format, LoadArgs, RunArgs};
use crate::cli::blast::{BlastArgs, BlastOptions};
use crate::pace::whole_ns;

use super::error::UsageError;

const REQUESTS: [u32; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const CONNECTIONS: [u32; 3] = [1, 8, 1000];
const REPETITIONS: u32 = 10;
const SEED: u64 = 1;
const MAX_DURATION: Duration = Duration::from_secs(180);

/// Checks the flags and adds the defaults. Reads payloads and metadata; reads `stdin` only if a
/// flag names it.
pub fn resolve(args: BlastArgs, stdin: &mut impl Read) -> Result<BlastOptions, UsageError> {
    let sweep = args.sweep;
    let requests = ascending(sweep.requests, &REQUESTS);
    let connections = ascending(sweep.connections, &CONNECTIONS);
    let most_requests = requests.iter().copied().max().unwrap_or(1);
    let max_duration = sweep.max_duration.unwrap_or(MAX_DURATION);
    let pooled = |connections: &u32| u64::from(*connections.min(&most_requests));
    let all: u64 = connections.iter().map(pooled).sum();
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    if let Some(threads) = sweep.limits.threads.filter(|threads| *threads > all) {
        return Err(UsageError::IdleBlastThreads {
            threads,
            connections: all,
        });
    }
    // What a run needs to open all connections; a sweep ignores the rest of this load.
    let run = RunArgs {
        target: args.target,
        data: args.data,
        load: LoadArgs {
            concurrency: Some(all),
            connections: Some(all),
            duration: Some(max_duration),
            limits: sweep.limits,
            ..LoadArgs::default()
        },
        connection: args.connection,
        checks: args.checks,
        output: args.output,
        ..RunArgs::default()
    };
    let mut options = BlastOptions {
        run: super::resolve(run, stdin)?,
        requests,
        connections,
        repetitions: sweep.repetitions.unwrap_or(REPETITIONS),
        seed: sweep.seed.unwrap_or(SEED),
        max_duration,
    };
    if !matches!(options.run.format, Format::Summary | Format::Json) {
        return Err(UsageError::BlastFormat);
    }
    options.run.given = given(&options);
    Ok(options)
}

/// Sorted, without duplicates; the defaults if nothing is given.
fn ascending(given: Option<Vec<u32>>, defaults: &[u32]) -> Vec<u32> {
    let mut list = given.unwrap_or_else(|| defaults.to_vec());
    list.sort_unstable();
    list.dedup();
    list
}

/// The options in the form of a run's report, with the sweep's load in place of a run's.
fn given(options: &BlastOptions) -> Value {
    let mut shown = match &options.run.given {
        Value::Object(shown) => shown.clone(),
        _ => Map::new(),
    };
    let is_load = |key: &str| {
        key.starts_with("load-")
            || key.starts_with("concurrency")
            || ["total", "duration"].contains(&key)
    };
    shown.retain(|key, _| !is_load(key));
    let sweep = [
        ("requests", json!(options.requests)),
        ("connections", json!(options.connections)),
        ("repetitions", json!(options.repetitions)),
        ("seed", json!(options.seed)),
        ("max-duration", json!(whole_ns(options.max_duration))),
    ];
    shown.extend(sweep.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(shown)
}
