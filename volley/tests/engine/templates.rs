//! Templates in the payload, rendered for each call.

use volley::serve::Faults;

use crate::common::{Scratch, Volley, reference};

#[test]
fn request_numbers_are_unique_over_threads_and_leave_none_out() {
    let server = reference(Faults::default());
    // Every call's number is checked against its reply. That no number occurs twice shows in the
    // sum of replies: each number is also the length of its own stream.
    let report = Volley::call("StreamSum")
        .data(r#"{"a": "{{.RequestNumber}}", "b": 5, "count": "{{.RequestNumber}}"}"#)
        .expect("result = a + b + i")
        .flags("-n 101 -c 8 --connections 4 --threads 2")
        .report(server.address());
    assert_eq!(report.all_ok(), 101);
    // Numbers 0 to 100; number 0 still has one reply, as the service defines.
    assert_eq!(report.messages(), 1 + 100 * 101 / 2);
}

#[test]
fn what_a_template_made_is_what_the_replies_are_checked_against() {
    for (method, data, rule) in [
        (
            "GetSum",
            r#"{"a": {{.RequestNumber}}, "b": {{randomInt 1 1000}}}"#,
            "result = a + b",
        ),
        (
            "EchoSum",
            r#"[{"a": {{.RequestNumber}}}, {"a": {{randomInt 1 1000}}, "b": 7}]"#,
            "result = a + b",
        ),
        (
            "CollectSum",
            r#"[{"a": {{.RequestNumber}}}, {"a": {{randomInt 1 1000}}, "b": 7}]"#,
            "result = sum(a) + sum(b)",
        ),
    ] {
        let server = reference(Faults::default());
        let report = Volley::call(method)
            .data(data)
            .expect(rule)
            .flags("-n 200 -c 8 --connections 4 --threads 2")
            .report(server.address());
        assert_eq!(report.all_ok(), 200, "{method}");
    }
}

#[test]
fn a_list_of_requests_is_taken_in_turn_by_unary_calls() {
    let server = reference(Faults::default());
    let data = r#"[{"a": 1, "b": 1}, {"a": 1000000, "b": 2}, {"a": -5, "b": 0}]"#;
    let report = Volley::call("GetSum")
        .data(data)
        .expect("result = a + b")
        .flags("-n 90 -c 6 --connections 2 --threads 2")
        .report(server.address());
    assert_eq!(report.all_ok(), 90);
}

#[test]
fn an_unknown_template_is_a_usage_error_before_any_load() {
    let server = reference(Faults::default());
    let finished = Volley::call("GetSum")
        .data(r#"{"a": "{{.RequestNumbr}}"}"#)
        .run(server.address());
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
    assert_eq!(server.counts().connections, 0);
}

#[test]
fn a_binary_request_is_sent_as_it_stands() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    // a = 20, b = 22.
    let path = scratch.path("request.bin");
    std::fs::write(&path, [8, 20, 16, 22]).unwrap();
    let report = Volley::call("GetSum")
        .arg("--binary-file")
        .arg(&path)
        .expect("result = 42")
        .flags("-n 10 -c 2")
        .report(server.address());
    assert_eq!(report.all_ok(), 10);
}

#[test]
fn a_template_that_fails_for_some_calls_fails_those_and_no_others() {
    // Whether the range is empty is only known when the inner number is drawn.
    let data = r#"{"a": {{randomInt 3 (randomInt 0 9)}}}"#;
    for load in ["-n 300 -c 6", "-n 300 -c 6 --rps 5000"] {
        let server = reference(Faults::default());
        let report = Volley::call("GetSum")
            .data(data)
            .flags(load)
            .flags("--connections 2 --threads 2")
            .report(server.address());
        let [(code, failed)] = &report.failed()[..] else {
            panic!("{:#}", report.json)
        };
        assert_eq!((code.as_str(), report.cut()), ("Internal", 0));
        assert_eq!((report.ok() + failed, report.sent()), (300, 300));
        assert!(report.ok() > 100, "{load}: {}", report.ok());
        assert_eq!(server.counts().calls_ok, report.ok());
        let (text, _) = &report.errors()[0];
        assert!(text.contains("the request cannot be made"), "{text}");
    }
}
