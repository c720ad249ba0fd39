//! `--stream-rate`: streams that live, with messages that are each due at their own time.

use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, flag, write_rst_stream};
use volley::serve::Faults;

use crate::common::shape::{BOTH_STREAM, UNARY};
use crate::common::{Report, faulty, freeze_of, one, reference, scripted, served, settled};

/// Counts of paced streams, by name.
fn counts<const N: usize>(report: &Report, names: [&str; N]) -> [u64; N] {
    names.map(|name| report.number(&format!("/paced_streams/{name}")))
}

#[test]
fn streams_live_from_the_warm_up_to_the_end_and_each_message_that_is_due_is_counted() {
    let server = reference(Faults::default());
    let report = BOTH_STREAM
        .run("--stream-rate 10 -c 8 --connections 2 --warmup 500ms -z 1s --duration-stop wait")
        .expect("result = a + b")
        .report(&server);
    assert_eq!(report.all_ok(), 8);
    let streams = ["wanted", "open_first", "open_last", "broken", "refused"];
    assert_eq!(counts(&report, streams), [8, 8, 8, 0, 0]);
    let messages = ["due", "sent", "answered", "unsent", "unanswered"];
    assert_eq!(counts(&report, messages), [80, 80, 80, 0, 0]);
    assert_eq!(report.number("/paced_streams/reply_latency_ns/samples"), 80);
    let served = settled(&server);
    assert_eq!((served.calls_started, served.messages_received), (8, 120));
}

#[test]
fn after_a_stall_no_message_is_skipped_and_each_is_timed_from_when_it_was_due() {
    // A message fills the window, so that none can be sent while the server stands still.
    let server = served(|config| {
        config.window = 10;
        config.faults.freeze = freeze_of(300, 700);
    });
    let report = BOTH_STREAM
        .run("--stream-rate 50 -c 4 -z 1500ms --duration-stop wait")
        .expect("result = a + b")
        .report(&server);
    assert_eq!(report.all_ok(), 4);
    let messages = ["due", "sent", "answered", "unsent", "unanswered"];
    assert_eq!(counts(&report, messages), [300, 300, 300, 0, 0]);
    // In each stream, some 35 were due meanwhile.
    assert!(report.number("/paced_streams/late") >= 4 * 30);
    assert!(report.number("/paced_streams/reply_latency_ns/max") > 600_000_000);
    assert!(report.number("/paced_streams/reply_latency_ns/p90") > 300_000_000);
    assert_eq!(settled(&server).messages_received, 300);
}

#[test]
fn a_condition_on_a_time_is_of_the_messages_from_when_they_were_due() {
    let run = |freeze| {
        let server = served(|config| config.faults.freeze = freeze);
        let flags = "--stream-rate 50 -c 4 -z 1500ms --duration-stop wait";
        let run = BOTH_STREAM.run(flags);
        run.flags("--fail-if p90>300ms").report(&server).exit
    };
    // The streams themselves live for 1.5 s.
    assert_eq!(run(None), 0);
    assert_eq!(run(freeze_of(300, 700)), 99);
}

#[test]
fn messages_that_never_get_a_reply_are_counted_and_make_percentiles_lower_bounds() {
    for stop in [
        "--duration-stop wait --drain-timeout 100ms",
        "--duration-stop close",
    ] {
        let server = reference(faulty(|faults| faults.freeze = freeze_of(500, 60_000)));
        let flags = format!("--stream-rate 20 -c 4 -z 1500ms {stop}");
        let report = BOTH_STREAM.run(&flags).report(&server);
        let [due, sent, unsent] = counts(&report, ["due", "sent", "unsent"]);
        assert_eq!((due, sent + unsent), (120, 120));
        let [answered, unanswered] = counts(&report, ["answered", "unanswered"]);
        assert_eq!(answered + unanswered, sent);
        assert!(answered > 0 && unanswered > 40, "{answered} {unanswered}");
        let bounds = report.own("/paced_streams/reply_latency_ns/at_least");
        assert!(bounds.as_array().unwrap().contains(&"p99".into()));
        assert_eq!(report.exit, 0);
    }
}

#[test]
fn a_stream_that_breaks_is_counted_and_its_worker_goes_on_with_the_next_message() {
    // The fourth stream is reset after its first reply; the next one is the fifth.
    let server = reference(faulty(|faults| faults.reset_every = one(4)));
    let report = BOTH_STREAM
        .run("--stream-rate 20 -c 4 -z 1s --duration-stop wait")
        .report(&server);
    let streams = ["wanted", "open_last", "broken", "refused"];
    assert_eq!(counts(&report, streams), [4, 4, 1, 0]);
    let messages = ["due", "sent", "answered", "unanswered"];
    assert_eq!(counts(&report, messages), [80, 80, 80, 0]);
}

#[test]
fn a_stream_that_the_server_refuses_is_opened_again_and_counted() {
    // The first message comes on a stream that is refused; all others are on the second one.
    let address = scripted::serve(|_| {
        let mut begun = false;
        move |header, peer| {
            if header.kind != Kind::Data {
                return true;
            }
            if header.stream == 1 {
                write_rst_stream(&mut peer.out, 1, ErrorCode::RefusedStream);
            } else if header.has(flag::END_STREAM) {
                peer.headers(header.stream, &[("grpc-status", "0")], true);
            } else {
                if !std::mem::replace(&mut begun, true) {
                    peer.begin(header.stream);
                }
                peer.message(header.stream, 0, &[]);
            }
            true
        }
    });
    let report = BOTH_STREAM
        .run("--stream-rate 20 -c 1 -z 1s --duration-stop wait")
        .report(address);
    assert_eq!(report.all_ok(), 1);
    let streams = ["open_last", "broken", "refused"];
    assert_eq!(counts(&report, streams), [1, 0, 1]);
    let messages = ["due", "sent", "answered", "unanswered"];
    assert_eq!(counts(&report, messages), [20, 20, 19, 1]);
}

#[test]
fn there_are_as_many_connections_as_the_servers_limit_of_streams_asks_for() {
    let server = served(|config| config.max_concurrent_streams = Some(3));
    let report = BOTH_STREAM
        .run("--stream-rate 5 -c 10 --connections 2 --warmup 500ms -z 1s --duration-stop wait")
        .report(&server);
    assert_eq!(report.all_ok(), 10);
    assert_eq!(report.number("/connections"), 4);
    assert_eq!(counts(&report, ["open_first", "answered"]), [10, 50]);
    assert_eq!(report.warnings(), [""; 0]);
}

#[test]
fn the_streams_of_shares_are_spread_as_those_of_one_process() {
    let server = reference(Faults::default());
    let due = ["1/2", "2/2"].map(|share| {
        let flags = format!("--stream-rate 3 -c 5 --connections 2 --share {share} -z 1s");
        let run = BOTH_STREAM.run(&flags).flags("--duration-stop wait");
        let report = run.report(&server);
        counts(&report, ["wanted", "due", "answered"])
    });
    assert_eq!(due, [[3, 9, 9], [2, 6, 6]]);
}

#[test]
fn only_a_method_that_answers_each_message_has_paced_streams() {
    let server = reference(Faults::default());
    let refused = UNARY.run("--stream-rate 1 -z 1s").run(&server);
    let words = "`--stream-rate` times the reply to each message of a stream: name a method whose client and server both stream";
    assert_eq!(refused.stderr, format!("error: {words}\n"));
    assert_eq!(refused.status.code(), Some(2));
}
