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
        .report(&server);
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
            .report(&server);
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
        .report(&server);
    assert_eq!(report.all_ok(), 90);
}

#[test]
fn an_unknown_template_is_a_usage_error_before_any_load() {
    let server = reference(Faults::default());
    let finished = Volley::call("GetSum")
        .data(r#"{"a": "{{.RequestNumbr}}"}"#)
        .run(&server);
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
        .report(&server);
    assert_eq!(report.all_ok(), 10);
}

#[test]
fn a_template_that_fails_for_some_calls_fails_those_and_no_others() {
    // Whether the range is empty is only known when the inner number is drawn.
    let data = r#"{"a": {{randomInt 3 (randomInt 0 9)}}}"#;
    for load in ["-n 300 -c 6", "-n 300 -c 6 --rps 1000"] {
        let server = reference(Faults::default());
        let report = Volley::call("GetSum")
            .data(data)
            .flags(load)
            .flags("--connections 2 --threads 2")
            .report(&server);
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

#[test]
fn each_message_of_a_stream_has_values_of_its_own_if_asked_for() {
    let server = reference(Faults::default());
    let data = r#"{"a": {{randomInt 1 1000000}}, "b": 7}"#;
    let report = Volley::call("EchoSum")
        .data(data)
        .expect("result = a + b")
        .flags("--stream-dynamic-messages --stream-call-count 20 -n 30 -c 3")
        .report(&server);
    assert_eq!((report.all_ok(), report.messages()), (30, 600));
    // With pauses, a message is made when it is sent, whether or not somebody reads the replies.
    let scratch = Scratch::new();
    let path = scratch.path("replies.jsonl");
    let report = Volley::call("EchoSum")
        .data(data)
        .flags("--stream-dynamic-messages --stream-call-duration 500ms --stream-interval 1ms -n 1 -c 1")
        .arg("--save-replies")
        .arg(&path)
        .report(&server);
    let saved = std::fs::read_to_string(path).unwrap();
    let replies = saved.lines().filter(|line| line.contains("\"reply\""));
    let replies: Vec<&str> = replies
        .map(|line| line.split_once("\"reply\"").unwrap().1)
        .collect();
    assert_eq!(report.messages(), replies.len() as u64);
    assert!(replies.iter().any(|reply| *reply != replies[0]), "{saved}");
}

#[test]
fn a_message_that_cannot_be_made_when_it_is_sent_fails_its_call() {
    let server = reference(Faults::default());
    // The first message is right in some calls; one of twenty is wrong in nearly all.
    let report = Volley::call("CollectSum")
        .data(r#"{"a": {{randomInt 1 (randomInt 1 9)}}}"#)
        .flags("--stream-dynamic-messages --stream-call-duration 100ms --stream-interval 1ms -n 40 -c 4")
        .run(&server);
    assert!(
        report.stderr.contains("cannot be made") || report.stdout.contains("cannot be made"),
        "{report:?}"
    );
}

#[test]
fn rows_of_a_file_are_taken_in_turn_and_checked() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    for (name, text) in [
        ("rows.csv", "a,b\n1,1\n1000000,2\n-5,\n"),
        ("rows.jsonl", "{\"a\":1,\"b\":1}\n{\"a\":1000000}\n"),
        (
            "rows.NDJSON",
            "{\"a\":{{randomInt 1 9}},\"b\":{{add 1 .RequestNumber}}}\n",
        ),
    ] {
        let path = scratch.path(name);
        std::fs::write(&path, text).unwrap();
        let report = Volley::call("GetSum")
            .arg("--data-file")
            .arg(&path)
            .expect("result = a + b")
            .flags("-n 90 -c 6 --connections 2 --threads 2")
            .report(&server);
        assert_eq!(report.all_ok(), 90, "{name}");
    }
}

#[test]
fn metadata_with_templates_is_what_the_server_receives() {
    let server = reference(Faults::default());
    let report = Volley::call("GetSum")
        .data(r#"{"a": "{{randomInt 1 1000}}", "b": {{randomInt 1 1000}}}"#)
        .arg("--metadata")
        .arg(r#"{"x-request-id": "{{newUUID}}", "x-{{.WorkerID}}": "{{.RequestNumber}}"}"#)
        .expect("result = a + b")
        .flags("-n 2000 -c 20 --connections 4 --threads 2")
        .report(&server);
    assert_eq!(report.all_ok(), 2000);
}
