//! `volley blast`: N calls leave together; the result is how many per second are answered.
//!
//! A sweep measures points. A point is a number of calls (N) and a way to spread them, that is, a maximum number of
//! connections. Before each blast, every thread checks its connections, encodes its calls into their output buffers and
//! waits at a barrier. After the barrier, threads only write, read, and record into slots that exist already. The
//! conductor counts the results after the blast.

mod order;
mod point;
mod results;
mod sweep;
mod thread;
mod way;

use std::time::Duration;

use serde_json::{Map, Value, json};
pub use sweep::{OnBlast, run};
use thiserror::Error;

use crate::LoadError;
use volley_load::pace::whole_ns;
use volley_load::spec::Spec;
use volley_report::report::ghz_options;

/// A sweep that could not be made: nothing was measured.
#[derive(Debug, Error)]
pub enum BlastError {
    /// The load could not be started.
    #[error(transparent)]
    Engine(#[from] LoadError),
    /// A blast's throughput is calls over time, which says little about streams.
    #[error(
        "`--call`: `{0}` is a streaming method, but `volley blast` makes only unary calls: choose another"
    )]
    NotUnary(String),
    /// Work for each call is not allowed after the barrier.
    #[error(
        "the data or metadata has a template that differs from call to call, and all calls of a blast are made beforehand: \
         write it out, or send it as it stands with `--disable-template-data`"
    )]
    Template,
}

impl BlastError {
    /// Whether the fault lies in the command line or in a file that it names.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Engine(error) => error.is_usage(),
            Self::NotUnary(_) | Self::Template => true,
        }
    }
}

/// A sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastSpec {
    /// The call and the connections. Of its load, a sweep uses only `threads` and `connections`, which are totals over
    /// all ways.
    pub run: Spec,
    /// N of each blast: ascending, distinct, at least 1; not empty.
    pub requests: Vec<u32>,
    /// C of each way: at most this many connections. Same form as `requests`.
    pub connections: Vec<u32>,
    /// How often each point is measured; at least 1.
    pub repetitions: u32,
    /// Seed for the order of points.
    pub seed: u64,
    /// When the sweep ends at the latest; above zero.
    pub max_duration: Duration,
}

impl BlastSpec {
    /// The largest N.
    #[must_use]
    pub fn most_requests(&self) -> u32 {
        self.requests.last().copied().unwrap_or(1)
    }

    /// The options in the form of a run's report, with the sweep's load in place of a run's.
    #[must_use]
    pub fn options(&self) -> Value {
        let mut shown = match ghz_options::of(&self.run.public()) {
            Value::Object(shown) => shown,
            _ => Map::new(),
        };
        let is_load = |key: &str| {
            key.starts_with("load-")
                || key.starts_with("concurrency")
                || ["total", "duration"].contains(&key)
        };
        shown.retain(|key, _| !is_load(key));
        let sweep = [
            ("requests", json!(self.requests)),
            ("connections", json!(self.connections)),
            ("repetitions", json!(self.repetitions)),
            ("seed", json!(self.seed)),
            ("max-duration", json!(whole_ns(self.max_duration))),
        ];
        shown.extend(sweep.map(|(key, value)| (key.to_owned(), value)));
        Value::Object(shown)
    }
}
