//! `volley run --control`: a run of scenarios that is watched and changed.

use serde_json::{Value, json};
use volley::serve::{Faults, Reference};

use crate::common::http::{Answer, ask};
use crate::common::{Running, Scratch, awaited, command, reference};

/// A run that only an order ends.
struct Run {
    running: Running,
    address: String,
    _scratch: Scratch,
}

impl Run {
    fn start(server: &Reference, load: &str, flags: &[&str]) -> Self {
        let scratch = Scratch::new();
        let path = scratch.path("shop.yaml");
        let text = format!(
            "targets: {{api: 'http://{}'}}
http: {{version: 2}}
control: 127.0.0.1:0
tags: {{commit: abc}}
scenarios:
  buy: {{weight: 3, steps: [{{name: create, post: '${{api}}/v1/items', json: {{}}, expect: {{status: 201}}}}]}}
  look: {{weight: 1, steps: [{{name: token, post: '${{api}}/oauth/token'}}]}}
load: [{load}]
",
            server.address()
        );
        std::fs::write(&path, text).unwrap();
        let mut command = command(["run", "-O", "json", "--threads", "2"]);
        let running = Running::start(command.args(flags).arg(&path));
        Self {
            address: running.control(),
            running,
            _scratch: scratch,
        }
    }

    fn patch(&self, body: &Value) -> Answer {
        ask(&self.address, "PATCH", "/v1/load", &[], &body.to_string())
    }

    fn post(&self, path: &str) -> u16 {
        ask(&self.address, "POST", path, &[], "").status
    }

    /// Waits until the run's figures are as wanted.
    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        awaited(
            || ask(&self.address, "GET", "/v1/stats", &[], "").json(),
            wanted,
        )
    }

    fn stop(self) -> (i32, Value) {
        assert_eq!(self.post("/v1/stop"), 200);
        let finished = self.running.wait();
        let report = serde_json::from_str(&finished.stdout).unwrap();
        (finished.code(), report)
    }
}

fn begun(stats: &Value) -> u64 {
    stats["iterations"]["begun"].as_u64().unwrap()
}

#[test]
fn what_is_due_is_begun_or_dropped_whatever_is_ordered() {
    let server = reference(Faults::default());
    let run = Run::start(&server, "{rate: 1000/s, for: 10m}", &[]);
    run.until(|stats| begun(stats) > 0);
    for rate in ["5000/s", "0/s", "0.5/s", "2000/s"] {
        assert_eq!(run.patch(&json!({ "rate": rate })).status, 200);
        assert_eq!(run.until(|_| true)["loads"][0]["now"], rate);
    }
    assert_eq!(run.patch(&json!({"weights": {"look": 0}})).status, 200);
    let before = begun(&run.until(|_| true));
    run.until(|stats| begun(stats) > before + 1000);
    assert_eq!(run.post("/v1/pause"), 200);
    assert_eq!(run.post("/v1/pause"), 409);
    let paused = run.until(|_| true);
    assert_eq!(paused["paused"], true);
    // So long that an iteration for each of its moments would be seen.
    let later = paused["elapsed_s"].as_u64().unwrap() + 2;
    run.until(|stats| stats["elapsed_s"].as_u64() >= Some(later));
    assert_eq!(run.post("/v1/resume"), 200);
    assert_eq!(run.patch(&json!({"phases": true})).status, 200);
    run.until(|stats| stats["loads"][0]["now"] == "1000/s");
    let (status, report) = run.stop();
    assert_eq!((status, &report["ended_by"]), (0, &json!("order")));
    let iterations = &report["iterations"];
    let number = |key: &str| iterations[key].as_u64().unwrap();
    assert_eq!(number("due"), number("begun") + number("dropped"));
    assert_eq!(number("ok"), number("begun"));
    let what: Vec<_> = report["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["what"].as_str().unwrap())
        .collect();
    assert_eq!(
        what,
        [
            "rate", "rate", "rate", "rate", "weights", "pause", "resume", "phases", "stop"
        ]
    );
    // The arithmetic of the list.
    let (mut due, mut from_s, mut rate, mut is_paused) = (0.0, 0.0, 1000.0, false);
    for event in report["events"].as_array().unwrap() {
        let at_s = event["at_s"].as_f64().unwrap();
        due += if is_paused { 0.0 } else { rate } * (at_s - from_s);
        from_s = at_s;
        match event["what"].as_str().unwrap() {
            "rate" => {
                rate = event["value"]
                    .as_str()
                    .unwrap()
                    .trim_end_matches("/s")
                    .parse()
                    .unwrap()
            }
            "phases" => rate = 1000.0,
            "pause" => is_paused = true,
            "resume" => is_paused = false,
            _ => {}
        }
    }
    // Each part begins with a whole iteration. On a busy host, a thread may hear of the end a little late, and begin
    // what would have been due by then.
    let most_off = what.len() as f64 + 1.0;
    let late = rate * (report["elapsed_s"].as_f64().unwrap() - from_s).max(0.0);
    assert!(
        (due - most_off..=due + late + most_off).contains(&(number("due") as f64)),
        "{iterations} and {due} to {}",
        due + late
    );
}

#[test]
fn users_come_and_go_and_pause() {
    let server = reference(Faults::default());
    let run = Run::start(&server, "{users: 2, for: 10m}", &[]);
    run.until(|stats| begun(stats) > 0);
    for users in [20, 0, 1] {
        let all = json!({"users": users, "scenario": ["look", "buy"]});
        assert_eq!(run.patch(&all).status, 200);
        assert_eq!(run.until(|_| true)["loads"][0]["now"], users.to_string());
    }
    let before = begun(&run.until(|_| true));
    run.until(|stats| begun(stats) > before);
    assert_eq!(run.stop().0, 0);
}

#[test]
fn wrong_orders_change_nothing() {
    let server = reference(Faults::default());
    let run = Run::start(&server, "{users: 1, for: 10m}", &["--control-token", ""]);
    run.until(|stats| begun(stats) > 0);
    for (body, status) in [
        (json!({"users": -1}), 400),
        (json!({"users": "1..5"}), 400),
        (json!({"users": 1, "rate": 1}), 400),
        (json!({"phases": false}), 400),
        (json!({"weights": {"buy": 0, "look": 0}}), 400),
        (json!({"weights": {"sell": 1}}), 400),
        (json!({"users": 1, "scenario": "sell"}), 400),
        (json!({"users": 1, "scenario": []}), 400),
        (json!({"users": 1, "scenario": "buy"}), 409),
        (json!({"phases": true, "scenario": ["look"]}), 409),
        (json!([]), 400),
        (json!({"rate": "fast"}), 400),
        (json!({"rate": "1/s"}), 409),
    ] {
        let answer = run.patch(&body);
        assert_eq!(answer.status, status, "{body}");
        assert_eq!(answer.body.trim_end().lines().count(), 1, "{answer:?}");
    }
    let shared = run.patch(&json!({"users": 1, "scenario": "buy"}));
    assert!(
        shared
            .body
            .contains("this load is shared with `look`: change it for all of them with"),
        "{shared:?}"
    );
    assert_eq!(run.post("/v1/resume"), 409);
    let (_, report) = run.stop();
    assert_eq!(report["events"].as_array().unwrap().len(), 1);
}

#[test]
fn the_metrics_of_a_run_that_goes_on_have_no_figure_that_is_not_known() {
    let server = reference(Faults::default());
    let run = Run::start(&server, "{users: 1, for: 10m}", &["--control-token", ""]);
    run.until(|stats| begun(stats) > 0);
    let metrics = ask(&run.address, "GET", "/metrics", &[], "").body;
    for part in [
        "volley_scenario_iterations{scenario=\"buy\"",
        "ended_by=\"running\",tag_commit=\"abc\"} 1\n",
    ] {
        assert!(metrics.contains(part), "{part}: {metrics}");
    }
    for name in ["run_cpu_seconds", "run_peak_bytes"] {
        assert!(!metrics.contains(name), "{metrics}");
    }
    let (mut heads, mut samples) = (Vec::new(), String::new());
    for line in metrics.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(head) => heads.push(head.split(' ').next().unwrap()),
            None if line.starts_with('#') => {}
            None => samples += &format!("\n{line}"),
        }
    }
    for head in heads {
        assert!(samples.contains(&format!("\n{head}")), "{head}: {metrics}");
    }
    assert_eq!(run.stop().0, 0);
}
