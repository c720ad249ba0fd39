//! The options that valid command lines give.

use std::collections::BTreeMap;
use std::time::Duration;

use volley::cli::{DataSource, DurationStop, Format, Options, Security};
use volley::pace::{ConcurrencySpec, LoadSpec, ScheduleKind};
use volley::request::SchemaSource;

use crate::{file, options, parse};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn defaults_are_those_of_ghz() {
    let given = options(&[]).given;
    let expected = Options {
        host: "localhost".into(),
        port: 8080,
        authority: None,
        schema: SchemaSource::Proto {
            file: "a.proto".into(),
            import_paths: Vec::new(),
        },
        call: "p.S/M".into(),
        data: DataSource::Json("{}".into()),
        metadata: BTreeMap::new(),
        total: Some(200),
        duration: None,
        max_duration: None,
        duration_stop: DurationStop::Close,
        timeout: Some(seconds(20)),
        concurrency: 50,
        connections: 1,
        threads: None,
        rps: 0,
        is_async: false,
        load: LoadSpec::default(),
        concurrency_schedule: ConcurrencySpec {
            workers: 50,
            step: 1,
            ..ConcurrencySpec::default()
        },
        skip_first: 0,
        count_errors: false,
        security: Security::Tls {
            skip_verify: false,
            cacert: None,
            cert: None,
            key: None,
            server_name: None,
        },
        compress: false,
        connect_timeout: seconds(10),
        keepalive: None,
        max_recv_message: i32::MAX as usize,
        window: 16 << 20,
        stream_interval: Duration::ZERO,
        stream_call_duration: None,
        stream_call_count: 0,
        templates_in_data: true,
        template_functions: true,
        output: None,
        format: Format::Summary,
        name: String::new(),
        tags: BTreeMap::new(),
        details: 0,
        quiet: false,
        warmup: Duration::ZERO,
        told_within: None,
        drain_timeout: seconds(20),
        expect: Vec::new(),
        expect_replies: None,
        given,
    };
    assert_eq!(options(&[]), expected);
}

#[test]
fn z_stands_above_n_and_x_bounds_either() {
    let bounds = |flags: &[&str]| {
        let options = options(flags);
        (options.total, options.duration, options.max_duration)
    };
    assert_eq!(bounds(&["-n", "5"]), (Some(5), None, None));
    assert_eq!(
        bounds(&["-n", "5", "-z", "3s"]),
        (None, Some(seconds(3)), None)
    );
    assert_eq!(
        bounds(&["-n", "0", "-z", "3s"]),
        (None, Some(seconds(3)), None)
    );
    assert_eq!(
        bounds(&["-n", "5", "-x", "3s"]),
        (Some(5), None, Some(seconds(3)))
    );
    assert_eq!(
        bounds(&["-z", "9s", "-x", "3s"]),
        (None, Some(seconds(3)), None)
    );
    assert_eq!(bounds(&["-z", "0"]), (Some(200), None, None));
}

#[test]
fn zero_switches_time_limits_off() {
    let options = options(&[
        "-t",
        "0",
        "--keepalive",
        "0s",
        "--stream-call-duration",
        "0",
    ]);
    assert_eq!(options.timeout, None);
    assert_eq!(options.keepalive, None);
    assert_eq!(options.stream_call_duration, None);
    assert_eq!(options.drain_timeout, seconds(20));
}

#[test]
fn open_calls_may_take_as_long_as_any_call_unless_told() {
    assert_eq!(options(&["-t", "3s"]).drain_timeout, seconds(3));
    assert_eq!(
        options(&["-t", "3s", "--drain-timeout", "1s"]).drain_timeout,
        seconds(1)
    );
}

#[test]
fn fewer_calls_than_workers_are_no_error() {
    assert_eq!(options(&["-n", "1"]).total, Some(1));
}

#[test]
fn csv_keeps_single_calls_and_other_formats_do_not() {
    assert_eq!(options(&["-O", "csv"]).details, 1_000_000);
    assert_eq!(options(&["-O", "csv", "--details", "5"]).details, 5);
    assert_eq!(options(&["-O", "json"]).details, 0);
}

#[test]
fn schedules_are_handed_on_as_written() {
    let flags = "--load-schedule STEP --load-start 0 --load-step 10 --load-end 50 \
                 --load-step-duration 5s --load-max-duration 1m \
                 --concurrency-schedule line --concurrency-start 20 --concurrency-step=-2";
    let options = options(&flags.split_whitespace().collect::<Vec<_>>());
    let load = LoadSpec {
        schedule: ScheduleKind::Step,
        rps: 0,
        start: 0,
        step: 10,
        end: Some(50),
        step_duration: seconds(5),
        max_duration: seconds(60),
    };
    let workers = ConcurrencySpec {
        schedule: ScheduleKind::Line,
        workers: 50,
        start: 20,
        step: -2,
        end: None,
        step_duration: Duration::ZERO,
        max_duration: Duration::ZERO,
    };
    assert_eq!(options.load, load);
    assert_eq!(options.concurrency_schedule, workers);
}

#[test]
fn disabled_templates_disable_their_functions_too() {
    let switches = |flags: &[&str]| {
        let options = options(flags);
        (options.templates_in_data, options.template_functions)
    };
    assert_eq!(switches(&["--disable-template-functions"]), (true, false));
    assert_eq!(switches(&["--disable-template-data"]), (false, false));
}

#[test]
fn names_of_the_server_follow_each_other_under_tls() {
    let names = |flags: &[&str]| {
        let options = options(flags);
        let server_name = match &options.security {
            Security::Plain => None,
            Security::Tls { server_name, .. } => server_name.clone(),
        };
        (options.effective_authority(), server_name)
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(names(&[]), ("localhost:8080".into(), None));
    assert_eq!(names(&["--insecure"]), ("localhost:8080".into(), None));
    assert_eq!(
        names(&["--insecure", "--authority", "a:1"]),
        ("a:1".into(), None)
    );
    assert_eq!(names(&["--cname", "b"]), ("b".into(), some("b")));
    assert_eq!(names(&["--authority", "a:1"]), ("a:1".into(), some("a")));
    assert_eq!(
        names(&["--authority", "a:1", "--cname", "b"]),
        ("a:1".into(), some("b"))
    );
}

#[test]
fn an_ipv6_host_keeps_its_brackets_in_the_authority() {
    let options = parse(&["--proto", "a.proto", "--call", "p.S/M", "[::1]:8080"]).unwrap();
    assert_eq!((options.host.as_str(), options.port), ("::1", 8080));
    assert_eq!(options.effective_authority(), "[::1]:8080");
}

#[test]
fn payloads_and_metadata_are_read_from_files() {
    let json = file("payload.json", "{\"a\": {{randomInt 1 9}}}");
    let binary = file("payload.bin", "\u{8}\u{1}");
    let metadata = file("metadata.json", "{\"k\": \"v\"}");
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let from_json = options(&["-D", &path(&json), "-M", &path(&metadata)]);
    assert_eq!(
        from_json.data,
        DataSource::Json("{\"a\": {{randomInt 1 9}}}".into())
    );
    assert_eq!(
        from_json.metadata,
        BTreeMap::from([("k".into(), "v".into())])
    );
    let from_binary = options(&["-B", &path(&binary), "--expect", "result = 1"]);
    assert_eq!(from_binary.data, DataSource::Binary(vec![8, 1]));
    assert_eq!(from_binary.expect, ["result = 1"]);
}

#[test]
fn a_window_that_is_opened_from_outside_is_waited_for_but_not_for_ever() {
    let told =
        |flags: &[&str]| options(&[&["-z", "1s", "--open-on-stdin"], flags].concat()).told_within;
    assert_eq!(told(&[]), Some(seconds(300)));
    assert_eq!(told(&["--warmup", "10m"]), Some(seconds(1200)));
    assert_eq!(told(&["--warmup-at-most", "9s"]), Some(seconds(9)));
    assert_eq!(options(&["-z", "1s", "--warmup", "1s"]).told_within, None);
}

#[test]
fn volleys_own_flags_are_taken() {
    let options = options(&[
        "--connections=4",
        "--threads=2",
        "--window=64KiB",
        "--warmup=1s",
        "--expect",
        "r = 1",
        "--expect",
        "s = 2",
        "--expect-replies=3",
        "--details=7",
        "--quiet",
    ]);
    assert_eq!((options.connections, options.threads), (4, Some(2)));
    assert_eq!((options.window, options.warmup), (65_536, seconds(1)));
    assert_eq!(options.expect, ["r = 1", "s = 2"]);
    assert_eq!((options.expect_replies, options.details), (Some(3), 7));
    assert!(options.quiet);
}
