//! `--duration-stop close` and `ignore`: calls that are open at the end are cut, and are not
//! errors.

use std::time::Duration;

use volley::http2::frame::Kind;
use volley::serve::Faults;

use crate::common::shape::{ALL, SERVER_STREAM, UNARY};
use crate::common::{LONGEST, Volley, faulty, reference, scripted, settled, until};

/// Such a call takes longer than any window here.
fn slow() -> Faults {
    faulty(|faults| faults.delay = Duration::from_secs(30))
}

#[test]
fn calls_open_at_the_windows_end_are_cut_and_no_errors() {
    for shape in ALL {
        let server = reference(Faults::default());
        let load = "-z 1s -c 12 --connections 3 --threads 2";
        let report = shape.checked(load).report(&server);
        let told = (report.exit, report.failed(), report.warnings());
        assert_eq!(told, (0, vec![], vec![]), "{shape:?}");
        assert!(report.ok() > 0 && report.cut() <= 12, "{shape:?}");
        assert_eq!(report.ok() + report.cut(), report.sent());
        assert_eq!(report.json["count"], report.sent());
        assert_eq!(report.json["endReason"], "timeout");
        // The window is exactly as long as requested: what came later is not in it.
        assert_eq!(report.json["total"], 1_000_000_000);
        assert!(report.messages() >= report.ok() * shape.replies);
        assert!(report.messages() <= report.sent() * shape.replies);
        let counts = settled(&server);
        assert!(counts.messages_sent >= report.messages());
        assert!(counts.calls_ok >= report.ok());
    }
}

#[test]
fn cut_calls_add_up_to_those_the_server_saw_begin() {
    let server = reference(slow());
    let report = UNARY.run("-z 1s -c 10 --connections 2").report(&server);
    assert_eq!((report.exit, report.ok(), report.cut()), (1, 0, 10));
    assert_eq!(report.errors().len(), 1, "{:?}", report.errors());
    assert_eq!(report.json["statusCodeDistribution"]["Canceled"], 10);
    report.warned_of("no call ended inside the window");
    until(&server, |counts| counts.calls_reset == 10);
}

#[test]
fn ignored_calls_are_in_no_count_of_ghzs() {
    let server = reference(slow());
    let report = UNARY
        .run("-z 1s -c 10 --duration-stop ignore")
        .report(&server);
    assert_eq!((report.ok(), report.cut()), (0, 0));
    assert_eq!(report.number("/calls/ignored"), 10);
    assert_eq!(report.json["count"], 0);
    assert_eq!(report.errors(), []);
    until(&server, |counts| counts.calls_reset == 10);
}

#[test]
fn messages_of_cut_streams_are_counted_up_to_the_windows_end_and_no_further() {
    let server = reference(Faults::default());
    // Calls whose replies last longer than any window, and never let the generator pause.
    let report = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 2000000000}"#)
        .expect(SERVER_STREAM.rule)
        .flags("-z 1s -c 4 --connections 4")
        .report(&server);
    assert_eq!(
        (report.ok(), report.failed_total(), report.cut()),
        (0, 0, 4)
    );
    assert!(report.messages() > 0);
    let by_bin = report.numbers("/series/messages");
    assert_eq!(by_bin.len(), 10, "{by_bin:?}");
    assert_eq!(by_bin.iter().sum::<u64>(), report.messages());
    assert!(settled(&server).messages_sent >= report.messages());
}

#[test]
fn a_longest_duration_ends_a_run_of_n_calls() {
    let server = reference(slow());
    let report = UNARY.run("-n 100 -c 10 -x 1s").report(&server);
    assert_eq!((report.exit, report.sent(), report.cut()), (1, 10, 10));
    assert_eq!(report.json["endReason"], "timeout");
    report.warned_of("`-x` ended the run after 10 of 100 calls");
    let report = UNARY.run("-z 50ms -x 200ms -c 10").report(&server);
    assert!(!report.warns_of("`-x`"), "{:?}", report.warnings());
}

#[test]
fn every_connection_is_ended_with_a_goaway() {
    let (sender, goodbyes) = std::sync::mpsc::channel();
    let address = scripted::serve(move |_| {
        let sender = sender.clone();
        move |header, _| {
            if header.kind == Kind::GoAway {
                // Fails only if the test has given up.
                let _ = sender.send(());
            }
            true
        }
    });
    let report = UNARY.run("-z 1s -c 4 --connections 2").report(address);
    assert_eq!(report.cut(), 4);
    for _ in 0..2 {
        goodbyes.recv_timeout(LONGEST).unwrap();
    }
}
