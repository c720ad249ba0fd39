//! `volley blast`: its flags, and what is refused.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::json;
use volley::cli::{self, Blast, Command, Format};

use super::BASE;
use crate::common::{table, words};

fn parse(flags: &[&str]) -> Result<Blast, String> {
    let argv = ["volley", "blast"].iter().chain(&BASE).chain(flags);
    match cli::parse(argv.map(OsString::from)) {
        Ok(Command::Blast(blast)) => Ok(*blast),
        Ok(other) => Err(format!("{other:?}")),
        Err(exit) => Err(exit.to_string()),
    }
}

#[track_caller]
fn refused(flags: &[&str], line: &str) {
    assert_eq!(parse(flags), Err(format!("error: {line}")), "{flags:?}");
}

/// Flags with bars between them, and the line of each.
#[track_caller]
fn all_refused(rows: &str) {
    for [flags, line] in table(rows) {
        refused(&words(flags), line);
    }
}

#[test]
fn without_flags_the_whole_sweep_is_made() {
    let Blast { spec, output } = parse(&[]).unwrap();
    let (first, last) = (spec.requests.first(), spec.requests.last());
    assert_eq!((first, last), (Some(&1), Some(&10_000)));
    assert_eq!(spec.requests.len(), 13);
    assert_eq!(spec.connections, [1, 8, 1000]);
    assert_eq!((spec.repetitions, spec.seed), (10, 1));
    assert_eq!(spec.max_duration, Duration::from_secs(180));
    assert_eq!(spec.run.request.timeout, Duration::from_secs(20));
    assert_eq!(spec.run.load.connections, 1009);
    assert_eq!(output.format, Format::Summary);
}

#[test]
fn every_flag_reaches_its_field() {
    let words = "--requests 3,7 --connections 2,4 --repetitions 5 --seed 9 -x 10s -t 2s --threads 2 \
                 --insecure --authority me --window 70000 --max-recv-message-size 1KiB \
                 --connect-timeout 3s --expect-replies 1 -O json --name night --quiet";
    let words: Vec<&str> = words.split_whitespace().collect();
    let Blast { spec, output } = parse(&words).unwrap();
    assert_eq!(spec.requests, [3, 7]);
    assert_eq!(spec.connections, [2, 4]);
    assert_eq!((spec.repetitions, spec.seed), (5, 9));
    assert_eq!(spec.max_duration, Duration::from_secs(10));
    let run = spec.run;
    assert_eq!(run.request.timeout, Duration::from_secs(2));
    assert_eq!((run.load.threads, run.load.connections), (Some(2), 6));
    assert!(run.target.insecure);
    assert_eq!(run.target.authority.as_deref(), Some("me"));
    assert_eq!((run.target.window, run.request.max_reply), (70_000, 1024));
    assert_eq!(run.target.connect_timeout, Duration::from_secs(3));
    assert_eq!(run.checks.replies, Some(1));
    assert_eq!((output.format, output.quiet), (Format::Json, true));
    assert_eq!(run.name, "night");
}

#[test]
fn lists_are_sorted_and_hold_each_number_once() {
    let spec = parse(&["--requests", "9,1,5,1", "--connections=4,2,4"])
        .unwrap()
        .spec;
    assert_eq!(spec.requests, [1, 5, 9]);
    assert_eq!(spec.connections, [2, 4]);
}

#[test]
fn a_connection_that_no_blast_would_use_is_not_opened() {
    let blast = parse(&["--requests", "5", "--connections", "1,8,1000"]).unwrap();
    assert_eq!(blast.spec.run.load.connections, 1 + 5 + 5);
}

#[test]
fn the_report_shows_the_load_of_a_sweep_and_none_of_a_run() {
    let given = parse(&["--requests", "1,2", "--connections", "1"])
        .unwrap()
        .spec
        .options();
    assert_eq!(given["requests"], json!([1, 2]));
    assert_eq!(given["connections"], json!([1]));
    assert_eq!(given["repetitions"], json!(10));
    assert_eq!(given["max-duration"], json!(180_000_000_000_u64));
    assert_eq!(given["timeout"], json!(20_000_000_000_u64));
    for key in ["total", "concurrency", "load-schedule", "duration", "rps"] {
        assert_eq!(given.get(key), None, "{key}");
    }
}

#[test]
fn a_number_out_of_range_is_refused_with_the_flag() {
    let requests = "a whole number from 1 to 1000000 is needed";
    for value in ["0", "1000001", "-1", "x", "1.5", ""] {
        let line = format!("`--requests`: invalid value `{value}`: {requests}");
        refused(&[&format!("--requests={value}")], &line);
    }
    all_refused(
        r"
        --requests|1,,2 => `--requests`: invalid value ``: a whole number from 1 to 1000000 is needed
        --connections|0 => `--connections`: invalid value `0`: a whole number from 1 to 10000 is needed
        --connections|10001 => `--connections`: invalid value `10001`: a whole number from 1 to 10000 is needed
        --repetitions|0 => `--repetitions`: invalid value `0`: a whole number from 1 to 4294967295 is needed
        --seed|x => `--seed`: invalid value `x`: a whole number from 0 to 18446744073709551615 is needed
    ",
    );
}

#[test]
fn a_duration_that_is_none_is_refused_with_the_flag() {
    all_refused(
        r"
        -x|0 => `--max-duration`: invalid value `0`: a duration above 0 is needed
        -t|5 parsecs => `--timeout`: invalid value `5 parsecs`: `parsecs` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`
    ",
    );
}

#[test]
fn flags_that_only_a_run_has_are_refused() {
    for flags in [
        &["--config", "a.toml"][..],
        &["--keepalive", "1s"],
        &["--tags", "{}"],
        &["--skipFirst", "1"],
        &["--count-errors"],
        &["--details", "1"],
        &["--disable-template-functions"],
        &["--stream-interval", "1s"],
        &["--stream-rate", "1"],
        &["--stream-call-duration", "1s"],
        &["--stream-call-count", "1"],
    ] {
        let line = format!("`{}` has no effect in `volley blast`: drop it", flags[0]);
        refused(flags, &line);
    }
    for flag in ["-c", "-n", "--rps", "--async", "--warmup"] {
        let line = parse(&[flag]).unwrap_err();
        assert!(line.starts_with("error: unknown flag `"), "{line}");
    }
}

#[test]
fn formats_that_only_a_run_has_are_refused() {
    for format in ["csv", "pretty", "html", "prometheus"] {
        refused(
            &["-O", format],
            "`--format`: `volley blast` writes only `summary` and `json`",
        );
    }
}

#[test]
fn more_threads_than_connections_are_refused() {
    refused(
        &["--threads", "3", "--connections", "2", "--requests", "2"],
        "`--threads 3` exceeds the number of connections: raise `--connections` or `--requests`, \
         or lower `--threads` to 2",
    );
}

#[test]
fn the_command_goes_first() {
    let argv = ["volley", "--insecure", "blast"].map(OsString::from);
    let line = cli::parse(argv.into_iter()).unwrap_err().to_string();
    assert_eq!(
        line,
        "error: `blast` is a command and must come first: `volley blast [FLAGS]`"
    );
}
