//! `volley run` and `volley check --once`, as programs.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use volley::serve::{Faults, Reference};

use crate::common::{Scratch, command, ends, has, reference, volley};

/// A server, and files that are run against it.
struct Shop {
    server: Reference,
    scratch: Scratch,
}

impl Shop {
    fn open() -> Self {
        Self {
            server: reference(Faults::default()),
            scratch: Scratch::new(),
        }
    }

    /// A file whose scenario creates and deletes an item with a token; `change` is the status that a change must have.
    fn file(&self, change: u16, more: &str) -> String {
        let rest = format!(
            r#"setup:
  - {{name: login, post: "${{api}}/oauth/token", form: {{password: hunter22}}, save: {{token: {{json: /access_token}}}}}}
scenarios:
  crud:
    steps:
      - name: create
        post: ${{api}}/v1/items
        headers: {{authorization: "Bearer ${{token}}"}}
        json: {{owner: ann}}
        expect: {{status: 201}}
        save: {{url: {{header: location}}}}
      - {{name: change, patch: "${{url}}", json: {{owner: bob}}, expect: {{status: {change}}}}}
      - {{name: remove, delete: "${{url}}"}}
{more}"#
        );
        self.write("shop.yaml", &rest)
    }

    /// A file of which all but the server's address is given.
    fn write(&self, name: &str, rest: &str) -> String {
        let path = self.path(name);
        let text = format!(
            "\ntargets: {{api: \"http://{}\"}}\n{rest}",
            self.server.address()
        );
        fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> String {
        self.scratch.path(name).display().to_string()
    }
}

fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const TEN: &str = "load: [{users: 2}, {iterations: 10}]";

#[test]
fn a_run_reports_each_step_and_ends_with_0() {
    let shop = Shop::open();
    let (status, out, errors) = volley(&["run", &shop.file(204, TEN), "-O", "json"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&out).unwrap();
    let counts = shop.server.counts();
    assert_eq!(
        (counts.created, counts.patched, counts.deleted),
        (10, 10, 10)
    );
    assert_eq!(report["scenarios"][0]["iterations"]["ok"], 10);
}

#[test]
fn a_failed_iteration_ends_with_1_unless_thresholds_decide() {
    let shop = Shop::open();
    let (status, out, errors) = volley(&["run", &shop.file(200, TEN)]);
    assert_eq!(
        (status, errors.as_str()),
        (1, "failed: 10 of 10 iterations; the report says why\n")
    );
    has(&out, "crud.change   10   status   expected 200, was 204");
    let more = format!("{TEN}\nthresholds: ['max(crud.create) < 1h']");
    assert_eq!(volley(&["run", &shop.file(200, &more)]).0, 0);
    let conditions = [
        "--fail-if",
        "failed(crud) > 10%",
        "--fail-if",
        "mean(create) > 1h",
    ];
    let file = shop.file(200, &more);
    let (status, _, errors) = volley(&[&["run", &file][..], &conditions].concat());
    assert_eq!(status, 99);
    assert!(
        errors == "failed: failed(crud) is 50% (fails if failed(crud) > 10%)\n",
        "{errors}"
    );
    let mistaken = ["--fail-if", "p99(craete) > 50ms"];
    let (status, out, errors) = volley(&[&["run", &file][..], &mistaken].concat());
    assert_eq!((status, out.as_str()), (2, ""));
    assert_eq!(
        errors,
        "error: `--fail-if`: no scenario or step is named `craete`; did you mean `create`?\n"
    );
}

#[test]
fn nothing_but_a_sound_file_and_a_server_makes_a_run() {
    let shop = Shop::open();
    let broken = shop.file(204, "loads: 1");
    let (status, out, errors) = volley(&["run", &broken]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(errors.contains("shop.yaml:16: loads: "), "{errors}");
    let file = shop.file(204, TEN);
    drop(shop.server);
    let (status, out, errors) = volley(&["run", &file]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(
        errors.starts_with("error: cannot connect to target `api` at ")
            && errors.lines().count() == 1,
        "{errors}"
    );
}

#[test]
fn each_request_is_a_line_of_the_log() {
    let shop = Shop::open();
    let log = shop.path("log");
    assert_eq!(volley(&["run", &shop.file(204, TEN), "--log", &log]).0, 0);
    let lines = lines(&log);
    assert_eq!(lines.len(), 31);
    let of = |step: &str, status: u16| {
        let is_of = |line: &&Value| line["step"] == step && line["status"] == status;
        lines.iter().filter(is_of).count()
    };
    let steps = [
        ("login", 200),
        ("create", 201),
        ("change", 204),
        ("remove", 204),
    ];
    assert_eq!(
        steps.map(|(step, status)| of(step, status)),
        [1, 10, 10, 10]
    );
    for line in &lines {
        assert_eq!(line["ok"], true);
        assert!(line["latency_ns"].as_u64() >= line["first_byte_ns"].as_u64());
        assert_eq!(line["iteration"].is_null(), line["step"] == "login");
        assert!(line.get("request").is_none());
    }
}

#[test]
fn nothing_that_the_file_names_is_overwritten() {
    let shop = Shop::open();
    let users = shop.path("users.csv");
    fs::write(&users, "name\nann\n").unwrap();
    let file = shop.file(204, "data: {u: {csv: users.csv}}");
    for flag in ["--log", "--save-failures", "-o"] {
        let (status, out, errors) = volley(&["run", &file, flag, &users]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(errors.contains("would overwrite"), "{errors}");
        assert_eq!(fs::read_to_string(&users).unwrap(), "name\nann\n");
    }
}

#[test]
fn a_token_that_nobody_asks_for_has_no_effect() {
    let shop = Shop::open();
    let file = shop.file(204, TEN);
    let args = ["run", &file, "--control-token", "t"];
    let line = "warning: `--control-token` has no effect without `--control`, `--metrics` or the file's `control`\n";
    let (status, _, errors) = volley(&args);
    assert_eq!((status, errors.as_str()), (0, line));
    let (_, _, errors) = volley(&[&args[..], &["--quiet"]].concat());
    assert_eq!(errors, "");
}

#[test]
fn failed_requests_are_saved_whole_and_without_secrets() {
    let shop = Shop::open();
    let (log, failures) = (shop.path("log"), shop.path("failures"));
    let file = shop.file(200, TEN);
    let args = ["run", &file, "--save-failures", &failures, "--log", &log];
    assert_eq!(volley(&args).0, 1);
    assert_eq!((lines(&log).len(), lines(&failures).len()), (21, 10));
    for line in lines(&failures) {
        assert_eq!(line["error"]["reason"], "status");
        assert_eq!(line["request"]["method"], "PATCH");
        assert_eq!(line["request"]["body"], r#"{"owner":"bob"}"#);
        assert_eq!(line["response"]["body_bytes"], 0);
    }
    let missing = shop.file(204, "");
    let text = fs::read_to_string(&missing).unwrap();
    fs::write(
        &missing,
        text.replace("header: location", "header: nowhere"),
    )
    .unwrap();
    assert_eq!(
        volley(&["run", &missing, "--save-failures", &failures]).0,
        1
    );
    let [line] = &lines(&failures)[..] else {
        panic!("{failures}");
    };
    assert_eq!(line["error"]["reason"], "missing value");
    assert_eq!(line["request"]["headers"][0][1], "***");
    assert!(line["response"]["body"].as_str().unwrap().contains("ann"));
}

#[test]
fn requests_that_cannot_be_sent_are_saved_and_have_a_column() {
    let shop = Shop::open();
    let (file, failures) = (shop.file(204, TEN), shop.path("failures"));
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("header: location", "json: /item/owner");
    fs::write(&file, text).unwrap();
    let (status, out, _) = volley(&["run", &file, "--save-failures", &failures]);
    assert_eq!(status, 1);
    let line = |start: &str| {
        let found = out.lines().find(|line| line.starts_with(start));
        let words = found.unwrap_or_else(|| panic!("{out}")).split_whitespace();
        words.take(5).collect::<Vec<_>>()
    };
    assert_eq!(line("  step "), ["step", "sent", "unsent", "ok", "failed"]);
    assert_eq!(
        line("  crud.change "),
        ["crud.change", "0", "10", "0", "10"]
    );
    let lines = lines(&failures);
    assert_eq!(lines.len(), 10);
    for line in lines {
        assert_eq!(line["error"]["reason"], "cannot be rendered");
        assert!(line.get("request").is_none());
    }
}

#[test]
fn one_iteration_is_shown_without_secrets() {
    let shop = Shop::open();
    let (status, out, errors) = volley(&["check", "--once", &shop.file(204, "")]);
    assert_eq!((status, errors.as_str()), (0, ""));
    for part in [
        "login\n  > POST http://",
        "  > password=***\n",
        "  saved ${token} = ***\n  ok\ncrud.create\n",
        "  > authorization: ***\n  > content-type: application/json\n  >\n  > {\"owner\":\"ann\"}\n  < 201, after ",
        "  saved ${url} = /v1/items/",
        "crud.change\n  > PATCH http://",
    ] {
        assert!(out.contains(part), "{part:?}: {out}");
    }
    assert_eq!(out.matches("\n  ok\n").count(), 4);
    let (status, out, _) = volley(&["check", "--once", &shop.file(200, TEN)]);
    assert_eq!(status, 1);
    ends(&out, "  FAILED: status: expected 200, was 204\n");
}

#[test]
fn how_long_a_token_lasts_is_no_secret() {
    let shop = Shop::open();
    let file = shop.file(204, "");
    let text = fs::read_to_string(&file).unwrap();
    let refreshed = "json: /access_token, refresh: {after: /expires_in}";
    fs::write(&file, text.replace("json: /access_token", refreshed)).unwrap();
    let (status, out, _) = volley(&["check", "--once", &file]);
    assert_eq!(status, 0);
    assert!(out.contains("\"expires_in\":3600"), "{out}");
    assert!(out.contains("\n  saved ${token} = ***\n  ok\n"), "{out}");
    let (_, out, _) = volley(&["check", &file]);
    assert!(out.contains(" saves ${token}\n"), "{out}");
}

#[test]
fn a_setup_that_fails_says_what_the_response_was() {
    let shop = Shop::open();
    let file = shop.file(204, TEN);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("/access_token", "/token")).unwrap();
    let (status, out, errors) = volley(&["run", &file]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert_eq!(
        errors,
        "error: setup: step `login` failed: missing value token: the response has no `/token`; \
         there is `/access_token`, `/token_type`, `/expires_in`\n"
    );
    fs::write(&file, text.replace("/oauth/token", "/v1/items")).unwrap();
    let failures = shop.path("failures");
    for more in [&[][..], &["--save-failures", &failures]] {
        let (_, _, errors) = volley(&[&["run", &file][..], more].concat());
        assert_eq!(
            errors,
            "error: setup: step `login` failed: expected 200 to 399, was 400; \
             the response is `{\"error\":\"the body is not JSON\"}`\n"
        );
    }
}

#[test]
fn all_that_is_wrong_with_a_response_is_shown_at_once() {
    let shop = Shop::open();
    let rest = r#"scenarios:
  crud:
    steps:
      - name: create
        post: ${api}/v1/items
        json: {owner: ann}
        expect: {status: 202, json: {/item/owner: bob, /item/id: {exists: true}}, within: 1ns}
        save: {a: {header: nowhere}, b: {json: /item/none}}"#;
    let file = shop.write("wrong.yaml", rest);
    let (status, out, _) = volley(&["check", "--once", &file]);
    assert_eq!(status, 1);
    let failed: Vec<&str> = out.lines().filter(|line| line.contains("FAILED")).collect();
    let names: Vec<&str> = failed
        .iter()
        .filter_map(|line| line.split(": ").nth(1))
        .collect();
    assert_eq!(
        names,
        [
            "status",
            "missing value a",
            "check json /item/owner",
            "missing value b",
            "late"
        ]
    );
    let words =
        "  FAILED: missing value b: the response has no `/item/none`; there is `/item/id`, ";
    assert!(failed[3].starts_with(words), "{out}");
}

#[test]
fn a_value_that_an_earlier_step_saved_is_shown_nowhere() {
    let shop = Shop::open();
    let (log, failures) = (shop.path("log"), shop.path("failures"));
    let rest = r#"scenarios:
  crud:
    steps:
      - {name: login, post: "${api}/oauth/token", save: {token: {json: /access_token}}}
      - name: create
        post: ${api}/v1/items?of=${token}
        json: {owner: "${token}"}
        expect: {status: 201, json: {/item/owner: {matches: ^no}}}
load: [{users: 1}, {iterations: 1}]"#;
    let file = shop.write("steps.yaml", rest);
    let (status, out, _) = volley(&["check", "--once", &file]);
    assert_eq!(status, 1);
    let fault = "expected a match of `^no`, was `***`";
    for part in [
        "/v1/items?of=***\n",
        "  > {\"owner\":\"***\"}\n",
        "\"owner\":\"***\"",
        &format!("  FAILED: check json /item/owner matches: {fault}\n"),
    ] {
        assert!(out.contains(part), "{part:?}: {out}");
    }
    let run = ["run", &file, "-O", "json", "--log", &log];
    let (status, report, _) = volley(&run);
    assert_eq!(status, 1);
    assert!(report.contains(fault), "{report}");
    assert_eq!(lines(&log)[1]["error"]["what"], fault);
    volley(&[&run[..], &["--save-failures", &failures]].concat());
    for line in [&lines(&log)[1], &lines(&failures)[0]] {
        assert_eq!(line["error"]["what"], fault);
        assert_eq!(line["error"]["name"], "check json /item/owner matches");
    }
    let saved = &lines(&failures)[0];
    assert_eq!(saved["request"]["body"], r#"{"owner":"***"}"#);
    let body = saved["response"]["body"].as_str().unwrap();
    assert!(body.contains(r#""owner":"***""#), "{body}");
}

#[test]
fn a_second_interrupt_cuts_what_is_waited_for_and_the_report_is_written() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let scratch = Scratch::new();
    let (file, out) = (scratch.path("mute.yaml"), scratch.path("out.json"));
    let text = format!(
        "targets: {{api: 'http://{}'}}
http: {{connections: 1}}
scenarios: {{one: {{steps: [{{get: '${{api}}/'}}]}}}}
teardown: [{{get: '${{api}}/'}}]
load: [{{users: 1, for: 1h}}]",
        listener.local_addr().unwrap()
    );
    fs::write(&file, text).unwrap();
    let mut child = command(["run", "--threads", "1", "-O", "json", "-o"])
        .args([&out, &file])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    let (mut client, _) = listener.accept().unwrap();
    // The load has begun.
    client.read_exact(&mut [0; 16]).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert_eq!(
        line,
        "stopping: waiting for 1 iterations, up to 30s; interrupt again to end now\n"
    );
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(report["iterations"]["open"], 1);
    assert_eq!(
        report["warnings"][0],
        "the load was cut by a second signal: teardown did not run"
    );
}
