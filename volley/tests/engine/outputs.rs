//! The destination of the report, and its contents.

use volley::serve::Faults;

use crate::common::shape::UNARY;
use crate::common::{Scratch, Volley, faulty, has, reference};

#[test]
fn csv_has_one_line_a_call_below_its_heading() {
    let server = reference(Faults::default());
    let finished = UNARY
        .run("-n 120 -c 8 --connections 4 --threads 2")
        .format("csv")
        .run(&server);
    assert_eq!(finished.code(), 0, "{finished:?}");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines.len(), 121);
    assert!(
        lines.iter().skip(1).all(|line| line.contains("OK")),
        "{lines:?}"
    );
}

#[test]
fn single_calls_are_kept_as_many_as_asked() {
    let server = reference(Faults::default());
    let report = UNARY.run("-n 30 -c 4 --details 30").report(&server);
    assert_eq!(report.json["details"].as_array().map(Vec::len), Some(30));
    let report = UNARY.run("-n 30 -c 4 --details 10").report(&server);
    assert_eq!(report.own("/details").as_array().map(Vec::len), Some(10));
    let report = UNARY.run("-n 30 -c 4 --details all").report(&server);
    let details = report.json["details"].as_array().unwrap();
    assert_eq!(details.len(), 30);
    for detail in details {
        let keys: Vec<&String> = detail.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["timestamp", "latency", "error", "status"]);
    }
    let report = UNARY.run("-n 30 -c 4").report(&server);
    assert_eq!(report.json["details"], serde_json::json!([]));
}

#[test]
fn influxdb_gets_a_line_for_the_run_or_for_each_call() {
    let server = reference(Faults::default());
    let lines = |format| {
        let run = UNARY.run("-n 30 -c 4").format(format);
        let finished = run.run(&server);
        assert_eq!(finished.code(), 0, "{finished:?}");
        let lines = finished.stdout.lines();
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let run = lines("influx-summary");
    assert_eq!(run.len(), 1);
    assert!(run[0].starts_with("ghz_run,proto=\""), "{run:?}");
    has(&run[0], ",errors=0,has_errors=false count=30,total=");
    let calls = lines("influx-details");
    assert_eq!(calls.len(), 30);
    assert!(
        calls
            .iter()
            .all(|line| line.starts_with("ghz_detail,proto=\"")
                && line.contains(",hasError=false latency=")),
        "{calls:?}"
    );
}

#[test]
fn the_log_of_a_run_is_lines_of_json() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let path = scratch.write("debug.json", "of an older run");
    let report = UNARY
        .run("-n 30 -c 4 --details 10 --debug")
        .arg(&path)
        .report(&server);
    assert_eq!(report.all_ok(), 30);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines
            .iter()
            .all(|line| line["level"].is_string() && line["time"].is_string())
    );
    let count = |message: &str| {
        lines
            .iter()
            .filter(|line| line["message"] == message)
            .count()
    };
    assert_eq!(
        (
            count("start"),
            count("window opens"),
            count("call"),
            count("end")
        ),
        (1, 1, 10, 1)
    );
    assert_eq!(lines[0]["config"]["total"], 30);
    let last = lines.last().unwrap();
    assert_eq!((&last["message"], &last["ok"]), (&"end".into(), &30.into()));
}

#[test]
fn a_log_that_cannot_be_written_is_refused_before_the_load() {
    let finished = UNARY
        .run("--debug /nowhere/log")
        .run(crate::common::closing());
    assert_eq!(finished.code(), 1);
    finished.said("`--debug`: cannot write `/nowhere/log`");
}

#[test]
fn a_message_over_the_limit_is_not_sent() {
    let server = reference(Faults::default());
    let run = UNARY.run("-n 30 -c 4 --max-send-message-size 3");
    let finished = run.run(&server);
    assert_eq!(finished.code(), 2);
    finished.said("raise it with `--max-send-message-size`");
    let run = UNARY.run("-n 30 -c 4 --max-send-message-size 4");
    assert_eq!(run.report(&server).all_ok(), 30);
}

#[test]
fn a_report_needs_no_stderr() {
    let server = reference(Faults::default());
    let finished = UNARY
        .run("-n 10 -c 2")
        .format("summary")
        .run_unheard(&server);
    assert_eq!(finished.code(), 0);
    assert!(finished.stdout.contains("[OK]"), "{finished:?}");
    // One that has a warning for stderr.
    let finished = UNARY
        .run("-n 10 -c 2")
        .expect("result = 1000")
        .run_unheard(&server);
    assert_eq!(finished.report().exit, 1);
    let blast = Volley::blast(UNARY.method)
        .flags("--insecure --requests 2 --connections 1 --repetitions 1 --expect result=1")
        .run_unheard(&server);
    assert!(
        blast.code() < 2 && blast.stdout.starts_with('{'),
        "{blast:?}"
    );
}

#[test]
fn an_error_that_nobody_can_read_has_its_exit_status() {
    let finished = UNARY.run("-n 1").run_unheard("localhost:1");
    assert_eq!(finished.code(), 1);
    let finished = UNARY.run("-n 0 --nonsense").run_unheard("localhost:1");
    assert_eq!(finished.code(), 2);
}

#[test]
fn a_report_can_go_to_a_device_or_a_pipe() {
    let server = reference(Faults::default());
    for (device, is_shown) in [("/dev/null", false), ("/dev/stdout", true)] {
        let finished = UNARY.run("-n 10 -c 2 -o").arg(device).run(&server);
        assert_eq!(finished.code(), 0, "{finished:?}");
        assert_eq!(!finished.stdout.is_empty(), is_shown, "{finished:?}");
    }
}

#[test]
fn a_report_to_a_dash_goes_to_stdout() {
    let server = reference(Faults::default());
    let report = UNARY.run("-n 10 -c 2 -o -").report(&server);
    assert_eq!(report.ok(), 10);
}

#[test]
fn a_report_replaces_the_file_it_is_written_to() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let path = scratch.write(
        "report.json",
        &"an older and much longer report ".repeat(1000),
    );
    let finished = UNARY.run("-n 10 -c 2 -o").arg(&path).run(&server);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, ""));
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(report["volley"]["calls"]["ok"], 10);
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_the_load() {
    let server = reference(Faults::default());
    let finished = UNARY.run("-n 10 -c 2 -o /nowhere/at/all.json").run(&server);
    assert!(finished.error().contains("`/nowhere/at/all.json`"));
    assert_eq!(server.counts().connections, 0);
}

#[test]
fn quiet_keeps_warnings_off_stderr() {
    let server = reference(faulty(|faults| faults.wrong_at = Some(0)));
    let run = |flags: &str| {
        let report = UNARY.checked("-n 4 -c 2").flags(flags).report(&server);
        report.warned_of("wrong replies");
        report.stderr
    };
    assert!(run("").contains("wrong replies"));
    assert_eq!(run("--quiet"), "");
}

#[test]
fn the_summary_goes_to_stdout_in_ghzs_words() {
    let server = reference(Faults::default());
    let finished = UNARY
        .run("--name numbers -n 40 -c 4")
        .format("summary")
        .run(&server);
    assert_eq!(finished.code(), 0);
    for line in ["Summary:", "  Count:\t40", "Status code distribution:"] {
        assert!(
            finished.stdout.lines().any(|is| is == line),
            "{line}: {finished:?}"
        );
    }
    has(&finished.stdout, "[OK]   40 responses");
    finished.said("40 ok");
}

#[test]
fn a_name_and_tags_are_in_the_report() {
    let server = reference(Faults::default());
    let report = UNARY
        .run("-n 1 -c 1 --name night --tags")
        .arg(r#"{"who": "me"}"#)
        .report(&server);
    assert_eq!(report.json["name"], "night");
    assert_eq!(report.json["tags"]["who"], "me");
}

#[test]
fn a_method_there_is_not_is_a_usage_error() {
    let server = reference(Faults::default());
    let finished = Volley::call("GetSums").run(&server);
    assert_eq!(finished.code(), 2, "{finished:?}");
    finished.said("GetSum");
    assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
}

#[test]
fn a_dash_is_stdout_for_every_output() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    for (flag, key) in [
        ("--live-json", "second"),
        ("--debug", "message"),
        ("--save-replies", "call"),
    ] {
        let run = UNARY.run("-n 5 -c 1").arg(flag).arg("-").arg("-o");
        let finished = run.arg(scratch.path("report.json")).run(&server);
        assert_eq!(finished.code(), 0, "{finished:?}");
        let line = finished.stdout.lines().next().unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line.get(key).is_some(), "{line}");
    }
    assert!(!std::path::Path::new("-").exists());
}

#[test]
fn a_run_that_fails_leaves_no_empty_file_of_its_own() {
    let scratch = Scratch::new();
    let older = scratch.write("older.json", "");
    let [report, live, replies] =
        ["report.json", "live.jsonl", "replies.jsonl"].map(|name| scratch.path(name));
    let run = || UNARY.run("--connect-timeout 1s");
    let run_to = |path| run().arg("-o").arg(path);
    let finished = run_to(&report)
        .arg("--live-json")
        .arg(&live)
        .arg("--save-replies")
        .arg(&replies)
        .run("127.0.0.1:1");
    finished.error();
    run_to(&older).run("127.0.0.1:1").error();
    let left = [&report, &live, &replies, &older].map(|path| path.exists());
    assert_eq!(left, [false, false, false, true]);
}
