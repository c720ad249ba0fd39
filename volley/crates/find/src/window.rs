//! A window of real load: a run of its own, with its own connections.

use std::time::Duration;

use super::search::{Counts, Order};
use volley_load::pace::whole_ns;
use volley_load::spec::{DurationStop, Spec};
use volley_plain::{self as plain, LoadError, Session, StartAt};
use volley_report::measure::{DetailOutcome, EndedBy, Warning};
use volley_report::report::Report;

/// What is waited for open calls after a window, at least: a queue must be empty before the next one.
const DRAIN: Duration = Duration::from_secs(2);
/// Calls that are late by more than this part of the limit: volley was the limit.
const LATE_PART: u64 = 10;
/// The rank of the percentile, in millionths.
const P99_PPM: u32 = 990_000;

/// The load of a window: Poisson arrivals, which do not wait for workers.
pub fn spec(base: &Spec, order: &Order, limit: Duration, seed: u64) -> Spec {
    let mut spec = base.clone();
    let load = &mut spec.load;
    load.rate.rps = order.rate;
    load.rate.poisson = Some(seed);
    load.is_async = true;
    (load.warmup, load.duration) = (order.settle, order.length);
    load.duration_stop = DurationStop::Wait;
    load.drain_timeout = Some(DRAIN.max(4 * limit));
    // All of them: twice as many as are due on average, and more.
    spec.count.details = 1000 + (2.0 * f64::from(order.rate) * order.length.as_secs_f64()) as u64;
    spec
}

/// Makes that load; `None` if a signal has ended it.
pub fn measure(spec: &Spec, limit: Duration) -> Result<Option<Counts>, LoadError> {
    let session = Session::new(StartAt::Ready, false)?;
    let report = plain::run(spec, session, &mut |_| {})?;
    Ok((report.ended_by != EndedBy::Signal).then(|| counts(&report, whole_ns(limit))))
}

/// Counts the calls that were due.
pub fn counts(report: &Report, limit_ns: u64) -> Counts {
    let missed = report.sends.missed;
    let calls = report.details.len() as u64 + missed;
    let details = || report.details.iter();
    let mut ended: Vec<u64> = details()
        .filter(|call| call.outcome != DetailOutcome::Cut)
        .map(|call| call.latency_ns)
        .collect();
    let within = ended.iter().filter(|ns| **ns <= limit_ns).count() as u64;
    let failed = |outcome: &DetailOutcome| matches!(outcome, DetailOutcome::Failed { .. });
    let rank = (calls * u64::from(P99_PPM)).div_ceil(1_000_000) as usize;
    let p99_ns = (1..=ended.len())
        .contains(&rank)
        .then(|| *ended.select_nth_unstable(rank - 1).1);
    let delay = report
        .send_delay
        .as_ref()
        .and_then(|delay| delay.at(P99_PPM));
    Counts {
        calls,
        over: calls - within,
        failed: details().filter(|call| failed(&call.outcome)).count() as u64,
        wrong: report.checks.failed,
        is_full: report
            .warnings
            .iter()
            .any(|warning| matches!(warning, Warning::StreamLimit { .. })),
        p99_ns,
        is_late: missed > 0 || delay.is_some_and(|delay| delay.ns > limit_ns / LATE_PART),
    }
}
