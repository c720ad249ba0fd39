//! `--duration-stop wait` and `-n`: counts that equal the server's own.

use volley::serve::Faults;

use crate::common::shape::{ALL, UNARY};
use crate::common::{faulty, reference, until};

/// On eight connections of two threads: exact to the call and the message.
#[test]
fn waited_for_calls_equal_the_servers_own_count() {
    for shape in ALL {
        let server = reference(Faults::default());
        let load = "-z 1s --duration-stop wait --connections 8 -c 20 --threads 2";
        let report = shape.checked(load).report(&server);
        let ok = report.all_ok();
        let counts = server.counts();
        assert_eq!(ok, counts.calls_ok, "{shape:?}");
        assert_eq!(report.sent(), counts.calls_started);
        assert_eq!(report.messages(), counts.messages_sent);
        assert_eq!(report.messages(), ok * shape.replies);
        assert_eq!(counts.messages_received, ok * shape.requests);
        assert_eq!(counts.connections, 8);
        assert_eq!(report.number("/checks/replies_checked"), report.messages());
        assert_eq!(report.json["count"], ok);
        assert_eq!(report.warnings().join("; "), "");
    }
}

#[test]
fn every_one_of_n_calls_is_made_though_the_threads_do_not_divide_it() {
    for (shape, n) in ALL.into_iter().zip([1001, 7, 500, 3]) {
        let server = reference(Faults::default());
        let load = format!("-n {n} --connections 5 -c 9 --threads 2");
        let report = shape.checked(&load).report(&server);
        assert_eq!(report.all_ok(), n, "{shape:?}");
        assert_eq!(report.messages(), n * shape.replies);
        assert_eq!(server.counts().calls_started, n);
        assert_eq!(report.json["endReason"], "normal");
    }
}

#[test]
fn skipped_calls_are_made_and_left_out_of_the_counts() {
    let server = reference(Faults::default());
    let load = "-n 100 --skipFirst 33 --connections 4 -c 8 --threads 2";
    let report = UNARY.run(load).report(&server);
    assert_eq!(report.all_ok(), 67);
    assert_eq!(report.json["count"], 67);
    assert_eq!(report.number("/latency_ns/samples"), 67);
    assert_eq!(server.counts().calls_started, 100);
}

#[test]
fn a_run_whose_calls_are_all_skipped_says_so_and_fails() {
    let server = reference(Faults::default());
    let report = UNARY.run("-z 1s --skipFirst 1000000 -c 1").report(&server);
    assert_eq!((report.exit, report.ok()), (1, 0));
    report.warned_of("`--skipFirst`");
}

#[test]
fn calls_that_do_not_end_in_the_drain_time_are_cut_and_warned_of() {
    let server = reference(faulty(|faults| {
        faults.delay = std::time::Duration::from_secs(30)
    }));
    let load = "-z 1s --duration-stop wait --drain-timeout 200ms -c 6 --connections 2";
    let report = UNARY.run(load).report(&server);
    assert_eq!((report.exit, report.ok(), report.cut()), (1, 0, 6));
    report.warned_of("6 calls were still open");
    let counts = until(&server, |counts| counts.calls_reset == 6);
    assert_eq!(counts.calls_started, 6);
}
