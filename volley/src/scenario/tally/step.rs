//! What one step counts.

use std::collections::BTreeMap;

use super::reason::{Failure, Reason};
use super::seconds::Seconds;
use crate::measure::{Distribution, Failures};

/// The moments of one request, in nanoseconds since the engine's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When it was due: only for the first request of an iteration with a due time.
    pub due_ns: Option<u64>,
    pub sent_ns: u64,
    /// When the first byte of the response was read.
    pub first_ns: Option<u64>,
    pub end_ns: u64,
}

/// Plain sums of a step. `sent + unsent` is `ok + failed + open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    pub sent: u64,
    /// Failed before anything was sent: no connection, or nothing to send.
    pub unsent: u64,
    /// Sent, but not at once: all connections were busy.
    pub waited: u64,
    pub ok: u64,
    pub failed: u64,
    /// Without an end when the run ended.
    pub open: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// gRPC: replies received.
    pub replies: u64,
}

/// How often a check passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    pub passed: u64,
    pub failed: u64,
}

/// What became of the conditions of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// How many requests failed, by reason.
    failed: BTreeMap<Reason, u64>,
    checks: Vec<CheckCounts>,
}

/// One step of one thread, or of several.
#[derive(Default)]
pub(crate) struct StepTally {
    pub counts: StepCounts,
    /// HTTP statuses, or gRPC codes.
    pub statuses: BTreeMap<u16, u64>,
    pub failures: BTreeMap<Reason, Failures>,
    pub checks: Vec<CheckCounts>,
    /// Since its first request: a step that never runs takes no memory.
    pub times: Option<Box<Times>>,
}

/// The times of a step: of requests that ended well.
pub(crate) struct Times {
    /// From the due moment: only for requests that have one.
    pub response: Option<Distribution>,
    /// From the sending.
    pub service: Distribution,
    /// From the sending to the first byte.
    pub first_byte: Distribution,
    pub seconds: Seconds,
}

impl Times {
    fn new() -> Box<Self> {
        Box::new(Self {
            response: None,
            service: Distribution::new(),
            first_byte: Distribution::new(),
            seconds: Seconds::new(),
        })
    }
}

impl StepTally {
    #[inline]
    pub fn times(&mut self) -> &mut Times {
        self.times.get_or_insert_with(Times::new)
    }

    #[inline]
    pub fn ok(&mut self, timing: &Timing, since_start_ns: u64, tells: bool) {
        self.counts.ok += 1;
        let times = self.times();
        let mut latency_ns = timing.end_ns.saturating_sub(timing.sent_ns);
        times.service.record(latency_ns);
        if let Some(first_ns) = timing.first_ns {
            times
                .first_byte
                .record(first_ns.saturating_sub(timing.sent_ns));
        }
        if let Some(due_ns) = timing.due_ns {
            latency_ns = timing.end_ns.saturating_sub(due_ns);
            times
                .response
                .get_or_insert_with(Distribution::new)
                .record(latency_ns);
        }
        times.seconds.at(since_start_ns, tells).ok += 1;
        times.seconds.record(latency_ns);
    }

    #[cold]
    pub fn failed(&mut self, failure: &Failure<'_>, since_start_ns: u64, tells: bool) {
        self.counts.failed += 1;
        self.times().seconds.at(since_start_ns, tells).failed += 1;
        let known = self.failures.entry(failure.reason).or_default();
        known.count(since_start_ns, failure.what);
    }

    #[inline]
    pub fn check(&mut self, index: usize, passed: bool) {
        if self.checks.len() <= index {
            self.checks.resize(index + 1, CheckCounts::default());
        }
        if let Some(check) = self.checks.get_mut(index) {
            check.passed += u64::from(passed);
            check.failed += u64::from(!passed);
        }
    }

    pub fn verdicts(&self) -> Verdicts {
        let failures = self.failures.iter();
        Verdicts {
            failed: failures.map(|(reason, all)| (*reason, all.calls)).collect(),
            checks: self.checks.clone(),
        }
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        let mut times = self.times.take();
        if let Some(times) = &mut times {
            times.service.clear();
            times.first_byte.clear();
            times.seconds.clear();
            times.response = None;
        }
        *self = Self {
            times,
            ..Self::default()
        };
    }

    pub fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for (reason, failures) in other.failures {
            self.failures.entry(reason).or_default().merge(failures);
        }
        CheckCounts::add_all(&mut self.checks, &other.checks);
        match (&mut self.times, other.times) {
            (Some(times), Some(other)) => times.merge(*other),
            (times @ None, other) => *times = other,
            (Some(_), None) => {}
        }
    }
}

impl Times {
    fn merge(&mut self, other: Self) {
        self.service.merge(&other.service);
        self.first_byte.merge(&other.first_byte);
        match (&mut self.response, other.response) {
            (Some(response), Some(other)) => response.merge(&other),
            (response @ None, other) => *response = other,
            (Some(_), None) => {}
        }
        self.seconds.merge(other.seconds);
    }
}

impl Verdicts {
    /// Adds those of the same step.
    pub(crate) fn add(&mut self, other: &Self) {
        for (reason, count) in &other.failed {
            *self.failed.entry(*reason).or_default() += count;
        }
        CheckCounts::add_all(&mut self.checks, &other.checks);
    }

    /// Requests that failed before they had an expected status.
    #[must_use]
    pub fn without_status(&self) -> u64 {
        self.failed_if(|reason| !reason.has_status())
    }

    /// How often a condition was kept, of so many requests that ended. A check has its own counts; each other condition was
    /// kept by the requests that ended well or failed for a later reason, and those that failed for an earlier one never
    /// came to it.
    #[must_use]
    pub fn of(&self, condition: Reason, ended: u64) -> CheckCounts {
        match condition {
            Reason::Check(index) => self
                .checks
                .get(usize::from(index))
                .copied()
                .unwrap_or_default(),
            condition => CheckCounts {
                passed: ended.saturating_sub(self.failed_if(|reason| !reason.is_after(condition))),
                failed: self.failed_if(|reason| reason == condition),
            },
        }
    }

    fn failed_if(&self, is_counted: impl Fn(Reason) -> bool) -> u64 {
        let counted = self
            .failed
            .iter()
            .filter(|(reason, _)| is_counted(**reason));
        counted.map(|(_, count)| count).sum()
    }
}

impl CheckCounts {
    /// Adds the verdicts of the same checks.
    pub(crate) fn add_all(checks: &mut Vec<Self>, others: &[Self]) {
        if checks.len() < others.len() {
            checks.resize(others.len(), Self::default());
        }
        for (check, other) in checks.iter_mut().zip(others) {
            check.passed += other.passed;
            check.failed += other.failed;
        }
    }
}

impl StepCounts {
    /// Requests that were to be sent.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.sent + self.unsent
    }

    /// Requests that ended.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.ok + self.failed
    }

    /// Adds those of another one.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.waited += other.waited;
        self.ok += other.ok;
        self.failed += other.failed;
        self.open += other.open;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.replies += other.replies;
    }
}
