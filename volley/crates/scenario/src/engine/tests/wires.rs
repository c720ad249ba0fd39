//! Connections, redirects and responses that are not as they should be.

use std::fmt::Display;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::load::done;
use super::peer::{Asked, Does, Peer, Reply};
use super::{plan, report};
use crate::report::{Report, StepReport};
use crate::tally::Reason;
use crate::testkit::gzip;

/// A run of these steps, once, against a peer that is the target `api`.
pub(super) fn once(peer: &Peer, version: u8, steps: &str) -> Report {
    let more = format!("http: {{version: {version}, connections: 1}}\nload: [{{iterations: 1}}]");
    run(&api(peer.address), steps, &more)
}

/// A server as the target `api`.
pub(super) fn api(address: impl Display) -> String {
    format!("{{api: \"http://{address}\"}}")
}

/// A run of these steps.
pub(super) fn run(targets: &str, steps: &str, more: &str) -> Report {
    let text = format!("targets: {targets}\n{more}\nscenarios:\n  s:\n    steps:\n{steps}\n");
    report(&plan(&text), 1)
}

pub(super) fn step<'a>(report: &'a Report, name: &str) -> &'a StepReport {
    let mut steps = report.steps.iter();
    steps.find(|step| step.names.name == name).unwrap()
}

/// Why requests of a step failed, and how often.
pub(super) fn reasons(report: &Report, name: &str) -> Vec<(Reason, u64)> {
    let failures = step(report, name).failures.iter();
    failures
        .map(|failure| (failure.reason, failure.count))
        .collect()
}

/// The words of a step's first failure.
pub(super) fn words<'a>(report: &'a Report, name: &str) -> &'a str {
    &step(report, name).failures[0].samples[0]
}

pub(super) fn is_ok(report: &Report) -> bool {
    let iterations = report.iterations();
    iterations.ok == iterations.begun && iterations.ok > 0
}

/// A reply without a body.
fn redirect(to: &str) -> Does {
    Does::says(307, &[("location", to)], "")
}

pub(super) fn sum_call() -> (&'static str, &'static str) {
    let protos = concat!(
        "protos: ",
        env!("CARGO_MANIFEST_DIR"),
        "/../serve/src/protos/benchmark.proto\nhttp: {version: 2, connections: 1}\nload: [{iterations: 1}]"
    );
    let call = "      - {name: sum, grpc: \"${api}/benchmark.BenchmarkService/GetSum\", message: {a: 1, b: 2}}";
    (protos, call)
}

#[test]
fn a_connection_is_replaced_only_when_its_last_response_has_ended() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let is_early = thread::spawn(move || {
        let read_head = |socket: &mut TcpStream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut room = [0; 4096];
                let length = socket.read(&mut room).unwrap();
                head.extend_from_slice(&room[..length]);
            }
        };
        let (mut first, _) = listener.accept().unwrap();
        read_head(&mut first);
        let head = b"HTTP/1.1 200 x\r\nconnection: close\r\ncontent-length: 2\r\n\r\na";
        first.write_all(head).unwrap();
        // Another connection would come at once.
        listener.set_nonblocking(true).unwrap();
        let until = Instant::now() + Duration::from_millis(200);
        let early = std::iter::repeat_with(|| listener.accept().ok());
        let mut early = early.take_while(|_| Instant::now() < until).flatten();
        let is_early = early.next().is_some();
        first.write_all(b"b").unwrap();
        listener.set_nonblocking(false).unwrap();
        let (mut second, _) = listener.accept().unwrap();
        read_head(&mut second);
        second.write_all(head).unwrap();
        second.write_all(b"b").unwrap();
        is_early
    });
    let more = "http: {version: 1, connections: 1}\nload: [{users: 2}, {iterations: 2}]";
    let steps = "      - {get: \"${api}/\"}";
    let report = run(&api(address), steps, more);
    assert!(is_ok(&report) && !is_early.join().unwrap());
}

#[test]
fn a_call_that_something_else_answers_has_failed() {
    let (more, call) = sum_call();
    for (status, media) in [(502, "text/html"), (200, "text/html"), (404, "text/plain")] {
        let peer = Peer::start(move |_| Does::says(status, &[("content-type", media)], "<html>"));
        let report = run(&api(peer.address), call, more);
        assert_eq!(reasons(&report, "sum"), [(Reason::Status, 1)], "{status}");
        let told = words(&report, "sum");
        assert!(told.contains(media), "{told}");
    }
}

#[test]
fn a_request_that_cannot_be_rendered_leaves_its_connection_to_the_others() {
    for version in [1, 2] {
        let peer = Peer::start(|_| Does::says(200, &[], r#"{"a": "x\ny"}"#));
        let file = format!(
            "http: {{version: {version}, connections: 1, streams: 1, timeout: 10m}}
load: [{{iterations: 4}}]
setup: [{{name: get, get: '${{api}}/', save: {{bad: {{json: /a}}}}}}]
scenarios:
  bad: {{steps: [{{name: bad, get: '${{api}}/', headers: {{x: '${{bad}}'}}}}]}}
  good: {{steps: [{{name: good, get: '${{api}}/'}}]}}
"
        );
        let report = done(&peer, 1, &file);
        assert_eq!(reasons(&report, "bad"), [(Reason::Unrendered, 2)]);
        assert_eq!(step(&report, "good").counts.ok, 2, "HTTP/{version}");
    }
}

#[test]
fn urls_with_the_authority_and_urls_with_the_host_lead_back_to_the_target() {
    for version in [1, 2] {
        let peer = Peer::start(|asked| match asked.path.as_str() {
            "/own" => {
                let own = format!("http://shop.example:{}/x", 81);
                Does::says(201, &[("location", &own)], "")
            }
            _ => Does::says(200, &[], ""),
        });
        let address = peer.address;
        let targets =
            format!("{{api: {{hosts: \"http://{address}\", authority: \"shop.example:81\"}}}}");
        let more = format!(
            "http: {{version: {version}}}\ndata: {{there: {{rows: [{{url: \"http://{address}/y\"}}]}}}}"
        );
        let steps = r#"
      - {name: make, post: "${api}/own", text: a, save: {url: {header: location}}}
      - {name: own, get: "${url}"}
      - {name: real, get: "${there.url}"}"#;
        let report = run(&targets, steps, &more);
        assert!(is_ok(&report), "{:?}", report.steps);
        let is_named = |one: &Asked| one.field("host") == Some("shop.example:81");
        assert!(peer.asked().iter().all(is_named));
        assert_eq!(peer.paths(), ["/own", "/x", "/y"]);
    }
}

#[test]
fn a_path_leads_to_the_target_that_it_came_from() {
    for version in [1, 2] {
        // `a` sends everybody to `b`, which names paths of its own.
        let b = Peer::start(|asked| {
            let next = format!("{}/next", asked.path);
            Does::says(201, &[("location", &next)], "")
        });
        let (made, moved) = ("made", "moved");
        let [made, moved] = [made, moved].map(|path| format!("http://{}/{path}", b.address));
        let a = Peer::start(move |asked| match asked.path.as_str() {
            "/moves" => redirect(&moved),
            _ => Does::says(201, &[("location", &made)], ""),
        });
        let targets = format!(
            "{{a: \"http://{}\", b: \"http://{}\"}}",
            a.address, b.address
        );
        let steps = r#"
      - {post: "${a}/moves", redirects: 1, save: {url: {header: location}}}
      - {patch: "${url}"}
      - {post: "${a}/makes", save: {url: {header: location}}}
      - {get: "${url}", save: {next: {header: location}}}
      - {get: "${next}"}"#;
        let more = format!("http: {{version: {version}}}");
        assert!(is_ok(&run(&targets, steps, &more)), "HTTP/{version}");
        let paths = ["/moved", "/moved/next", "/made", "/made/next"];
        assert_eq!(b.paths(), paths);
    }
}

#[test]
fn of_two_targets_with_the_same_host_a_url_leads_to_that_of_its_step() {
    let peer = Peer::start(|asked| {
        let to = format!("http://{}/x", asked.field("real").unwrap_or_default());
        Does::says(201, &[("location", &to)], "")
    });
    let address = peer.address;
    let targets = format!(
        "{{a: {{hosts: \"http://{address}\", authority: a.example}}, b: {{hosts: \"http://{address}\", authority: b.example}}}}"
    );
    let steps = format!(
        r#"
      - {{name: make, get: "${{b}}/", headers: {{real: "{address}"}}, save: {{url: {{header: location}}}}}}
      - {{name: use, get: "${{url}}"}}"#
    );
    assert!(is_ok(&run(&targets, &steps, "")));
    let asked = peer.asked();
    let hosts: Vec<_> = asked.iter().map(|one| one.field("host")).collect();
    assert_eq!(hosts, [Some("b.example"); 2]);
}

#[test]
fn a_redirect_keeps_a_method_other_than_post_and_its_body() {
    for version in [1, 2] {
        for (status, method, expected) in [
            (301, "put", "PUT"),
            (302, "patch", "PATCH"),
            (302, "delete", "DELETE"),
            (301, "post", "GET"),
            (303, "put", "GET"),
            (308, "post", "POST"),
        ] {
            let peer = Peer::start(move |asked| match asked.path.as_str() {
                "/" => Does::says(status, &[("location", "there#part")], ""),
                _ => Does::says(200, &[], ""),
            });
            let steps = format!(
                r#"      - {{name: go, {method}: "${{api}}/", redirects: 1, headers: {{x: "1"}}, text: some}}"#
            );
            assert!(is_ok(&once(&peer, version, &steps)), "{status} {method}");
            let asked = &peer.asked()[1];
            let has_body = expected != "GET";
            let found = (asked.line(), asked.field("content-type").is_some());
            let line = format!("{expected} /there");
            assert_eq!(found, (line, has_body), "{status} {method}");
            let is_longer = asked.bytes == peer.asked()[0].bytes + 5;
            assert_eq!(is_longer, has_body && version == 1);
        }
    }
}

#[test]
fn encodings_of_a_body_may_be_in_any_case_and_in_several_fields() {
    let body = gzip(br#"{"a": 1}"#);
    for version in [1, 2] {
        let body = body.clone();
        let peer = Peer::start(move |_| {
            Does::Replies(Reply {
                status: 200,
                fields: [
                    ("content-type", "Application/JSON;charset=UTF-8"),
                    ("content-encoding", " GZip , identity "),
                    ("content-encoding", "Identity"),
                ]
                .map(|(name, value)| (name, value.to_owned()))
                .to_vec(),
                body: body.clone(),
                ..Reply::default()
            })
        });
        let steps = r#"      - {name: go, get: "${api}/", expect: {json: {/a: 1}}}"#;
        assert!(is_ok(&once(&peer, version, steps)), "HTTP/{version}");
    }
}

#[test]
fn secrets_do_not_come_back_after_a_second_redirect() {
    for version in [1, 2] {
        let other = Peer::start(|asked| match asked.path.as_str() {
            "/1" => redirect("/2"),
            _ => Does::says(200, &[], ""),
        });
        let to = format!("http://{}/1", other.address);
        let first = Peer::start(move |_| redirect(&to));
        let targets = format!(
            "{{a: \"http://{}\", b: \"http://{}\"}}",
            first.address, other.address
        );
        let steps = r#"
      - {name: go, get: "${a}/", redirects: 3, headers: {authorization: secret, cookie: own=1, plain: x}}"#;
        let report = run(&targets, steps, &format!("http: {{version: {version}}}"));
        assert!(is_ok(&report), "{:?}", report.steps);
        assert_eq!(first.asked()[0].field("authorization"), Some("secret"));
        let asked = other.asked();
        assert_eq!(asked.len(), 2);
        for one in asked {
            let fields = ["plain", "authorization", "cookie"].map(|name| one.field(name));
            assert_eq!(fields, [Some("x"), None, None]);
        }
    }
}

#[test]
fn a_redirect_too_many_fails_its_step_unless_it_expects_that() {
    for version in [1, 2] {
        let peer = Peer::start(|_| redirect("/again"));
        let steps = r#"      - {name: go, get: "${api}/", redirects: 2}"#;
        let report = once(&peer, version, steps);
        assert_eq!(reasons(&report, "go"), [(Reason::Redirects, 1)]);
        assert_eq!(peer.asked().len(), 3);
        let steps = r#"      - {name: go, get: "${api}/", redirects: 2, expect: {status: 307}}"#;
        assert!(is_ok(&once(&peer, version, steps)));
        let steps = r#"      - {name: go, get: "${api}/"}"#;
        assert!(is_ok(&once(&peer, version, steps)), "none were asked for");
    }
}

#[test]
fn a_redirect_that_leads_nowhere_fails_its_step_and_its_checks_are_made() {
    let peer = Peer::start(|_| redirect("http://elsewhere.example/"));
    let steps =
        r#"      - {name: go, get: "${api}/", redirects: 2, expect: {headers: {location: x}}}"#;
    let report = once(&peer, 1, steps);
    assert_eq!(reasons(&report, "go"), [(Reason::Redirects, 1)]);
    assert_eq!(step(&report, "go").checks[1].failed, 1);
}

#[test]
fn nothing_of_a_redirect_is_left_in_the_response_after_it() {
    for version in [1, 2] {
        let peer = Peer::start(|asked| match asked.path.as_str() {
            "/" => Does::Replies(Reply {
                status: 302,
                fields: vec![
                    ("location", "/there".to_owned()),
                    ("content-encoding", "gzip".to_owned()),
                ],
                body: b"no JSON".to_vec(),
                trailers: vec![("sum", "1")],
            }),
            _ => Does::Replies(Reply {
                status: 200,
                body: br#"{"a": 2}"#.to_vec(),
                trailers: vec![("sum", "2")],
                ..Reply::default()
            }),
        });
        let steps = |a: u8| {
            format!(
                r#"      - {{name: go, get: "${{api}}/", redirects: 1, expect: {{json: {{/a: {a}}}}}}}"#
            )
        };
        assert!(is_ok(&once(&peer, version, &steps(2))));
        let report = once(&peer, version, &steps(1));
        assert_eq!(
            reasons(&report, "go"),
            [(Reason::Check(0), 1)],
            "HTTP/{version}"
        );
    }
}

#[test]
fn a_body_that_cannot_be_decoded_passes_no_check() {
    for version in [1, 2] {
        let peer = Peer::start(|_| Does::says(200, &[("content-encoding", "gzip")], "no gzip"));
        let steps = r#"      - {name: go, get: "${api}/", expect: {body: {contains: gzip}}}"#;
        let report = once(&peer, version, steps);
        assert_eq!(reasons(&report, "go"), [(Reason::Decoding, 1)]);
        let checks = &step(&report, "go").checks;
        assert!(
            checks.iter().skip(1).all(|check| check.passed == 0),
            "{checks:?}"
        );
    }
}

#[test]
fn a_server_that_closes_every_connection_is_asked_less_and_less_often() {
    for version in [1, 2] {
        let peer = Peer::start(|_| Does::Closes);
        let steps = r#"      - {name: go, post: "${api}/", text: a}"#;
        let more = format!(
            "http: {{version: {version}, connections: 1}}\nload: [{{users: 4, for: 1s}}]\nlimits: {{drain: 0s}}"
        );
        let report = run(&api(peer.address), steps, &more);
        assert_eq!(reasons(&report, "go")[0].0, Reason::Closed);
        // 20 ms, 40 ms, 80 ms, ...
        let accepted = peer.accepted.load(Ordering::Relaxed);
        assert!((2..10).contains(&accepted), "HTTP/{version}: {accepted}");
    }
}

#[test]
fn the_bytes_of_a_request_are_those_on_the_wire() {
    for version in [1, 2] {
        let peer = Peer::start(|asked: &Asked| match asked.path.as_str() {
            "/1" => redirect("/2"),
            _ => Does::says(200, &[], ""),
        });
        let steps = r#"      - {name: go, post: "${api}/1", redirects: 1, headers: {x: "${n}"}, text: "some ${n}"}"#;
        let more = format!(
            "data: {{n: {{range: [1, 9]}}}}\nhttp: {{version: {version}, connections: 1}}\nload: [{{iterations: 3}}]"
        );
        let report = run(&api(peer.address), steps, &more);
        let asked = peer.asked();
        assert_eq!(asked.len(), 6);
        let bytes: u64 = asked.iter().map(|one| one.bytes).sum();
        let sent = step(&report, "go").counts.sent_bytes;
        assert_eq!(sent, bytes, "HTTP/{version}");
    }
}

#[test]
fn an_answer_to_head_has_a_length_and_no_body() {
    for version in [1, 2] {
        let peer = Peer::start(|_| Does::says(200, &[], "12345"));
        let steps = r#"
      - {name: head, head: "${api}/", expect: {headers: {content-length: "5"}}}
      - {name: get, get: "${api}/", expect: {body: "12345"}}"#;
        let report = once(&peer, version, steps);
        assert!(is_ok(&report), "HTTP/{version}: {:?}", report.steps);
    }
}
