//! `--fail-if`: what a run must hold, and the exit status if it does not.

use serde_json::json;
use volley::serve::Faults;

use crate::common::shape::{SERVER_STREAM, UNARY};
use crate::common::{Finished, Report, Scratch, Volley, faulty, one, reference};

fn failing(mut run: Volley, conditions: &[&str]) -> Volley {
    for condition in conditions {
        run = run.arg("--fail-if").arg(condition);
    }
    run
}

/// The lines on stderr that say what failed.
fn failed(stderr: &str) -> Vec<&str> {
    stderr
        .lines()
        .filter_map(|line| line.strip_prefix("failed: "))
        .collect()
}

fn verdicts(report: &Report) -> Vec<(String, bool)> {
    let list = report.own("/thresholds").as_array().unwrap();
    let verdict = |of: &serde_json::Value| {
        (
            of["threshold"].as_str().unwrap().to_owned(),
            of["failed"].as_bool().unwrap(),
        )
    };
    list.iter().map(verdict).collect()
}

#[test]
fn a_run_that_holds_what_it_must_succeeds() {
    let server = reference(Faults::default());
    let run = UNARY.run("-n 40 -c 4");
    let conditions = ["p75 > 1m", "failed > 0.1%", "ok < 40", "rate < 0.1"];
    let report = failing(run, &conditions).report(&server);
    assert_eq!((report.exit, failed(&report.stderr)), (0, vec![]));
    assert_eq!(
        verdicts(&report),
        conditions.map(|text| (text.to_owned(), false))
    );
    assert_eq!(
        report.own("/thresholds/2"),
        &json!({"threshold": "ok < 40", "value": 40.0, "unit": "calls", "failed": false})
    );
}

#[test]
fn every_threshold_that_failed_has_a_line_even_if_quiet_and_the_status_is_99() {
    let server = reference(faulty(|faults| faults.reset_every = one(4)));
    for quiet in ["", "--quiet"] {
        let run = UNARY.run("-n 40 -c 4").flags(quiet);
        let conditions = ["failed > 20%", "min < 1ns", "ok < 31", "gap p99 > 1s"];
        let report = failing(run, &conditions).report(&server);
        let lines = [
            "failed is 25% (`--fail-if 'failed > 20%'`)",
            "ok is 30 (`--fail-if 'ok < 31'`)",
            "gap p99 is missing (`--fail-if 'gap p99 > 1s'`)",
        ];
        assert_eq!((report.exit, failed(&report.stderr)), (99, lines.to_vec()));
        let wanted = [true, false, true, true];
        let told: Vec<bool> = verdicts(&report)
            .into_iter()
            .map(|(_, failed)| failed)
            .collect();
        assert_eq!(told, wanted);
    }
}

#[test]
fn a_run_without_a_call_that_succeeded_has_its_own_status() {
    let server = reference(faulty(|faults| faults.reset_every = one(1)));
    let run = failing(UNARY.run("-n 4 -c 2"), &["failed > 0"]);
    let report = run.report(&server);
    assert_eq!((report.exit, failed(&report.stderr).len()), (1, 1));
}

#[test]
fn other_formats_tell_verdicts_too() {
    let server = reference(Faults::default());
    let run = |format| -> Finished {
        let run = UNARY.run("-n 4 -c 2").format(format);
        failing(run, &["ok < 4", "ok > 3"]).run(&server)
    };
    let summary = run("summary");
    summary.said("Passed:        ok is 4 (`--fail-if 'ok < 4'`)");
    assert_eq!(failed(&summary.stderr), ["ok is 4 (`--fail-if 'ok > 3'`)"]);
    assert!(!summary.stdout.contains("fail-if"), "{summary:?}");
    let page = run("html");
    for row in [
        "ok &lt; 4</th><td>4</td><td class=\"words\">passed",
        "ok &gt; 3</th><td>4</td><td class=\"words\">failed",
    ] {
        assert!(page.stdout.contains(row), "{}", page.stdout);
    }
    assert_eq!((summary.code(), page.code()), (99, 99));
}

#[test]
fn a_file_holds_conditions_and_a_flag_replaces_them() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let file = scratch.write("run.json", r#"{"checks": {"fail-if": ["ok > 3"]}}"#);
    let run = || UNARY.run("-n 4 -c 2 --config").arg(&file);
    assert_eq!(
        verdicts(&run().report(&server)),
        [("ok > 3".to_owned(), true)]
    );
    let report = failing(run(), &["ok < 3"]).report(&server);
    assert_eq!(
        (report.exit, verdicts(&report)),
        (0, vec![("ok < 3".to_owned(), false)])
    );
}

#[test]
fn what_is_no_condition_is_one_line_and_status_2() {
    for (condition, words) in [
        ("p99", "write a figure"),
        ("p99 > 20", "needs a time such as 20ms"),
        ("p99 ratio > 1.1", "in `volley compare`"),
        ("service p99 > 1ms", "a closed loop has no such times"),
        ("p99 > 20ms", "needs 1000 calls"),
    ] {
        let finished = failing(SERVER_STREAM.run("-n 999"), &[condition]).run("localhost:1");
        assert_eq!(
            (finished.code(), finished.stderr.lines().count()),
            (2, 1),
            "{finished:?}"
        );
        finished.said("--fail-if");
        finished.said(words);
    }
}
