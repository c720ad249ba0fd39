//! Whatever a server does wrong is named by step and reason.

use std::num::NonZeroU64;
use std::time::Duration;

use super::peer::{Does, Peer, Reply};
use super::wires::{api, once, reasons, run, step, sum_call};
use super::{Options, faulty, plan};
use crate::report::Report;
use crate::tally::Reason;
use crate::testkit::scripted;
use volley_serve::Faults;

/// Four iterations, one after another, of a scenario that creates, changes and removes an item of a server with these
/// faults.
fn crud(version: u8, set: impl FnOnce(&mut Faults), remove: &str) -> Report {
    crud_in_time(version, set, remove, "10m")
}

/// The same, where a response must come within a time.
fn crud_in_time(version: u8, set: impl FnOnce(&mut Faults), remove: &str, timeout: &str) -> Report {
    let mut faults = Faults::default();
    set(&mut faults);
    let server = faulty(faults);
    let steps = format!(
        r#"
      - {{name: create, post: "${{api}}/v1/items", json: {{owner: o, sku: s}}, expect: {{status: 201, json: {{/item/sku: s}}}}, save: {{url: {{header: location}}}}}}
      - {{name: change, patch: "${{url}}", json: {{owner: o, sku: s}}, expect: {{status: 204}}}}
      - {{name: remove, delete: "${{url}}", expect: {{status: 204{remove}}}}}"#
    );
    let more = format!(
        "http: {{version: {version}, connections: 1, timeout: {timeout}}}\nload: [{{iterations: 4}}]"
    );
    run(&api(server.address()), &steps, &more)
}

/// That one step failed for one reason, so often.
#[track_caller]
fn assert_fails(report: &Report, name: &str, reason: Reason, count: u64) {
    for step in &report.steps {
        let expected = match step.names.name == name {
            true => vec![(reason, count)],
            false => vec![],
        };
        assert_eq!(
            reasons(report, &step.names.name),
            expected,
            "{}: {:?}",
            step.names.name,
            step.failures
        );
    }
}

fn every(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

/// The same over HTTP/1.1 and HTTP/2.
fn both(set: impl Fn(&mut Faults)) -> [Report; 2] {
    [1, 2].map(|version| crud(version, &set, ""))
}

#[test]
fn a_wrong_value() {
    for report in both(|faults| faults.wrong_value_every = every(2)) {
        assert_fails(&report, "create", Reason::Check(0), 2);
    }
}

#[test]
fn a_missing_location() {
    for report in both(|faults| faults.no_location_every = every(2)) {
        assert_fails(&report, "create", Reason::Save(0), 2);
    }
}

#[test]
fn a_404_and_a_500() {
    for (status, n, step) in [(404, 3, "remove"), (500, 1, "create")] {
        let statuses = vec![(status, NonZeroU64::new(n).unwrap())];
        for report in both(|faults| faults.statuses.clone_from(&statuses)) {
            assert_fails(&report, step, Reason::Status, 4);
        }
    }
}

#[test]
fn an_answer_that_comes_late_or_never() {
    for version in [1, 2] {
        let slow = |faults: &mut Faults| faults.delay = Duration::from_millis(30);
        let late = crud(version, slow, ", within: 20ms");
        assert_fails(&late, "remove", Reason::Late, 4);
        let words = &step(&late, "remove").failures[0].samples[0];
        assert!(words.ends_with(", the limit is 20ms"), "{words}");
        let mute = |faults: &mut Faults| faults.unanswered_every = every(1);
        let lost = crud_in_time(version, mute, "", "50ms");
        assert_fails(&lost, "create", Reason::Timeout, 4);
        let words = &step(&lost, "create").failures[0].samples[0];
        assert_eq!(words, "no response in 50ms (`timeout`)");
    }
}

#[test]
fn a_reset() {
    let [first, second] = both(|faults| faults.reset_every = every(1));
    assert_fails(&second, "create", Reason::Reset, 4);
    // All that HTTP/1.1 can end is the connection.
    assert_fails(&first, "create", Reason::Closed, 4);
    let peer = Peer::start(|_| Does::Resets);
    let steps = r#"      - {name: go, post: "${api}/", text: a}"#;
    assert_fails(&once(&peer, 2, steps), "go", Reason::Reset, 1);
}

#[test]
fn a_connection_that_is_closed_or_goes_away() {
    let steps = r#"      - {name: go, post: "${api}/", text: a}"#;
    let peer = Peer::start(|_| Does::GoesAway);
    let report = once(&peer, 2, steps);
    assert_fails(&report, "go", Reason::GoAway, 1);
    let words = &step(&report, "go").failures[0].samples[0];
    assert!(words.contains("GOAWAY INTERNAL_ERROR (`bye`)"), "{words}");
    let peer = Peer::start(|_| Does::Closes);
    for version in [1, 2] {
        assert_fails(&once(&peer, version, steps), "go", Reason::Closed, 1);
    }
}

#[test]
fn a_graceful_goaway_fails_nothing() {
    let report = crud(2, |faults| faults.goaway_after = every(1), "");
    assert_eq!(report.iterations().ok, 4, "{:?}", report.steps);
}

#[test]
fn a_cut_body() {
    let [first, second] = both(|faults| faults.truncate_every = every(1));
    assert_fails(&first, "create", Reason::Closed, 4);
    // This server's streams end in good order, without a length.
    assert_fails(&second, "create", Reason::Check(0), 4);
    let words = &step(&second, "create").failures[0].samples[0];
    assert!(words.contains("it is cut short"), "{words}");
}

#[test]
fn bytes_that_are_no_http() {
    for report in both(|faults| faults.garbage_every = every(1)) {
        assert_fails(&report, "create", Reason::Protocol, 4);
    }
}

#[test]
fn bad_json() {
    for report in both(|faults| faults.bad_json_every = every(2)) {
        assert_fails(&report, "create", Reason::Check(0), 2);
    }
}

#[test]
fn the_id_of_another_item() {
    for report in both(|faults| faults.duplicate_every = every(2)) {
        assert_fails(&report, "change", Reason::Status, 2);
    }
}

#[test]
fn a_wrong_trailer() {
    for version in [1, 2] {
        let peer = Peer::start(|_| {
            Does::Replies(Reply {
                status: 200,
                body: b"a".to_vec(),
                trailers: vec![("sum", "2")],
                ..Reply::default()
            })
        });
        let steps = r#"      - {name: go, get: "${api}/", expect: {trailers: {sum: "1"}}}"#;
        assert_fails(&once(&peer, version, steps), "go", Reason::Check(0), 1);
    }
    let faults = Faults {
        trailers_only_every: every(1),
        ..Faults::default()
    };
    let server = faulty(faults);
    let (more, call) = sum_call();
    let report = run(&api(server.address()), call, more);
    assert_fails(&report, "sum", Reason::Status, 1);
}

/// What a run says whose target is this server, which answers only these bytes.
fn said(scheme: &str, version: &str, answer: &'static [u8]) -> String {
    let address = scripted::saying(answer);
    let text = format!(
        "targets: {{api: '{scheme}://{address}'}}
http: {{version: {version}, connections: 1}}
load: {{users: 1, iterations: 1}}
scenarios: {{s: {{steps: [{{name: go, get: '${{api}}/'}}]}}}}"
    );
    let run = super::run(
        &plan(&text),
        &Options::default(),
        &Default::default(),
        &mut |_, _| (),
    );
    match run {
        Ok(finished) => step(&finished.report, "go").failures[0].samples[0].clone(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn another_protocol_than_the_servers_is_named_with_the_remedy() {
    const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    const ALERT: &[u8] = b"\x15\x03\x01\x00\x02\x02\x0a";
    for (scheme, version, answer, remedy) in [
        (
            "https",
            "auto",
            REFUSAL,
            "if it speaks plaintext, write `http://`",
        ),
        (
            "http",
            "auto",
            ALERT,
            "if the server speaks TLS, write `https://`",
        ),
        (
            "http",
            "2",
            ALERT,
            "if the server speaks TLS, write `https://`",
        ),
        (
            "http",
            "2",
            REFUSAL,
            "peer speaks HTTP/1 instead of HTTP/2 (check the port; if no gRPC calls go there, write `http: {version: 1}`)",
        ),
    ] {
        let said = said(scheme, version, answer);
        assert!(said.contains(remedy), "{said}");
    }
}

#[test]
fn a_dead_port() {
    for version in [1, 2] {
        let peer = Peer::start(|_| Does::Dies);
        let more =
            format!("http: {{version: {version}, connections: 1}}\nload: [{{iterations: 4}}]");
        let steps = r#"      - {name: go, post: "${api}/", text: a}"#;
        let report = run(&api(peer.address), steps, &more);
        let expected = [(Reason::Connect, 3), (Reason::Closed, 1)];
        assert_eq!(reasons(&report, "go"), expected, "HTTP/{version}");
        let dead = scripted::nobody();
        let text = format!(
            "targets: {{api: \"http://{dead}\"}}\n{more}\nscenarios: {{s: {{steps: [{steps}]}}}}"
        );
        let plan = plan(&text.replace("- {name", "{name"));
        let run = super::run(
            &plan,
            &Options::default(),
            &Default::default(),
            &mut |_, _| (),
        );
        let words = run.err().unwrap().to_string();
        assert!(
            words.contains("target `api`") && words.contains("connection refused"),
            "{words}"
        );
    }
}
