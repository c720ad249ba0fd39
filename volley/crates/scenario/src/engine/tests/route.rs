//! URLs with other authorities than those of the targets.

use std::sync::atomic::Ordering;

use super::peer::{Asked, Does, Peer};
use super::plan;
use super::wires::{api, is_ok, reasons, run, step, words};
use crate::report::Report;
use crate::tally::Reason;
use crate::testkit::texts::has;

const ROUTED: &str = "route: authority, ";

/// Three iterations of steps whose target is `peer`.
fn thrice(peer: &Peer, version: u8, route: &str, steps: &str) -> Report {
    let more = format!(
        "http: {{{route}version: {version}, connections: 2, timeout: 10s}}\nload: [{{users: 3}}, {{iterations: 3}}]"
    );
    run(&api(peer.address), steps, &more)
}

#[test]
fn a_url_with_another_authority_fails_unless_it_is_routed() {
    let steps = r#"
      - {name: make, post: "${api}/", save: {url: {header: location}}}
      - {name: read, get: "${url}", headers: {a: b}, save: {next: {header: location}}}
      - {name: next, get: "${next}", expect: {status: 200}}
      - {name: back, get: "${api}/", save: {next: {header: location, default: /own}}}
      - {name: own, get: "${next}"}
      - {name: last, get: "${last.url}"}"#;
    for version in [1, 2] {
        // A path means the host that has said it.
        let other = Peer::start(|_| Does::says(200, &[("location", "/next")], ""));
        let url = format!("http://{}/made", other.address);
        let peer = Peer::start(move |asked| match asked.method.as_str() {
            "POST" => Does::says(201, &[("location", &url)], ""),
            _ => Does::says(200, &[], ""),
        });
        let report = thrice(&peer, version, "", steps);
        assert_eq!(reasons(&report, "read"), [(Reason::Unrendered, 3)]);
        let remedy =
            "leads to no target of this file: name it in `targets`, or set `http.route: authority`";
        assert!(words(&report, "read").ends_with(remedy));
        assert_eq!(other.accepted.load(Ordering::Relaxed), 0);

        let routed = thrice(&peer, version, ROUTED, steps);
        assert!(is_ok(&routed), "HTTP/{version}");
        let asked = other.asked();
        let times = ["/made", "/next"].map(|path| other.times(path));
        assert_eq!((times, asked.len()), ([3, 3], 6));
        assert_eq!(peer.times("/own"), 6);
        let address = other.address.to_string();
        let is_own = |asked: &Asked| asked.field("host") == Some(&address);
        assert!(asked.iter().all(is_own));
        assert!(other.accepted.load(Ordering::Relaxed) <= 2);
    }
}

#[test]
fn a_redirect_to_another_authority_is_followed_without_secrets_if_it_is_routed() {
    let steps = r#"
      - {name: get, get: "${api}/", headers: {authorization: secret, a: b}, redirects: 3, expect: {status: 200}}"#;
    for version in [1, 2] {
        let other = Peer::start(|asked| match asked.path.as_str() {
            "/there" => Does::says(302, &[("location", "here")], ""),
            _ => Does::says(200, &[], ""),
        });
        let url = format!("http://{}/there", other.address);
        let peer = Peer::start(move |_| Does::says(307, &[("location", &url)], ""));
        let report = thrice(&peer, version, "", steps);
        assert_eq!(reasons(&report, "get"), [(Reason::Redirects, 3)]);
        assert!(words(&report, "get").contains("it leads to no target of this file"));

        let routed = thrice(&peer, version, ROUTED, steps);
        assert!(is_ok(&routed), "HTTP/{version}");
        let asked = other.asked();
        assert_eq!((other.times("/here"), asked.len()), (3, 6));
        let has = |name| asked.iter().filter(|one| one.field(name).is_some()).count();
        assert_eq!((has("a"), has("authorization")), (6, 0), "HTTP/{version}");
    }
}

/// A run in which each of these URLs is asked for once.
fn each(urls: &[String]) -> Report {
    let text = format!(
        r#"http: {{route: authority, connections: 1}}
data: {{url: {{rows: ["{}"], order: unique}}}}
load: [{{users: {}}}, {{iterations: {}}}]"#,
        urls.join("\", \""),
        urls.len(),
        urls.len()
    );
    let peer = Peer::start(|_| Does::says(200, &[], ""));
    let steps = "      - {name: get, get: \"${url}\"}";
    run(&api(peer.address), steps, &text)
}

#[test]
fn connections_are_opened_to_a_limited_number_of_authorities() {
    // Nothing listens there.
    let urls: Vec<_> = (1..=70)
        .map(|port| format!("http://127.0.0.1:{port}/"))
        .collect();
    let report = each(&urls);
    let mut found = reasons(&report, "get");
    found.sort_unstable();
    assert_eq!(found, [(Reason::Unrendered, 6), (Reason::Connect, 64)]);
    let failures = step(&report, "get").failures.iter();
    let words: Vec<_> = failures.map(|one| &one.samples[0]).collect();
    let limit =
        "leads to one more authority than the 64 that `route: authority` opens connections to";
    assert!(words.iter().any(|words| words.contains(limit)), "{words:?}");
}

#[test]
fn a_thread_opens_connections_only_to_the_authorities_that_it_asks() {
    let peers = [(); 2].map(|()| Peer::start(|_| Does::says(200, &[], "")));
    let [first, second] = [0, 1].map(|at| format!("http://{}/", peers[at].address));
    let named = Peer::start(|_| Does::says(200, &[], ""));
    let text = format!(
        r#"
targets: {{api: "http://{}"}}
http: {{version: 1, route: authority, connections: 2}}
data: {{url: {{rows: ["{first}", "{second}"], slice: thread}}}}
scenarios: {{s: {{steps: [{{get: "${{url}}"}}]}}}}
load: [{{users: 2}}, {{iterations: 200}}]
"#,
        named.address
    );
    assert!(is_ok(&super::report(&plan(&text), 2)));
    let accepted = peers.iter().map(|one| one.accepted.load(Ordering::Relaxed));
    assert_eq!(accepted.collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_name_without_an_address_fails_and_leaves_the_others_alone() {
    let there = Peer::start(|_| Does::says(200, &[], ""));
    let label = "a".repeat(70);
    let urls = [
        format!("http://{label}.invalid/"),
        format!("http://{}/", there.address),
    ];
    let report = each(&urls);
    assert_eq!(reasons(&report, "get"), [(Reason::Connect, 1)]);
    has(words(&report, "get"), &label);
    assert_eq!(there.asked().len(), 1);
}
