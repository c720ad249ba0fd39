//! What begins and ends: users, schedules and data.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use super::super::control::Order;
use super::super::run;
use super::drain::follow;
use super::peer::Peer;
use super::wires::step;
use super::{failure, finish, options, plan_of};
use crate::report::live::Progress;
use crate::report::{EndedBy, Report};
use volley_base::units::numbers::grouped;
use volley_report::measure::LatencyKind;

/// A server that answers everything with 200 and nothing.
pub(super) fn good() -> Peer {
    Peer::plain(|_| Some((200, String::new())))
}

/// A server that never answers.
pub(super) fn mute() -> Peer {
    Peer::plain(|_| None)
}

pub(super) fn done(server: &Peer, threads: u32, file: &str) -> Report {
    let finished = finish(server, threads, file).unwrap();
    assert!(finished.failure.is_none(), "{:?}", finished.failure);
    finished.report
}

/// Iterations of a report: begun, dropped, unfed.
fn begun(report: &Report) -> [u64; 3] {
    let iterations = report.iterations();
    [iterations.begun, iterations.dropped, iterations.unfed]
}

pub(super) const ONE: &str = "http: {version: 1, connections: 8}
limits: {drain: 100ms}
scenarios: {one: {steps: [{name: a, get: '${api}/'}]}}
";

/// A run of [`ONE`] with a load.
fn one(threads: u32, load: &str) -> Report {
    done(&good(), threads, &format!("{ONE}load: [{load}]"))
}

#[test]
fn a_thread_without_users_ends_when_all_iterations_have_begun() {
    let report = one(4, "{users: 1}, {iterations: 20}");
    assert_eq!(begun(&report), [20, 0, 0]);
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
}

#[test]
fn a_last_phase_without_users_ends_the_load() {
    let report = one(
        2,
        "{users: 1, for: 20ms}, {users: 0}, {iterations: 1000000000}",
    );
    assert_eq!(report.facts.ended_by, EndedBy::Finished);
}

#[test]
fn users_begin_at_once() {
    // One user works for less time than lies between two glances; a busy host may take all of it.
    let server = good();
    let file = format!("{ONE}load: [{{users: 1, for: 40ms}}]");
    assert!((0..20).any(|_| begun(&done(&server, 1, &file))[0] > 0));
}

const ROWS: &str = "http: {version: 1, connections: 8}
limits: {drain: 100ms}
";

/// A file whose iterations draw from so many rows until there are no more, with a load.
fn rows(number: u64, order: &str, load: &str) -> String {
    format!(
        "{ROWS}data: {{sku: {{range: [0, {number}], order: {order}, at_end: stop}}}}
scenarios: {{one: {{steps: [{{name: a, get: '${{api}}/${{sku}}'}}]}}}}
load: [{load}]
"
    )
}

/// What is said of requests that waited for a connection.
fn waited(report: &Report, all: &str) -> String {
    let waited = grouped(report.requests().waited);
    format!(
        "scenario `one`: {waited} of {all} requests waited for a connection: raise `http.connections`, or with HTTP/2 `http.streams`"
    )
}

#[test]
fn each_unique_row_is_used_once_and_then_the_load_of_all_users_ends() {
    let report = done(&good(), 4, &rows(100, "unique", "{users: 8}"));
    assert_eq!(begun(&report), [100, 0, 0]);
    assert_eq!(report.iterations().ok, 100);
}

#[test]
fn a_user_whose_own_rows_have_run_out_stops_alone() {
    let report = done(&good(), 2, &rows(5, "sequential", "{users: 6}"));
    assert_eq!(begun(&report), [30, 0, 0]);
}

#[test]
fn a_load_ends_when_the_users_that_are_left_have_no_more_rows() {
    let rows = "data: {sku: {range: [0, 15], order: sequential, at_end: stop}}
scenarios: {one: {steps: [{name: a, get: '${api}/${sku}', think: 100ms}]}}
";
    let file = format!("{ROWS}{rows}load: [{{users: 4, for: 500ms}}, {{users: 2}}]");
    let report = done(&good(), 2, &file);
    assert_eq!(report.facts.ended_by, EndedBy::Data);
    assert_eq!(report.ended(), "`sku` has no more rows");
    // Nothing else was to end it.
    assert_eq!(report.facts.warnings, [""; 0]);
    let file = format!("{ROWS}{rows}load: [{{users: 4}}]");
    let report = follow(&good(), &file, |_, control, _| {
        // The load may just have ended.
        let _ = control.ask(Order::Users(0, 2));
    })
    .report;
    assert_eq!(report.facts.ended_by, EndedBy::Data);
}

#[test]
fn a_load_that_data_ends_early_says_so() {
    for load in [
        "{users: 2, for: 1h}",
        "{rate: 100/s, for: 1h}",
        "{users: 1}, {iterations: 9}",
    ] {
        let server =
            Peer::plain(|asked| Some((if asked.number == 1 { 500 } else { 200 }, String::new())));
        let report = done(&server, 1, &rows(3, "unique", load));
        assert_eq!(report.ended(), "`sku` has no more rows, 1 of 3 failed");
        assert_eq!(
            report.facts.warnings,
            ["the load of `one` ended early: `sku` has no more rows (`at_end: stop`)"]
        );
    }
}

#[test]
fn a_run_whose_iterations_all_failed_does_not_sound_like_a_good_one() {
    let server = Peer::plain(|_| Some((500, String::new())));
    let report = done(&server, 1, &format!("{ONE}load: [{{iterations: 2}}]"));
    assert_eq!(report.ended(), "all iterations ended, all 2 failed");
}

#[test]
fn users_that_wait_for_a_connection_are_warned_of_and_others_are_not() {
    let load = "load: [{users: 8}, {iterations: 400}]";
    let report = done(&good(), 1, &format!("{ONE}{load}"));
    assert_eq!(report.requests().waited, 0);
    assert_eq!(report.facts.warnings, [""; 0]);
    // Each answer comes in a later turn.
    let file = ONE.replace("connections: 8", "connections: 1");
    let report = done(&good(), 1, &format!("{file}{load}"));
    assert_eq!(report.facts.warnings, [waited(&report, "400")]);
}

#[test]
fn an_iteration_that_was_due_takes_as_long_as_its_requests() {
    let file = ONE.replace("100ms", "10s");
    let load = "load: [{rate: 1000/s, for: 100ms}]";
    let report = done(&good(), 1, &(file + load));
    let (scenario, request) = (&report.scenarios[0], &step(&report, "a").latency);
    assert_eq!(scenario.duration.kind, LatencyKind::Response);
    assert_eq!(scenario.duration.samples, request.samples);
    assert!(
        scenario.duration.min_ns >= request.min_ns && scenario.duration.mean_ns >= request.mean_ns
    );
    let report = one(1, "{users: 1}, {iterations: 2}");
    assert_eq!(report.scenarios[0].duration.kind, LatencyKind::Service);
}

#[test]
fn users_of_all_loads_that_draw_have_slices_and_others_need_none() {
    let server = Peer::plain(|_| Some((200, String::new())));
    let file = "data: {n: {range: [0, 20], order: unique, slice: user}}
scenarios:
  one: {load: [{users: 10}], steps: [{get: '${api}/${n}'}]}
  two: {load: [{users: 10}], steps: [{get: '${api}/${n}'}]}
  other: {load: [{rate: 1000/s, for: 10ms}], steps: [{get: '${api}/other'}]}
";
    done(&server, 2, &format!("{ROWS}{file}"));
    let paths = server.paths();
    let rows = paths.iter().filter_map(|path| path.get(1..)?.parse().ok());
    let mut rows: Vec<u64> = rows.collect();
    rows.sort_unstable();
    assert_eq!(rows, (0..20).collect::<Vec<_>>());
}

#[test]
fn rounds_that_send_nothing_do_not_keep_a_thread_busy() {
    let file = "data: {row: {rows: [{url: 'no url'}]}}
scenarios:
  one:
    repeat: 1000000000
    on_failure: continue
    steps: [{name: a, get: '${row.url}'}]
load: [{users: 1, for: 500ms}]
";
    let report = done(&good(), 1, &format!("{ROWS}{file}"));
    assert_eq!(report.facts.ended_by, EndedBy::Time);
    assert_eq!(report.iterations().open, 1);
    assert!(step(&report, "a").counts.failed > 0);
}

#[test]
fn news_come_as_long_as_any_thread_works() {
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let server = Peer::plain(move |asked| {
        if asked.path == "/1" {
            released.lock().unwrap().recv().unwrap();
        }
        Some((200, String::new()))
    });
    let rows = "data: {thread: {range: [0, 2], slice: thread, at_end: stop}}
scenarios: {one: {steps: [{get: '${api}/${thread}'}]}}
load: [{users: 2}, {iterations: 2}]
";
    let plan = plan_of(&server, &format!("{ROWS}{rows}"));
    let mut seen = Vec::new();
    let news = &mut |progress: &mut Progress, _| {
        seen.push(progress.iterations().ok);
        if seen.len() == 2 {
            release.send(()).unwrap();
        }
    };
    run(&plan, &options(2), &Arc::default(), news).unwrap();
    assert_eq!(seen.get(..2), Some(&[1, 1][..]));
}

#[test]
fn iterations_of_a_schedule_without_rows_are_due_and_unfed() {
    let report = done(&good(), 1, &rows(7, "unique", "{rate: 1000/s, for: 1h}"));
    let [begun, dropped, unfed] = begun(&report);
    assert_eq!((begun, dropped), (7, 0));
    assert!(unfed > 0);
}

#[test]
fn nothing_is_done_after_a_draw_that_failed() {
    let rows = "data: {sku: {range: [0, 3], order: unique, at_end: stop}}
scenarios:
  one:
    on_failure: continue
    steps:
      - {name: a, get: '${api}/a'}
      - {draw: [sku]}
      - {name: b, get: '${api}/${sku}'}
";
    let report = done(&good(), 2, &format!("{ROWS}{rows}load: [{{users: 1}}]"));
    // The feed is drawn from at the beginning, and again after the first step.
    assert_eq!(begun(&report), [2, 0, 0]);
    assert_eq!(step(&report, "b").counts.sent, 1);
    assert_eq!(report.iterations().cut_short, 1);
}

#[test]
fn a_failure_names_the_scenario_whose_data_ran_out_and_setup_alike() {
    let rows = "data: {sku: {range: [0, 3], order: unique, at_end: fail}}
scenarios: {shop: {steps: [{name: a, get: '${api}/${sku}'}]}}
";
    let users = finish(
        &good(),
        2,
        &format!("{ROWS}{rows}load: [{{users: 4, for: 1h}}]"),
    );
    let expected = "`data.sku` has no more rows, and `at_end: fail` ends the run";
    assert_eq!(failure(users), format!("scenario `shop`: {expected}"));
    let setup = "data: {sku: {range: [0, 1], order: unique, at_end: stop}}
setup: [{name: a, get: '${api}/${sku}'}, {draw: [sku]}, {name: b, get: '${api}/${sku}'}]
scenarios: {shop: {steps: [{get: '${api}/'}]}}
";
    let setup = finish(&good(), 1, &format!("{ROWS}{setup}"));
    assert_eq!(failure(setup), "setup: `data.sku` has no more rows");
}

#[test]
fn a_thought_after_steps_together_or_a_step_that_fails_at_once_is_not_skipped() {
    let rows = "data: {x: {rows: [{bad: \"a\\nb\"}]}}
scenarios:
  one:
    load: [{users: 1, for: 500ms}]
    steps:
      - together: [{name: a, get: '${api}/'}, {name: b, get: '${api}/'}, {name: c, get: '${api}/'}]
      - {think: 1h}
      - {name: d, get: '${api}/'}
  two:
    load: [{users: 1, for: 500ms}]
    on_failure: continue
    steps:
      - {name: fails, get: '${api}/', headers: {bad: '${x.bad}'}, think: 1h}
      - {name: e, get: '${api}/'}
";
    let report = done(&good(), 1, &format!("{ROWS}{rows}"));
    assert!(step(&report, "c").counts.ok > 0);
    let sent = ["d", "e"].map(|name| step(&report, name).counts.sent);
    assert_eq!(sent, [0, 0]);
}

#[test]
fn what_is_due_and_did_not_begin_is_dropped_exactly_at_the_end_and_at_a_signal() {
    for (end, ended_by) in [
        ("", EndedBy::Time),
        (", {rate: 1/h, for: 1h}", EndedBy::Signal),
    ] {
        for when_full in ["wait", "drop"] {
            let server = mute();
            let file = format!(
                "http: {{version: 1, connections: 8}}
limits: {{iterations_open: 5, when_full: {when_full}, drain: 100ms}}
scenarios: {{one: {{weight: 80, steps: [{{get: '${{api}}/'}}]}}, two: {{weight: 20, steps: [{{get: '${{api}}/'}}]}}}}
load: [{{rate: 100000/s, for: 10ms}}{end}]
"
            );
            let (signal, plan) = (Arc::<AtomicBool>::default(), plan_of(&server, &file));
            // The second of the first news is over: all is due that will be.
            let news = &mut |_: &mut _, _| signal.store(true, Ordering::Relaxed);
            let report = run(&plan, &options(3), &signal, news).unwrap().report;
            let due = 1000 + u64::from(!end.is_empty());
            assert_eq!(begun(&report), [5, due - 5, 0], "{ended_by:?} {when_full}");
            assert_eq!(report.facts.ended_by, ended_by);
        }
    }
}

#[test]
fn a_schedule_that_waits_for_room_does_not_keep_a_cpu_busy() {
    let file = format!("{ONE}load: [{{rate: 1000/s, for: 1s}}]").replace(
        "drain: 100ms",
        "drain: 1s, iterations_open: 1, when_full: wait",
    );
    let report = done(&mute(), 1, &file);
    assert_eq!(begun(&report), [1, 999, 0]);
    assert!(report.facts.cost.busiest_thread_s < 0.5);
}

#[test]
fn the_room_for_iterations_is_that_of_all_threads_together() {
    let file = format!("{ONE}load: [{{rate: 1000/s, for: 50ms}}]")
        .replace("drain: 100ms", "drain: 100ms, iterations_open: 3");
    let report = done(&mute(), 4, &file);
    assert_eq!(begun(&report), [3, 47, 0]);
}

#[test]
fn a_rate_that_is_too_much_is_a_warning_with_its_remedy() {
    let load = "load: [{rate: 100000/s, for: 10ms}]";
    let file = ONE.replace("drain: 100ms", "drain: 100ms, iterations_open: 3");
    let report = done(&mute(), 4, &(file + load));
    assert_eq!(
        report.facts.warnings,
        [
            "scenario `one`: 997 of 1,000 iterations were dropped, because at most 3 may be open: raise `limits.iterations_open`, lower the rate, or set `limits.when_full: wait`"
        ]
    );
    let file = ONE
        .replace("connections: 8", "connections: 1")
        .replace("drain: 100ms", "drain: 10s");
    let report = done(&good(), 1, &(file + load));
    assert_eq!(report.facts.warnings, [waited(&report, "1,000")]);
}

#[test]
fn dropped_iterations_are_none_of_those_that_were_asked_for() {
    let file = format!("{ONE}load: [{{rate: 20000/s, for: 1h}}, {{iterations: 20}}]")
        .replace("drain: 100ms", "drain: 10s, iterations_open: 1");
    let report = done(&good(), 2, &file);
    assert_eq!(report.iterations().ok, 20);
    assert!(report.iterations().dropped > 0);
}

#[test]
fn weights_are_exact_over_all_threads() {
    let file = "http: {version: 1, connections: 8}
scenarios:
  most: {weight: 80, steps: [{get: '${api}/'}]}
  some: {weight: 20, steps: [{get: '${api}/'}]}
load: [{users: 8}, {iterations: 10}]
";
    let report = done(&good(), 4, file);
    let begun = report.scenarios.iter().map(|one| one.counts.begun);
    let begun: Vec<u64> = begun.collect();
    assert_eq!(begun, [8, 2]);
}

#[test]
fn fewer_threads_than_wanted_are_a_warning_that_names_the_target() {
    let file = ONE.replace("connections: 8", "connections: 1");
    let report = done(&good(), 2, &(file + "load: [{users: 1}, {iterations: 9}]"));
    assert_eq!((report.facts.threads, begun(&report)[0]), (1, 9));
    assert_eq!(
        report.facts.warnings,
        ["1 of 2 threads send, because target `api` has 1 connections: raise its `connections`"]
    );
}

#[test]
fn wake_ups_that_are_coalesced_lose_nothing_and_are_named() {
    let file = ONE
        .replace("drain: 100ms", "drain: 5s, coalesce: 20ms")
        .replace("version: 1", "version: 2");
    let report = done(&good(), 2, &(file + "load: [{rate: 1000/s, for: 300ms}]"));
    let [begun, dropped, _] = begun(&report);
    assert_eq!(begun + dropped, 300);
    assert_eq!(step(&report, "a").counts.ok, begun);
    assert_eq!(
        report.facts.warnings,
        [
            "iterations can begin up to 20.0 ms late, and latencies be too long by as much, as `limits.coalesce` asks for"
        ]
    );
}
