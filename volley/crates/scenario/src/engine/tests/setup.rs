//! Setup, teardown, and values that grow old.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::super::Finished;
use super::load::done;
use super::peer::{Asked, Does, Peer};
use super::{failure, finish, finish_by};
use crate::report::StepReport;
use crate::testkit::texts::begins;

#[test]
fn teardown_runs_after_a_signal_and_after_a_halt() {
    let file = "http: {version: 1, connections: 2}
limits: {drain: 1s}
scenarios: {shop: {on_failure: end_run, steps: [{name: buy, get: '${api}/work'}]}}
load: [{users: 2, for: 1h}]
teardown: [{name: bye, get: '${api}/bye'}]
";
    for is_signal in [true, false] {
        let signal = Arc::<AtomicBool>::default();
        let set = Arc::clone(&signal);
        let server = Peer::plain(move |asked| {
            set.store(is_signal, Ordering::Relaxed);
            let is_good = is_signal || asked.path == "/bye";
            Some((if is_good { 200 } else { 503 }, String::new()))
        });
        let finished = finish_by(&server, 2, &signal, file).unwrap();
        assert_eq!(server.times("/bye"), 1, "signal: {is_signal}");
        let failure = finished.failure.map(|failure| failure.to_string());
        match is_signal {
            true => assert_eq!(failure, None),
            false => {
                let start = "scenario `shop`: step `buy` failed and ended the run (`on_failure: end_run`): ";
                let failure = failure.unwrap();
                assert!(
                    failure.starts_with(start) && failure.contains("503"),
                    "{failure}"
                );
            }
        }
    }
}

#[test]
fn setup_load_and_teardown_draw_no_row_twice() {
    for slice in ["all", "user", "thread"] {
        let server = Peer::start(|_| Does::says(200, &[], ""));
        let file = format!(
            "http: {{version: 1, connections: 2}}
data:
  n: {{range: [0, 20], order: unique, slice: {slice}}}
  m: {{range: [0, 1000]}}
setup: [{{get: '${{api}}/setup/${{m}}'}}, {{get: '${{api}}/${{n}}'}}]
scenarios: {{one: {{steps: [{{get: '${{api}}/${{n}}'}}, {{get: '${{api}}/load/${{m}}'}}]}}}}
load: [{{users: 2}}, {{iterations: 6}}]
teardown: [{{name: last, get: '${{api}}/${{n}}'}}]
"
        );
        done(&server, 1, &file);
        let all = server.paths();
        let paths = |start: &str| {
            let numbers = all
                .iter()
                .filter_map(|path| path.strip_prefix(start)?.parse().ok());
            numbers.collect::<BTreeSet<u64>>()
        };
        assert_eq!(paths("/").len(), 8, "{slice}");
        // Setup takes no more rows of a circular feed than it needs.
        assert_eq!(paths("/setup/").first(), Some(&0));
        assert_eq!(paths("/load/").first(), Some(&1));
    }
}

#[test]
fn a_path_that_setup_has_saved_leads_to_where_it_came_from() {
    let other = Peer::start(|_| Does::says(200, &[("location", "/next")], ""));
    let url = format!("http://{}/made", other.address);
    let server = Peer::start(move |_| Does::says(201, &[("location", &url)], ""));
    let file = "http: {version: 1, connections: 2, route: authority}
setup:
  - {post: '${api}/', save: {url: {header: location}}}
  - {get: '${url}', save: {next: {header: location}}}
scenarios: {one: {steps: [{get: '${next}', expect: {status: 200}}]}}
load: [{users: 2}, {iterations: 4}]
teardown: [{delete: '${next}', expect: {status: 200}}]
";
    assert_eq!(done(&server, 1, file).iterations().ok, 4);
    assert_eq!((other.times("/next"), other.asked().len()), (5, 6));
}

/// What a server knows of two values, and those who wait for news.
#[derive(Default)]
struct Seen(Mutex<[u64; 2]>, Condvar);

#[test]
fn values_that_are_asked_for_at_once_do_not_overwrite_each_other() {
    let file = "http: {version: 1, connections: 8}
limits: {drain: 1s}
setup:
  - {get: '${api}/a', save: {a: {from: body, refresh: {after: 200ms}}}}
  - {get: '${api}/b', save: {b: {from: body, refresh: {after: 200ms}}}}
scenarios: {one: {steps: [{get: '${api}/work', headers: {a: '${a}', b: '${b}'}}]}}
load: [{users: 1, for: 1h}]
";
    let (signal, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Seen::default()));
    let (ends, knows) = (Arc::clone(&signal), Arc::clone(&seen));
    let given = [AtomicU64::new(1), AtomicU64::new(1)];
    let went_back = Arc::new(AtomicBool::new(false));
    let back = Arc::clone(&went_back);
    let server = Peer::plain(move |asked: &Asked| {
        let next = |at: usize| given[at].fetch_add(1, Ordering::Relaxed);
        let Seen(seen, news) = &*knows;
        let value = match asked.path.as_str() {
            "/a" => next(0),
            "/b" => {
                let value = next(1);
                // The second one comes only when the news of the other value is out.
                let is_early = |seen: &mut [u64; 2]| value == 2 && seen[0] < 2;
                drop(news.wait_while(seen.lock().unwrap(), is_early).unwrap());
                value
            }
            _ => {
                let now =
                    ["a", "b"].map(|name| asked.field(name).unwrap_or_default().parse().unwrap());
                let before = std::mem::replace(&mut *seen.lock().unwrap(), now);
                news.notify_all();
                if now[0] < before[0] || now[1] < before[1] {
                    back.store(true, Ordering::Relaxed);
                }
                ends.store(now[1] >= 3, Ordering::Relaxed);
                0
            }
        };
        Some((200, value.to_string()))
    });
    let finished = finish_by(&server, 1, &signal, file).unwrap();
    assert!(finished.failure.is_none());
    assert!(!went_back.load(Ordering::Relaxed));
}

#[test]
fn a_value_is_asked_for_again_with_the_rows_of_setup_and_by_its_own_age() {
    let file = "http: {version: 1, connections: 4}
limits: {drain: 1s}
data:
  client: {rows: [{id: first}, {id: second}], order: circular}
  nonce: {uuid: true}
setup:
  - {get: '${api}/token', headers: {client: '${client.id}', nonce: '${nonce}'}, save: {t: {json: /t, refresh: {after: /s}}}}
  - {get: '${api}/slow'}
scenarios: {one: {steps: [{get: '${api}/', headers: {t: '${t}'}, think: 10ms}]}}
load: [{users: 1, for: 5m}]
";
    let (signal, tokens) = (Arc::<AtomicBool>::default(), AtomicU64::new(1));
    let ends = Arc::clone(&signal);
    let server = Peer::plain(move |asked| {
        match asked.path.as_str() {
            "/token" => {
                let token = tokens.fetch_add(1, Ordering::Relaxed);
                // The first one is old when the load begins; the second one for longer than the test.
                let age = if token == 1 { "0.2" } else { "1e6" };
                return Some((200, format!("{{\"t\": {token}, \"s\": {age}}}")));
            }
            "/slow" => std::thread::sleep(Duration::from_millis(300)),
            _ => ends.store(asked.field("t") == Some("2"), Ordering::Relaxed),
        }
        Some((200, String::new()))
    });
    let finished = finish_by(&server, 1, &signal, file).unwrap();
    assert!(finished.failure.is_none() && finished.report.facts.warnings.is_empty());
    let mut asked = server.asked();
    asked.retain(|asked| asked.path == "/token");
    let [clients, nonces] =
        ["client", "nonce"].map(|name| [0, 1].map(|at| asked[at].field(name).unwrap_or_default()));
    assert_eq!(clients, ["first", "first"]);
    assert!(!nonces[1].is_empty() && nonces[0] != nonces[1]);
}

#[test]
fn a_value_that_lasts_no_longer_than_it_is_asked_for_early_is_reported() {
    let file = "http: {version: 1, connections: 4}
setup:
  - {name: token, get: '${api}/token', save: {t: {json: /t, refresh: {after: /s, early: 30s}}}}
scenarios: {one: {steps: [{get: '${api}/', headers: {t: '${t}'}}]}}
";
    for (age, is_reported) in [(30, true), (3600, false)] {
        let server = Peer::plain(move |_| Some((200, format!("{{\"t\": 1, \"s\": {age}}}"))));
        let warnings = finish(&server, 1, file).unwrap().report.facts.warnings;
        let is_own = |line: &String| line.contains("step `token` is done again every 100 ms");
        assert_eq!(warnings.iter().any(is_own), is_reported, "{warnings:?}");
    }
}

#[test]
fn an_age_that_is_no_number_is_said_in_setup_and_later() {
    let file = "http: {version: 1, connections: 4}
limits: {drain: 1s}
setup:
  - {name: token, get: '${api}/token', save: {t: {json: /t, refresh: {after: /s}}}}
scenarios: {one: {steps: [{get: '${api}/', headers: {t: '${t}'}, think: 10ms}]}}
load: [{users: 1, for: 5m}]
";
    for bad in ["\"soon\"", "-1", "0", "\"inf\""] {
        let server = Peer::plain(move |_| Some((200, format!("{{\"t\": 1, \"s\": {bad}}}"))));
        let age = bad.trim_matches('"');
        let start = format!("setup: step `token` failed: `{age}` is no number of seconds above 0");
        let failure = failure(finish(&server, 1, file));
        begins(&failure, &start);
    }
    let (signal, asked) = (Arc::new(AtomicBool::new(false)), AtomicU64::new(0));
    let ends = Arc::clone(&signal);
    let server = Peer::plain(move |request| {
        if request.path != "/token" {
            ends.store(asked.load(Ordering::Relaxed) > 2, Ordering::Relaxed);
            return Some((200, String::new()));
        }
        let age = match asked.fetch_add(1, Ordering::Relaxed) {
            0 => "0.1",
            _ => "\"soon\"",
        };
        Some((200, format!("{{\"t\": 1, \"s\": {age}}}")))
    });
    let report = finish_by(&server, 1, &signal, file).unwrap().report;
    let warnings = report.facts.warnings;
    assert!(warnings[0].contains("step `token`") && warnings[0].contains("`soon` is no number"));
}

#[test]
fn requests_of_setup_and_teardown_are_counted() {
    let server = Peer::start(|asked| match asked.path.as_str() {
        "/bye" => Does::says(500, &[], ""),
        _ => Does::says(200, &[], r#"{"token": "t"}"#),
    });
    let file = "http: {version: 1, connections: 1}
setup: [{name: login, post: '${api}/login', save: {token: {json: /token}}}]
scenarios: {one: {steps: [{name: a, get: '${api}/?${token}'}]}}
load: [{users: 1}, {iterations: 5}]
teardown: [{name: bye, get: '${api}/bye'}]
thresholds: ['max(login) < 1h', 'checks(login.save token) >= 100%', 'failed(bye) < 1', 'sent <= 5']
";
    let Finished { report, failure } = finish(&server, 1, file).unwrap();
    begins(
        &failure.unwrap().to_string(),
        "teardown: step `bye` failed: ",
    );
    let steps = report.shown_steps();
    let counts = steps.map(|step| (&*step.names.name, step.counts.sent, step.counts.failed));
    let counts: Vec<_> = counts.collect();
    assert_eq!(counts, [("login", 1, 0), ("a", 5, 0), ("bye", 1, 1)]);
    let failed: Vec<_> = report.thresholds.iter().map(|one| one.failed).collect();
    assert_eq!(failed, [false, false, true, false]);
    // The seconds of a run are those of its load.
    let is_apart =
        |step: &StepReport| step.names.scenario == "one" || step.series.points.is_empty();
    assert!(report.steps.iter().all(is_apart));
}
