//! Open loops: the number of calls, and their times, are those of the schedule.

use std::time::Duration;

use volley::serve::Faults;

use crate::common::shape::{ALL, UNARY};
use crate::common::{Report, faulty, reference};

const WAIT: &str = "--duration-stop wait --connections 4 --threads 2";

fn scheduled(flags: &str) -> Report {
    let server = reference(Faults::default());
    let report = UNARY.checked(WAIT).flags(flags).report(&server);
    assert_eq!(
        report.all_ok() + report.number("/missed"),
        due(&report),
        "{flags}"
    );
    assert_eq!(server.counts().calls_ok, report.ok());
    report
}

fn due(report: &Report) -> u64 {
    intended(report).iter().sum()
}

/// Sends that were due in each tenth of a second; none after the window.
fn intended(report: &Report) -> Vec<u64> {
    let mut bins = report.numbers("/series/intended");
    while bins.last() == Some(&0) {
        bins.pop();
    }
    bins
}

#[test]
fn wake_ups_that_are_bunched_lose_no_call_and_are_named() {
    let report = scheduled("--rps 300 -z 500ms -c 150 --coalesce-sends 20ms");
    assert_eq!((due(&report), report.number("/missed")), (150, 0));
    report.warned_of("calls can be sent up to 20.0 ms late");
}

#[test]
fn threads_that_spin_send_the_calls_of_their_schedule() {
    let server = reference(Faults::default());
    let report = UNARY
        .checked("--rps 300 -z 500ms -c 4 --connections 4 --threads 1 --async --duration-stop wait --spin")
        .report(&server);
    // On a busy host, all workers may have a call open when one is due.
    assert_eq!(report.all_ok() + report.number("/missed"), 150);
    assert_eq!(report.number("/due"), 150);
    assert_eq!(report.json["options"]["spin"], true);
    assert!(!report.stderr.contains("busy"), "{}", report.stderr);
    // Asleep, it would use a hundredth of this.
    assert!(report.own("/cpu_s").as_f64().unwrap() > 0.05);
}

#[test]
fn a_rate_makes_exactly_its_calls_in_a_window() {
    for shape in ALL {
        let server = reference(Faults::default());
        let report = shape
            .checked(WAIT)
            .flags("--rps 300 -z 500ms -c 50")
            .report(&server);
        // On a busy host, all workers may have a call open at the end.
        let sent = report.all_ok();
        assert_eq!(sent + report.number("/missed"), 150, "{shape:?}");
        assert_eq!(
            (report.number("/due"), intended(&report)),
            (150, vec![30; 5])
        );
        assert_eq!(report.own("/latency_ns/kind"), "response");
        assert_eq!(report.own("/service_latency_ns/kind"), "service");
        assert_eq!(report.number("/service_latency_ns/samples"), sent);
    }
}

#[test]
fn a_rate_makes_n_calls_and_no_more() {
    let report = scheduled("--rps 1000 -n 301 -c 50");
    // There is no end by which they must be sent.
    assert_eq!((report.ok(), report.number("/missed")), (301, 0));
    let intended = intended(&report);
    assert_eq!(intended.get(..3), Some(&[100; 3][..]), "{intended:?}");
}

#[test]
fn no_call_of_a_schedule_leaves_before_it_is_due() {
    let report = scheduled("--rps 200 -z 500ms -c 50");
    let mut due = 0;
    let mut sent = 0;
    let intended = intended(&report);
    for (due_now, sent_now) in intended.iter().zip(report.numbers("/series/sent")) {
        due += due_now;
        sent += sent_now;
        assert!(sent <= due, "{:#}", report.own("/series"));
    }
    // The last calls may leave after the window, on a host that is busy.
    assert_eq!(report.sent() + report.number("/missed"), due);
}

#[test]
fn a_step_schedule_climbs_to_its_end() {
    let report = scheduled(
        "--load-schedule step --load-start 100 --load-step 100 --load-end 300 \
         --load-step-duration 200ms -z 800ms -c 50",
    );
    assert_eq!(intended(&report), [10, 10, 20, 20, 30, 30, 30, 30]);
}

#[test]
fn a_step_schedule_may_begin_at_nothing() {
    let report = scheduled(
        "--load-schedule step --load-step 100 --load-end 200 --load-step-duration 200ms \
         -z 600ms -c 50",
    );
    assert_eq!(intended(&report), [0, 0, 10, 10, 20, 20]);
}

#[test]
fn a_step_schedule_may_come_down_again() {
    let report = scheduled(
        "--load-schedule step --load-start 300 --load-step -100 --load-end 100 \
         --load-step-duration 100ms -z 500ms -c 50",
    );
    assert_eq!(intended(&report), [30, 20, 10, 10, 10]);
}

#[test]
fn a_line_schedule_climbs_each_second_until_its_longest_duration() {
    let report = scheduled(
        "--load-schedule line --load-start 50 --load-step 100 --load-max-duration 1s -z 1200ms \
         -c 50",
    );
    let intended = intended(&report);
    assert_eq!(intended, [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 15, 15]);
}

#[test]
fn sends_that_no_worker_was_free_for_are_missed_and_late_ones_are_counted() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(50)));
    let report = UNARY
        .checked("--rps 1000 -z 500ms -c 2 --duration-stop wait")
        .report(&server);
    let sent = report.all_ok();
    assert_eq!(sent, report.sent());
    assert_eq!(sent + report.number("/missed"), 500);
    // Two workers, 50 ms per call.
    assert!((2..=20).contains(&sent), "{sent}");
    assert!(
        report.number("/late") >= sent - 3,
        "{}",
        report.number("/late")
    );
    let missed = format!("{} of 500 calls that were due were never sent", 500 - sent);
    report.warned_of(&missed);
    report.warned_of("sent more than 1 ms late");
    // A call that waited for a worker has a long response time, however fast the server was.
    let (response, service) = ("/latency_ns/mean", "/service_latency_ns/mean");
    assert!(report.number(response) > report.number(service));
}

#[test]
fn async_sends_do_not_wait_for_a_worker() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(200)));
    let report = UNARY
        .checked("--async --rps 500 -z 300ms -c 1 --duration-stop wait")
        .report(&server);
    // A single worker would make two or three.
    assert_eq!((report.all_ok(), report.number("/missed")), (150, 0));
}

#[test]
fn async_without_a_rate_makes_its_n_calls() {
    let server = reference(Faults::default());
    let report = UNARY
        .checked(WAIT)
        .flags("--async -n 300 -c 4")
        .report(&server);
    assert_eq!((report.all_ok(), report.sent()), (300, 300));
}
