//! Command lines that give no run: each ends in one line that names the flag and the remedy.

use volley_testkit::table::table;

use crate::{file, parse, refusal, run};

/// Each row has flags with `|` between them, and the error of an otherwise valid command line with them.
#[track_caller]
fn refused(rows: &str) {
    for [flags, line] in table(rows) {
        assert_eq!(refusal(&flags.split('|').collect::<Vec<_>>()), line);
    }
}

#[test]
fn values_of_targets_that_make_no_sense_are_refused_by_name() {
    refused(
        r"
        --lb-strategy|grpclb => `--lb-strategy`: invalid value `grpclb`: give `pick_first` or `round_robin`
        --resolve-every|99ms => `--resolve-every`: names are looked up at most every 100ms; 0: only when a connection is lost
    ",
    );
}

#[test]
fn a_run_needs_a_host_and_a_method() {
    for [words, line] in table(
        r"
        => no HOST: give the server's address, such as `localhost:8080`
        localhost:1 --proto a.proto => no `--call`: name the method, such as `--call package.Service/Method`
        localhost:1 --proto a.pb --call p.S/M => `--proto`: `a.pb` does not end in .proto; for compiled descriptors use `--protoset`
        localhost --proto a.proto --call p.S/M => HOST `localhost` has no port: write `localhost:8080`, or the port your server has
    ",
    ) {
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(parse(&words), Err(format!("error: {line}")));
    }
}

#[test]
fn a_share_needs_a_call_and_a_connection() {
    refused(
        r"
        --share|3/3|-n|9|-c|2 => `--share 3/3` leaves some process without a connection: raise `--connections` from 1 (and `-c` if need be)
        --share|3/3|-n|2|-c|3|--connections|3 => `--share 3/3` leaves some process without a call: raise `-n` from 2
    ",
    );
}

#[test]
fn a_window_that_is_opened_from_outside_needs_a_length_and_a_steady_load() {
    refused(
        r"
        --open-on-stdin|-n|5 => `--open-on-stdin` opens a window of a given length: give it with `-z`, instead of `-n`
        --open-on-stdin|-z1s|--load-schedule=line|--load-start=1|--load-step=1 => `--open-on-stdin` is for a load that does not change: drop it, or `--load-schedule` (`--rps` gives a constant rate)
        --open-on-stdin|-z1s|--load-schedule=step|--load-start=1|--load-step=1|--load-step-duration=1s => `--open-on-stdin` is for a load that does not change: drop it, or `--load-schedule` (`--rps` gives a constant rate)
        --open-on-stdin|-z1s|--concurrency-schedule=line|--concurrency-start=1 => `--open-on-stdin` is for a load that does not change: drop it, or `--concurrency-schedule`
        --open-on-stdin|-z|1s|-d|@ => `--open-on-stdin` waits for a line on stdin: give the payload with `--data` or a file instead
        --open-on-stdin|-z|1s|-b => `--open-on-stdin` waits for a line on stdin: give the payload with `--data` or a file instead
        --open-on-stdin|-z1s|--warmup=9s|--warmup-at-most=9s => `--warmup-at-most` must be longer than `--warmup`: raise it
        --spin|-z1s => `--spin` waits for calls that are due: add `--rps` or a load schedule, or drop it
        --spin|-z1s|--rps=9|--coalesce-sends=9ms => `--spin` never sleeps, and `--coalesce-sends` does: drop one of them
        --warmup-at-most|9s => `--warmup-at-most` is for `--open-on-stdin`: add it, or drop this one
    ",
    );
}

#[test]
fn streams_that_live_need_a_window_and_nothing_that_ends_them() {
    let rest = "`--stream-rate`: streams live until the window's end, each with messages at its own times; drop";
    let opposed = [
        ("--stream-interval|1s", "--stream-interval"),
        ("--stream-call-duration|1s", "--stream-call-duration"),
        ("--stream-call-count|9", "--stream-call-count"),
        ("-t|5s", "--timeout"),
        ("--expect-replies|4", "--expect-replies"),
        ("--async", "--async"),
        ("--rps|9", "--rps"),
        (
            "--load-schedule=line|--load-start=1|--load-step=1",
            "--load-schedule",
        ),
        (
            "--concurrency-schedule=line|--concurrency-start=1",
            "--concurrency-schedule",
        ),
        ("--skipFirst|1", "--skipFirst"),
    ];
    for (flags, flag) in opposed {
        refused(&format!("--stream-rate|2|-z|5s|{flags} => {rest} `{flag}`"));
    }
    refused(
        r"
        --stream-rate|2 => `--stream-rate` keeps streams open for a window of a given length: give it with `-z`
        --stream-rate|0|-z|1s => `--stream-rate`: invalid value `0`: a whole number from 1 to 4294967295 is needed
    ",
    );
}

#[test]
fn values_that_are_not_understood_are_shown_with_what_is_needed() {
    refused(
        r#"
        -z|5 parsecs => `--duration`: invalid value `5 parsecs`: `parsecs` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`
        -t5 => `--timeout`: invalid value `5`: the unit is missing: write `5s` for seconds, or use h, m, ms, us or ns
        -n|many => `--total`: invalid value `many`: a whole number from 0 to 18446744073709551615 is needed
        --window|0 => `--window`: invalid value `0`: the size must be from 1 byte to 2147483647 bytes (2 GiB - 1)
        --window|3GiB => `--window`: invalid value `3GiB`: the size must be from 1 byte to 2147483647 bytes (2 GiB - 1)
        --duration-stop|stop => `--duration-stop`: invalid value `stop`: use `close`, `wait` or `ignore`
        --load-schedule|sine => `--load-schedule`: invalid value `sine`: use `const`, `step` or `line`
        -O|xml => `--format`: invalid value `xml`: use `summary`, `csv`, `json`, `pretty`, `html`, `prometheus`, `influx-summary` or `influx-details`
        --insecure=maybe => `--insecure`: invalid value `maybe`: use `true` or `false`
        -d|{a: 1} => `--data`: invalid value `{a: 1}`: it is not JSON: key must be a string at line 1 column 2
        -m|{"a": 1} => `--metadata`: invalid value: the value of `a` is no string: put it in quotes
        -c => `--concurrency` needs a value
        -c|1|-c|2 => `--concurrency` is given twice: keep one
        --conections|2 => unknown flag `--conections`; did you mean `--connections`?
        -Z => unknown flag `-Z`: see `volley --help`
        --no-call => unknown flag `--no-call`: see `volley --help`
        localhost:8081 => unexpected argument `localhost:8081`: see `volley --help`
    "#,
    );
}

#[test]
fn numbers_that_do_not_go_together_are_refused() {
    refused(
        r"
        -n|0 => `-n 0` makes no calls: give at least 1, or a duration with `-z`
        -c|0 => `-c 0` leaves no worker to make a call: give at least 1
        --connections|0 => `--connections 0` leaves no connection to send calls on: give at least 1
        --threads|0 => `--threads 0` leaves no thread to do the work: give at least 1
        --connections|64 => `--connections 64` exceeds the number of workers: raise `-c` from 50 to 64, or lower `--connections`
        --threads|2 => `--threads 2` exceeds the number of connections: raise `--connections` from 1 to 2 (and `-c` if need be), or lower `--threads`
        --skipFirst|200 => `--skipFirst 200` skips all 200 calls of `-n`: lower it, or raise `-n`
        --connect-timeout|0 => `--connect-timeout 0` leaves no time to connect: give a duration such as `10s`
    ",
    );
}

#[test]
fn calls_that_are_left_out_do_not_decide_a_condition() {
    let flags = |total: &'static str, condition: &'static str| {
        ["-n", total, "--skipFirst", "100", "--fail-if", condition]
    };
    assert_eq!(
        refusal(&flags("1000", "p99 > 20ms")),
        "`--fail-if 'p99 > 20ms'` needs 1000 calls, ten of them beyond that percentile, and this load counts at most 900: \
         raise `-n` or `-z`, or name a lower percentile, or `max`"
    );
    run(&flags("1100", "p99 > 20ms"));
    // First replies are never left out.
    run(&flags("1000", "first-message p99 > 20ms"));
}

#[test]
fn security_flags_that_contradict_each_other_are_refused() {
    refused(
        r"
        --cert|c => `--cert` needs `--key`: the private key of the certificate
        --key|k => `--key` needs `--cert`: the certificate of the private key
        --insecure|--cacert|ca => `--cacert` has no effect on plaintext (`--insecure`): drop one of them
        --insecure|--skipTLS => `--skipTLS` has no effect on plaintext (`--insecure`): drop one of them
        --insecure|--cname|a => `--cname` has no effect on plaintext (`--insecure`): drop one of them
        --skipTLS|--cacert|ca => `--skipTLS` accepts any certificate, so `--cacert` has no effect: drop one of them
    ",
    );
}

#[test]
fn schedules_that_make_no_sense_are_refused() {
    refused(
        r"
        --rps|5|--load-schedule|step => `--rps` is for a constant load: with `--load-schedule step` give `--load-start` instead
        --load-step|5 => `--load-step` needs a schedule: add `--load-schedule step` or `line`
        --concurrency-end|5 => `--concurrency-end` needs a schedule: add `--concurrency-schedule step` or `line`
        --load-schedule|line|--load-step|5|--load-step-duration|5s => `--load-step-duration` is for `--load-schedule step`: a line changes by `--load-step` each second
        --concurrency-schedule|line|--concurrency-end|10|--connections|20 => `--connections 20` exceeds the number of workers: raise `--concurrency-end` from 10 to 20, or lower `--connections`
    ",
    );
}

#[test]
fn a_schedule_the_pace_refuses_is_a_usage_error() {
    for flags in [
        "--load-schedule step --load-start 1 --load-step-duration 1s",
        "--load-schedule step --load-start 1 --load-step 1",
        "--load-schedule line --load-start 10 --load-step 1 --load-end 5",
        "--load-schedule line --load-step -10",
        "--concurrency-schedule step --concurrency-step 0 --concurrency-step-duration 1s",
    ] {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let line = refusal(&flags);
        assert!(line.contains("-step"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn two_payloads_are_refused() {
    refused(
        r#"
        -d|{}|-D|x.json => `--data` and `--data-file` both give the payload: keep one
        -b|-B|x.bin => `--binary` and `--binary-file` both give the payload: keep one
        -m|{"a":"b"}|-M|x.json => `--metadata` and `--metadata-file` both give the metadata: keep one
    "#,
    );
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let empty = file("empty.json", "\n");
    let latin = file("binary.json", "");
    std::fs::write(&latin, b"\xff").unwrap();
    let numbers = file("numbers.json", "{\"a\": 1}");
    let (empty, latin, numbers) = (empty.display(), latin.display(), numbers.display());
    refused(&format!(
        r"
        -D|/nowhere/x => `--data-file`: cannot read `/nowhere/x`: No such file or directory (os error 2)
        -B|/nowhere/x => `--binary-file`: cannot read `/nowhere/x`: No such file or directory (os error 2)
        -D|{empty} => `--data-file`: `{empty}` is empty
        -D|{latin} => `--data-file`: `{latin}` is not UTF-8; for protobuf use `--binary` or `--binary-file`
        -M|{numbers} => `--metadata-file`: `{numbers}`: the value of `a` is no string: put it in quotes
    "
    ));
}

#[test]
fn a_negative_value_is_refused_as_the_value_of_its_flag() {
    refused(
        r"
        -z|-1s => `--duration`: invalid value `-1s`: a duration cannot be negative
        --rps|-5 => `--rps`: invalid value `-5`: a whole number from 0 to 4294967295 is needed
        --share|-1/2 => `--share`: invalid value `-1/2`: a share is written as K/N, such as `1/3` for the first of three
        --start-at|-5 => `--start-at`: invalid value `-5`: use nanoseconds of CLOCK_MONOTONIC, or `stdin`
        --insecure|-5 => unknown flag `-5`: see `volley --help`
    ",
    );
}

#[test]
fn a_command_that_is_misspelt_is_suggested() {
    for (typo, command) in [
        ("srve", "serve"),
        ("mrege", "merge"),
        ("blst", "blast"),
        ("shema", "schema"),
        ("chek", "check"),
    ] {
        let line = format!(
            "error: HOST `{typo}` has no port: write `{typo}:8080`, or the port your server has; \
             or did you mean `volley {command}`?"
        );
        assert_eq!(parse(&[typo]), Err(line));
    }
    assert!(!parse(&["localhost"]).unwrap_err().contains("did you mean"));
    let line = "error: `chek` is no command; did you mean `volley check`?";
    assert_eq!(parse(&["chek", "x"]), Err(line.to_owned()));
}

#[test]
fn a_scenario_file_is_no_host() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");
    let line = format!("error: `{file}` is a file: write `volley run {file}`");
    assert_eq!(parse(&[file]), Err(line));
    assert!(parse(&["none.yaml"]).unwrap_err().contains("HOST"));
}

#[test]
fn no_output_overwrites_another_one_or_what_is_read() {
    let data = file("overwritten.json", "{}");
    let data = data.to_str().unwrap();
    let link = data.replace(".json", ".link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(data, &link).unwrap();
    let config = file("overwritten.toml", "concurrency = 5");
    let config = config.to_str().unwrap();
    refused(&format!(
        r"
        -o|new|--live-json|./new => `--output` and `--live-json` both write to `./new`: give each a file of its own
        --debug|{data}|--save-replies|{link} => `--debug` and `--save-replies` both write to `{link}`: give each a file of its own
        -o|r.json|--live-json=-|--debug=- => `--live-json` and `--debug` both write to `-`: give each a file of its own
        --save-replies|- => `--save-replies -` and the report both go to stdout: give the report a file with `-o`
        -D|{data}|-o|{link} => `--output` would overwrite `{link}`, which is read (`--data-file`): give `--output` another file
        --config|{config}|--debug|{config} => `--debug` would overwrite `{config}`, which is read (`--config`): give `--debug` another file (flags in `{config}` included)
    "
    ));
    run(&["-o", "/dev/null", "--debug", "/dev/null", "--live-json=-"]);
}

#[test]
fn a_report_of_reports_overwrites_none_of_them() {
    for (command, name) in [("merge", "FILE"), ("compare", "NEW")] {
        let line = format!(
            "error: `--output` would overwrite `b.json`, which is read (`{name}`): give `--output` another file"
        );
        assert_eq!(
            parse(&[command, "a.json", "b.json", "-o", "b.json"]),
            Err(line)
        );
    }
}
