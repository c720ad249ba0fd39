//! The options of a JSON report as a config.

use std::time::Duration;

use volley::spec::Data;
use volley_testkit::table::{table, words};

use crate::common::begins;
use crate::config::with;
use crate::{BASE, file, parse, run};

/// What ghz 0.121 writes for `--config` of a file with these settings, in its JSON report.
const OPTIONS: &str = r#"{
  "call": "p.S/M", "host": "localhost:8080", "proto": "a.proto", "import-paths": ["x"],
  "insecure": true, "rps": 50, "load-schedule": "const", "load-start": 0, "load-end": 0,
  "load-step": 0, "load-step-duration": 0, "load-max-duration": 0, "concurrency": 4,
  "concurrency-schedule": "const", "concurrency-start": 1, "concurrency-end": 0,
  "concurrency-step": 0, "concurrency-step-duration": 0, "concurrency-max-duration": 0,
  "total": 2147483647, "connections": 2, "duration": 5000000000, "timeout": 20000000000,
  "dial-timeout": 10000000000, "data": {"a": 1}, "binary": false, "metadata": {"k": "v"},
  "CPUs": 2, "name": "saved", "skipFirst": 3
}"#;

#[test]
fn the_options_in_ghzs_report_are_a_config() {
    let run = with(&file("options.json", OPTIONS), &[]).unwrap();
    assert_eq!(run.warnings, [""; 0]);
    let (load, request) = (&run.spec.load, &run.spec.request);
    assert_eq!(
        (load.calls(), load.duration),
        (None, Duration::from_secs(5))
    );
    assert_eq!(request.timeout, Duration::from_secs(20));
    assert_eq!(run.spec.target.connect_timeout, Duration::from_secs(10));
    assert_eq!((load.threads, load.rate.rps), (Some(2), 50));
    assert_eq!(run.spec.name, "saved");
}

#[test]
fn options_without_their_binary_payload_need_it() {
    let text = OPTIONS.replace(r#""binary": false"#, r#""binary": true"#);
    let text = text.replace(r#""data": {"a": 1}, "#, "");
    let path = file("binary.json", &text);
    let line = format!(
        "error: `{}: binary`: the payload is not in this file: give it with `-B FILE`",
        path.display()
    );
    assert_eq!(with(&path, &[]), Err(line));
    let payload = file("payload.bin", "\u{8}\u{1}");
    let run = with(&path, &["-B", payload.to_str().unwrap()]).unwrap();
    assert_eq!(run.spec.request.data, Data::Binary(vec![8, 1]));
}

#[test]
fn the_options_in_volleys_report_make_the_same_run() {
    let all = words(
        "--insecure|--call|p.S/M|-n|8|--expect|result = a|--expect-replies|1|--fail-if|max > 20ms|--fail-if|failed > 0.1%|--warmup|2s|\
        --window|70000|--reconnect-every|5|--lb-strategy|round_robin|localhost:1",
    );
    let spec = parse(&all).unwrap().spec;
    let options = volley::report::ghz_options::of(&spec).to_string();
    let again = with(&file("own.json", &options), &[]).unwrap();
    assert_eq!(again.warnings, [""; 0]);
    assert_eq!(again.spec.checks, spec.checks);
    assert_eq!(again.spec.target, spec.target);
    assert_eq!(again.spec.load.warmup, spec.load.warmup);
}

#[test]
fn options_without_all_of_their_data_or_with_masked_metadata_need_it() {
    let text = OPTIONS.replace(
        r#""data": {"a": 1}"#,
        r#""data": {"a": 1}, "data-sha256": "00""#,
    );
    let path = file("cut.json", &text);
    let line = format!(
        "error: `{}: data-sha256`: the payload is not whole in this file: give it with `-d`, `-D` or `-B`",
        path.display()
    );
    assert_eq!(with(&path, &[]), Err(line));
    let run = with(&path, &["-d", "{}"]).unwrap();
    assert_eq!(run.spec.request.data, Data::Json("{}".to_owned()));

    let text = OPTIONS.replace(r#"{"k": "v"}"#, r#"{"k": "***", "x-token": "***"}"#);
    let path = file("masked.json", &text);
    let refusal = with(&path, &[]).unwrap_err();
    begins(&refusal, "error: metadata `x-token` is `***`");
    assert!(with(&path, &["-m", r#"{"x-token": "abc"}"#]).is_ok());
}

#[test]
fn flags_that_others_make_useless_are_warned_of() {
    for [flags, warning] in table(
        r#"
        --protoset a.pb => `--protoset` has no effect beside `--proto`
        --reflect-metadata {"a":"b"} => `--reflect-metadata` has no effect beside `--proto` or `--protoset`: no server is asked
        --lb-strategy round_robin --authority a 127.0.0.1:1 => `--lb-strategy` has no effect on one address
        --stream-dynamic-messages -d {} => `--stream-dynamic-messages` has no effect on data without templates
        --disable-template-data --disable-template-functions => `--disable-template-functions` has no effect beside `--disable-template-data`
        --duration-stop wait => `--duration-stop` has no effect without `-z` or `-x`: all calls are waited for
        -z 1s --drain-timeout 1s => `--drain-timeout` has no effect without `--duration-stop wait`
        --control-token t => `--control-token` has no effect without `--control` or `--metrics`
    "#,
    ) {
        let is_other = flags.ends_with("127.0.0.1:1");
        let base = if is_other { &BASE[..4] } else { &BASE };
        let words: Vec<&str> = base.iter().copied().chain(flags.split(' ')).collect();
        assert_eq!(parse(&words).unwrap().warnings, [warning]);
    }
    let words = ["--call", "p.S/M", "-i", "x", "localhost:1"];
    let warning = "`--import-paths` has no effect without `--proto`";
    assert_eq!(parse(&words).unwrap().warnings, [warning]);
    for flags in [
        "--lb-strategy round_robin -i x",
        "--async --rps 9 --duration-stop wait -x 1s --drain-timeout 1s",
        "--stream-dynamic-messages -d {{.X}} --disable-template-functions",
        "--control-token t --metrics :9090 --duration-stop ignore",
        "--protoset ",
    ] {
        let words: Vec<&str> = flags.split(' ').collect();
        assert!(run(&words).warnings.is_empty(), "{flags}");
    }
}
