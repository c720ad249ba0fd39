//! `--expect` and `--expect-replies`: every reply is as expected, or its call has failed.

use volley::serve::Faults;

use crate::common::shape::{ALL, BOTH_STREAM, SERVER_STREAM, UNARY};
use crate::common::{Volley, ends, faulty, has, reference};

/// In every call, the reply with this index is one too large.
fn wrong_at(index: u64) -> Faults {
    faulty(|faults| faults.wrong_at = Some(index))
}

const LOAD: &str = "-n 20 -c 4 --connections 2 --threads 2";

#[test]
fn right_replies_of_every_shape_are_checked_and_taken() {
    for shape in ALL {
        let server = reference(Faults::default());
        let report = shape.checked(LOAD).report(&server);
        assert_eq!(report.all_ok(), 20, "{shape:?}");
        assert_eq!(report.number("/checks/replies_checked"), 20 * shape.replies);
        assert_eq!(report.number("/checks/failed"), 0);
    }
}

#[test]
fn a_wrong_reply_of_any_shape_fails_its_call() {
    for shape in ALL {
        let server = reference(wrong_at(shape.replies - 1));
        let report = shape.checked(LOAD).report(&server);
        assert_eq!(report.all_failed("DataLoss"), 20, "{shape:?}");
        assert_eq!(report.messages(), 20 * shape.replies);
        assert_eq!(report.number("/checks/failed"), 20);
        let place = format!("reply {}: `result` is ", shape.replies - 1);
        has(report.samples()[0], &place);
    }
}

#[test]
fn a_wrong_value_is_named_with_its_place_and_what_it_should_be() {
    let server = reference(wrong_at(17));
    let report = SERVER_STREAM.checked(LOAD).report(&server);
    assert_eq!(report.all_failed("DataLoss"), 20);
    let reason = "reply 17: `result` is 21, expected 20 = a + b + i";
    let told = format!("rpc error: code = DataLoss desc = {reason}");
    assert_eq!(report.errors(), [(told, 20)]);
    has(report.samples()[0], reason);
    report.warned_of("20 calls got wrong replies, for example: ");
    assert!(report.stderr.contains("wrong replies"), "{}", report.stderr);
}

#[test]
fn a_wrong_value_that_no_rule_forbids_is_taken() {
    let server = reference(wrong_at(17));
    let report = SERVER_STREAM.run(LOAD).report(&server);
    assert_eq!(report.all_ok(), 20);
}

#[test]
fn more_or_fewer_replies_than_expected_fail_the_call() {
    for (shape, replies) in [
        (SERVER_STREAM, 49),
        (SERVER_STREAM, 51),
        (BOTH_STREAM, 3),
        (BOTH_STREAM, 5),
    ] {
        let server = reference(Faults::default());
        let rule = format!("--expect-replies {replies} {LOAD}");
        let report = shape.run(&rule).report(&server);
        assert_eq!(report.all_failed("DataLoss"), 20, "{shape:?}");
        let told = format!("{} replies, expected {replies}", shape.replies);
        ends(&report.errors()[0].0, &told);
        has(report.samples()[0], &told);
    }
}

#[test]
fn sums_wrap_as_the_services_do() {
    let server = reference(Faults::default());
    let report = Volley::call("GetSum")
        .data(r#"{"a": 2147483647, "b": 2147483647}"#)
        .expect("result = a + b")
        .flags("-n 1 -c 1")
        .report(&server);
    assert_eq!(report.all_ok(), 1);
}

#[test]
fn a_rule_for_a_field_there_is_not_is_a_usage_error() {
    let server = reference(Faults::default());
    let finished = UNARY.run("").expect("total = a + b").run(&server);
    assert_eq!(finished.code(), 2, "{finished:?}");
    finished.said("`total`");
    assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
    assert_eq!(server.counts().calls_started, 0);
}
