//! Thresholds that end a load.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::control::{Change, Control, Order};
use super::super::watch::Watch;
use super::{crud, report};
use crate::engine::Clock;
use crate::pace::SECOND_NS as S;
use crate::scenario::report::live::{Progress, Stage};
use crate::scenario::report::{EndedBy, Report};
use crate::scenario::tally::{Passed, Tally};
use crate::serve::{Config, Faults, Reference};

/// A load whose thresholds are looked at each second, and a teardown. Every so many items have no location.
fn run(no_location_every: u64, load: &str) -> (Report, u64) {
    let faults = Faults {
        no_location_every: NonZeroU64::new(no_location_every),
        ..Faults::default()
    };
    let server = Reference::start(Config {
        faults,
        ..Config::default()
    })
    .unwrap();
    let more = format!(
        "http: {{version: 2}}\nload: [{load}]\nlimits: {{drain: 5s}}
teardown: [{{name: bye, post: '${{api}}/oauth/token'}}]
thresholds: [p99 < 1h, {{that: 'failed < 1%', abort_after: 1s}}]"
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
fn a_threshold_that_holds_does_not_end_the_load() {
    let (report, tokens) = run(0, "{users: 4, for: 2500ms}");
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
    assert_eq!((report.thresholds[1].failed, tokens), (false, 1));
}

#[test]
fn a_threshold_is_about_all_threads_of_one_second() {
    let server = Reference::start(Config::default()).unwrap();
    // Each iteration has three requests.
    let more = "http: {version: 2}\nload: [{rate: 100/s, for: 2500ms}]
thresholds: [{that: rate > 225, abort_after: 500ms}]";
    let report = report(&crud(&server, more), 4);
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
}

#[test]
fn only_a_threshold_that_fails_without_a_break_ends_the_load() {
    let server = Reference::start(Config::default()).unwrap();
    let plan = crud(
        &server,
        "thresholds: [{that: 'dropped <= 10%', abort_after: 2s}]",
    );
    let control = Control::new(&plan, Arc::new(AtomicBool::new(false)));
    control.begin(Clock::start(), 0);
    let mut watch = Watch::new(&plan);
    let (mut tally, mut progress) = (Tally::new(1, 3, 0), Progress::new(1, 3, Passed::default()));
    // In each second: how many begin, and how many are dropped. In the second one, it holds.
    let seconds = [(10, 10), (200, 0), (0, 100), (0, 1), (0, 1)];
    for (second, (begun, dropped)) in (1..).zip(seconds) {
        assert_eq!(control.after(0), [], "{second}");
        let now_ns = second * S;
        (0..begun).for_each(|_| tally.iteration_began(0, None, now_ns));
        tally.dropped(0, dropped, now_ns);
        progress.add(0, tally.passed(now_ns), Stage::Load);
        watch.look(&progress, Duration::from_secs(second), &control);
    }
    let orders: Vec<Order> = control
        .after(0)
        .into_iter()
        .map(|Change { order, .. }| order)
        .collect();
    assert_eq!(orders, [Order::Abort(0)]);
}
