//! volley as a drop-in for ghz: the spellings of its command line, and its options in the JSON
//! report.

use serde_json::json;
use volley::report::ghz_options;

use crate::common::words;
use crate::{parse, run, spec};

#[test]
fn every_spelling_of_a_value_is_taken() {
    for flags in [
        &["-c256"][..],
        &["-c", "256"],
        &["-c=256"],
        &["--concurrency=256"],
        &["--concurrency", "256"],
        // A switch and a flag with a value behind one dash.
        &["-ec256"],
        &["-ec", "256"],
    ] {
        assert_eq!(spec(flags).load.concurrency.workers, 256, "{flags:?}");
    }
}

#[test]
fn a_switch_can_be_turned_off() {
    for flags in [&["--no-insecure"][..], &["--insecure=false"]] {
        assert!(!spec(flags).target.insecure, "{flags:?}");
    }
    for flags in [&["--insecure"][..], &["--insecure=true"]] {
        assert!(spec(flags).target.insecure, "{flags:?}");
    }
    assert!(spec(&["-e", "--async", "--count-errors"]).request.compress);
    assert!(spec(&["--stream-dynamic-messages"]).request.stream.dynamic);
    assert!(
        !spec(&["--no-stream-dynamic-messages"])
            .request
            .stream
            .dynamic
    );
}

#[test]
fn cpus_are_the_most_threads_and_never_too_many() {
    let threads = |flags: &str| {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        spec(&flags).load.threads
    };
    assert_eq!(threads("--cpus 4"), Some(1));
    assert_eq!(threads("--cpus 4 --connections 3"), Some(3));
    assert_eq!(threads("--cpus 4 --connections 9"), Some(4));
    assert_eq!(threads("--cpus 4 --connections 9 --share 1/3"), Some(3));
    assert_eq!(threads("--cpus 1 --connections 9 --threads 2"), Some(2));
    assert_eq!(threads("--cpus 0 --connections 9"), None);
}

#[test]
fn a_size_may_be_larger_than_any_message() {
    let request = spec(&[
        "--max-send-message-size=2000mib",
        "--max-recv-message-size=4GB",
    ])
    .request;
    assert_eq!(
        (request.max_send, request.max_reply),
        (2_097_152_000, i32::MAX as u32)
    );
}

#[test]
fn all_single_calls_are_as_many_as_ghz_keeps() {
    assert_eq!(spec(&["--details", "all"]).count.details, 1_000_000);
    assert_eq!(spec(&["--details", "7"]).count.details, 7);
    assert_eq!(spec(&["-O", "influx-details"]).count.details, 1_000_000);
    assert_eq!(spec(&["-O", "influx-summary"]).count.details, 0);
}

#[test]
fn negative_steps_need_no_equals_sign() {
    for step in [&["--load-step", "-10"][..], &["--load-step=-10"]] {
        let schedule = ["--load-schedule", "line", "--load-start", "100"];
        let flags: Vec<&str> = schedule.iter().chain(step).copied().collect();
        assert_eq!(spec(&flags).load.rate.step, -10);
    }
}

#[test]
fn the_host_stands_anywhere() {
    let flags = ["--insecure", "--proto", "a.proto", "--call", "p.S/M"];
    for place in 0..=1 {
        let mut words = flags.to_vec();
        words.insert(place, "localhost:8080");
        assert_eq!(parse(&words).unwrap().spec.target.host, "localhost:8080");
    }
    let mut words = flags.to_vec();
    words.extend(["--", "localhost:8080"]);
    assert_eq!(parse(&words).unwrap().spec.target.host, "localhost:8080");
}

#[test]
fn import_paths_are_separated_by_commas() {
    let volley::spec::SchemaSource::Proto { import_paths, .. } =
        spec(&["-i", "x,y/z"]).request.schema
    else {
        panic!("no .proto file");
    };
    assert_eq!(import_paths, ["x", "y/z"].map(std::path::PathBuf::from));
}

#[test]
fn proto_goes_before_protoset() {
    assert_eq!(spec(&["--protoset", "x.pb"]), spec(&[]));
}

#[test]
fn empty_values_are_those_not_given() {
    let flags = words("--cacert=|--cname=|-o=|--name=|-m=|-d=|-D=|--tags=");
    assert_eq!(run(&flags), run(&[]));
}

#[test]
fn the_report_shows_the_options_as_ghz_does() {
    let flags = words(
        r#"--insecure|-z|5s|-c|4|--connections|2|-d|{"a": 1}|-m|{"k": "v"}|--threads|2|--name|run"#,
    );
    assert_eq!(
        ghz_options::of(&spec(&flags)),
        json!({
            "call": "p.S/M",
            "host": "localhost:8080",
            "proto": "a.proto",
            "concurrency": 4,
            "total": 2_147_483_647,
            "connections": 2,
            "duration": 5_000_000_000_u64,
            "timeout": 20_000_000_000_u64,
            "dial-timeout": 10_000_000_000_u64,
            "data": {"a": 1},
            "metadata": {"k": "v"},
            "name": "run",
            "insecure": true,
            "load-schedule": "const",
            "load-start": 0,
            "load-end": 0,
            "load-step": 0,
            "load-step-duration": 0,
            "load-max-duration": 0,
            "concurrency-schedule": "const",
            "concurrency-start": 0,
            "concurrency-end": 0,
            "concurrency-step": 1,
            "concurrency-step-duration": 0,
            "concurrency-max-duration": 0,
            "binary": false,
            "CPUs": 2,
        })
    );
}
