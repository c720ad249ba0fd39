//! What one thread counts.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::TallyOptions;
use super::checks::Failures;
use super::details::Details;
use super::distribution::Distribution;
use super::errors::Errors;
use super::seconds::Seconds;
use super::series::{PerSecond, Series};

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
    pub(super) counts: Counts,
    pub(super) failed: BTreeMap<&'static str, u64>,
    pub(super) errors: Errors,
    pub(super) checks: Failures,
    pub(super) service: Distribution,
    /// Only for an open loop.
    pub(super) response: Option<Distribution>,
    pub(super) first_message: Distribution,
    pub(super) gap: Distribution,
    pub(super) series: Series,
    /// The messages of the warm-up.
    pub(super) warm_up: PerSecond,
    pub(super) seconds: Seconds,
    pub(super) details: Details,
}

/// Plain sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
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

/// The progress of a run, for the live line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub messages: u64,
    pub ok: u64,
    pub failed: u64,
}

impl Tally {
    #[must_use]
    pub fn new(options: &TallyOptions) -> Self {
        let window_ns = options.window_ns.unwrap_or(0);
        Self {
            start_ns: options.start_ns,
            wall_start: options.wall_start,
            count_errors: options.count_errors,
            skip_first: options.skip_first,
            still_to_skip: options.skip_first,
            counts: Counts::default(),
            failed: BTreeMap::new(),
            errors: Errors::new(),
            checks: Failures::default(),
            service: Distribution::new(),
            response: options.open_loop.then(Distribution::new),
            first_message: Distribution::new(),
            gap: Distribution::new(),
            series: Series::new(window_ns),
            warm_up: PerSecond::default(),
            seconds: Seconds::new(window_ns),
            details: Details::new(options.details),
        }
    }

    /// The warm-up begins.
    pub fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// The warm-up is over: discards everything counted so far except its messages per second, and
    /// opens the window.
    pub fn reset(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.still_to_skip = self.skip_first;
        self.counts = Counts::default();
        self.failed.clear();
        self.errors = Errors::new();
        self.checks = Failures::default();
        self.service.clear();
        if let Some(response) = &mut self.response {
            response.clear();
        }
        self.first_message.clear();
        self.gap.clear();
        self.warm_up = self.series.messages_per_second();
        self.series.clear();
        self.seconds.clear();
        self.details.clear();
    }

    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            messages: self.counts.messages,
            ok: self.counts.ok,
            failed: self.counts.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::samples::{S, options};

    #[test]
    fn an_empty_tally_of_an_hours_open_loop_takes_less_than_two_and_a_half_megabytes() {
        let hour = TallyOptions {
            open_loop: true,
            window_ns: Some(3600 * S),
            ..options()
        };
        let Tally {
            service,
            response,
            first_message,
            gap,
            series,
            seconds,
            ..
        } = Tally::new(&hour);
        let distributions = [Some(service), response, Some(first_message), Some(gap)];
        let bytes = distributions
            .iter()
            .flatten()
            .map(Distribution::bytes)
            .sum::<usize>();
        let bytes = bytes + series.bytes() + seconds.bytes();
        assert!(bytes < 2_500_000, "{bytes}");
    }
}
