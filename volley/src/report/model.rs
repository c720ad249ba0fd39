//! One finished run as plain data: what every output is written from.
//!
//! Nothing here opens a file, reads a clock or keeps a live histogram. Units are in the names;
//! times since 1970 are nanoseconds of the wall clock, all others are spans. Every percentile was
//! taken from samples or from an HdrHistogram of them, never from other percentiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::latency::Latency;
use super::warning::Warning;

/// Everything one run has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// volley's own version, such as `0.1.0`.
    pub version: String,
    /// `--name`; empty if none was given.
    pub name: String,
    pub tags: BTreeMap<String, String>,
    /// The options as ghz's JSON shows them; durations in nanoseconds.
    pub options: serde_json::Value,
    /// The target as the user gave it, `localhost:8080`.
    pub host: String,
    /// `package.Service/Method`.
    pub call: String,
    /// When the measured window opened, after connecting and warming up.
    pub started_unix_ns: u64,
    /// From the window's opening until the last counted call ended (or was cut): what every rate is
    /// divided by.
    pub elapsed_ns: u64,
    /// From the window's opening until no new call was begun; shorter than `elapsed_ns` where open
    /// calls were waited for.
    pub window_ns: u64,
    pub ended_by: EndedBy,
    pub threads: u32,
    pub connections: u32,
    /// Connections opened again in mid-run, after a GOAWAY or a loss.
    pub reconnects: u64,
    /// Replies received, those of failed and of cut calls included.
    pub messages: u64,
    pub calls: Calls,
    /// Error text to failed calls. Cut calls are not in it. The counts add up to at least all
    /// failed calls.
    pub errors: BTreeMap<String, u64>,
    pub sends: Sends,
    /// The latency of calls that the run is judged by: `Kind::Response` for an open loop, else
    /// `Kind::Service`.
    pub latency: Latency,
    /// For an open loop: the same calls timed from when they really left. `None` for a closed loop.
    pub service_latency: Option<Latency>,
    /// From a call's sending until its first reply; `None` where nothing was measured.
    pub first_message: Option<Latency>,
    /// Between two replies of one stream, those read together being 0 ns apart; `None` where
    /// nothing was measured.
    pub gap: Option<Latency>,
    pub series: Series,
    /// Call latency per whole second since the window opened.
    pub seconds: Vec<Second>,
    pub cost: Cost,
    pub checks: Checks,
    /// The single calls that were kept, in order of their ends; maybe only some, maybe none.
    pub details: Vec<Detail>,
    pub warnings: Vec<Warning>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Every call asked for was made and answered. Nothing can be cut then. ghz: `normal`.
    Finished,
    /// A time limit passed: the window's, or that of waiting for open calls. ghz: `timeout`.
    Window,
    /// A signal asked for the end. ghz: `cancel`.
    Signal,
}

/// Every call that was begun and counted, each in exactly one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub ok: u64,
    /// gRPC code name, as ghz spells it, to calls; no code with 0 calls.
    pub failed: BTreeMap<&'static str, u64>,
    /// Still open when the window closed: neither a success nor an error of the server.
    pub cut: u64,
    /// The same under `--duration-stop=ignore`, which leaves them out of every count of ghz's.
    pub ignored: u64,
}

/// What became of the sends that were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sends {
    /// Calls that left, the first try of each.
    pub sent: u64,
    /// Calls that a rate or schedule intended inside the window but that never left.
    pub missed: u64,
    /// Calls that left more than 1 ms after they were due.
    pub late: u64,
    /// Calls sent again because the server had provably not begun them (RFC 9113 section 8.7).
    pub retried: u64,
}

/// What happened in each interval since the window opened; all lists are equally long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// The length of an interval; the last one may be cut short by the end of the run.
    pub interval_ms: u64,
    pub messages: Vec<u64>,
    pub ok: Vec<u64>,
    pub failed: Vec<u64>,
    pub sent: Vec<u64>,
    /// Calls that were due, for an open loop; zeros for a closed one.
    pub intended: Vec<u64>,
}

/// Call latency of the calls that ended within one second; all 0 without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    pub samples: u64,
}

/// What the generator itself took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// User and system time of this process while the run was counted.
    pub cpu_s: f64,
    /// The same since the process began: connecting, warm-up and all.
    pub cpu_total_s: f64,
    /// The most resident memory this process ever had.
    pub peak_bytes: u64,
}

/// Replies held against what they should have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// There were rules: `--expect` or `--expect-replies`. Without any, replies are only decoded.
    pub compared: bool,
    pub replies_checked: u64,
    /// Calls that failed because a reply was wrong, missing or one too many.
    pub failed: u64,
    /// The first few of them, in words.
    pub samples: Vec<String>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    pub end_unix_ns: u64,
    /// Of the same kind as `Report::latency`.
    pub latency_ns: u64,
    pub outcome: DetailOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetailOutcome {
    Ok,
    /// `code` is a gRPC code name as ghz spells it, `error` shared by all calls with the same text.
    Failed {
        code: &'static str,
        error: Arc<str>,
    },
    Cut,
}

impl Calls {
    /// Calls that failed, of all codes.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// What ghz calls `Count`: every call that ended, however it ended.
    pub fn count(&self) -> u64 {
        self.ok + self.failed_total() + self.cut
    }
}

impl Report {
    /// The length of the run in seconds, never 0.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_ns.max(1) as f64 / 1e9
    }

    /// Replies a second, those of failed and of cut calls included.
    pub fn messages_per_s(&self) -> f64 {
        self.messages as f64 / self.elapsed_s()
    }

    /// Calls served a second, ok or failed. Cut calls are left out: they were not served.
    pub fn calls_per_s(&self) -> f64 {
        (self.calls.ok + self.calls.failed_total()) as f64 / self.elapsed_s()
    }

    /// Whether `details` is the whole run: ghz's readers take a list for complete or refuse the
    /// report.
    pub fn details_are_whole(&self) -> bool {
        !self.details.is_empty()
            && self.details.len() as u64 == self.calls.count()
            && self.details.len() <= Self::DETAILS_MOST
            && self
                .details
                .iter()
                .all(|detail| detail.latency_ns <= self.elapsed_ns)
    }

    /// Takes `latency` from the single calls if they are the whole run, so that it is exact, and
    /// equal to what any reader of the calls finds. The encoded histogram stays as it was recorded.
    #[must_use]
    pub fn exact_if_whole(mut self) -> Self {
        if self.details_are_whole() {
            let includes_failed = self.latency.includes_failed;
            let counts = |outcome: &DetailOutcome| match outcome {
                DetailOutcome::Ok => true,
                DetailOutcome::Failed { .. } => includes_failed,
                DetailOutcome::Cut => false,
            };
            let samples = self.details.iter().filter(|detail| counts(&detail.outcome));
            let samples = samples.map(|detail| detail.latency_ns).collect();
            self.latency = Latency {
                histogram: std::mem::take(&mut self.latency.histogram),
                includes_failed,
                ..Latency::from_samples(self.latency.kind, samples)
            };
        }
        self
    }

    /// The most single calls that ghz writes down.
    pub const DETAILS_MOST: usize = 1_000_000;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn every_call_is_counted_in_one_place() {
        let calls = Calls {
            ok: 5,
            failed: BTreeMap::from([("Internal", 2), ("Unavailable", 1)]),
            cut: 4,
            ignored: 9,
        };
        assert_eq!((calls.failed_total(), calls.count()), (3, 12));
    }

    #[test]
    fn cut_calls_are_no_calls_served() {
        let report = samples::few_calls();
        assert!((report.calls_per_s() - 300.0).abs() < 1e-9);
        assert!((report.messages_per_s() - 300.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_of_no_length_has_finite_rates() {
        let report = Report {
            elapsed_ns: 0,
            ..samples::few_calls()
        };
        assert!(report.calls_per_s().is_finite());
    }

    #[test]
    fn latency_is_exact_once_every_call_was_kept() {
        let mut report = samples::few_calls();
        report.latency.mean_ns = 7;
        let mut partial = report.clone();
        partial.details.pop();
        assert_eq!(
            report.exact_if_whole().latency,
            samples::few_calls().latency
        );
        assert_eq!(partial.exact_if_whole().latency.mean_ns, 7);
    }
}
