//! What a thread counts of a scenario's run. Nothing is shared; the tallies of all threads are merged at the end.
//!
//! Times are nanoseconds since the engine's epoch. Counting reads no clock and takes no lock, and allocates only for a
//! failure, once a second, and when a step or a scenario is counted for the first time.

mod dropped;
mod iterations;
mod reason;
mod seconds;
mod step;
#[cfg(test)]
mod tests;

pub use iterations::{End, IterationCounts};
pub use reason::{Failure, Reason};
pub use seconds::{History, Interval};
pub use step::{CheckCounts, StepCounts, Timing, Verdicts};

pub(crate) use iterations::Iterations;
pub(crate) use step::StepTally;

use seconds::add;
use volley_report::measure::SecondCounts;

/// What is made when something is counted for the first time.
#[cold]
fn first<T: Default>() -> Box<T> {
    Box::default()
}

/// The counters of one thread.
///
/// What was sent, or begun, before the window's opening is in no figure, whenever it ends. So the sums of the window
/// are exact.
pub struct Tally {
    start_ns: u64,
    scenarios: Vec<Iterations>,
    steps: Vec<StepTally>,
    /// Seconds that are over are kept until they are taken.
    tells: bool,
}

/// What a thread has counted so far, and the seconds that are over since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// By scenario: sums since the window's opening.
    pub scenarios: Vec<IterationCounts>,
    /// By step: the same, and each second's latencies.
    pub steps: Vec<(StepCounts, Vec<SecondCounts>)>,
    /// By step: what became of its conditions.
    pub verdicts: Vec<Verdicts>,
    /// Requests that are open: their step and age, in ns.
    pub open: Vec<(usize, u64)>,
}

impl Tally {
    /// For so many scenarios and steps; the window opens at `start_ns`.
    #[must_use]
    pub fn new(scenarios: usize, steps: usize, start_ns: u64) -> Self {
        Self {
            start_ns,
            scenarios: (0..scenarios).map(|_| Iterations::default()).collect(),
            steps: (0..steps).map(|_| StepTally::default()).collect(),
            tells: false,
        }
    }

    /// A request was sent: its bytes are those of HTTP, head, body and framing, before TLS.
    #[inline]
    pub fn sent(&mut self, step: usize, now_ns: u64, bytes: u64) {
        let (ns, tells) = (self.since_start(now_ns), self.tells);
        if let Some(step) = self.steps.get_mut(step) {
            step.counts.sent += 1;
            step.counts.sent_bytes += bytes;
            step.times().seconds.at(ns, tells).sent += 1;
        }
    }

    /// A request that is sent now had waited for a connection with room.
    pub fn waited(&mut self, step: usize) {
        if let Some(step) = self.steps.get_mut(step) {
            step.counts.waited += 1;
        }
    }

    /// A request that was sent before, at `sent_ns`, was sent again: a redirect, or a refusal.
    #[cold]
    pub fn sent_again(&mut self, step: usize, sent_ns: u64, bytes: u64) {
        if let Some(step) = self.counted(step, sent_ns) {
            step.counts.sent_bytes += bytes;
        }
    }

    /// A request failed before anything was sent. It has no other end.
    #[cold]
    pub fn unsent(&mut self, step: usize, timing: &Timing, failure: &Failure<'_>) {
        let (start_ns, tells) = (self.start_ns, self.tells);
        if let Some(step) = self.counted(step, timing.end_ns) {
            step.counts.unsent += 1;
            step.failed(failure, timing, start_ns, tells, false);
        }
    }

    /// A request that was sent ended. `status`: the HTTP status or the gRPC code, if there was one; `bytes`: those of the response.
    #[inline]
    pub fn ended(
        &mut self,
        step: usize,
        timing: &Timing,
        status: Option<u16>,
        bytes: u64,
        verdict: Result<(), &Failure<'_>>,
    ) {
        let (start_ns, tells) = (self.start_ns, self.tells);
        let ns = self.since_start(timing.end_ns);
        let Some(step) = self.counted(step, timing.sent_ns) else {
            return;
        };
        step.counts.received_bytes += bytes;
        if let Some(status) = status {
            add(&mut step.statuses, status, 1);
        }
        match verdict {
            Ok(()) => step.ok(timing, ns, tells),
            Err(failure) => step.failed(failure, timing, start_ns, tells, true),
        }
    }

    /// A check of a response: its place in the step's list, and its verdict. `sent_ns`: when the request was sent.
    #[inline]
    pub fn check(&mut self, step: usize, sent_ns: u64, index: usize, passed: bool) {
        if let Some(step) = self.counted(step, sent_ns) {
            step.check(index, passed);
        }
    }

    /// `n` replies of a gRPC call were received.
    #[inline]
    pub fn replies(&mut self, step: usize, sent_ns: u64, n: u64, now_ns: u64) {
        let (ns, tells) = (self.since_start(now_ns), self.tells);
        if let Some(step) = self.counted(step, sent_ns) {
            step.counts.replies += n;
            step.times().seconds.at(ns, tells).messages += n;
        }
    }

    /// A request was sent, or waits for a connection, when the run ends, which is the end of its timing.
    pub fn left_open(&mut self, step: usize, timing: &Timing, was_sent: bool) {
        let start_ns = self.start_ns;
        if let Some(step) = self.counted(step, timing.sent_ns) {
            step.left_open(timing, start_ns, was_sent);
        }
    }

    /// An iteration began. `due_ns`: when it was due, if it had such a moment.
    #[inline]
    pub fn iteration_began(&mut self, scenario: usize, due_ns: Option<u64>, now_ns: u64) {
        let (ns, tells) = (self.since_start(now_ns), self.tells);
        if let Some(iterations) = self.scenarios.get_mut(scenario) {
            iterations.counts.begun += 1;
            let times = iterations.times();
            let second = times.seconds.at(ns, tells);
            second.sent += 1;
            second.due += 1;
            if let Some(due_ns) = due_ns {
                times.delay.record(now_ns.saturating_sub(due_ns));
            }
        }
    }

    /// An iteration ended: how much later than due it began, when it did, and when it ended.
    #[inline]
    pub fn iteration_ended(
        &mut self,
        scenario: usize,
        (delay_ns, began_ns, now_ns): (u64, u64, u64),
        end: End,
    ) {
        let (ns, tells) = (self.since_start(now_ns), self.tells);
        if began_ns < self.start_ns {
            return;
        }
        let Some(iterations) = self.scenarios.get_mut(scenario) else {
            return;
        };
        let counts = &mut iterations.counts;
        match end {
            End::Ok => {
                counts.ok += 1;
                let duration_ns = now_ns.saturating_sub(began_ns).saturating_add(delay_ns);
                let times = iterations.times();
                times.duration.record(duration_ns);
                times.seconds.at(ns, tells).ok += 1;
                times.seconds.record(duration_ns);
            }
            End::Failed => {
                counts.failed += 1;
                iterations.times().seconds.at(ns, tells).failed += 1;
            }
            End::OutOfData => counts.cut_short += 1,
        }
    }

    /// An iteration was open when the run ended: how much later than due it began, when it did, and when that end came.
    pub fn iteration_left_open(
        &mut self,
        scenario: usize,
        (delay_ns, began_ns, now_ns): (u64, u64, u64),
    ) {
        if began_ns >= self.start_ns
            && let Some(iterations) = self.scenarios.get_mut(scenario)
        {
            iterations.counts.open += 1;
            let age_ns = now_ns.saturating_sub(began_ns).saturating_add(delay_ns);
            iterations.times().duration.record_open(age_ns, 1);
        }
    }

    /// `n` iterations were due at a moment and did not begin, because too many were open.
    pub fn dropped(&mut self, scenario: usize, n: u64, due_ns: u64, now_ns: u64) {
        let (ns, tells) = (self.since_start(now_ns), self.tells);
        let due_ns = self.since_start(due_ns);
        if let Some(iterations) = self.scenarios.get_mut(scenario) {
            iterations.dropped(due_ns, n, ns);
            iterations.times().seconds.at(ns, tells).due += n;
        }
    }

    /// The window closes.
    pub fn close(&mut self, now_ns: u64) {
        let ns = self.since_start(now_ns);
        self.scenarios.iter_mut().for_each(|one| one.close(ns));
    }

    /// `n` iterations were due and did not begin, because a feed had no more rows.
    pub fn unfed(&mut self, scenario: usize, n: u64) {
        if let Some(iterations) = self.scenarios.get_mut(scenario) {
            iterations.counts.unfed += n;
        }
    }

    /// The warm-up is over: forgets everything, and opens the window.
    pub fn reset(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
        self.scenarios.iter_mut().for_each(Iterations::clear);
        self.steps.iter_mut().for_each(StepTally::clear);
    }

    /// The sums so far, and the seconds that are over by now. Each second is told once, from the first call on.
    pub fn passed(&mut self, now_ns: u64) -> Passed {
        self.tells = true;
        let ns = self.since_start(now_ns);
        let step = |step: &mut StepTally| {
            let times = step.times.as_mut();
            let seconds = times.map(|times| times.seconds.take(ns));
            (step.counts, seconds.unwrap_or_default())
        };
        Passed {
            verdicts: self.steps.iter().map(StepTally::verdicts).collect(),
            scenarios: self.scenarios.iter().map(|one| one.counts).collect(),
            steps: self.steps.iter_mut().map(step).collect(),
            open: Vec::new(),
        }
    }

    /// The same without its seconds, which are none of the load's.
    #[must_use]
    pub fn without_seconds(mut self) -> Self {
        let times = self.steps.iter_mut().filter_map(|step| step.times.as_mut());
        times.for_each(|times| times.seconds.clear());
        self
    }

    /// Adds what another thread has counted. Both have the same plan, and their windows opened together.
    pub fn merge(&mut self, other: Self) {
        for (own, other) in self.scenarios.iter_mut().zip(other.scenarios) {
            own.merge(other);
        }
        for (own, other) in self.steps.iter_mut().zip(other.steps) {
            own.merge(other);
        }
    }

    /// What was counted, by scenario and by step.
    pub(crate) fn into_parts(self) -> (Vec<Iterations>, Vec<StepTally>) {
        (self.scenarios, self.steps)
    }

    #[inline]
    fn since_start(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.start_ns)
    }

    /// A step, if the request was sent within the window.
    #[inline]
    fn counted(&mut self, step: usize, sent_ns: u64) -> Option<&mut StepTally> {
        self.steps
            .get_mut(step)
            .filter(|_| sent_ns >= self.start_ns)
    }
}
