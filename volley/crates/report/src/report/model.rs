//! One finished run as plain data: the source of every output.
//!
//! Nothing here opens a file, reads a clock or keeps a live histogram. Units are in the names.
//! Times since 1970 are nanoseconds of the wall clock; all others are durations. Every percentile
//! comes from samples or an HdrHistogram of them, never from other percentiles.

use std::collections::BTreeMap;

use serde::Serialize;
use volley_base::units::numbers::duration;
use volley_load::spec::Command;

use super::verdict::Verdict;
use crate::measure::{
    Compressed, Cost, DetailOutcome, EndedBy, Event, Latency, LatencyKind, LatencySeries,
    PacedCounts, Percentile, Second, Silence, Use, Warning,
};

/// All results of one run.
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
    /// From the window's opening until the last counted call ended or was cut. Every rate is
    /// divided by this.
    pub elapsed_ns: u64,
    /// From the window's opening until no new calls started. Shorter than `elapsed_ns` if the run
    /// waited for open calls.
    pub window_ns: u64,
    /// The peer answered nothing from then on, until no new calls started, although some were open.
    pub silence: Option<Silence>,
    pub ended_by: EndedBy,
    pub threads: u32,
    /// They waited for due calls on their CPUs: `--spin`.
    pub spins: bool,
    pub connections: u32,
    /// Connections reopened during the run, after a GOAWAY or a loss.
    pub reconnects: u64,
    /// Connections that were replaced inside the window without need: `--reconnect-every`, or another address.
    pub planned_reconnects: u64,
    /// What went to each address, if there were several.
    pub addresses: BTreeMap<String, Use>,
    /// Replies received, including those of failed and cut calls.
    pub messages: u64,
    /// DATA frames with content that brought them.
    pub data_frames: u64,
    /// Those of the replies that came compressed.
    pub compressed: Compressed,
    pub calls: Calls,
    /// Error text to number of failed calls, without cut calls. The counts add up to at least all
    /// failed calls.
    pub errors: BTreeMap<String, u64>,
    pub sends: Sends,
    /// The main latency: `LatencyKind::Response` for an open loop, otherwise `LatencyKind::Service`.
    pub latency: Latency,
    /// For an open loop: the same calls, measured from when they were really sent. `None` for a
    /// closed loop.
    pub service_latency: Option<Latency>,
    /// For an open loop: from when a call was due to when it was sent. `None` if nothing was measured.
    pub send_delay: Option<Latency>,
    /// From a call's sending to its first reply; `None` if nothing was measured.
    pub first_message: Option<Latency>,
    /// Between two replies of one stream; replies from one read are 0 ns apart. `None` if nothing
    /// was measured.
    pub gap: Option<Latency>,
    /// `None` without `--stream-rate`.
    pub paced: Option<PacedStreams>,
    pub series: Series,
    /// `None` without a warm-up.
    pub warm_up: Option<WarmUp>,
    /// Call latency per whole second since the window opened.
    pub seconds: Vec<Second>,
    pub latency_series: LatencySeries,
    pub cost: Cost,
    pub checks: Checks,
    /// The single calls that were kept, in the order of their ends: all, some or none.
    pub details: Vec<Detail>,
    /// What was changed while the run went on, in order.
    pub events: Vec<Event>,
    pub warnings: Vec<Warning>,
    /// What became of `--fail-if`.
    pub thresholds: Vec<Verdict>,
    /// Of a part of a load: what `volley merge` needs.
    pub tally: Option<serde_json::Value>,
}

/// The text of a report shows at most this many orders.
const MOST_ORDERS: usize = 6;

impl Report {
    /// Whether any call succeeded; of streams that live, whether any message was answered.
    pub fn has_success(&self) -> bool {
        let answered = self.paced.as_ref().map_or(0, |it| it.counts.answered);
        self.calls.ok > 0 || answered > 0
    }

    /// What was ordered while the run went on, as text: `pause at 0.53 s, rps 500 at 1.05 s`.
    #[must_use]
    pub fn orders(&self) -> Option<String> {
        let shown = self.events.iter().take(MOST_ORDERS).map(|event| {
            let (what, value) = event.what.words();
            let value = value.map_or(String::new(), |value| format!(" {value}"));
            format!("{what}{value} at {:.2} s", event.at_ns as f64 / 1e9)
        });
        let mut text = shown.collect::<Vec<_>>().join(", ");
        let more = self.events.len().saturating_sub(MOST_ORDERS);
        if more > 0 {
            text += &format!(" and {more} more");
        }
        (!text.is_empty()).then_some(text)
    }

    /// Whether a key or an order ended it, and no signal.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let last = self.events.last();
        last.is_some_and(|event| event.what == Command::Stop) && self.ended_by == EndedBy::Signal
    }
}

/// Every counted call, each in exactly one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    pub ok: u64,
    /// gRPC code name, as ghz spells it, to calls; no code with 0 calls.
    pub failed: BTreeMap<&'static str, u64>,
    /// Still open when the window closed: neither a success nor an error of the server.
    pub cut: u64,
    /// The same under `--duration-stop=ignore`, which leaves them out of all of ghz's counts.
    pub ignored: u64,
}

/// What became of the calls that were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sends {
    /// Calls that were sent, counting only the first try.
    pub sent: u64,
    /// Calls that were due inside the window and were never sent.
    pub missed: u64,
    /// Calls that were sent more than 1 ms after they were due.
    pub late: u64,
    /// Calls sent again because the server had certainly not begun them (RFC 9113 section 8.7).
    pub retried: u64,
}

/// Streams that live: what became of them and of their messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacedStreams {
    /// Messages a second of each stream.
    pub rate: u32,
    pub counts: PacedCounts,
    /// From when a message was due to its reply: of all messages that were due inside the window, whenever the reply came.
    /// Those without a reply are open. `None` if none was sent.
    pub reply: Option<Latency>,
    /// From when a message was due to when it was sent.
    pub delay: Option<Latency>,
}

impl PacedStreams {
    /// Messages that were due and never sent: their stream was not open, or held back by flow control.
    pub fn unsent(&self) -> u64 {
        self.counts.due.saturating_sub(self.counts.sent)
    }
}

/// Counts for each interval since the window opened; all lists have the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Series {
    /// The length of an interval; the end of the run may cut the last one short.
    pub interval_ms: u64,
    pub messages: Vec<u64>,
    pub ok: Vec<u64>,
    pub failed: Vec<u64>,
    pub sent: Vec<u64>,
    /// Calls that were due, in an open loop; zeros in a closed one.
    pub intended: Vec<u64>,
}

/// The load before the window, which is in no other count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    /// Replies received in each second since the first call.
    pub seconds: Vec<u64>,
    /// From the first call to the window's opening.
    pub elapsed_ns: u64,
}

/// Replies compared with what they should have been.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checks {
    /// Whether there were rules: `--expect` or `--expect-replies`. Without any, replies are only
    /// decoded.
    pub compared: bool,
    pub replies_checked: u64,
    /// Calls that failed because a reply was wrong, missing or superfluous.
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

impl Calls {
    /// Calls that failed, of all codes.
    pub fn failed_total(&self) -> u64 {
        let failed = self.failed.values();
        failed.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// ghz's `Count`: every call that ended, in any way.
    pub fn count(&self) -> u64 {
        self.ok + self.failed_total() + self.cut
    }
}

impl Series {
    /// The end of the last interval in which a call was sent, since the window's opening.
    pub fn sent_until_ns(&self) -> u64 {
        let last = self.sent.iter().rposition(|sent| *sent > 0);
        let intervals = last.map_or(0, |place| place as u64 + 1);
        intervals.saturating_mul(self.interval_ms.saturating_mul(1_000_000))
    }
}

impl Report {
    /// The length of the run in seconds, never 0.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_ns.max(1) as f64 / 1e9
    }

    /// How many calls were due inside the window, sent or not; `None` for a closed loop.
    pub fn due(&self) -> Option<u64> {
        let is_open_loop = self.latency.kind == LatencyKind::Response;
        is_open_loop.then_some(self.sends.sent + self.sends.missed)
    }

    /// The p99 from when calls were due, and from when they were written, if the first is longer by more than a fifth.
    pub fn late_p99(&self) -> Option<[Percentile; 2]> {
        let due = self.latency.at(990_000)?;
        let written = self.service_latency.as_ref()?.at(990_000)?;
        (due.ns > written.ns / 5 * 6).then_some([due, written])
    }

    /// Replies per second, including those of failed and cut calls.
    pub fn messages_per_s(&self) -> f64 {
        self.messages as f64 / self.elapsed_s()
    }

    /// The CPU time that a reply took, in words; `None` without any.
    pub fn cost_per_message(&self) -> Option<String> {
        let ns = self.cost.cpu_s * 1e9 / self.messages as f64;
        (self.messages > 0).then(|| duration(ns.round() as u64))
    }

    /// Calls served per second, ok or failed. Cut calls are left out: they were not served.
    pub fn calls_per_s(&self) -> f64 {
        (self.calls.ok + self.calls.failed_total()) as f64 / self.elapsed_s()
    }

    /// Whether `details` covers the whole run: ghz's readers take a list for complete, or refuse
    /// the report.
    pub fn details_are_whole(&self) -> bool {
        let fits = |detail: &Detail| detail.latency_ns <= self.elapsed_ns;
        !self.details.is_empty()
            && self.details.len() as u64 == self.calls.count()
            && self.details.len() <= Self::DETAILS_MOST
            && self.details.iter().all(fits)
    }

    /// Computes `latency` from the single calls if they cover the whole run. What it says of ended calls is then exact,
    /// and equals what any reader of the calls computes. The encoded histograms stay as they were recorded.
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
            let exact = Latency::from_samples(self.latency.kind, samples);
            let known = &mut self.latency;
            let (percentiles, ended) = match known.open {
                0 => (exact.percentiles, Vec::new()),
                _ => (std::mem::take(&mut known.percentiles), exact.percentiles),
            };
            *known = Latency {
                open: known.open,
                oldest_ns: known.oldest_ns,
                open_mean_ns: known.open_mean_ns,
                percentiles,
                ended,
                histogram: std::mem::take(&mut known.histogram),
                ages: std::mem::take(&mut known.ages),
                includes_failed,
                ..exact
            };
        }
        self
    }

    /// The maximum number of single calls that ghz writes.
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
