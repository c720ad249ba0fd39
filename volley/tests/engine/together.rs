//! Several processes that make one load, from an agreed moment on, and their reports as one.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use volley::serve::{Faults, Reference};

use crate::common::shape::{SERVER_STREAM, Shape, UNARY};
use crate::common::{
    Report, Running, Scratch, awaited, command, monotonic_ns, outcome, reference, settled,
};

/// How far ahead the agreed moment is: even a busy host tells all shares of it before.
const SOON_NS: u64 = 3_000_000_000;

/// Starts a share that waits for its moment.
fn start(shape: Shape, server: &Reference, share: &str, flags: &str) -> Running {
    let running = shape
        .checked("--start-at stdin --share")
        .arg(share)
        .flags(flags)
        .start(server);
    assert_eq!(running.first_words(), "volley: ready");
    running
}

/// Runs all shares from the same moment on; their reports, written to files.
fn together(
    shape: Shape,
    server: &Reference,
    of: u32,
    flags: &str,
    scratch: &Scratch,
) -> (Vec<PathBuf>, Vec<Report>) {
    let mut running: Vec<Running> = (1..=of)
        .map(|number| start(shape, server, &format!("{number}/{of}"), flags))
        .collect();
    let at_ns = monotonic_ns() + SOON_NS;
    for share in &mut running {
        share.tell(&format!("{at_ns}\n"));
    }
    let reports: Vec<Report> = running
        .into_iter()
        .map(|share| share.wait().report())
        .collect();
    let paths = reports
        .iter()
        .enumerate()
        .map(|(number, report)| scratch.write(&format!("{number}.json"), &report.json.to_string()));
    (paths.collect(), reports)
}

fn merge(paths: &[PathBuf]) -> (i32, String, String) {
    outcome(command(["merge", "-O", "json"]).args(paths))
}

fn merged(paths: &[PathBuf]) -> Report {
    let (code, stdout, stderr) = merge(paths);
    Report::parse(&stdout, code, &stderr)
}

fn sum(reports: &[Report], pointer: &str) -> u64 {
    reports.iter().map(|report| report.number(pointer)).sum()
}

#[test]
fn the_shares_of_a_schedule_are_the_whole_schedule() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let flags = "-z 1s --rps 900 -c 30 --connections 5 --duration-stop wait";
    let (paths, reports) = together(UNARY, &server, 3, flags, &scratch);
    let report = merged(&paths);
    let sent = report.all_ok();
    assert_eq!(sent + report.number("/missed"), 900);
    assert_eq!(report.number("/connections"), 5);
    assert_eq!(settled(&server).connections, 5);
    assert_eq!(report.numbers("/series/intended")[..10], [90; 10]);
    for share in &reports {
        assert_eq!(share.sent() + share.number("/missed"), 300);
    }
    let samples: u64 = report
        .own("/seconds")
        .as_array()
        .unwrap()
        .iter()
        .map(|second| second["samples"].as_u64().unwrap())
        .sum();
    assert_eq!(samples, sent);
    assert!(report.json["volley"].get("tally").is_none());
}

#[test]
fn a_number_of_calls_is_divided_and_the_counts_are_the_servers() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let (paths, reports) = together(
        SERVER_STREAM,
        &server,
        2,
        "-n 101 -c 8 --connections 4",
        &scratch,
    );
    let report = merged(&paths);
    assert_eq!(report.all_ok(), 101);
    assert_eq!(report.messages(), 101 * SERVER_STREAM.replies);
    assert_eq!(settled(&server).messages_sent, report.messages());
    for pointer in ["/messages", "/sent", "/data_frames", "/threads"] {
        assert_eq!(report.number(pointer), sum(&reports, pointer), "{pointer}");
    }
    assert_eq!(report.json["options"]["total"], 101);
}

#[test]
fn each_window_opens_at_its_agreed_moment_and_no_call_begins_before() {
    let server = reference(Faults::default());
    let shares: Vec<Running> = (1..=4)
        .map(|number| {
            start(
                UNARY,
                &server,
                &format!("{number}/4"),
                "-z 200ms --rps 1000 -c 12 --connections 4",
            )
        })
        .collect();
    let first_ns = monotonic_ns() + SOON_NS;
    let moments = (0..4).map(|number| first_ns + number * 37_000_000);
    let mut started: Vec<(Running, u64)> = shares.into_iter().zip(moments).collect();
    for (running, at_ns) in &mut started {
        running.tell(&format!("{at_ns}\n"));
    }
    // The counts first, then the clock.
    awaited(
        || (server.counts().calls_started, monotonic_ns()),
        |(calls, now_ns)| {
            let is_open = *now_ns >= first_ns;
            assert!(is_open || *calls == 0, "{calls} calls");
            is_open
        },
    );
    for (running, at_ns) in started {
        let report = running.wait().report();
        assert_eq!(report.number("/tally/run/opened_monotonic_ns"), at_ns);
        assert_eq!(report.sent() + report.number("/missed"), 50);
    }
}

#[test]
fn a_thread_that_waits_for_its_start_sleeps() {
    let server = reference(Faults::default());
    let mut running = start(UNARY, &server, "1/1", "-n 1 -c 1");
    running.tell(&format!("{}\n", monotonic_ns() + SOON_NS));
    let report = running.wait().report();
    let cpu_s = report.own("/cpu_total_s").as_f64().unwrap();
    assert!(cpu_s < 1.0, "{cpu_s} s in 3 s of waiting");
}

#[test]
fn a_start_that_does_not_come_or_is_over_has_an_exit_status_of_its_own() {
    let server = reference(Faults::default());
    let run = |flags: &str| UNARY.run(flags).start(&server);
    let mut waiting = run("--start-at stdin");
    assert_eq!(waiting.first_words(), "volley: ready");
    waiting.hush();
    let finished = waiting.wait();
    assert_eq!(
        (finished.code(), finished.stderr.lines().count()),
        (3, 2),
        "{finished:?}"
    );
    let mut garbled = run("--start-at stdin");
    garbled.tell("soon\n");
    assert_eq!(garbled.wait().code(), 3);
    let late = run("--start-at 12345").wait();
    assert_eq!(late.code(), 4);
    late.said("the start is in the past");
    assert_eq!(server.counts().calls_ok, 0);
}

#[test]
fn a_signal_before_the_start_ends_the_run() {
    let server = reference(Faults::default());
    let at_ns = monotonic_ns() + 600_000_000_000;
    let running = UNARY
        .run(&format!("-z 1s --start-at {at_ns}"))
        .start(&server);
    assert_eq!(running.first_words(), "volley: ready");
    crate::signals::interrupt(running.pid(), Signal::INT);
    let finished = running.wait();
    assert_eq!(finished.code(), 1);
    finished.said("nothing was measured");
}

#[test]
fn some_shares_make_a_report_that_can_be_merged_with_the_others() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let (paths, reports) = together(UNARY, &server, 3, "-n 30 -c 3 --connections 3", &scratch);
    let partial = |file: &str, shares: &[PathBuf]| {
        let (code, stdout, stderr) =
            outcome(command(["merge", "--partial", "-O", "json"]).args(shares));
        assert_eq!(code, 0, "{stdout} {stderr}");
        scratch.write(file, &stdout)
    };
    let two = partial("two.json", &paths[..2]);
    // A single host makes all shares.
    let all = partial("all.json", &paths);
    for files in [vec![two, paths[2].clone()], vec![all]] {
        let whole = merged(&files);
        assert_eq!(whole.all_ok(), 30);
        assert_eq!(
            whole.own("/latency_ns/histogram"),
            merged(&paths).own("/latency_ns/histogram")
        );
    }
    for report in &reports {
        let run = report.own("/tally/run");
        assert!(run["opened_monotonic_ns"].as_u64().unwrap() > 0, "{run}");
        assert!(run["late_ns"].is_u64(), "{run}");
    }
}

#[test]
fn what_cannot_be_merged_is_refused_with_the_file() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let (paths, reports) = together(UNARY, &server, 2, "-n 10 -c 2 --connections 2", &scratch);
    let changed = |file: &str, pointer: &str, value: Value| {
        let mut json = reports[1].json.clone();
        *json["volley"]["tally"].pointer_mut(pointer).unwrap() = value;
        scratch.write(file, &json.to_string())
    };
    let call = "/run/spec/request/call";
    let other = changed("other.json", call, "other.Service/Call".into());
    let newer = changed("newer.json", "/schema", 99.into());
    let odd = changed("odd.json", "/history/width_ns", 7.into());
    let plain = UNARY.run("-n 1").report(&server);
    let plain = scratch.write("plain.json", &plain.json.to_string());
    let broken = scratch.write("broken.json", "{\"volley\": 3}");
    let scenarios = scratch.write("scenarios.json", "{\"scenarios\": [], \"steps\": []}");
    for (second, words) in [
        (Some(&paths[0]), "share 1/2 is there twice"),
        (
            Some(&other),
            "it is a part of another run: `request` differs",
        ),
        (Some(&newer), "another version of volley (schema 99, not 1)"),
        (Some(&odd), "its counts are broken"),
        (Some(&plain), "it is not the report of a share"),
        (Some(&broken), "it is no JSON report of volley"),
        (Some(&scenarios), "it is a report of `volley run`"),
        (None, "share 2/2 is missing"),
    ] {
        let files: Vec<PathBuf> = std::iter::once(&paths[0]).chain(second).cloned().collect();
        let (code, stdout, stderr) = merge(&files);
        assert_eq!(
            (code, stdout.as_str(), stderr.lines().count()),
            (2, "", 1),
            "{stderr}"
        );
        assert!(stderr.contains(words), "{stderr}");
    }
    assert_eq!(merged(&paths).all_ok(), 10);
}

#[test]
fn conditions_are_for_the_whole_load() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let flags = "-n 10 -c 2 --connections 2 --fail-if ok<10";
    let (mut paths, reports) = together(UNARY, &server, 2, flags, &scratch);
    for report in &reports {
        assert_eq!(report.exit, 0);
        assert!(report.json["volley"].get("thresholds").is_none());
    }
    assert_eq!(merged(&paths).own("/thresholds/0/failed"), false);
    for word in ["--fail-if", "ok > 9"] {
        paths.push(word.into());
    }
    let (code, stdout, stderr) = merge(&paths);
    assert_eq!(
        (code, stderr.as_str()),
        (99, "failed: ok is 10 (`--fail-if 'ok > 9'`)\n")
    );
    let report = Report::parse(&stdout, 99, &stderr);
    assert_eq!(report.own("/thresholds/0/threshold"), "ok < 10");
    assert_eq!(report.own("/thresholds/1/failed"), true);
}

#[test]
fn shares_that_did_not_begin_together_are_warned_of() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let (mut paths, reports) = together(UNARY, &server, 2, "-n 10 -c 2 --connections 2", &scratch);
    assert!(!merged(&paths).warns_of("after the first"));
    let mut json = reports[1].json.clone();
    for moment in ["started_unix_ns", "last_started_unix_ns"] {
        let ns = json["volley"]["tally"][moment].as_u64().unwrap();
        json["volley"]["tally"][moment] = (ns + 5_000_000_000).into();
    }
    paths[1] = scratch.write("late.json", &json.to_string());
    let report = merged(&paths);
    report.warned_of("after the first");
}

#[test]
fn shares_of_other_hosts_or_versions_are_warned_of() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let (mut paths, reports) = together(UNARY, &server, 2, "-n 10 -c 2 --connections 2", &scratch);
    assert_eq!(merged(&paths).warnings(), [""; 0]);
    let mut json = reports[1].json.clone();
    json["volley"]["version"] = "9.9.9".into();
    json["volley"]["tally"]["run"]["host"] = "elsewhere:1".into();
    paths[1] = scratch.write("other.json", &json.to_string());
    let report = merged(&paths);
    for words in ["called different hosts: ", "and `elsewhere:1`", ", 9.9.9"] {
        report.warned_of(words);
    }
}

#[test]
fn shares_without_single_calls_make_no_list_of_calls() {
    let server = reference(Faults::default());
    let [apart, listed] = [Scratch::new(), Scratch::new()];
    let flags = "-n 10 -c 2 --connections 2";
    let merged =
        |format: &str, paths: &[PathBuf]| outcome(command(["merge", "-O", format]).args(paths));
    let (without, _) = together(UNARY, &server, 2, flags, &apart);
    let (with, _) = together(UNARY, &server, 2, &format!("{flags} --details 10"), &listed);
    for (format, lines) in [("csv", 11), ("influx-details", 10)] {
        let line = "error: the shares list no calls: run them with `--details N`\n";
        let refused = merged(format, &without);
        assert_eq!(refused, (2, String::new(), line.to_owned()));
        assert_eq!(merged(format, &with).1.matches('\n').count(), lines);
    }
}
