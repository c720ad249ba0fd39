//! `--config` in its three formats; the command line overrides it.

use std::path::Path;
use std::time::Duration;

use volley::cli::Run;
use volley::spec::{Data, SchemaSource};
use volley_testkit::table::table;

use crate::common::has;
use crate::{file, parse};

const JSON: &str = r#"{
  "host": "localhost:8080", "proto": "a.proto", "call": "p.S/M", "insecure": true,
  "import-paths": ["x", "y"], "duration": "20s", "timeout": "30s", "concurrency": 64,
  "connections": 4, "data": {"big": 9223372036854775807, "names": ["a", "b"]},
  "metadata": {"k": "v"}, "tags": {"env": "test"}, "max-recv-message-size": "1mb", "max-memory": "64MiB",
  "load-schedule": "line", "load-start": 100, "load-step": -10, "skipFirst": 3,
  "cpus": 0, "debug": null, "$schema": "ghz.schema.json",
  "expect": ["r = 1", "s = 2"], "threads": 2
}"#;

const TOML: &str = r#"
host = "localhost:8080"
proto = "a.proto"
call = "p.S/M"
insecure = true
import-paths = ["x", "y"]
duration = "20s"
timeout = "30s"
concurrency = 64
connections = 4
max-recv-message-size = "1mb"
max-memory = "64MiB"
load-schedule = "line"
load-start = 100
load-step = -10
skipFirst = 3
expect = ["r = 1", "s = 2"]
threads = 2

[data]
big = 9223372036854775807
names = ["a", "b"]

[metadata]
k = "v"

[tags]
env = "test"
"#;

const YAML: &str = r#"---
host: localhost:8080
proto: a.proto
call: p.S/M
insecure: true
import-paths: [x, y]
duration: 20s
timeout: 30s
concurrency: 64
connections: 4
data:
  big: 9223372036854775807
  names:
  - a
  - 'b'
metadata: {k: v}
tags: {env: test}
max-recv-message-size: 1mb
max-memory: 64MiB
load-schedule: line
load-start: 100
load-step: -10
skipFirst: 3
expect: ["r = 1", s = 2]
threads: 2
"#;

pub fn with(path: &Path, flags: &[&str]) -> Result<Run, String> {
    let path = path.to_str().unwrap();
    let words: Vec<&str> = ["--config", path].iter().chain(flags).copied().collect();
    parse(&words)
}

#[test]
fn the_three_formats_say_the_same() {
    let json = with(&file("same.json", JSON), &[]).unwrap();
    assert_eq!(json, with(&file("same.toml", TOML), &[]).unwrap());
    assert_eq!(json, with(&file("same.yaml", YAML), &[]).unwrap());
    assert_eq!(json, with(&file("same.yml", YAML), &[]).unwrap());

    let spec = json.spec;
    assert_eq!(spec.target.host, "localhost:8080");
    assert!(spec.target.insecure);
    let load = spec.load;
    assert_eq!((load.concurrency.workers, load.connections), (64, 4));
    assert_eq!((load.threads, load.rate.step), (Some(2), -10));
    assert_eq!(load.duration, Duration::from_secs(20));
    assert_eq!(spec.request.max_reply, 1_000_000);
    assert_eq!(spec.request.max_memory, 64 << 20);
    assert_eq!(spec.checks.expect, ["r = 1", "s = 2"]);
    let metadata = spec.request.metadata;
    assert_eq!(metadata.get("k").map(String::as_str), Some("v"));
    assert_eq!(spec.tags.get("env").map(String::as_str), Some("test"));
    let data = r#"{"big":9223372036854775807,"names":["a","b"]}"#;
    assert_eq!(spec.request.data, Data::Json(data.into()));
}

#[test]
fn a_file_may_name_the_servers_own_schema_and_what_to_send_with_the_questions() {
    let text = r#"{"request": {"schema": "reflection", "call": "p.S/M", "reflect-metadata": {"a": "1"}},
                   "target": {"host": "localhost:1"}}"#;
    let sections = with(&file("own-schema.json", text), &[]).unwrap().spec;
    let text = r#"{"host": "localhost:1", "call": "p.S/M", "reflect-metadata": {"a": "1"}}"#;
    let flags = with(&file("own-schema-flags.json", text), &[])
        .unwrap()
        .spec;
    assert_eq!(sections.request.schema, SchemaSource::Reflection);
    assert_eq!(sections, flags);
}

#[test]
fn the_command_line_wins() {
    let path = file("below.json", JSON);
    let flags = "--no-insecure -c 8 -t 1s --expect t=3 other:1 --protoset p.pb --load-step -5";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let spec = with(&path, &flags).unwrap().spec;
    assert!(!spec.target.insecure);
    assert_eq!(
        (spec.load.concurrency.workers, spec.load.connections),
        (8, 4)
    );
    assert_eq!(spec.request.timeout, Duration::from_secs(1));
    assert_eq!(spec.checks.expect, ["t=3"]);
    assert_eq!(spec.target.host, "other:1");
    let protoset = SchemaSource::Protoset("p.pb".into());
    assert_eq!(spec.request.schema, protoset);
    assert_eq!(spec.load.rate.step, -5);
}

#[test]
fn a_payload_on_the_command_line_replaces_that_of_the_file_whatever_its_kind() {
    let path = file("payloads.json", JSON);
    let payload = file("other-payload.json", "{\"a\": 2}");
    let metadata = file("other-metadata.json", "{\"m\": \"n\"}");
    let flags = [
        "-D",
        payload.to_str().unwrap(),
        "-M",
        metadata.to_str().unwrap(),
    ];
    let request = with(&path, &flags).unwrap().spec.request;
    assert_eq!(request.data, Data::Json("{\"a\": 2}".into()));
    assert_eq!(request.metadata.into_keys().collect::<Vec<_>>(), ["m"]);
}

#[test]
fn n_on_the_command_line_replaces_the_duration_of_the_file() {
    let path = file("duration.json", JSON);
    let load = with(&path, &["-n", "7"]).unwrap().spec.load;
    assert_eq!((load.calls(), load.length()), (Some(7), None));
}

#[test]
fn what_is_wrong_is_said_with_file_and_key() {
    for [name, text, line] in table(
        r#"
        parsecs.toml => duration = "5 parsecs" => `{}: duration`: invalid value `5 parsecs`: `parsecs` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`
        number.json => {"concurrency": 1.5} => `{}: concurrency`: invalid value `1.5`: a whole number from 0 to 4294967295 is needed
        list.json => {"concurrency": [1]} => `{}: concurrency`: one value is needed, not a list
        table.json => {"concurrency": {}} => `{}: concurrency`: one value is needed, not a table
        paths.json => {"import-paths": [[]]} => `{}: import-paths`: a list of strings is needed
        metadata.yaml => metadata: {a: 1} => `{}: metadata`: invalid value: the value of `a` is no string: put it in quotes
        data.json => {"data": [null]} => `{}: data`: invalid value `[null]`: a JSON object or a list of objects is needed, such as `{"name": "Joe"}`
        boolean.yaml => insecure: yes => `{}: insecure`: invalid value `yes`: use `true` or `false`
        syntax.json => {"rps": 5,} => `{}`: trailing comma at line 1 column 11
        syntax.toml => rps = 5⏎name = "x⏎ => `{}`: invalid basic string, expected `"` at line 2
        syntax.yaml => rps: 5⏎name: [ => `{}`: unclosed bracket '[' at line 2, column 7
        twice.yaml => rps: 5⏎rps: 6 => `{}`: duplicate mapping key: rps not allowed here at line 2, column 1
        list-of-flags.yaml => - rps => `{}` must hold keys and their values, such as `"concurrency": 64`
        flags.txt => rps 5 => `--config`: cannot tell the format of `{}`: its name must end in .json, .toml, .yaml or .yml
        combination.json => {"host": "l:1", "proto": "a.proto", "call": "p.S/M", "cert": "c"} => `--cert` needs `--key`: the private key of the certificate (flags in `{}` included)
    "#,
    ) {
        let path = file(name, text);
        let line = line.replacen("{}", &path.display().to_string(), 1);
        assert_eq!(with(&path, &[]), Err(format!("error: {line}")));
    }
}

#[test]
fn a_key_that_is_no_flag_has_no_effect_but_is_named() {
    let base = r#""host": "l:1", "proto": "a.proto", "call": "p.S/M""#;
    let path = file(
        "unknown.json",
        &format!(
            r#"{{{base}, "$schema": "x", "conections": 4, "skip-first": 4, "D": "data.json", "n": 4, "h": 1, "q": 1}}"#
        ),
    );
    let run = with(&path, &[]).unwrap();
    let line = |key: &str, hint: &str| {
        format!(
            "`{}`: unknown key `{key}` has no effect; {hint}",
            path.display()
        )
    };
    let all = "keys are the long names of flags (see `volley --help`), or the sections of `volley schema`";
    assert_eq!(
        run.warnings,
        [
            line("conections", "did you mean `connections`?"),
            line("skip-first", "did you mean `skipFirst`?"),
            line("D", "did you mean `data-file`?"),
            line("n", "did you mean `total`?"),
            line("h", all),
            line("q", all),
        ]
    );
    let plain = with(&file("known.json", &format!("{{{base}}}")), &[]).unwrap();
    assert_eq!(run.spec, plain.spec);
}

#[test]
fn cpus_limit_the_threads_of_a_section() {
    let path = file(
        "threads.json",
        r#"{"load": {"threads": 4, "connections": 9, "concurrency": {"workers": 9}},
            "proto": "a.proto", "call": "p.S/M", "host": "l:1"}"#,
    );
    let threads = |flags: &[&str]| with(&path, flags).unwrap().spec.load.threads;
    assert_eq!(threads(&["--cpus", "2"]), Some(2));
    assert_eq!(threads(&["--cpus", "8"]), Some(4));
    assert_eq!(threads(&["--cpus", "2", "--threads", "3"]), Some(3));
}

#[test]
fn keys_are_known_in_upper_and_lower_case() {
    let text = JSON
        .replace("\"host\"", "\"HOST\"")
        .replace("skipFirst", "skipfirst");
    let path = file("cases.json", &text);
    let same = file("cases-as-named.json", JSON);
    assert_eq!(with(&path, &[]), with(&same, &[]));
}

#[test]
fn a_time_in_a_file_needs_a_unit_unless_it_is_in_nanoseconds() {
    let line = |number: u64| {
        let path = file("unit.yaml", &format!("timeout: {number}"));
        with(&path, &[]).unwrap_err()
    };
    has(&line(20), "the unit is missing: write `20s`");
    assert!(line(1_000_000).contains("no HOST"), "{}", line(1_000_000));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let line =
        "error: `--config`: cannot read `/nowhere/x.json`: No such file or directory (os error 2)";
    assert_eq!(with(Path::new("/nowhere/x.json"), &[]), Err(line.into()));
}

#[test]
fn json_shows_itself_without_an_extension() {
    let path = file("no-extension", JSON);
    assert!(with(&path, &[]).is_ok());
}

const SECTIONS: &str = r#"
name: night
target: {host: "localhost:8080", insecure: true, window: 64KiB}
request:
  schema: {proto: {file: a.proto, import-paths: [x]}}
  call: p.S/M
  data: {a: 1}
  stream: {interval: 5ms}
checks: {expect: [r = 1]}
load: {duration: 20s, concurrency: {workers: 64}, connections: 4, rate: {rps: 1000}}
count: {skip-first: 3}
"#;

#[test]
fn a_file_may_hold_the_sections_of_a_run() {
    let path = file("sections.yaml", SECTIONS);
    let flags = [
        "--name=night",
        "--insecure",
        "--window=64KiB",
        "--proto=a.proto",
        "--import-paths=x",
        "--call=p.S/M",
        "-d",
        "{\"a\":1}",
        "--stream-interval=5ms",
        "--expect",
        "r = 1",
        "-z",
        "20s",
        "-c64",
        "--connections=4",
        "--rps=1000",
        "--skipFirst=3",
        "localhost:8080",
    ];
    assert_eq!(with(&path, &[]), parse(&flags));
}

#[test]
fn flags_override_the_sections_of_a_file() {
    let path = file(
        "overridden.yaml",
        &format!("{SECTIONS}\nconnections: 3\nrps: 7"),
    );
    let spec = with(&path, &["-n", "7", "--rps", "9"]).unwrap().spec;
    assert_eq!((spec.load.calls(), spec.load.length()), (Some(7), None));
    assert_eq!((spec.load.connections, spec.load.rate.rps), (3, 9));
}

#[test]
fn what_is_wrong_in_a_section_is_said_with_its_place() {
    for [name, text, line] in table(
        r#"
        section.yaml => load: {duration: 5 parsecs} => `{}: load.duration`: `parsecs` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`
        key.json => {"request": {"stream": {"pause": "1s"}}} => `{}: request.stream.pause`: unknown field `pause`, expected one of `interval`, `rate`, `duration`, `count`, `dynamic`
        workers.yaml => load: {concurrency: 8} => `{}: load.concurrency`: an object is needed, such as {"workers": 8}
        target.yaml => target: x => `{}: target`: an object is needed
        schema.yaml => request: {schema: {proto: 1}} => `{}: request.schema.proto`: an object is needed
        templates.yaml => request: {templates: 1} => `{}: request.templates`: it has the wrong type: see `volley schema`
        window.yaml => target: {window: true} => `{}: target.window`: it has the wrong type: see `volley schema`
        time.yaml => load: {duration: 1} => `{}: load.duration`: the unit is missing: write `1s` for seconds, or use h, m, ms, us or ns
        no_time.yaml => load: {warmup: [1]} => `{}: load.warmup`: write a time such as `1s`
        number.yaml => load: {connections: x} => `{}: load.connections`: a whole number is needed
        range.yaml => load: {connections: -1} => `{}: load.connections`: a whole number is needed, from 0 to 4294967295
        switch.yaml => target: {insecure: 1} => `{}: target.insecure`: `true` or `false` is needed
        empty.yaml =>  => `{}` is empty
        comments.yaml => # nothing yet⏎ => `{}` is empty
        braces.json => ⏎ {}⏎ => `{}` is empty
        empty.toml => ⏎ => `{}` is empty
    "#,
    ) {
        let path = file(name, text);
        let line = line.replacen("{}", &path.display().to_string(), 1);
        assert_eq!(with(&path, &[]), Err(format!("error: {line}")));
    }
}

#[test]
fn a_whole_report_is_read_as_its_options() {
    let options =
        r#"{"host": "l:1", "proto": "a.proto", "call": "p.S/M", "connections": 3, "details": 7}"#;
    let report =
        format!(r#"{{"count": 200, "options": {options}, "details": [], "histogram": null}}"#);
    let run = with(&file("report.json", &report), &[]).unwrap();
    assert_eq!((run.spec.load.connections, run.spec.count.details), (3, 7));
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
}

#[test]
fn an_unknown_key_of_a_section_is_an_error() {
    let path = file("unknown-inner.json", r#"{"load": {"durration": "5s"}}"#);
    let line = with(&path, &[]).unwrap_err();
    has(&line, "unknown-inner.json: load");
    has(&line, "durration");
}
