//! What valid command lines run.

use std::collections::BTreeMap;
use std::time::Duration;

use volley::cli::{Format, Output, Run};
use volley::pace::{RateSpec, ScheduleKind, WorkersSpec};
use volley::spec::{Data, DurationStop, LbStrategy, SchemaSource, Spec, TargetSpec, Templates};

use crate::{file, parse, run, spec};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn defaults_are_those_of_ghz() {
    let Run { spec, output, .. } = run(&[]);
    let mut default = Spec::default();
    default.target.host = "localhost:8080".into();
    default.request.call = "p.S/M".into();
    default.request.schema = SchemaSource::Proto {
        file: "a.proto".into(),
        import_paths: Vec::new(),
    };
    assert_eq!(spec, default);
    assert_eq!(output, Output::default());
    assert_eq!((output.format, output.file), (Format::Summary, None));

    let load = spec.load;
    assert_eq!((load.calls(), load.length()), (Some(200), None));
    assert_eq!((load.concurrency.workers, load.connections), (50, 1));
    assert_eq!(load.duration_stop, DurationStop::Close);
    assert!(!load.is_open_loop() && !load.is_async);
    assert_eq!(load.told_within(), None);
    let request = spec.request;
    assert_eq!(request.data, Data::Json("{}".into()));
    assert_eq!(request.timeout, seconds(20));
    assert_eq!(request.max_reply, i32::MAX as u32);
    assert_eq!((request.max_memory, request.raised()), (128 << 20, None));
    assert_eq!(request.templates, Templates::All);
    let target = spec.target;
    assert!(!target.insecure);
    assert_eq!(target.connect_timeout, seconds(10));
    assert_eq!(target.window, 16 << 20);
}

#[test]
fn z_stands_above_n_and_x_bounds_either() {
    let bounds = |flags: &[&str]| {
        let load = spec(flags).load;
        (load.calls(), load.length())
    };
    assert_eq!(bounds(&["-n", "5"]), (Some(5), None));
    assert_eq!(bounds(&["-n", "5", "-z", "3s"]), (None, Some(seconds(3))));
    assert_eq!(bounds(&["-n", "0", "-z", "3s"]), (None, Some(seconds(3))));
    assert_eq!(
        bounds(&["-n", "5", "-x", "3s"]),
        (Some(5), Some(seconds(3)))
    );
    assert_eq!(bounds(&["-z", "9s", "-x", "3s"]), (None, Some(seconds(3))));
    assert_eq!(bounds(&["-z", "0"]), (Some(200), None));
}

#[test]
fn open_calls_may_take_as_long_as_any_call_unless_told() {
    assert_eq!(spec(&["-t", "0"]).drain_timeout(), seconds(20));
    assert_eq!(spec(&["-t", "3s"]).drain_timeout(), seconds(3));
    let flags = ["-t", "3s", "--drain-timeout", "1s"];
    assert_eq!(spec(&flags).drain_timeout(), seconds(1));
}

#[test]
fn fewer_calls_than_workers_are_no_error() {
    assert_eq!(spec(&["-n", "1"]).load.calls(), Some(1));
}

#[test]
fn csv_keeps_single_calls_and_other_formats_do_not() {
    assert_eq!(spec(&["-O", "csv"]).count.details, 1_000_000);
    assert_eq!(spec(&["-O", "csv", "--details", "5"]).count.details, 5);
    assert_eq!(spec(&["-O", "csv", "--details", "0"]).count.details, 0);
    assert_eq!(spec(&["-O", "json"]).count.details, 0);
}

#[test]
fn schedules_are_handed_on_as_written() {
    let flags = "--load-schedule STEP --load-start 0 --load-step 10 --load-end 50 \
                 --load-step-duration 5s --load-max-duration 1m \
                 --concurrency-schedule line --concurrency-start 20 --concurrency-step=-2";
    let load = spec(&flags.split_whitespace().collect::<Vec<_>>()).load;
    let rate = RateSpec {
        schedule: ScheduleKind::Step,
        rps: 0,
        start: 0,
        step: 10,
        end: Some(50),
        step_duration: seconds(5),
        max_duration: seconds(60),
        poisson: None,
    };
    let workers = WorkersSpec {
        schedule: ScheduleKind::Line,
        workers: 50,
        start: 20,
        step: -2,
        end: None,
        step_duration: Duration::ZERO,
        max_duration: Duration::ZERO,
    };
    assert!(load.is_open_loop());
    assert_eq!((load.rate, load.concurrency), (rate, workers));
}

#[test]
fn disabled_templates_disable_their_functions_too() {
    let templates = |flags: &[&str]| spec(flags).request.templates;
    let no_functions = "--disable-template-functions";
    assert_eq!(templates(&[no_functions]), Templates::NoFunctions);
    assert_eq!(templates(&["--disable-template-data"]), Templates::Off);
    assert_eq!(
        templates(&["--disable-template-data", no_functions]),
        Templates::Off
    );
}

#[test]
fn names_of_the_server_follow_each_other_under_tls() {
    let names = |flags: &[&str]| {
        let target = spec(flags).target;
        (target.effective_authority(), target.server_name())
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(names(&[]), ("localhost:8080".into(), None));
    let plain = spec(&["--insecure", "--authority", "a:1"]).target;
    assert_eq!(plain.effective_authority(), "a:1");
    assert_eq!(names(&["--cname", "b"]), ("b".into(), some("b")));
    assert_eq!(names(&["--authority", "a:1"]), ("a:1".into(), some("a")));
    let both = ["--authority", "a:1", "--cname", "b"];
    assert_eq!(names(&both), ("a:1".into(), some("b")));
}

#[test]
fn an_ipv6_host_keeps_its_brackets_in_the_authority() {
    let run = parse(&["--proto", "a.proto", "--call", "p.S/M", "[::1]:8080"]).unwrap();
    let target = run.spec.target;
    assert_eq!(target.target().unwrap().to_string(), "[::1]:8080");
    assert_eq!(target.effective_authority(), "[::1]:8080");
}

#[test]
fn connections_are_dealt_out_and_renewed_as_told() {
    let target = spec(&[]).target;
    let default = (LbStrategy::PickFirst, Duration::ZERO, 0);
    let ways = |target: &TargetSpec| {
        (
            target.lb_strategy,
            target.resolve_every,
            target.reconnect_every,
        )
    };
    assert_eq!(ways(&target), default);
    let flags = "--lb-strategy=round_robin --resolve-every=2s --reconnect-every=9";
    let flags: Vec<&str> = flags.split(' ').collect();
    let given = (LbStrategy::RoundRobin, Duration::from_secs(2), 9);
    assert_eq!(ways(&spec(&flags).target), given);
}

#[test]
fn payloads_and_metadata_are_read_from_files() {
    let json = file("payload.json", "{\"a\": {{randomInt 1 9}}}");
    let binary = file("payload.bin", "\u{8}\u{1}");
    let metadata = file("metadata.json", "{\"k\": \"v\"}");
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let request = spec(&["-D", &path(&json), "-M", &path(&metadata)]).request;
    let text = "{\"a\": {{randomInt 1 9}}}";
    assert_eq!(request.data, Data::Json(text.into()));
    assert_eq!(request.metadata, BTreeMap::from([("k".into(), "v".into())]));
    let request = spec(&["-B", &path(&binary)]).request;
    assert_eq!(request.data, Data::Binary(vec![8, 1]));
}

#[test]
fn a_window_that_is_opened_from_outside_is_waited_for_but_not_for_ever() {
    let told = |flags: &[&str]| {
        let flags = [&["-z", "1s", "--open-on-stdin"], flags].concat();
        spec(&flags).load.told_within()
    };
    assert_eq!(told(&[]), Some(seconds(300)));
    assert_eq!(told(&["--warmup", "10m"]), Some(seconds(1200)));
    assert_eq!(told(&["--warmup-at-most", "9s"]), Some(seconds(9)));
}

#[test]
fn volleys_own_flags_are_taken() {
    let Run { spec, output, .. } = run(&[
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
    let load = spec.load;
    assert_eq!((load.connections, load.threads), (4, Some(2)));
    assert_eq!((spec.target.window, load.warmup), (65_536, seconds(1)));
    assert_eq!(spec.checks.expect, ["r = 1", "s = 2"]);
    assert_eq!((spec.checks.replies, spec.count.details), (Some(3), 7));
    assert!(output.quiet);
}

#[test]
fn a_run_is_the_same_after_it_was_written_to_a_file_and_read_again() {
    let flags = "-z 5s --rps 7 -c 3 --connections 2 --tags {\"a\":\"b\"} --keepalive 1m30s --window 1MiB \
                 --stream-call-duration 1500us --drain-timeout 1s --expect r=1 --cacert x.pem";
    let spec = spec(&flags.split_whitespace().collect::<Vec<_>>());
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
    let mut binary = spec;
    binary.request.data = Data::Binary(vec![0, 255, 7]);
    binary.request.schema = SchemaSource::Protoset("x.pb".into());
    let json = serde_json::to_string(&binary).unwrap();
    assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), binary);
}
