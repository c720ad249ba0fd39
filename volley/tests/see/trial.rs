//! `volley try`.

use serde_json::{Value, json};
use volley::serve::Faults;

use crate::common::peer::{Does, peer};
use crate::common::shape::{ALL, Shape, UNARY};
use crate::common::{BlackHole, Scratch, begins, faulty, one, reference, table, words};
use crate::{error, flood, volley};

/// The exit status and the report of one call.
fn attempt(host: &str, method: &str, more: &[&str]) -> (i32, Value) {
    let words = ["try", "--insecure", "-O", "json", "--call", method, host];
    let (status, out, errors) = volley(&[&words[..], more].concat());
    assert_eq!((errors.as_str(), out.lines().count()), ("", 1));
    (status, serde_json::from_str(&out).unwrap())
}

fn shaped(host: &str, shape: Shape, more: &[&str]) -> (i32, Value) {
    let method = format!("benchmark.BenchmarkService/{}", shape.method);
    attempt(host, &method, &[&["-d", shape.data][..], more].concat())
}

#[test]
fn a_call_of_any_shape_is_shown_from_its_request_to_its_status() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    for shape in ALL {
        let (status, seen) = shaped(&host, shape, &[]);
        assert_eq!(status, 0, "{shape:?}");
        let count = |pointer: &str| seen.pointer(pointer).unwrap().as_array().unwrap().len() as u64;
        assert_eq!(count("/request/messages"), shape.requests);
        assert_eq!(count("/response/replies"), shape.replies);
        assert_eq!(count("/times_ms/replies"), shape.replies);
        let response = &seen["response"];
        assert_eq!(response["headers"]["content-type"], "application/grpc");
        assert_eq!(response["trailers"]["grpc-status"], "0");
        assert_eq!(
            response["status"],
            json!({"code": "OK", "number": 0, "message": ""})
        );
        let ms = |name: &str| seen["times_ms"][name].as_f64().unwrap();
        assert!(ms("connect") > 0.0 && ms("headers") > 0.0 && ms("end") >= ms("headers"));
    }
    assert_eq!(
        server.stop().messages_received,
        1 + 1 + 3 + 4 + 4,
        "and one question each"
    );
}

#[test]
fn an_address_that_takes_long_shares_its_time_with_the_next() {
    let (hole, server) = (BlackHole::default(), reference(Faults::default()));
    let both = format!("{},{}", hole.address(), server.address());
    let (status, seen) = shaped(&both, UNARY, &["--connect-timeout", "1h"]);
    assert_eq!(
        (status, &seen["response"]["status"]["code"]),
        (0, &json!("OK"))
    );
}

#[test]
fn the_messages_of_a_stream_with_pauses_are_sent_at_once() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let config = scratch.write(
        "paced.json",
        r#"{"request": {"data": [{"a": "{{add 3 4}}"}, {"a": "{{add 5 .RequestNumber}}"}],
                        "stream": {"dynamic": true, "interval": "1h"}}}"#,
    );
    let (host, method) = (
        server.address().to_string(),
        "benchmark.BenchmarkService/CollectSum",
    );
    let config = ["--config", config.to_str().unwrap()];
    let (_, seen) = attempt(&host, method, &config);
    assert_eq!(
        seen["request"]["messages"],
        json!([{"a": 7, "b": 0}, {"a": 5, "b": 0}])
    );
}

#[test]
fn replies_beyond_the_limit_are_only_counted() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let method = "benchmark.BenchmarkService/StreamSum";
    let data = ["-d", r#"{"a": 5, "count": 1000}"#, "--max-replies", "2"];
    let (_, seen) = attempt(&host, method, &data);
    assert_eq!(
        seen["response"]["replies"],
        json!([{"result": 5}, {"result": 6}])
    );
    assert_eq!(seen["response"]["replies_not_shown"], 998);
}

#[test]
fn a_call_that_fails_says_why_and_the_exit_status_is_1() {
    let server = reference(faulty(|faults| faults.trailers_only_every = one(1)));
    let host = server.address().to_string();
    let (status, seen) = attempt(&host, "benchmark.BenchmarkService/GetSum", &[]);
    assert_eq!((status, &seen["response"]["headers"]), (1, &Value::Null));
    assert_eq!(seen["response"]["status"]["code"], "Internal");
    let (status, seen) = attempt(
        &host,
        "grpc.health.v1.Health/Check",
        &["-d", r#"{"service": "x"}"#],
    );
    assert_eq!(status, 1);
    let unknown = json!({"code": "NotFound", "number": 5, "message": "unknown service"});
    assert_eq!(seen["response"]["status"], unknown);
}

#[test]
fn a_stream_without_end_is_shown_as_far_as_the_timeout() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let (status, seen) = attempt(&host, "grpc.health.v1.Health/Watch", &["-t", "1s"]);
    assert_eq!(status, 1);
    assert_eq!(seen["response"]["replies"], json!([{"status": "SERVING"}]));
    assert_eq!(seen["response"]["status"]["code"], "DeadlineExceeded");
}

#[test]
fn a_server_that_floods_the_connection_is_given_up_at_the_timeout() {
    let proto = ["--proto", "../requests/benchmark.proto", "-t", "1s"];
    let (status, seen) = attempt(&flood(|| ()), "benchmark.BenchmarkService/GetSum", &proto);
    assert_eq!(
        (status, &seen["response"]["status"]["code"]),
        (1, &json!("DeadlineExceeded"))
    );
}

#[test]
fn a_reply_over_the_limit_has_the_status_of_a_load() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let limit = ["-d", r#"{"a": 1}"#, "--max-recv-message-size", "1"];
    let (_, seen) = attempt(&host, "benchmark.BenchmarkService/GetSum", &limit);
    assert_eq!(seen["response"]["status"]["code"], "ResourceExhausted");
}

#[test]
fn health_is_checked_and_listed() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let (_, seen) = attempt(&host, "grpc.health.v1.Health/Check", &[]);
    assert_eq!(seen["response"]["replies"], json!([{"status": "SERVING"}]));
    let (_, seen) = attempt(&host, "grpc.health.v1.Health/List", &[]);
    let statuses = &seen["response"]["replies"][0]["statuses"];
    assert_eq!(statuses["benchmark.BenchmarkService"]["status"], "SERVING");
}

#[test]
fn data_that_does_not_fit_is_refused_before_the_server_is_asked() {
    let words = [
        "try",
        "--proto",
        "../requests/benchmark.proto",
        "--insecure",
        "-d",
        r#"{"x": 1}"#,
    ];
    let call = ["--call", "benchmark.BenchmarkService/GetSum", "127.0.0.1:1"];
    let line = crate::error(&[&words[..], &call].concat(), 2);
    begins(&line, "the data does not fit `benchmark.SumRequest`");
}

#[test]
fn metadata_is_rendered_as_in_the_first_call_of_a_run() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let metadata = r#"{"plain": "1", "x-{{.RequestNumber}}": "{{.RequestNumber}}", "x-sum": "{{add 2 3}}",
                       "x-token": "t{{.RequestNumber}}", "x-data-bin": "YT{{upper `i`}}"}"#;
    let scratch = Scratch::new();
    let file = scratch.write("metadata.json", metadata);
    let method = "benchmark.BenchmarkService/GetSum";
    for more in [["-m", metadata], ["-M", file.to_str().unwrap()]] {
        let (status, seen) = attempt(&host, method, &more);
        let headers = &seen["request"]["headers"];
        assert_eq!(status, 0, "{seen}");
        assert_eq!(headers["plain"], "1");
        assert_eq!(headers["x-0"], "0");
        assert_eq!(headers["x-sum"], "5");
        assert_eq!(headers["x-token"], "***");
        assert_eq!(headers["x-data-bin"], "YTI");
    }
}

#[test]
fn rendered_metadata_reaches_the_server() {
    let host = peer(|_, headers, _| match headers.get("x-0") {
        Some(value) if value == "n0" => Does::Reply(vec![8, 7]),
        _ => Does::End(3),
    });
    let more = [
        "--proto",
        "../requests/benchmark.proto",
        "-m",
        r#"{"x-{{.RequestNumber}}": "n{{.RequestNumber}}"}"#,
    ];
    let (status, seen) = attempt(&host, "benchmark.BenchmarkService/GetSum", &more);
    assert_eq!(
        (status, &seen["response"]["replies"]),
        (0, &json!([{"result": 7}]))
    );
}

#[test]
fn a_servers_stream_ends_after_as_many_replies_as_in_a_run() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let (stream, watch) = (
        "benchmark.BenchmarkService/StreamSum",
        "grpc.health.v1.Health/Watch",
    );
    let data = r#"{"a": 1, "count": 9}"#;
    for (method, more, replies) in [
        (stream, &["-d", data, "--stream-call-count", "3"][..], 3),
        (stream, &["-d", data, "--stream-call-count", "9"], 9),
        (stream, &["-d", data, "--stream-call-count", "0"], 9),
        // These have no end of their own.
        (watch, &["--stream-call-count", "1", "-t", "1m"], 1),
        (watch, &["--stream-call-duration", "300ms", "-t", "1m"], 1),
    ] {
        let (status, seen) = attempt(&host, method, more);
        assert_eq!(
            (status, &seen["response"]["status"]["code"]),
            (0, &json!("OK"))
        );
        let shown = seen["response"]["replies"].as_array().unwrap();
        assert_eq!(shown.len(), replies, "{more:?}");
    }
    // Of a client's stream, it is the messages that are counted.
    let more = ["-d", r#"[{"a": 1}, {"a": 2}]"#, "--stream-call-count", "5"];
    let (status, seen) = attempt(&host, "benchmark.BenchmarkService/CollectSum", &more);
    let sent = seen["request"]["messages"].as_array().unwrap();
    assert_eq!((status, sent.len()), (0, 5));
    let dynamic = ["-d", r#"{"a": {{add 1 2}}}"#, "--stream-dynamic-messages"];
    let more = [
        &dynamic[..],
        &["--stream-call-count", "2", "--stream-call-duration", "1h"],
    ]
    .concat();
    let (_, seen) = attempt(&host, "benchmark.BenchmarkService/CollectSum", &more);
    let sent = json!([{"a": 3, "b": 0}, {"a": 3, "b": 0}]);
    assert_eq!(seen["request"]["messages"], sent);
}

#[test]
fn an_empty_list_is_a_stream_of_no_messages_and_no_call_of_another_kind() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let service = "benchmark.BenchmarkService";
    let collect = format!("{service}/CollectSum");
    let (_, seen) = attempt(&host, &collect, &["-d", "[]"]);
    assert_eq!(seen["request"]["messages"], json!([]));
    // Pauses are for messages: without any, the stream ends at once.
    let mut run = words("--insecure|-d|[]|-n|3|-c|1|-O|json|--call");
    run.push(&collect);
    for more in [
        &["--stream-call-count", "4"][..],
        &["--stream-call-duration", "1h"],
    ] {
        let (status, out, errors) = volley(&[&run[..], more, &[&host]].concat());
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((status, &report["count"]), (0, &json!(3)), "{errors}");
    }
    let before = server.counts().calls_started;
    for method in ["GetSum", "StreamSum"] {
        let call = format!("{service}/{method}");
        let proto = ["--proto", "../requests/benchmark.proto", "-d", "[]"];
        let words = [&["--insecure", "--call", &call, &host], &proto[..]].concat();
        let line = error(&words, 2);
        begins(&line, "there is no data to send: give `benchmark.");
        assert_eq!(error(&[&["try"], &words[..]].concat(), 2), line);
    }
    assert_eq!(server.counts().calls_started, before);
}

#[test]
fn replies_that_a_run_does_not_take_fail_here_too() {
    let host = peer(|path, _, message| match (path, message) {
        ("/old.Old/Call", _) => Does::Reply(vec![8, 1]),
        (_, b"") => Does::End(0),
        (_, [8, 1]) => Does::Replies(vec![vec![8, 7], vec![8, 7]]),
        (_, [8, 2]) => Does::Reply(vec![0xff]),
        (_, [8, 3]) => Does::Reply(vec![8]),
        // What is wrong before the client ends the stream counts, and nothing after it.
        (_, [8, 4, ..]) => Does::Replies(vec![vec![8, 7], vec![0xff], vec![8, 7]]),
        _ => Does::Replies(vec![vec![8, 7], vec![8, 7], vec![0xff]]),
    });
    let sums = ["--proto", "../requests/benchmark.proto"];
    let old = ["--proto", "tests/protos/proto2.proto"];
    let two = ["--stream-call-count", "2"];
    for [method, data, more, code, reason] in table(
        r#"
        benchmark.BenchmarkService/GetSum => {} => all => DataLoss => 0 replies, expected 1
        benchmark.BenchmarkService/GetSum => {"a": 1} => all => DataLoss => 2 replies, expected 1
        benchmark.BenchmarkService/GetSum => {"a": 2} => all => Internal => reply 0: malformed protobuf
        benchmark.BenchmarkService/GetSum => {"a": 3} => all => Internal => reply 0: malformed protobuf
        old.Old/Call => {"name": ""} => all => Internal => reply 0: malformed protobuf
        benchmark.BenchmarkService/StreamSum => {"a": 4, "count": 9} => all => Internal => reply 1: malformed
        benchmark.BenchmarkService/StreamSum => {"a": 4, "count": 9} => two => Internal => reply 1: malformed
        benchmark.BenchmarkService/StreamSum => {"a": 5, "count": 9} => all => Internal => reply 2: malformed
        benchmark.BenchmarkService/StreamSum => {"a": 5, "count": 9} => two => OK =>
    "#,
    ) {
        let schema = if method == "old.Old/Call" { old } else { sums };
        let more = if more == "two" { &two[..] } else { &[] };
        let call = [&schema[..], &["-d", data], more].concat();
        let (exit, seen) = attempt(&host, method, &call);
        let status = &seen["response"]["status"];
        let message = status["message"].as_str().unwrap();
        assert_eq!(
            (status["code"].as_str(), exit),
            (Some(code), i32::from(code != "OK")),
            "{method} {data}: {seen}"
        );
        assert!(message.starts_with(reason), "{data}: {message}");
        assert_eq!(message.lines().count(), usize::from(code != "OK"));
        let load = words("--insecure|-n|1|-c|1|-O|json|--call");
        let (_, report, _) = volley(&[&load[..], &[method, &host], &call].concat());
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["statusCodeDistribution"], json!({code: 1}), "{data}");
        let error = format!("rpc error: code = {code} desc = {message}");
        let errors = if code == "OK" {
            json!({})
        } else {
            json!({error: 1})
        };
        assert_eq!(report["errorDistribution"], errors);
    }
}
