//! What one thread counts.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use volley_base::sums;
use volley_http::grpc::Code;
use volley_load::pace::Lane;
use volley_load::spec::CountSpec;

use super::SECOND_NS;
use super::checks::Failures;
use super::chronicle::Passed;
use super::details::Details;
use super::distribution::Distribution;
use super::errors::Errors;
use super::life::Life;
use super::paced::Paced;
use super::second::{Bin, Current, SecondCounts};

/// The counters of one thread. All times are nanoseconds since the engine's epoch.
///
/// Counting reads no clock and takes no lock. It allocates only for a failed call, or once a
/// second. Tallies of several threads are merged at the end, in any order.
pub struct Tally {
    pub(super) start_ns: u64,
    pub(super) wall_start: SystemTime,
    pub(super) count_errors: bool,
    pub(super) skip_first: u64,
    pub(super) still_to_skip: u64,
    pub(super) counted: Counted,
    current: Current,
    is_warm_up: bool,
    /// Seconds that are over, until they are taken.
    over: Vec<SecondCounts>,
    /// How many were over when they were last taken.
    told_through: u64,
}

/// What one thread has counted, or several, or several processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Counted {
    pub counts: Counts,
    pub failed: BTreeMap<Code, u64>,
    pub errors: Errors,
    pub checks: Failures,
    /// In a report of an older volley, it is missing.
    #[serde(default)]
    pub compressed: Compressed,
    pub service: Distribution,
    /// Only for an open loop.
    pub response: Option<Distribution>,
    /// From when a call was due to when it was sent. Only for an open loop.
    pub delay: Option<Distribution>,
    pub first_message: Distribution,
    pub gap: Distribution,
    pub details: Details,
    #[serde(default)]
    pub life: Life,
    /// Only of streams that live.
    #[serde(default)]
    pub paced: Option<Box<Paced>>,
}

sums! {
    /// Plain sums.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Counts {
        pub messages: u64,
        pub data_frames: u64,
        pub ok: u64,
        pub failed: u64,
        pub cut: u64,
        pub skipped: u64,
        pub sent: u64,
        pub late: u64,
        pub missed: u64,
        pub retried: u64,
    }
}

sums! {
    /// Replies that came compressed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Compressed {
        pub messages: u64,
        /// Their bytes as they came, without gRPC's prefixes.
        pub wire_bytes: u64,
        /// Their bytes after decompression.
        pub bytes: u64,
    }
}

impl Tally {
    #[must_use]
    pub fn new(options: &TallyOptions) -> Self {
        Self {
            start_ns: options.start_ns,
            wall_start: options.wall_start,
            count_errors: options.count.count_errors,
            skip_first: options.count.skip_first,
            still_to_skip: options.count.skip_first,
            counted: Counted::new(options),
            current: Current::new(),
            is_warm_up: false,
            over: Vec::new(),
            told_through: 0,
        }
    }

    /// The warm-up begins.
    pub fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.is_warm_up = true;
    }

    /// The warm-up is over: discards everything counted so far except its messages per second, and
    /// opens the window.
    pub fn reset(&mut self, start_ns: u64) {
        if self.is_warm_up {
            let last = self.current.finish();
            self.put_over(last);
        }
        self.current.clear();
        self.is_warm_up = false;
        self.told_through = 0;
        self.start_ns = start_ns;
        self.still_to_skip = self.skip_first;
        self.counted.clear();
    }

    /// The seconds that are over by that moment; `None` if none is, since the last time.
    pub fn passed(&mut self, now_ns: u64) -> Option<Passed> {
        let through = self.since_start(now_ns) / SECOND_NS;
        if through <= self.told_through && self.over.is_empty() {
            return None;
        }
        self.bin(now_ns);
        self.told_through = through;
        Some(Passed {
            seconds: std::mem::take(&mut self.over),
            is_open: !self.is_warm_up,
            through,
            ages: Vec::new(),
        })
    }

    /// All that is left, once the thread is over: its last second, whole or not, and the calls that were open then.
    pub fn last(&mut self, ended_ns: u64, ages: Vec<(u64, u64)>) -> Passed {
        Passed {
            seconds: self.rest(),
            is_open: !self.is_warm_up,
            through: self.since_start(ended_ns).div_ceil(SECOND_NS),
            ages,
        }
    }

    /// What no call of [`passed`](Self::passed) has returned.
    pub fn rest(&mut self) -> Vec<SecondCounts> {
        let last = self.current.finish();
        self.put_over(last);
        std::mem::take(&mut self.over)
    }

    #[inline]
    pub(super) fn since_start(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.start_ns)
    }

    /// The counts of the tenth of a second that contains a moment.
    #[inline]
    pub(super) fn bin(&mut self, ns: u64) -> &mut Bin {
        let since_start_ns = self.since_start(ns);
        if self.current.is_over(since_start_ns) {
            self.turn(since_start_ns);
        }
        self.current.bin()
    }

    /// A call of the current second ended.
    #[inline]
    pub(super) fn record(&mut self, latency_ns: u64) {
        self.current.record(latency_ns);
    }

    #[cold]
    fn turn(&mut self, since_start_ns: u64) {
        if let Some(over) = self.current.turn(since_start_ns) {
            self.put_over(over);
        }
    }

    fn put_over(&mut self, mut second: SecondCounts) {
        if !second.is_empty() {
            second.is_warm_up = self.is_warm_up;
            self.over.push(second);
        }
    }
}

impl Counted {
    fn new(options: &TallyOptions) -> Self {
        Self {
            counts: Counts::default(),
            failed: BTreeMap::new(),
            errors: Errors::default(),
            checks: Failures::default(),
            compressed: Compressed::default(),
            service: Distribution::new(),
            response: options.open_loop.then(Distribution::new),
            delay: options.open_loop.then(Distribution::new),
            first_message: Distribution::new(),
            gap: Distribution::new(),
            details: Details::new(usize::try_from(options.count.details).unwrap_or(usize::MAX)),
            life: Life::default(),
            paced: None,
        }
    }

    fn clear(&mut self) {
        self.counts = Counts::default();
        self.failed.clear();
        self.errors = Errors::default();
        self.checks = Failures::default();
        self.compressed = Compressed::default();
        self.service.clear();
        for distribution in [&mut self.response, &mut self.delay].into_iter().flatten() {
            distribution.clear();
        }
        self.first_message.clear();
        self.gap.clear();
        self.details.clear();
        self.life = Life::default();
        if let Some(paced) = &mut self.paced {
            paced.clear();
        }
    }

    /// The same, with times since a moment.
    pub fn since(self, start_ns: u64) -> Self {
        Self {
            checks: self.checks.since(start_ns),
            details: self.details.since(start_ns),
            life: self.life.since(start_ns),
            ..self
        }
    }
}

/// A call that ended. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it was due; in a closed loop, when it was sent.
    pub intended_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When its last frame was read.
    pub end_ns: u64,
    pub outcome: Outcome,
}

/// A call that was open at the end. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// When it was due; in a closed loop, when it was sent.
    pub intended_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When the end came.
    pub at_ns: u64,
    pub awaits: Awaits,
}

/// What an open call waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The first of several replies.
    FirstReply,
    /// Another reply. `since_ns`: when the last one came.
    NextReply { since_ns: u64 },
    /// Its end, after all its replies, or with its only one.
    End,
}

/// Whether a call succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Status OK and all replies as expected.
    Ok,
    /// Anything else. The user sees `error`; calls with the same text are counted together.
    Failed {
        code: Code,
        error: String,
        cause: Cause,
    },
}

/// What ended a call that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Something that the peer sent.
    #[default]
    Answer,
    /// Its end came after `-t`.
    Late,
    /// Nothing had ended it by `-t`.
    TimedOut,
    /// It lost its connection, or got none.
    Lost,
    /// It could not be sent: it has nothing to send.
    Own,
}

/// How to count. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Debug)]
pub struct TallyOptions {
    /// What is left out, what is included, and how many single calls are kept: the first ones to end. The messages of
    /// skipped calls are counted, because they were received inside the window like all others.
    pub count: CountSpec,
    /// Calls have a due time: latencies are also measured from it.
    pub open_loop: bool,
    /// When the window opens.
    pub start_ns: u64,
    /// The wall clock at the epoch, that is, at 0 ns.
    pub wall_start: SystemTime,
}

impl TallyOptions {
    /// The options of a lane.
    ///
    /// `skip_first` is divided among the lanes, so that they need not share a counter. The run then leaves out the
    /// first calls of each. A lane whose calls are fewer than its share leaves out fewer.
    #[must_use]
    pub fn of_lane(&self, lane: Lane) -> Self {
        Self {
            count: CountSpec {
                skip_first: lane.count(self.count.skip_first),
                ..self.count.clone()
            },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::samples::options;

    #[test]
    fn an_empty_tally_of_an_open_loop_takes_less_than_a_megabyte_and_a_half() {
        let open_loop = TallyOptions {
            open_loop: true,
            ..options()
        };
        let Counted {
            service,
            response,
            delay,
            first_message,
            gap,
            ..
        } = Counted::new(&open_loop);
        let always = [service, first_message, gap].map(Some);
        let distributions = always.into_iter().chain([response, delay]).flatten();
        let bytes: usize = distributions.map(|one| one.bytes()).sum();
        assert!(bytes < 1_500_000, "{bytes}");
    }

    #[test]
    fn the_shares_of_skipped_calls_add_up_to_the_whole() {
        let mut run = options();
        run.count.skip_first = 11;
        let lanes = [0, 1, 2, 3].map(|index| Lane { first: 0, every: 1 }.part(index, 4));
        let shares = lanes.map(|lane| run.of_lane(lane).count.skip_first);
        assert_eq!(shares, [3, 3, 3, 2]);
    }
}
