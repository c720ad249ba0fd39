//! Thresholds that end a load.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::abort::AbortWatch;
use super::super::control::{Change, Control, Order};
use super::{crud, faulty, report};
use crate::report::live::{Progress, Stage};
use crate::report::{EndedBy, Report};
use crate::tally::{Passed, Tally};
use volley_load::pace::SECOND_NS as S;
use volley_net::Clock;
use volley_serve::{Config, Faults, Freeze, Reference};

/// A load whose thresholds are looked at each second, and a teardown. Every so many items have no location.
fn run(no_location_every: u64, load: &str) -> (Report, u64) {
    let faults = Faults {
        no_location_every: NonZeroU64::new(no_location_every),
        ..Faults::default()
    };
    run_with(faults, load, "failed < 1%", "5s")
}

/// The same with any faults, and any condition that may end the load.
fn run_with(faults: Faults, load: &str, condition: &str, drain: &str) -> (Report, u64) {
    let server = faulty(faults);
    let more = format!(
        "http: {{version: 2, timeout: 2s}}\nload: [{load}]\nlimits: {{drain: {drain}}}
teardown: [{{name: bye, post: '${{api}}/oauth/token'}}]
thresholds: [max < 1h, {{that: '{condition}', abort_after: 1s}}]"
    );
    let report = report(&crud(&server, &more), 2);
    (report, server.counts().tokens)
}

#[test]
fn a_threshold_that_fails_for_too_long_ends_the_load_and_teardown_runs() {
    let (report, tokens) = run(3, "{users: 4, for: 10m}");
    assert_eq!(report.facts.ended_by, EndedBy::Threshold(1));
    assert_eq!(tokens, 1);
    let failed: Vec<_> = report.thresholds.iter().map(|one| one.failed).collect();
    assert_eq!(failed, [false, true]);
    assert_eq!(report.ended(), "ended by a failed threshold: failed < 1%");
    // What was open could end.
    assert_eq!(report.iterations().open, 0);
}

#[test]
fn a_server_that_stands_still_ends_the_load() {
    let freeze = Freeze {
        at: Duration::from_millis(1500),
        length: Duration::from_secs(600),
    };
    for load in ["{users: 4, for: 10m}", "{rate: 500/s, for: 10m}"] {
        for condition in ["p99 < 500ms", "ok > 50%"] {
            let faults = Faults {
                freeze: Some(freeze),
                ..Faults::default()
            };
            let (report, _) = run_with(faults, load, condition, "0s");
            assert_eq!(
                report.facts.ended_by,
                EndedBy::Threshold(1),
                "{load} {condition}"
            );
            assert!(report.thresholds[1].failed);
        }
    }
}

#[test]
fn a_server_that_stands_still_passes_no_condition_although_all_requests_end_in_time() {
    let faults = Faults {
        freeze: Some(Freeze {
            at: Duration::from_millis(500),
            length: Duration::from_secs(600),
        }),
        ..Faults::default()
    };
    let server = faulty(faults);
    let more = "http: {version: 2, timeout: 300ms}\nload: [{users: 4, for: 2500ms}]\nthresholds: [p50 < 900ms, failed < 99%]";
    let report = report(&crud(&server, more), 2);
    // What took too long has an age.
    assert_eq!(report.iterations().open, 0);
    assert!(report.latency.longest().unwrap().ns >= 300_000_000);
    let [p50, failed] = report.thresholds.try_into().ok().unwrap();
    assert!(p50.shown().contains("no answer came from second "), "{p50}");
    assert_eq!((p50.failed, failed.failed), (true, false));
}

#[test]
fn a_threshold_that_holds_does_not_end_the_load() {
    let (report, tokens) = run(0, "{users: 4, for: 2500ms}");
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
    assert_eq!((report.thresholds[1].failed, tokens), (false, 1));
}

/// What is ordered by a threshold while each second passes on all threads. In each second, on each thread: how many
/// iterations begin, and how many are dropped.
fn ordered(threshold: &str, seconds: &[&[(u64, u64)]]) -> Vec<Vec<Order>> {
    let server = Reference::start(Config::default()).unwrap();
    let plan = crud(&server, &format!("thresholds: [{threshold}]"));
    let control = Control::new(&plan, Arc::new(AtomicBool::new(false)));
    control.begin(Clock::start(), 0);
    let mut watch = AbortWatch::new(&plan);
    let threads = seconds[0].len();
    let mut tallies: Vec<_> = (0..threads).map(|_| Tally::new(1, 3, 0)).collect();
    let mut progress = Progress::new(threads, 3, Passed::default());
    let after = |(second, counts): (u64, &&[(u64, u64)])| {
        let now_ns = second * S;
        for (thread, (tally, (begun, dropped))) in tallies.iter_mut().zip(*counts).enumerate() {
            (0..*begun).for_each(|_| tally.iteration_began(0, None, now_ns));
            tally.dropped(0, *dropped, now_ns, now_ns);
            progress.add(thread, tally.passed(now_ns), Stage::Load);
        }
        watch.look(&mut progress, Duration::from_secs(second), &control);
        let changes = control.after(0).into_iter();
        changes.map(|Change { order, .. }| order).collect()
    };
    (1..).zip(seconds).map(after).collect()
}

#[test]
fn a_threshold_is_about_all_threads_of_one_second() {
    // The second thread alone drops a third; both of them a tenth.
    let seconds: [&[_]; 3] = [&[(78, 0), (20, 10)]; 3];
    let threshold = "{that: 'dropped <= 10%', abort_after: 1s}";
    assert!(ordered(threshold, &seconds).iter().all(Vec::is_empty));
    let orders = ordered("{that: 'dropped <= 9%', abort_after: 1s}", &seconds);
    assert_eq!(orders, vec![[Order::Abort(0)]; 3]);
}

#[test]
fn a_threshold_ends_the_load_if_it_fails_over_a_window_of_its_length() {
    // Of the first two seconds, 10 of 220; of the last two, 50 of 300.
    let seconds: [&[_]; 3] = [&[(10, 10)], &[(200, 0)], &[(50, 50)]];
    let orders = ordered("{that: 'dropped <= 16.5%', abort_after: 2s}", &seconds);
    assert_eq!(orders, [vec![], vec![], vec![Order::Abort(0)]]);
    let orders = ordered("{that: 'dropped <= 17%', abort_after: 2s}", &seconds);
    assert!(orders.iter().all(Vec::is_empty), "{orders:?}");
}
