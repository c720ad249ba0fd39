//! `volley compare` with the reports of real runs.

use std::path::PathBuf;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use serde_json::{Value, json};
use volley::serve::Faults;

use crate::common::shape::UNARY;
use crate::common::{Report, Scratch, begins, command, ends, has, outcome, reference};

/// Reports as of six seconds, with these counts and latencies: a server that answers after 4 ms, twice at a fixed rate; and in a closed loop one of 4 ms and
/// one of 12 ms that fails every tenth call.
struct Runs {
    rate: [Report; 2],
    fast: Report,
    slow: Report,
}

/// What a run counted in each second.
struct Second {
    ok: u64,
    failed: u64,
    latency_us: u64,
}

static RUNS: LazyLock<Runs> = LazyLock::new(|| {
    let server = reference(Faults::default());
    let report = |flags: &str, second: fn(u64) -> Second| {
        let run = UNARY.run("-n 20 -c 8 --name compared");
        in_seconds(run.flags(flags).report(&server), second)
    };
    let at_rate = |at| Second {
        ok: 100,
        failed: 0,
        latency_us: 4000 + 50 * (at % 3),
    };
    Runs {
        rate: [report("--rps 100", at_rate), report("--rps 100", at_rate)],
        fast: report("", |at| Second {
            ok: 1900 + 20 * (at % 3),
            failed: 0,
            latency_us: 4000 + 50 * (at % 2),
        }),
        slow: report("", |at| Second {
            ok: 570 + 10 * (at % 2),
            failed: 60,
            latency_us: 12_000 + 200 * (at % 3),
        }),
    }
});

/// The report of a short run as one of six such seconds.
fn in_seconds(mut report: Report, second: fn(u64) -> Second) -> Report {
    let seconds: Vec<Second> = (0..6).map(second).collect();
    let each = |of: fn(&Second) -> u64| seconds.iter().map(of).collect::<Vec<u64>>();
    let [ok, failed] = [each(|second| second.ok), each(|second| second.failed)];
    let of_second = |second: &Second| {
        let mut times = Histogram::<u64>::new(3).unwrap();
        let ns = second.latency_us * 1000;
        for (percent, part) in [(90, 3), (100, 5), (120, 2)] {
            times
                .record_n(ns * percent / 100, second.ok * part / 10)
                .unwrap();
        }
        times
    };
    let times: Vec<_> = seconds.iter().map(of_second).collect();
    let mut all = Histogram::<u64>::new(3).unwrap();
    times.iter().for_each(|times| all.add(times).unwrap());
    let own = &mut report.json["volley"];
    own["elapsed_s"] = 6.0.into();
    own["missed"] = 0.into();
    own["messages"] = ok.iter().sum::<u64>().into();
    own["sent"] = ok.iter().chain(&failed).sum::<u64>().into();
    own["calls"]["ok"] = ok.iter().sum::<u64>().into();
    own["calls"]["failed"] = json!({"Internal": failed.iter().sum::<u64>()});
    own["series"] = json!({"interval_ms": 1000, "messages": ok, "ok": ok, "failed": failed});
    let histograms: Vec<String> = times.iter().map(encoded).collect();
    own["latency_series"] = json!({"interval_s": 1, "histograms": histograms});
    for (key, value) in [
        ("mean", all.mean() as u64),
        ("min", all.min()),
        ("max", all.max()),
        ("samples", all.len()),
    ] {
        own["latency_ns"][key] = value.into();
    }
    own["latency_ns"]["histogram"] = encoded(&all).into();
    report
}

fn encoded(times: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(times, &mut bytes)
        .unwrap();
    BASE64_STANDARD.encode(bytes)
}

fn compare(old: &PathBuf, new: &PathBuf, flags: &[&str]) -> (i32, String, String) {
    outcome(command(["compare"]).args([old, new]).args(flags))
}

fn written(scratch: &Scratch, name: &str, report: &Report) -> PathBuf {
    scratch.write(name, &report.json.to_string())
}

/// The verdict on each figure.
fn verdicts(json: &str) -> Vec<(String, String)> {
    let json: Value = serde_json::from_str(json).unwrap();
    let text = |of: &Value, key: &str| of[key].as_str().unwrap().to_owned();
    let rows = json["ratios"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&json["failed"]]);
    rows.map(|row| (text(row, "figure"), text(row, "verdict")))
        .collect()
}

#[test]
fn a_slowed_server_is_slower_and_the_other_way_round_faster() {
    let scratch = Scratch::new();
    let (fast, slow) = (
        written(&scratch, "fast", &RUNS.fast),
        written(&scratch, "slow", &RUNS.slow),
    );
    let all = |speed: &str, fails: &str| {
        [
            ("rate", speed),
            ("mean", speed),
            ("p50", speed),
            ("p90", speed),
            ("failed", fails),
        ]
        .map(|(figure, verdict)| (figure.to_owned(), verdict.to_owned()))
    };
    for (old, new, expected) in [
        (&fast, &slow, all("slower", "fails more")),
        (&slow, &fast, all("faster", "fails less")),
    ] {
        let (code, stdout, stderr) = compare(old, new, &["-O", "json"]);
        assert_eq!(code, 0, "{stderr}");
        let found = verdicts(&stdout);
        assert!(expected.iter().all(|row| found.contains(row)), "{found:?}");
    }
}

#[test]
fn a_run_whose_calls_never_ended_is_slower_by_at_least_what_their_ages_say() {
    let scratch = Scratch::new();
    let mut frozen = RUNS.rate[1].json.clone();
    let mut ages = Histogram::<u64>::new(3).unwrap();
    (1..=200).for_each(|age| ages.record(age * 10_000_000).unwrap());
    let latency = &mut frozen["volley"]["latency_ns"];
    (latency["open"], latency["oldest"]) = (200.into(), 2_000_000_000_u64.into());
    latency["ages"] = encoded(&ages).into();
    let (whole, frozen) = (
        written(&scratch, "whole", &RUNS.rate[0]),
        scratch.write("frozen", &frozen.to_string()),
    );
    let flags = ["--fail-if", "p90 ratio > 2", "--fail-if", "p90 > 3s"];
    let (code, table, errors) = compare(&whole, &frozen, &flags);
    assert_eq!(
        (code, table.starts_with("slower: mean, p90")),
        (99, true),
        "{table}"
    );
    let row = table.lines().find(|line| line.starts_with("p90")).unwrap();
    has(row, "≥ 1.2");
    has(row, " or more  slower");
    let failed: Vec<&str> = errors
        .lines()
        .filter(|line| line.starts_with("failed: p90"))
        .collect();
    begins(failed[0], "failed: p90 ratio is ≥ ");
    has(failed[1], "not decided");

    let (_, json, _) = compare(&frozen, &whole, &["-O", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let row = json["ratios"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["figure"] == "p90")
        .unwrap();
    assert_eq!(
        (&row["verdict"], &row["low"]),
        (&"faster".into(), &0.0.into())
    );
    assert_eq!(row["at_least"], json!(["old"]));
}

#[test]
fn the_same_run_twice_shows_no_difference() {
    let scratch = Scratch::new();
    let [first, second] = &RUNS.rate;
    let (first, second) = (
        written(&scratch, "first", first),
        written(&scratch, "second", second),
    );
    let (_, stdout, _) = compare(&first, &first, &["-O", "json"]);
    for (figure, verdict) in verdicts(&stdout) {
        assert!(
            ["no difference shown", "too little data"].contains(&verdict.as_str()),
            "{figure}: {verdict}"
        );
    }
    // Two runs at one rate.
    let (code, stdout, stderr) = compare(
        &first,
        &second,
        &["-O", "json", "--fail-if", "rate ratio < 1"],
    );
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        verdicts(&stdout)[0],
        ("rate".to_owned(), "no difference shown".to_owned())
    );
}

#[test]
fn conditions_decide_the_exit_status_and_each_has_a_line() {
    let scratch = Scratch::new();
    let (fast, slow) = (
        written(&scratch, "fast", &RUNS.fast),
        written(&scratch, "slow", &RUNS.slow),
    );
    let decided = [
        "p50 ratio > 1.2",
        "p50 ratio > 20",
        "rate ratio < 0.9",
        "failed > 5%",
        "wrong > 0",
    ]
    .map(|condition| ["--fail-if", condition])
    .concat();
    let flags = [&decided[..], &["--fail-if", "p99.9 ratio > 1"]].concat();
    for (format, passed) in [
        ("summary", "passed: p50 ratio is"),
        ("markdown", "- passed: p50 ratio is"),
        ("json", "\"threshold\":\"p50 ratio > 20\""),
    ] {
        let (code, stdout, stderr) = compare(&fast, &slow, &[&flags[..], &["-O", format]].concat());
        let failed: Vec<&str> = stderr
            .lines()
            .filter_map(|line| line.strip_prefix("failed: "))
            .collect();
        assert_eq!((code, failed.len()), (99, 3), "{stderr}");
        for (line, (figure, condition)) in failed.iter().zip([
            ("p50 ratio is ", "p50 ratio > 1.2"),
            ("rate ratio is ", "rate ratio < 0.9"),
            ("failed is ", "failed > 5%"),
        ]) {
            begins(line, figure);
            ends(line, &format!("(`--fail-if '{condition}'`)"));
        }
        assert!(stdout.contains(passed), "{stdout}");
    }
    // What is not decided fails, too.
    let (code, _, stderr) = compare(&slow, &fast, &flags);
    assert_eq!(
        (code, stderr.contains("\nfailed: ")),
        (99, false),
        "{stderr}"
    );
    let (code, stdout, stderr) = compare(&slow, &fast, &decided);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with("faster: rate"), "{stdout}");
}

#[test]
fn runs_that_are_no_pair_are_refused_or_warned_of() {
    let scratch = Scratch::new();
    let (open, closed) = (
        written(&scratch, "open", &RUNS.rate[0]),
        written(&scratch, "closed", &RUNS.fast),
    );
    let (code, stdout, stderr) = compare(&open, &closed, &[]);
    assert_eq!(
        (code, stdout.as_str(), stderr.lines().count()),
        (2, "", 1),
        "{stderr}"
    );
    assert!(stderr.contains("closed loop"), "{stderr}");
    let mut json = RUNS.fast.json.clone();
    json["options"]["data-sha256"] = "01".into();
    let older = &closed;
    let closed = scratch.write("digest", &json.to_string());
    let (_, _, stderr) = compare(older, &closed, &[]);
    assert!(!stderr.contains("`data`"), "{stderr}");
    json["options"]["connections"] = 7.into();
    json["options"]["window"] = 10.into();
    json["options"]["metadata"] = json!({"authorization": "secret"});
    json["options"]["timeout"] = 1.into();
    json["options"]["concurrency-max-duration"] = 7.into();
    json["options"]["data-sha256"] = "00".into();
    json["volley"]["warnings"] = json!(["`<b>` says `&amp;` | @all"]);
    let other = scratch.write("other", &json.to_string());
    let (code, _, stderr) = compare(&closed, &other, &[]);
    assert_eq!(code, 0);
    has(
        &stderr,
        "warning: the runs differ in `connections`: 1 and 7\n",
    );
    assert!(
        stderr.contains("warning: the runs differ in `metadata`\n") && !stderr.contains("secret"),
        "{stderr}"
    );
    for option in [
        "timeout`: ",
        "window`: ",
        "concurrency-max-duration`: 0 and 7",
        "data`\n",
    ] {
        let line = format!("warning: the runs differ in `{option}");
        assert!(stderr.contains(&line), "{line} in {stderr}");
    }
    let (_, markdown, _) = compare(&closed, &other, &["-O", "markdown"]);
    has(&markdown, r"\`\<b\>\` says \`\&amp;\` \| \@all");
}

#[test]
fn what_is_no_report_is_refused_with_the_file() {
    let scratch = Scratch::new();
    let good = written(&scratch, "good.json", &RUNS.fast);
    let text = RUNS.fast.json.to_string();
    let mut old = RUNS.fast.json.clone();
    old["volley"]
        .as_object_mut()
        .unwrap()
        .remove("latency_series");
    let mut ghz = RUNS.fast.json.clone();
    ghz.as_object_mut().unwrap().remove("volley");
    let mut failed = RUNS.fast.json.clone();
    failed["volley"]["calls"]["ok"] = 0.into();
    for (name, text, status) in [
        ("truncated.json", &text[..text.len() / 2], 2),
        ("old.json", &old.to_string(), 2),
        ("ghz.json", &ghz.to_string(), 2),
        ("list.json", "[1, 2]", 2),
        ("empty.json", "", 2),
        ("failed.json", &failed.to_string(), 1),
    ] {
        let file = scratch.write(name, text);
        let (code, stdout, stderr) = compare(&good, &file, &[]);
        assert_eq!(
            (code, stdout.as_str(), stderr.lines().count()),
            (status, "", 1),
            "{stderr}"
        );
        assert!(stderr.contains(name), "{stderr}");
    }
    let (code, _, stderr) = compare(&good, &scratch.path("missing.json"), &[]);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
}

#[test]
fn a_condition_that_short_runs_cannot_decide_is_named() {
    let scratch = Scratch::new();
    let server = reference(Faults::default());
    let report = UNARY.run("-n 200 -c 4").report(&server);
    let short = written(&scratch, "short", &report);
    for format in ["summary", "markdown"] {
        let flags = ["--fail-if", "p50 ratio > 1.1", "-O", format];
        let (code, stdout, stderr) = compare(&short, &short, &flags);
        assert_eq!(code, 99, "{stderr}");
        let line = "not decided: p50 ratio has too little data (`--fail-if 'p50 ratio > 1.1'`)";
        has(
            &stderr,
            &format!("warning: {line}; a ratio needs 5 whole seconds"),
        );
        assert!(stdout.contains(line), "{stdout}");
        assert!(!stdout.contains("passed"), "{stdout}");
    }
}
