//! Flow control in both directions, and the server's stream limit.

use volley::serve::{Faults, Reference};

use crate::common::shape::{ALL, SERVER_STREAM, UNARY};
use crate::common::{Scratch, Volley, faulty, reference, served};

#[test]
fn a_small_window_slows_streams_down_and_loses_nothing() {
    for window in [1, 1000] {
        let server = reference(Faults::default());
        let report = Volley::call("StreamSum")
            .data(r#"{"a": 1000000, "b": 2, "count": 400}"#)
            .expect(SERVER_STREAM.rule)
            .flags("--expect-replies 400 -t 10m -n 8 -c 4 --connections 2")
            .flags(&format!("--window {window}"))
            .report(&server);
        assert_eq!(report.all_ok(), 8, "--window {window}");
        assert_eq!(report.messages(), 3_200);
        assert_eq!(server.counts().messages_sent, 3_200);
    }
}

#[test]
fn fifty_thousand_requests_of_one_call_are_sent_as_the_server_takes_them() {
    let messages: Vec<String> = (0..50_000)
        .map(|n| format!(r#"{{"a": {n}, "b": 1}}"#))
        .collect();
    let scratch = Scratch::new();
    let data = scratch.write("data.json", &format!("[{}]", messages.join(",")));
    for window in [1 << 20, 999] {
        let server = served(|config| config.window = window);
        let report = Volley::call("CollectSum")
            .expect("result = sum(a) + sum(b)")
            .flags("-t 10m -n 6 -c 3 --connections 2 -D")
            .arg(&data)
            .report(&server);
        assert_eq!(report.all_ok(), 6);
        assert_eq!(server.counts().messages_received, 300_000);
    }
}

#[test]
fn as_many_echoes_as_requests_pass_through_small_windows_on_both_sides() {
    let messages: Vec<String> = (0..5000)
        .map(|n| format!(r#"{{"a": {n}, "b": -1}}"#))
        .collect();
    let scratch = Scratch::new();
    let data = scratch.write("data.json", &format!("[{}]", messages.join(",")));
    let server = served(|config| config.window = 500);
    let report = Volley::call("EchoSum")
        .expect("result = a + b")
        .flags("--expect-replies 5000 --window 500 -n 4 -c 2 -D")
        .arg(&data)
        .report(&server);
    assert_eq!(report.all_ok(), 4);
    assert_eq!(report.messages(), 20_000);
}

fn limited(streams: u32) -> Reference {
    served(|config| config.max_concurrent_streams = Some(streams))
}

#[test]
fn workers_wait_for_a_stream_where_the_server_allows_but_one() {
    for shape in ALL {
        let server = limited(1);
        let report = shape.checked("-n 100 -c 10").report(&server);
        assert_eq!(report.all_ok(), 100, "{shape:?}");
        report.warned_of("limit of 1 open streams per connection");
        report.warned_of("`--connections`");
    }
}

#[test]
fn a_limit_of_streams_that_holds_nobody_back_is_not_warned_of() {
    for load in ["-n 100 -c 10", "-n 20 -c 10 --rps 200"] {
        let server = limited(10);
        let report = UNARY.checked(load).report(&server);
        assert_eq!(report.all_ok(), if load.contains("rps") { 20 } else { 100 });
        assert!(!report.warns_of("open streams per connection"), "{load}");
    }
}

#[test]
fn a_run_without_a_time_limit_ends_where_the_server_allows_no_stream() {
    for load in ["-n 10 -c 2", "-n 10 -c 2 --rps 100"] {
        let server = limited(0);
        let report = UNARY
            .checked(load)
            .flags("--connect-timeout 3s")
            .report(&server);
        assert_eq!(report.number("/calls/ok"), 0, "{load}");
        assert!(report.warns_of("the server allowed no streams"), "{load}");
    }
}

#[test]
fn a_schedule_is_kept_as_far_as_the_servers_limit_of_streams_allows() {
    let server = served(|config| {
        config.max_concurrent_streams = Some(1);
        config.faults = faulty(|faults| faults.delay = std::time::Duration::from_millis(20));
    });
    let report = UNARY
        .checked("-z 400ms --rps 500 -c 10 --duration-stop wait")
        .report(&server);
    let sent = report.all_ok();
    assert_eq!(sent + report.number("/missed"), 200);
    assert!(sent <= 20, "{sent}");
    report.warned_of("limit of 1 open streams per connection");
    report.warned_of("were never sent");
}
