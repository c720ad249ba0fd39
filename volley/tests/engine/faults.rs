//! Faults of a server in single calls and single connections.

use volley::serve::Faults;

use crate::common::shape::{ALL, SERVER_STREAM, Shape};
use crate::common::{Report, begins, faulty, one, reference, settled};

const LOAD: &str = "-n 40 -c 4 --connections 4 --threads 2";

/// Every fourth call is hit: ten of forty. Checks what is the same for all faults. A connection has
/// one call open at a time, so no call is lost with another.
fn run(shape: Shape, faults: Faults) -> Report {
    let server = reference(faults);
    let report = shape.checked(LOAD).report(&server);
    let counts = settled(&server);
    assert_eq!(report.exit, 0, "{shape:?}");
    assert_eq!(report.ok() + report.failed_total(), 40, "{shape:?}");
    assert_eq!(report.ok(), counts.calls_ok, "{shape:?}");
    assert_eq!((report.sent(), report.cut()), (40, 0), "{shape:?}");
    assert_eq!(counts.calls_started, 40, "{shape:?}");
    report
}

#[track_caller]
fn ten_failed(report: &Report, code: &str, words: &str) {
    assert_eq!(report.failed(), [(code.to_owned(), 10)]);
    assert_eq!(report.ok(), 30);
    let texts = report.errors();
    let told = format!("rpc error: code = {code} desc = {words}");
    assert_eq!(texts, [(told, 10)]);
}

#[test]
fn trailers_only_are_the_servers_status_with_its_message_decoded() {
    for shape in ALL {
        let report = run(shape, faulty(|faults| faults.trailers_only_every = one(4)));
        assert_eq!(report.failed(), [("Internal".to_owned(), 10)], "{shape:?}");
        let [(text, 10)] = &report.errors()[..] else {
            panic!("{:?}", report.errors());
        };
        // Sent percent-encoded, because it has blanks, a % and non-ASCII letters.
        begins(text, "rpc error: code = Internal desc = ");
        assert!(!text.contains("%2") && !text.contains("%C3"), "{text}");
    }
}

#[test]
fn a_reset_stream_is_a_failed_call_that_names_the_code() {
    for shape in ALL {
        let report = run(shape, faulty(|faults| faults.reset_every = one(4)));
        ten_failed(
            &report,
            "Internal",
            "the server reset the stream (INTERNAL_ERROR)",
        );
        assert_eq!(report.number("/reconnects"), 0);
    }
}

#[test]
fn a_stream_truncated_inside_a_message_is_a_failed_call_despite_its_ok() {
    for shape in ALL {
        let report = run(shape, faulty(|faults| faults.truncate_every = one(4)));
        ten_failed(
            &report,
            "Internal",
            "the stream ended in the middle of a message",
        );
    }
}

#[test]
fn replies_before_a_fault_are_counted() {
    let server = reference(faulty(|faults| faults.reset_every = one(4)));
    let report = SERVER_STREAM.checked(LOAD).report(&server);
    assert_eq!(report.messages(), settled(&server).messages_sent);
    assert_eq!(report.messages(), 30 * 50 + 10 * 25);
}

#[test]
fn garbage_ends_its_connection_and_the_run_goes_on_over_another() {
    for shape in ALL {
        let report = run(shape, faulty(|faults| faults.garbage_every = one(4)));
        lost_connections(&report);
    }
}

#[test]
fn a_connection_closed_in_mid_stream_fails_its_calls_and_is_opened_again() {
    for shape in ALL {
        let report = run(shape, faulty(|faults| faults.close_every = one(4)));
        lost_connections(&report);
        let (text, _) = &report.errors()[0];
        assert!(text.contains("the connection was lost: "), "{text}");
    }
}

/// Ten of forty calls end their connection. It is reopened, unless that call was the last of its
/// thread.
#[track_caller]
fn lost_connections(report: &Report) {
    assert_eq!(report.failed(), [("Unavailable".to_owned(), 10)]);
    let reconnects = report.number("/reconnects");
    assert!((2..=10).contains(&reconnects), "{reconnects}");
    report.warned_of("reopened");
}
