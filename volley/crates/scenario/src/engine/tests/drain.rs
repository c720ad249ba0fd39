//! How loads end, and what is due in them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use super::super::control::{Control, Order};
use super::super::{Finished, Options, run};
use super::load::{ONE, done, good, mute};
use super::peer::Peer;
use super::wires::step;
use super::{finish, finish_by, options, plan_of};
use crate::report::EndedBy;
use crate::report::live::Progress;

#[test]
fn iterations_that_have_begun_end_although_they_take_longer_than_the_drain() {
    let file = "http: {version: 1, connections: 4}
limits: {drain: 1ms}
scenarios: {one: {steps: [{get: '${api}/a', think: 300ms}, {get: '${api}/b'}]}}
load: [{users: 4}, {iterations: 4}]
";
    let report = done(&good(), 2, file);
    assert_eq!(report.iterations().ok, 4);
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
}

#[test]
fn a_signal_ends_iterations_that_are_waited_for() {
    let signal = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&signal);
    // All iterations have begun when the second one asks.
    let server = Peer::plain(move |asked| {
        set.store(asked.number == 1, Ordering::Relaxed);
        None
    });
    let file = "http: {version: 1, connections: 2, timeout: 1h}
limits: {drain: 1h}
scenarios: {one: {steps: [{get: '${api}/'}]}}
load: [{users: 2}, {iterations: 2}]
";
    let report = finish_by(&server, 1, &signal, file).unwrap().report;
    assert_eq!(report.facts.ended_by, EndedBy::Signal);
    assert_eq!(report.iterations().open, 2);
}

#[test]
fn a_failure_that_ends_the_run_is_what_ended_it() {
    let file = ONE.replace("{one: {", "{one: {on_failure: end_run, ");
    let server = Peer::plain(|_| Some((500, String::new())));
    let finished = finish(&server, 2, &format!("{file}load: [{{users: 2, for: 1h}}]"));
    let Finished { report, failure } = finished.unwrap();
    assert!(failure.is_some());
    assert_eq!(report.facts.ended_by, EndedBy::Failure);
    let rows = "data: {x: {range: [0, 2], order: unique, at_end: fail}}
scenarios: {one: {steps: [{get: '${api}/${x}'}]}}
load: [{users: 1, for: 1h}]
";
    let finished = finish(&good(), 1, &format!("http: {{version: 1}}\n{rows}"));
    assert_eq!(finished.unwrap().report.facts.ended_by, EndedBy::Failure);
}

#[test]
fn a_thought_before_the_first_request_is_no_latency() {
    let file = "http: {version: 1, connections: 8}
scenarios: {one: {steps: [{think: 1s}, {name: a, get: '${api}/'}]}}
load: [{rate: 100/s, for: 200ms}]
";
    let report = done(&good(), 1, file);
    let latency = &step(&report, "a").latency;
    assert!(
        latency.samples == 20 && latency.min_ns < 1_000_000_000,
        "{latency:?}"
    );
}

#[test]
fn all_first_requests_are_due_when_their_iteration_was() {
    // As many connections as requests: none waits for one.
    let file = "http: {version: 1, connections: 20}
scenarios: {one: {steps: [{together: [{name: a, get: '${api}/a'}, {name: b, get: '${api}/b'}]}, {name: c, get: '${api}/c'}]}}
load: [{rate: 100/s, for: 100ms}]
";
    let report = done(&good(), 1, file);
    let has_due = ["a", "b", "c"].map(|name| step(&report, name).service.is_some());
    assert_eq!(has_due, [true, true, false]);
}

/// A run on one thread. `on_news` is called each second, from 1 on, and may give orders and set the signal.
pub(super) fn follow(
    server: &Peer,
    file: &str,
    on_news: impl Fn(u32, &Control, &AtomicBool),
) -> Finished {
    let plan = plan_of(server, file);
    let signal = Arc::default();
    let control = Arc::new(Control::new(&plan, Arc::clone(&signal)));
    let options = Options {
        control: Some(Arc::clone(&control)),
        ..options(1)
    };
    let mut number = 0;
    let news = &mut |_: &mut _, _| {
        number += 1;
        on_news(number, &control, &signal);
    };
    run(&plan, &options, &signal, news).unwrap()
}

#[test]
fn the_first_second_is_told_with_its_latencies() {
    let server = good();
    let plan = plan_of(&server, &format!("{ONE}load: [{{users: 2, for: 1100ms}}]"));
    let mut told = None;
    let news = &mut |progress: &mut Progress, elapsed| {
        told.get_or_insert_with(|| progress.steps(elapsed));
    };
    run(&plan, &Options::default(), &Arc::default(), news).unwrap();
    let step = &told.unwrap()[0];
    // Of open requests alone, it would be a lower bound.
    assert!(
        step.ok > 0 && step.p50.is_some_and(|p50| !p50.is_at_least),
        "{step:?}"
    );
}

#[test]
fn what_is_due_before_a_signal_begins_although_wake_ups_are_coalesced() {
    let file = "http: {version: 2, connections: 4}
limits: {coalesce: 100ms}
scenarios: {one: {steps: [{get: '${api}/'}]}}
load: [{rate: 1000/s, for: 1h}]
";
    let set = |_, _: &Control, signal: &AtomicBool| signal.store(true, Ordering::Relaxed);
    let report = follow(&good(), file, set).report;
    assert_eq!(report.facts.ended_by, EndedBy::Signal);
    assert_eq!(report.iterations().dropped, 0);
}

const WAITS: &str = "http: {version: 1, connections: 2, timeout: 2h}
limits: {drain: 1h}
scenarios: {one: {on_failure: end_run, steps: [{get: '${api}/'}]}}
load: [{users: 2, for: 1h}]
";

#[test]
fn a_signal_cuts_what_is_open_after_an_order_to_stop() {
    let report = follow(&mute(), WAITS, |number, control, signal| match number {
        1 => control.ask(Order::Stop).unwrap(),
        _ => signal.store(true, Ordering::Relaxed),
    })
    .report;
    assert_eq!(report.facts.ended_by, EndedBy::Order);
    assert_eq!(report.iterations().open, 2);
}

#[test]
fn a_step_that_fails_after_a_signal_has_not_ended_the_run() {
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let server = Peer::plain(move |_| {
        released.lock().unwrap().recv().unwrap();
        Some((500, String::new()))
    });
    let Finished { report, failure } = follow(&server, WAITS, |number, _, signal| match number {
        1 => signal.store(true, Ordering::Relaxed),
        // The thread has seen the signal.
        _ => (0..2).for_each(|_| release.send(()).unwrap()),
    });
    assert_eq!(report.facts.ended_by, EndedBy::Signal);
    assert_eq!(report.iterations().failed, 2);
    assert!(failure.is_none());
}

#[test]
fn what_is_dropped_at_the_end_is_shared_out_by_the_last_weights() {
    let file = "http: {version: 1, connections: 1}
limits: {iterations_open: 1, when_full: wait, drain: 1ms}
scenarios: {one: {steps: [{get: '${api}/'}]}, two: {steps: [{get: '${api}/'}]}}
load: [{rate: 1000/s, for: 2s}]
";
    let report = follow(&mute(), file, |number, control, _| {
        if number == 1 {
            control.ask(Order::Weights(0, vec![(0, 0)])).unwrap();
        }
    })
    .report;
    let dropped = report.scenarios.iter().map(|one| one.counts.dropped);
    let dropped: Vec<u64> = dropped.collect();
    assert_eq!(dropped, [0, 1999]);
}

#[test]
fn what_is_dropped_at_the_end_is_of_all_ages_in_each_scenario() {
    let file = "http: {version: 1, connections: 1}
limits: {iterations_open: 1, when_full: wait, drain: 1ms}
scenarios: {one: {weight: 60, steps: [{get: '${api}/'}]}, two: {weight: 40, steps: [{get: '${api}/'}]}}
load: [{rate: 1000/s, for: 1s}]
";
    for threads in [1, 2] {
        let report = done(&mute(), threads, file);
        let [one, two] = [0, 1].map(|at| &report.scenarios[at].delay);
        // One iteration has begun.
        assert!(
            (one.open, two.open) == (600, 399) || (one.open, two.open) == (599, 400),
            "{one:?} {two:?}"
        );
        if threads == 1 {
            // The moments of one scenario are at most 3 ms apart.
            let means_ns = one.open_mean_ns.abs_diff(two.open_mean_ns);
            let oldest_ns = one.oldest_ns.abs_diff(two.oldest_ns);
            assert!(means_ns.max(oldest_ns) <= 3_000_000, "{one:?} {two:?}");
        }
    }
}

#[test]
fn a_signal_is_answered_at_once_with_the_iterations_that_are_open() {
    let signal = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&signal);
    // Four users have got an answer each, and wait for the next one.
    let server = Peer::plain(move |asked| {
        set.fetch_or(asked.number == 7, Ordering::Relaxed);
        (asked.number < 4).then(|| (200, String::new()))
    });
    let file = ONE.replace("100ms", "500ms") + "load: [{users: 4, for: 1h}]";
    let mut told = Vec::new();
    let news = &mut |progress: &mut Progress, _| {
        if progress.is_waiting() {
            told.push(progress.iterations().under_way());
        }
    };
    run(&plan_of(&server, &file), &options(2), &signal, news).unwrap();
    // They may end for 500 ms.
    assert_eq!(told.first(), Some(&4));
}
