//! A run that is watched and changed while it goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use volley::serve::{Faults, Reference};

use crate::common::http::{Answer, ask, connect};
use crate::common::shape::UNARY;
use crate::common::{Report, Running, Scratch, Volley, awaited, faulty, reference, settled};
use crate::signals::interrupt;

/// A run that only a request ends, against a server without faults.
fn begin(flags: &str) -> (Reference, Running, String) {
    let server = reference(Faults::default());
    let (running, address) = start(&server, flags);
    (server, running, address)
}

/// A run that only a request ends, and where it takes orders.
fn start(server: impl std::fmt::Display, flags: &str) -> (Running, String) {
    let running = UNARY
        .checked("-z 10m -c 50 --connections 4 --threads 2 --control 127.0.0.1:0")
        .flags(flags)
        .start(server);
    let address = running.control();
    (running, address)
}

fn patch(address: &str, body: &str) -> Answer {
    ask(address, "PATCH", "/v1/load", &[], body)
}

fn post(address: &str, path: &str) -> Answer {
    ask(address, "POST", path, &[], "")
}

/// Waits until the run's figures are as wanted.
fn until(address: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    awaited(|| ask(address, "GET", "/v1/stats", &[], "").json(), wanted)
}

fn stop(running: Running, address: &str) -> Report {
    assert_eq!(post(address, "/v1/stop").status, 200);
    running.wait().report()
}

/// The calls that were due are those of the run's own list of changes, and none was lost.
#[track_caller]
fn keeps_to_its_events(report: &Report, rps: f64) {
    assert_eq!(report.failed_total(), 0);
    let elapsed_s = report.own("/elapsed_s").as_f64().unwrap();
    let (mut from_s, mut rate, mut is_paused, mut due) = (0.0, rps, false, 0.0);
    let events = report.own("/events").as_array().unwrap();
    for event in events {
        let at_s = event["at_s"].as_f64().unwrap().min(elapsed_s);
        due += if is_paused { 0.0 } else { rate } * (at_s - from_s);
        from_s = at_s;
        match event["what"].as_str().unwrap() {
            "rps" => rate = event["value"].as_f64().unwrap(),
            "pause" => is_paused = true,
            "resume" => is_paused = false,
            _ => {}
        }
    }
    due += rate * (elapsed_s - from_s);
    let intended: u64 = report.numbers("/series/intended").iter().sum();
    // Each part begins with a whole call.
    let most_off = (events.len() + 1) as f64;
    assert!(
        (intended as f64 - due).abs() <= most_off,
        "{intended} and {due}"
    );
    let sent: u64 = report.numbers("/series/sent").iter().sum();
    assert_eq!(report.sent(), sent);
    // On a busy host, a thread may hear of the end a little late, and send what would have been due by then.
    assert!(sent + report.number("/missed") >= intended, "{sent}");
}

#[test]
fn a_rate_that_is_changed_again_and_again_loses_no_call() {
    let (server, running, address) = begin("--rps 1000");
    until(&address, |stats| stats["phase"] == "window");
    for change in 0..10 {
        let rps = if change % 2 == 0 { 5000 } else { 1000 };
        let answer = patch(&address, &format!(r#"{{"rps": {rps}}}"#));
        assert_eq!(
            (answer.status, answer.json()["ok"].as_bool()),
            (200, Some(true))
        );
        let sent = settled_total(&address);
        until(&address, |stats| {
            stats["total"]["sent"].as_u64().unwrap() > sent
        });
        assert_eq!(until(&address, |_| true)["load"]["rps"], rps);
    }
    let report = stop(running, &address);
    keeps_to_its_events(&report, 1000.0);
    assert_eq!(report.own("/events").as_array().unwrap().len(), 11);
    report.warned_of("stopped by order after");
    assert_eq!(settled(&server).calls_ok, report.ok() + report.cut());
}

fn settled_total(address: &str) -> u64 {
    until(address, |_| true)["total"]["sent"].as_u64().unwrap()
}

#[test]
fn a_paused_schedule_goes_on_where_it_stopped() {
    let (_server, running, address) = begin("--rps 2000");
    until(&address, |stats| stats["phase"] == "window");
    assert_eq!(post(&address, "/v1/pause").status, 200);
    let again = post(&address, "/v1/pause");
    assert_eq!(again.status, 409);
    assert_eq!(again.json()["error"], "the run is paused already");
    until(&address, |stats| {
        stats["load"]["paused"] == true && stats["second"]["due"] == 0
    });
    // It stays paused, and the new rate begins with its end.
    assert_eq!(patch(&address, r#"{"rps": 3000}"#).status, 200);
    let changed = until(&address, |_| true);
    assert_eq!(
        (&changed["load"]["paused"], &changed["load"]["rps"]),
        (&true.into(), &3000.into())
    );
    let later = changed["elapsed_s"].as_u64().unwrap() + 2;
    let still = until(&address, |stats| stats["elapsed_s"].as_u64() >= Some(later));
    assert_eq!(still["second"]["due"], 0);
    assert_eq!(post(&address, "/v1/resume").status, 200);
    until(&address, |stats| stats["second"]["due"] == 3000);
    keeps_to_its_events(&stop(running, &address), 2000.0);
}

#[test]
fn calls_that_wait_through_a_pause_are_warned_of() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(100)));
    // Its 50 workers make at most 500 calls a second.
    let (running, address) = start(&server, "--rps 5000");
    until(&address, |stats| stats["total"]["ok"].as_u64() > Some(50));
    assert_eq!(post(&address, "/v1/pause").status, 200);
    until(&address, |stats| stats["second"]["sent"] == 0);
    assert_eq!(post(&address, "/v1/resume").status, 200);
    until(&address, |stats| stats["second"]["sent"] != 0);
    let report = stop(running, &address);
    report.warned_of("waited through a pause");
}

#[test]
fn workers_are_added_and_sent_away() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(500)));
    let (running, address) = start(&server, "");
    for workers in [200_u64, 4, 60] {
        assert_eq!(
            patch(&address, &format!(r#"{{"concurrency": {workers}}}"#)).status,
            200
        );
        until(&address, |stats| stats["load"]["concurrency"] == workers);
        let seen = awaited(|| server.counts(), |counts| counts.calls_open() == workers);
        // It stays so: a call that ends makes room for one other.
        awaited(
            || server.counts(),
            |counts| {
                assert!(counts.calls_open() < 2 * workers, "{counts:?}");
                counts.calls_ok >= seen.calls_ok + 2 * workers
            },
        );
    }
    let report = stop(running, &address);
    assert_eq!(report.failed_total(), 0);
    assert!(report.cut() <= 60, "{}", report.cut());
}

#[test]
fn what_a_run_cannot_do_is_refused_and_changes_nothing() {
    let (_server, running, address) = begin("--rps 100");
    let number = "`rps` must be a whole number from 1 to 4294967295";
    let form = "a JSON object with `rps` or `concurrency` is needed, such as {\"rps\": 1000}";
    let both = "give one of `rps` and `concurrency`, not both";
    let rate =
        "the rate must be from 1 to 4294967295 calls per second; to send nothing, pause the run";
    let workers = "the number of workers must be from 2 to 1000000; to send nothing, pause the run";
    for (body, reason) in [
        (r#"{"rps": 0.5}"#, number),
        (r#"{"rps": -1}"#, number),
        (r#"{"rps": 1e18}"#, number),
        (r#"{"rps": "5"}"#, number),
        (r#"{"rps": NaN}"#, form),
        (r#"{"rps": 1, "concurrency": 1}"#, both),
        (r#"{"rate": 1}"#, form),
        ("[]", form),
        ("", form),
        (r#"{"rps": 0}"#, rate),
        (r#"{"concurrency": 0}"#, workers),
        (r#"{"concurrency": 1000001}"#, workers),
    ] {
        let answer = patch(&address, body);
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, error.as_str()),
            (400, Some(reason)),
            "{body}"
        );
    }
    assert_eq!(
        patch(&address, &format!("{{\"rps\": 1{}}}", " ".repeat(9000))).status,
        400
    );
    assert_eq!(post(&address, "/v1/resume").status, 409);
    assert_eq!(post(&address, "/v1/load").status, 405);
    assert_eq!(ask(&address, "GET", "/v1/pause", &[], "").status, 405);
    assert_eq!(ask(&address, "GET", "/", &[], "").status, 404);
    let page = [("origin", "https://example.com")];
    assert_eq!(ask(&address, "POST", "/v1/stop", &page, "").status, 403);
    let report = stop(running, &address);
    let events = report.own("/events").as_array().unwrap();
    assert_eq!(
        (events.len(), events[0]["what"].as_str()),
        (1, Some("stop"))
    );
}

#[test]
fn a_closed_loop_has_no_rate_to_change() {
    let (_server, running, address) = begin("");
    let answer = patch(&address, r#"{"rps": 100}"#);
    assert_eq!(answer.status, 409);
    assert_eq!(post(&address, "/v1/pause").status, 200);
    until(&address, |stats| stats["second"]["sent"] == 0);
    assert_eq!(post(&address, "/v1/resume").status, 200);
    until(&address, |stats| {
        stats["second"]["sent"].as_u64().unwrap() > 0
    });
    stop(running, &address);
}

#[test]
fn calls_that_wait_for_no_worker_are_paused_too() {
    let (_server, running, address) = begin("--async");
    until(&address, |stats| stats["total"]["ok"].as_u64() > Some(0));
    assert_eq!(post(&address, "/v1/pause").status, 200);
    until(&address, |stats| {
        stats["load"]["paused"] == true && stats["second"]["sent"] == 0
    });
    assert_eq!(stop(running, &address).failed_total(), 0);
}

#[test]
fn before_its_start_a_run_can_only_be_stopped() {
    let server = reference(Faults::default());
    let (running, address) = start(
        server.address(),
        "--rps 100 --start-at 18446744073709551615",
    );
    let answer = patch(&address, r#"{"rps": 1000}"#);
    assert_eq!(answer.status, 409);
    assert_eq!(answer.json()["error"], "the load has not started yet");
    assert_eq!(post(&address, "/v1/stop").status, 200);
    let finished = running.wait();
    assert_eq!(finished.code(), 1);
    finished.said("nothing was measured");
}

#[test]
fn a_run_that_is_stopped_in_its_warm_up_has_no_report() {
    let (_server, running, address) = begin("--warmup 10m");
    until(&address, |stats| stats["phase"] == "warmup");
    assert_eq!(post(&address, "/v1/stop").status, 200);
    let finished = running.wait();
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, ""));
    finished.said("before the window opened: nothing was measured");
}

#[test]
fn a_file_that_is_no_socket_is_kept() {
    let scratch = Scratch::new();
    let path = scratch.write("notes.txt", "keep me");
    let finished = UNARY
        .run("--metrics")
        .arg(format!("unix:{}", path.display()))
        .run("localhost:1");
    assert_eq!(finished.code(), 1);
    finished.said("cannot listen on");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "keep me");
}

#[test]
fn a_client_that_never_finishes_its_request_holds_no_other_up() {
    let (_server, running, address) = begin("--rps 100");
    let mut silent = connect(&address);
    let head = "PATCH /v1/load HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n";
    silent.write_all(head.as_bytes()).unwrap();
    assert_eq!(patch(&address, r#"{"rps": 200}"#).status, 200);
    stop(running, &address);
}

#[test]
fn clients_that_do_not_read_hold_no_order_up() {
    let (_server, running, address) = begin("--rps 100");
    until(&address, |stats| stats["phase"] == "window");
    let requests = b"GET /v1/stats HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(1000);
    let greedy: Vec<TcpStream> = (0..16)
        .map(|_| {
            let mut client = connect(&address);
            client.set_nonblocking(true).unwrap();
            while client.write(&requests).is_ok() {}
            client
        })
        .collect();
    let silent: Vec<TcpStream> = (0..100).map(|_| connect(&address)).collect();
    let report = stop(running, &address);
    report.warned_of("stopped by order after");
    drop((greedy, silent));
}

#[test]
fn strangers_do_not_drive_out_a_client_with_the_token() {
    let (_server, running, address) = begin("--rps 100 --control-token secret");
    let token = [("authorization", "Bearer secret")];
    let mut client = connect(&address);
    let head = "PATCH /v1/load HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer secret\r\n\
                connection: close\r\nexpect: 100-continue\r\ncontent-length: 12\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let mut go_on = [0; 25];
    client.read_exact(&mut go_on).unwrap();
    assert_eq!(go_on, *b"HTTP/1.1 100 Continue\r\n\r\n");
    let strangers: Vec<TcpStream> = (0..200).map(|_| connect(&address)).collect();
    let stats = || ask(&address, "GET", "/v1/stats", &token, "").json();
    awaited(stats, |stats| stats["phase"] == "window");
    client.write_all(b"{\"rps\": 200}").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(stats()["load"]["rps"], 200);
    assert_eq!(ask(&address, "POST", "/v1/stop", &token, "").status, 200);
    running.wait().report();
    drop(strangers);
}

#[test]
fn a_name_that_may_lead_anywhere_is_refused_without_the_token() {
    let (server, running, address) = begin("--rps 100");
    let status = |host, path| ask(&address, "GET", path, &[("host", host)], "").status;
    for path in ["/metrics", "/v1/stats"] {
        for host in [
            "evil.example",
            "evil.example:9090",
            "localhost.evil.example",
            "10.0.0.1",
            "",
        ] {
            assert_eq!(status(host, path), 421, "{host}");
        }
        // A tunnel has another port.
        for host in ["localhost", "localhost:1", "127.0.0.1:9090", "[::1]:9090"] {
            assert_eq!(status(host, path), 200, "{host}");
        }
    }
    let evil = [("host", "evil.example")];
    let refused = ask(&address, "POST", "/v1/stop", &evil, "");
    let reason = "this name is not known here: use localhost, the address, or the token";
    assert_eq!(refused.json()["error"], reason);
    assert_eq!(post(&address, "/v1/stop").status, 200);
    running.wait();

    let (running, address) = start(&server, "--control-token secret");
    assert_eq!(ask(&address, "GET", "/metrics", &evil, "").status, 421);
    let named = [
        ("host", "loadgen1:9090"),
        ("authorization", "Bearer secret"),
    ];
    assert_eq!(ask(&address, "GET", "/metrics", &named, "").status, 200);
    assert_eq!(ask(&address, "POST", "/v1/stop", &named, "").status, 200);
    running.wait();
}

#[test]
fn a_token_is_asked_for_once_there_is_one() {
    let (_server, running, address) = begin("--control-token secret");
    assert_eq!(post(&address, "/v1/stop").status, 401);
    let wrong = [("authorization", "Bearer secres")];
    assert_eq!(ask(&address, "POST", "/v1/stop", &wrong, "").status, 401);
    let right = [("authorization", "Bearer secret")];
    let total = || ask(&address, "GET", "/v1/stats", &right, "").json()["total"]["ok"].clone();
    awaited(total, |ok| *ok != 0);
    assert_eq!(ask(&address, "POST", "/v1/stop", &right, "").status, 200);
    assert!(running.wait().report().ok() > 0);
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    for flag in ["--control", "--metrics"] {
        let finished = UNARY.run(flag).arg("0.0.0.0:0").run("localhost:1");
        assert_eq!(finished.code(), 2);
        let line = format!("error: `{flag}`: other hosts can reach this address");
        assert!(finished.stderr.starts_with(&line), "{finished:?}");
    }
}

#[test]
fn metrics_are_read_over_a_unix_socket_which_is_then_removed() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let socket = scratch.path("volley.sock");
    // That of a program that is gone.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let running = UNARY
        .run("-z 10m --rps 100 --metrics")
        .arg(format!("unix:{}", socket.display()))
        .start(&server);
    let address = format!("unix:{}", socket.display());
    assert_eq!(
        running.first_words(),
        format!("volley: metrics at {address}")
    );
    let text = awaited(
        || ask(&address, "GET", "/metrics", &[], "").body,
        |text| {
            let is_open =
                |line: &str| line.starts_with("volley_window_open{") && line.ends_with(" 1");
            text.lines().any(is_open)
        },
    );
    assert!(text.contains("\nvolley_load_rps{name=\"\","), "{text}");
    assert_eq!(ask(&address, "POST", "/v1/stop", &[], "").status, 404);
    interrupt(running.pid(), Signal::INT);
    running.wait().report();
    assert!(!socket.exists());
}

/// The lines of a run's seconds in its window, and its report.
fn live_lines(faults: Faults, flags: &str) -> (Vec<Value>, Report) {
    let server = reference(faults);
    let scratch = Scratch::new();
    let path = scratch.path("live.jsonl");
    let report = UNARY
        .checked("--threads 2 --connections 4 --live-json")
        .arg(&path)
        .flags(flags)
        .report(&server);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.collect(), report)
}

fn sum(lines: &[Value], key: &str) -> u64 {
    lines.iter().map(|line| line[key].as_u64().unwrap()).sum()
}

fn length_s(lines: &[Value]) -> f64 {
    let lengths = lines.iter().map(|line| line["length_s"].as_f64().unwrap());
    lengths.sum()
}

#[test]
fn each_second_is_a_line_of_json_and_together_they_are_the_report() {
    for flags in [
        "-z 1200ms --rps 500 --warmup 1100ms",
        "-z 1s --rps 200",
        "-z 300ms",
        "-n 250 -c 7 --rps 200",
        "-z 1s --rps 300 --duration-stop wait",
        "-n 20",
    ] {
        let (lines, report) = live_lines(Faults::default(), flags);
        let (warm_up, window): (Vec<Value>, Vec<Value>) = lines
            .into_iter()
            .partition(|line| line["phase"] == "warmup");
        for (second, line) in window.iter().enumerate() {
            assert_eq!(line["second"], second, "{flags}");
            // The line has the calls that are open, too: they can only raise its figures, unless too many are open.
            let own = report.own(&format!("/seconds/{second}"));
            for (mine, its) in [("p50_ns", "p50"), ("p99_ns", "p99"), ("max_ns", "max")] {
                let bounds = line["at_least"].as_array();
                let is_bound = bounds.is_some_and(|names| names.contains(&mine.into()));
                let (mine, its) = (&line[mine], &own[its]);
                let is_raised = mine.as_u64() >= its.as_u64();
                assert!(is_bound || is_raised, "{flags}: {line} {own}");
                // With `-n`, none is open at the end.
                if flags.starts_with("-n") && second + 1 == window.len() {
                    assert_eq!(mine, its, "{flags}: {line} {own}");
                }
            }
        }
        assert_eq!(sum(&window, "messages"), report.messages(), "{flags}");
        assert_eq!(sum(&window, "ok"), report.ok(), "{flags}");
        assert_eq!(sum(&window, "sent"), report.sent(), "{flags}");
        let due: u64 = report.numbers("/series/intended").iter().sum();
        assert_eq!(sum(&window, "due"), due, "{flags}");
        let elapsed_s = report.own("/elapsed_s").as_f64().unwrap();
        assert!((length_s(&window) - elapsed_s).abs() < 1e-3, "{flags}");
        let warm_messages: u64 = match report.json["volley"].get("warmup") {
            None => 0,
            Some(_) => report.numbers("/warmup/seconds").iter().sum(),
        };
        assert_eq!(sum(&warm_up, "messages"), warm_messages, "{flags}");
    }
}

#[test]
fn a_second_in_which_nothing_ends_has_the_ages_of_what_is_open() {
    for flags in ["-z 1s", "-z 1s --rps 100"] {
        let silent = faulty(|faults| faults.delay = Duration::from_secs(600));
        let (lines, report) = live_lines(silent, flags);
        let last = lines.last().unwrap();
        let bounds = serde_json::json!(["p50_ns", "p99_ns", "max_ns"]);
        assert_eq!(last["at_least"], bounds, "{flags}: {last}");
        // Until the end, the oldest call was open.
        let oldest = report.own("/latency_ns/oldest");
        assert_eq!(&last["max_ns"], oldest, "{flags}: {last}");
    }
}

#[test]
fn lines_and_report_do_not_share_stdout() {
    let finished = Volley::call(UNARY.method)
        .flags("--live-json -")
        .run("localhost:1");
    assert_eq!(finished.code(), 2);
    finished.said("give the report a file with `-o`");
}
