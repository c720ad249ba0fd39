//! What stands under `expect` and `save` is a check.

use super::peer::{Does, Peer, Reply};
use super::wires::{api, is_ok, once, reasons, run, step, sum_call};
use crate::report::{Report, value_of};
use crate::tally::Reason;
use volley_load::spec::threshold::{Count, Figure};

/// Names, and how often each passed and failed.
fn rows<'r>(report: &'r Report, name: &str) -> Vec<(&'r str, u64, u64)> {
    let checks = step(report, name).checks.iter();
    checks
        .map(|one| (one.name.as_str(), one.passed, one.failed))
        .collect()
}

fn share(report: &Report) -> f64 {
    value_of(report, Figure::Count(Count::Checks), None, true).unwrap()
}

fn json(body: &'static str, keys: &str) -> Report {
    let peer = Peer::start(move |_| Does::says(200, &[], body));
    let steps = format!("      - {{name: a, get: \"${{api}}/\", {keys}}}");
    once(&peer, 1, &steps)
}

#[test]
fn a_late_response_or_a_missing_value_is_a_check_that_failed() {
    let report = json("{}", "expect: {within: 1ns}, save: {x: url}");
    assert_eq!(
        rows(&report, "a"),
        [("status", 1, 0), ("within", 0, 1), ("save x", 1, 0)]
    );
    assert_eq!(share(&report), 2.0 / 3.0 * 100.0);
    // What it never came to has neither passed nor failed.
    let report = json("{}", "expect: {within: 1h}, save: {x: {json: /x}}");
    assert_eq!(
        rows(&report, "a"),
        [("status", 1, 0), ("within", 0, 0), ("save x", 0, 1)]
    );
    let report = json("{}", "expect: {status: 204, within: 1h}, save: {x: url}");
    assert_eq!(
        rows(&report, "a"),
        [("status", 0, 1), ("within", 0, 0), ("save x", 0, 0)]
    );
    assert_eq!(share(&report), 0.0);
}

#[test]
fn a_request_that_failed_before_its_conditions_has_neither_passed_nor_failed_them() {
    let boom = |function: &str| {
        let lua = format!("lua: \"function {function}() error('boom') end\"");
        json("{}", &format!("{lua}, save: {{x: url}}"))
    };
    assert_eq!(
        rows(&boom("request"), "a"),
        [("status", 0, 0), ("save x", 0, 0)]
    );
    let report = boom("response");
    assert_eq!(
        rows(&report, "a"),
        [("status", 1, 0), ("lua", 0, 0), ("save x", 1, 0)]
    );
    assert_eq!(share(&report), 2.0 / 3.0 * 100.0);
    let peer = Peer::start(|_| Does::Resets);
    let report = once(&peer, 2, "      - {name: a, get: \"${api}/\"}");
    assert_eq!(reasons(&report, "a"), [(Reason::Reset, 1)]);
    assert_eq!(rows(&report, "a"), [("status", 0, 0)]);
}

#[test]
fn replies_are_checks() {
    let reply = |results: &[u8]| {
        let prefixed = |result: &u8| [0, 0, 0, 0, 2, 8, *result];
        let body = results.iter().flat_map(prefixed).collect();
        let fields = vec![("content-type", "application/grpc".to_owned())];
        let trailers = vec![("grpc-status", "0")];
        let reply = Reply {
            status: 200,
            fields,
            body,
            trailers,
        };
        let peer = Peer::start(move |_| Does::Replies(reply.clone()));
        let (protos, call) = sum_call();
        let expect = "expect: {each: result = a + b, replies: 2, first_within: 1h}";
        let call = call
            .replace("GetSum", "StreamSum")
            .replace("b: 2}}", &format!("b: 2, count: 2}}, {expect}}}"));
        run(&api(peer.address), &call, protos)
    };
    let rows = |results: &[u8]| {
        let report = reply(results);
        let rows = rows(&report, "sum").into_iter();
        rows.map(|(_, passed, failed)| (passed, failed))
            .collect::<Vec<_>>()
    };
    let report = reply(&[3, 3]);
    assert!(is_ok(&report), "{:?}", reasons(&report, "sum"));
    let checks = step(&report, "sum").checks.iter();
    let names: Vec<_> = checks.map(|one| &one.name).collect();
    assert_eq!(
        names,
        ["status", "replies", "first_within", "each result = a + b"]
    );
    assert_eq!(rows(&[3, 3]), [(1, 0), (1, 0), (1, 0), (1, 0)]);
    assert_eq!(rows(&[3]), [(1, 0), (0, 1), (0, 0), (1, 0)]);
    assert_eq!(rows(&[3, 4]), [(1, 0), (0, 0), (0, 0), (0, 1)]);
}

#[test]
fn a_literal_has_a_type_and_a_template_has_none() {
    let body = r#"{"sku": "1", "rev": 1, "ok": true, "list": ["1"]}"#;
    for good in [
        r#"/sku: "1", /rev: 1, /ok: true, /list: '["1"]'"#,
        r#"/rev: 1.0, /sku: {not: 1}, /ok: {not: "true"}"#,
        r#"/rev: "${one}", /sku: "${one}""#,
        r#"/rev: {not: "1"}, /sku: {starts_with: 1}"#,
    ] {
        let setup = "setup: [{get: \"${api}/\", save: {one: {json: /rev}}}]";
        let peer = Peer::start(move |_| Does::says(200, &[], body));
        let steps =
            format!("      - {{name: a, get: \"${{api}}/\", expect: {{json: {{{good}}}}}}}");
        let more = format!("{setup}\nload: [{{iterations: 1}}]");
        let report = run(&api(peer.address), &steps, &more);
        assert!(is_ok(&report), "{good}: {:?}", step(&report, "a").failures);
    }
    for (wrong, words) in [
        (r#"/rev: "1""#, "expected the text `1`, was the number `1`"),
        ("/sku: 1", "expected the number `1`, was the text `1`"),
        (r#"/ok: "true""#, "expected the text `true`, was `true`"),
        ("/sku: {not: \"1\"}", "expected anything but `1`, was `1`"),
    ] {
        let report = json(body, &format!("expect: {{json: {{{wrong}}}}}"));
        assert_eq!(reasons(&report, "a"), [(Reason::Check(0), 1)], "{wrong}");
        assert_eq!(step(&report, "a").failures[0].samples, [words]);
    }
}
