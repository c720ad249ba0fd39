//! What one step counts.

use std::collections::BTreeMap;

use super::reason::{Failure, Reason};
use super::seconds::{Seconds, add};
use volley_base::sums;
use volley_report::measure::{Distribution, Failures, Life};

/// The moments of one request, in nanoseconds since the engine's epoch. Of one that is open, the end is the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When it was due: only for the first request of an iteration with a due time.
    pub due_ns: Option<u64>,
    /// When it was to be sent.
    pub asked_ns: u64,
    /// When a connection took it.
    pub sent_ns: u64,
    /// When the first byte of the response was read.
    pub first_ns: Option<u64>,
    /// When its last bytes were read; 0: none were.
    pub heard_ns: u64,
    pub end_ns: u64,
}

impl Timing {
    /// All at one moment, as of a request that cannot be sent.
    #[must_use]
    pub fn at(now_ns: u64) -> Self {
        Self {
            due_ns: None,
            asked_ns: now_ns,
            sent_ns: now_ns,
            first_ns: None,
            heard_ns: 0,
            end_ns: now_ns,
        }
    }

    /// Its main latency: with the wait for a connection, and with all the time that it was late.
    #[must_use]
    pub fn response_ns(&self) -> u64 {
        self.end_ns
            .saturating_sub(self.due_ns.unwrap_or(self.asked_ns))
    }

    fn service_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.sent_ns)
    }

    fn blocked_ns(&self) -> u64 {
        self.sent_ns.saturating_sub(self.asked_ns)
    }
}

sums! {
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
    /// HTTP statuses, or gRPC codes, ascending.
    pub statuses: Vec<(u16, u64)>,
    pub failures: BTreeMap<Reason, Failures>,
    pub checks: Vec<CheckCounts>,
    /// In ns since the start.
    pub life: Life,
    /// Since its first request: a step that never runs takes no memory.
    pub times: Option<Box<Times>>,
}

/// The times of a step: of requests that ended well, and the ages of those that took too long or were open at the end.
#[derive(Default)]
pub(crate) struct Times {
    /// The main latency.
    pub response: Distribution,
    /// From the sending, since one of these was another time than the main latency.
    pub service: Option<Distribution>,
    /// From the asking to the sending, of requests that waited for a connection.
    blocked: Option<Distribution>,
    /// Requests that were sent and whose ages count.
    aged: u64,
    /// From the sending to the first byte.
    pub first_byte: Distribution,
    pub seconds: Seconds,
}

impl Times {
    /// From the asking to the sending, of all requests.
    pub fn blocked(&mut self) -> Distribution {
        let mut blocked = self.blocked.take().unwrap_or_default();
        blocked.record_zeros(self.response.len() + self.aged - blocked.len());
        blocked
    }

    /// Where times from the sending go, if they are others than the main latencies.
    #[inline]
    fn service(&mut self, timing: &Timing) -> Option<&mut Distribution> {
        if self.service.is_none() && timing.service_ns() != timing.response_ns() {
            self.tell_apart();
        }
        self.service.as_mut()
    }

    /// From now on, times from the sending are counted apart. So far, they were the main latencies.
    #[cold]
    fn tell_apart(&mut self) {
        self.service.get_or_insert_with(|| self.response.clone());
    }

    #[inline]
    fn blocked_for(&mut self, ns: u64) {
        if ns > 0 {
            let blocked = self.blocked.get_or_insert_with(Distribution::new);
            blocked.record(ns);
        }
    }
}

impl StepTally {
    #[inline]
    pub fn times(&mut self) -> &mut Times {
        self.times.get_or_insert_with(super::first)
    }

    #[inline]
    pub fn ok(&mut self, timing: &Timing, since_start_ns: u64, tells: bool) {
        self.counts.ok += 1;
        self.life.heard(since_start_ns);
        let times = self.times();
        let latency_ns = timing.response_ns();
        if let Some(service) = times.service(timing) {
            service.record(timing.service_ns());
        }
        times.response.record(latency_ns);
        times.blocked_for(timing.blocked_ns());
        if let Some(first_ns) = timing.first_ns {
            let first_byte_ns = first_ns.saturating_sub(timing.sent_ns);
            times.first_byte.record(first_byte_ns);
        }
        times.seconds.at(since_start_ns, tells).ok += 1;
        times.seconds.record(latency_ns);
    }

    /// A request is open at the end, which is the end of its timing.
    pub fn left_open(&mut self, timing: &Timing, start_ns: u64, was_sent: bool) {
        self.counts.open += u64::from(was_sent);
        self.unanswered(timing, start_ns);
        self.age(timing, was_sent);
    }

    /// Counts the age of a request that got no response: it is open at the end, or took too long. One that was not sent
    /// waited for a connection.
    #[cold]
    fn age(&mut self, timing: &Timing, was_sent: bool) {
        let times = self.times();
        if !was_sent {
            // It has no time from the sending.
            times.tell_apart();
            times.response.record_open(timing.response_ns(), 1);
            let blocked = times.blocked.get_or_insert_with(Distribution::new);
            blocked.record_open(timing.end_ns.saturating_sub(timing.asked_ns), 1);
            return;
        }
        times.aged += 1;
        if let Some(service) = times.service(timing) {
            service.record_open(timing.service_ns(), 1);
        }
        times.response.record_open(timing.response_ns(), 1);
        times.blocked_for(timing.blocked_ns());
        if timing.first_ns.is_none() {
            times.first_byte.record_open(timing.service_ns(), 1);
        }
    }

    /// Its peer has sent nothing since its last bytes.
    fn unanswered(&mut self, timing: &Timing, start_ns: u64) {
        let since = |ns: u64| ns.saturating_sub(start_ns);
        let heard_ns = timing.heard_ns.max(timing.first_ns.unwrap_or_default());
        self.life.heard(since(heard_ns));
        let from_ns = heard_ns.max(timing.asked_ns);
        self.life.unanswered(since(from_ns), since(timing.end_ns));
    }

    #[cold]
    pub fn failed(
        &mut self,
        failure: &Failure<'_>,
        timing: &Timing,
        start_ns: u64,
        tells: bool,
        was_sent: bool,
    ) {
        let since_start_ns = timing.end_ns.saturating_sub(start_ns);
        self.counts.failed += 1;
        match failure.reason {
            // Nothing was asked of the peer.
            Reason::Unrendered | Reason::Lua => {}
            Reason::Connect | Reason::Tls | Reason::Closed => self.unanswered(timing, start_ns),
            Reason::Timeout => {
                self.unanswered(timing, start_ns);
                self.age(timing, was_sent);
            }
            _ => self.life.heard(since_start_ns),
        }
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
            times.response.clear();
            times.first_byte.clear();
            times.seconds.clear();
            (times.service, times.blocked, times.aged) = (None, None, 0);
        }
        *self = Self {
            times,
            ..Self::default()
        };
    }

    pub fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.life.merge(other.life);
        for (status, count) in other.statuses {
            add(&mut self.statuses, status, count);
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
        if self.service.is_some() || other.service.is_some() {
            let service = self.service.get_or_insert_with(|| self.response.clone());
            service.merge(other.service.as_ref().unwrap_or(&other.response));
        }
        self.response.merge(&other.response);
        match (&mut self.blocked, other.blocked) {
            (Some(blocked), Some(other)) => blocked.merge(&other),
            (blocked @ None, other) => *blocked = other,
            (Some(_), None) => {}
        }
        self.aged += other.aged;
        self.first_byte.merge(&other.first_byte);
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

    /// What became of the conditions since these, which are earlier verdicts of the same step.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        for (reason, count) in &mut since.failed {
            *count -= before.failed.get(reason).unwrap_or(&0);
        }
        for (check, before) in since.checks.iter_mut().zip(&before.checks) {
            check.passed -= before.passed;
            check.failed -= before.failed;
        }
        since
    }

    /// Requests that failed before they had an expected status.
    #[must_use]
    pub fn without_status(&self) -> u64 {
        self.failed_if(|reason| !reason.has_status())
    }

    /// How often a condition was kept, of so many requests that ended. A check has its own counts; each other condition
    /// was kept by the requests that ended well or failed for a later reason, and those that failed for an earlier one
    /// never came to it.
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

    /// What was counted since these, which are earlier sums of the same.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        self.each(before, |count, before| *count -= before);
        self
    }
}
