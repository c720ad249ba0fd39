//! `-t`: a call has a time limit, and its connection survives it.

use std::time::Duration;

use crate::common::shape::{ALL, UNARY};
use crate::common::{faulty, freeze_of, reference, settled, until};

#[test]
fn a_call_that_takes_too_long_has_failed_by_its_deadline() {
    for shape in ALL {
        let server = reference(faulty(|faults| faults.delay = Duration::from_secs(30)));
        let report = shape
            .checked("-n 9 -c 3 -t 100ms --connections 2 --threads 2")
            .report(&server);
        assert_eq!(report.all_failed("DeadlineExceeded"), 9, "{shape:?}");
        let text = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
        assert_eq!(report.errors(), [(text.to_owned(), 9)]);
        let counts = until(&server, |counts| counts.calls_reset == 9);
        assert_eq!(counts.calls_started, 9);
        assert_eq!(counts.connections, 2, "no connection was lost by it");
    }
}

#[test]
fn calls_succeed_over_the_connection_on_which_others_timed_out() {
    let server = reference(faulty(|faults| faults.freeze = freeze_of(0, 400)));
    let report = UNARY.checked("-n 200 -c 4 -t 100ms").report(&server);
    let codes: Vec<_> = report.failed().into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        (report.exit, codes),
        (0, vec!["DeadlineExceeded".to_owned()])
    );
    assert!(report.ok() > 10, "{}", report.ok());
    assert_eq!(report.ok() + report.failed_total(), report.sent());
    assert_eq!(settled(&server).connections, 1);
}

#[test]
fn failed_calls_are_among_the_latencies_only_if_asked_for() {
    for (flags, samples) in [("", 0), ("--count-errors", 6)] {
        let server = reference(faulty(|faults| faults.delay = Duration::from_secs(30)));
        let report = UNARY.run("-n 6 -c 3 -t 50ms").flags(flags).report(&server);
        assert_eq!(report.all_failed("DeadlineExceeded"), 6);
        assert_eq!(report.number("/latency_ns/samples"), samples);
        if samples > 0 {
            assert!(report.number("/latency_ns/min") >= 50_000_000);
        }
    }
}

#[test]
fn latency_holds_the_servers_delay() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(30)));
    let report = UNARY.checked("-n 20 -c 5").report(&server);
    assert_eq!(report.all_ok(), 20);
    assert_eq!(report.own("/latency_ns/kind"), "service");
    assert!(report.number("/latency_ns/min") >= 30_000_000);
}
