//! `--open-on-stdin`: the load goes on until a line opens its window.

use rustix::process::Signal;
use volley::serve::{Faults, Reference};

use crate::common::shape::{SERVER_STREAM, Shape, UNARY};
use crate::common::{Report, Running, faulty, reference, settled, until};
use crate::signals::interrupt;

const CALLS: u64 = 8;

fn start(shape: Shape, server: &Reference, flags: &str) -> Running {
    shape
        .checked("--open-on-stdin -z 1s -c 8 --connections 4 --threads 2")
        .flags(flags)
        .start(server)
}

/// The warm-up's messages: nothing else has them.
fn warm_up(report: &Report) -> u64 {
    let seconds = report.numbers("/warmup/seconds");
    let elapsed_s = report.own("/warmup/elapsed_s").as_f64().unwrap();
    assert_eq!(seconds.len() as f64, elapsed_s.ceil());
    seconds.iter().sum()
}

#[test]
fn every_message_is_in_the_warm_up_or_in_the_window() {
    let server = reference(Faults::default());
    let mut running = start(UNARY, &server, "--warmup 100ms");
    assert_eq!(running.first_words(), "volley: warm");
    let before = server.counts().calls_ok;
    until(&server, |counts| counts.calls_ok > before + 500);
    running.tell("open\n");
    let report = running.wait().report();
    assert_eq!(report.json["total"], 1_000_000_000);
    assert_eq!(report.numbers("/series/messages").len(), 10);
    let sum: u64 = report.numbers("/series/messages").iter().sum();
    assert_eq!(
        (sum, report.number("/data_frames")),
        (report.messages(), report.messages())
    );
    let warm_up = warm_up(&report);
    assert!(warm_up > before + 500 - CALLS);
    // Replies that the server wrote last were not read any more: at most one for each worker.
    let unread = settled(&server).messages_sent - warm_up - report.messages();
    assert!(unread <= CALLS, "{unread}");
}

#[test]
fn the_calls_of_the_window_are_those_sent_in_it_if_they_are_waited_for() {
    for shape in [UNARY, SERVER_STREAM] {
        let server = reference(Faults::default());
        let mut running = start(shape, &server, "--warmup 50ms --duration-stop wait");
        running.first_words();
        until(&server, |counts| counts.calls_ok > 0);
        running.tell("open\n");
        let report = running.wait().report();
        assert_eq!(report.all_ok(), report.sent());
        assert_eq!(report.messages(), report.sent() * shape.replies);
        let counts = settled(&server);
        assert!(counts.calls_ok > report.sent());
        // Those open at the opening belong to neither: at most one for each worker.
        let neither = counts.messages_sent - warm_up(&report) - report.messages();
        assert!(neither <= CALLS * shape.replies, "{neither}");
    }
}

const PACED: &str = "--warmup 50ms --duration-stop wait --rps 200 --async";

#[test]
fn a_rate_flows_on_into_the_window_and_loses_no_call() {
    for more in ["", "--coalesce-sends 20ms"] {
        let server = reference(Faults::default());
        let mut running = start(UNARY, &server, &format!("{PACED} {more}"));
        assert_eq!(running.first_words(), "volley: warm");
        until(&server, |counts| counts.calls_ok > 30);
        running.tell("open\n");
        let report = running.wait().report();
        assert_eq!((report.all_ok(), report.number("/due")), (200, 200));
        assert_eq!(
            report.numbers("/series/intended").get(..10),
            Some(&[20; 10][..])
        );
        assert_eq!(report.number("/latency_ns/samples"), 200);
        // All others were due in the warm-up.
        let elapsed_s = report.own("/warmup/elapsed_s").as_f64().unwrap();
        let due = (elapsed_s * 200.0).ceil() as u64;
        let warm_up = settled(&server).calls_ok - 200;
        assert!(warm_up.abs_diff(due) <= 1, "{warm_up}, not {due}");
    }
}

#[test]
fn calls_of_a_paced_window_that_outlive_the_drain_are_cut() {
    let delay = std::time::Duration::from_millis(600);
    let server = reference(faulty(|faults| faults.delay = delay));
    let mut running = start(UNARY, &server, &format!("{PACED} --drain-timeout 100ms"));
    running.first_words();
    running.tell("open\n");
    let report = running.wait().report();
    let [ok, cut] = ["/calls/ok", "/calls/cut"].map(|key| report.number(key));
    assert_eq!((ok + cut, report.number("/missed")), (200, 0));
    // Those that were due in the last half of a second, on a host that is not busy.
    assert!(cut >= 100, "{cut}");
    assert_eq!(report.number("/latency_ns/open"), cut);
}

#[test]
fn a_line_that_comes_early_waits_for_the_warm_up() {
    let server = reference(Faults::default());
    let mut running = start(UNARY, &server, "--warmup 400ms");
    running.tell("open");
    running.hush();
    let report = running.wait().report();
    assert!(report.own("/warmup/elapsed_s").as_f64().unwrap() >= 0.4);
    assert_eq!(report.json["total"], 1_000_000_000);
    assert_eq!(report.stderr, "volley: warm\n");
}

#[test]
fn without_a_warm_up_of_its_own_it_is_warm_at_once() {
    let server = reference(Faults::default());
    let mut running = start(UNARY, &server, "");
    assert_eq!(running.first_words(), "volley: warm");
    running.tell("\n");
    assert!(running.wait().report().ok() > 0);
}

#[test]
fn the_end_of_stdin_ends_a_run_that_nobody_can_open() {
    let server = reference(Faults::default());
    let mut running = start(UNARY, &server, "--warmup 10m");
    until(&server, |counts| counts.calls_ok > 0);
    running.hush();
    assert_eq!(
        running.wait().error(),
        "stdin ended before a line opened the window (`--open-on-stdin`): nothing was measured"
    );
    settled(&server);
}

#[test]
fn a_window_that_nobody_opens_is_not_waited_for_for_ever() {
    let server = reference(Faults::default());
    let running = start(UNARY, &server, "--warmup-at-most 200ms");
    let finished = running.wait();
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, ""));
    assert_eq!(
        finished.stderr,
        "volley: warm\nerror: no line on stdin opened the window within 0.2 s \
         (`--warmup-at-most`): nothing was measured\n"
    );
}

#[test]
fn an_interrupt_ends_the_wait_for_a_line() {
    let server = reference(Faults::default());
    let running = start(UNARY, &server, "");
    running.first_words();
    until(&server, |counts| counts.calls_ok > 100);
    interrupt(running.pid(), Signal::INT);
    let finished = running.wait();
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, ""));
    assert_eq!(
        finished.stderr,
        "volley: warm\nerror: interrupted before the window opened: nothing was measured\n"
    );
}
