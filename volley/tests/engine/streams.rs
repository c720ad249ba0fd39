//! `--stream-interval`, `--stream-call-count` and `--stream-call-duration`.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use rustix::event::{PollFd, PollFlags, poll};
use volley::http2::frame::{write_settings, write_window_update};
use volley::serve::Faults;

use crate::common::shape::{BOTH_STREAM, CLIENT_STREAM, SERVER_STREAM};
use crate::common::{Volley, reference, scripted};

/// SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2).
const INITIAL_WINDOW_SIZE: u16 = 4;

#[test]
fn a_client_stream_sends_its_data_over_and_over_up_to_the_count() {
    let server = reference(Faults::default());
    let report = CLIENT_STREAM
        .run("--stream-call-count 10 -n 6 -c 2")
        .expect("result = sum(a) + sum(b)")
        .report(&server);
    assert_eq!(report.all_ok(), 6);
    assert_eq!(server.counts().messages_received, 60);
}

#[test]
fn a_bidirectional_stream_sends_its_data_over_and_over_up_to_the_count() {
    let server = reference(Faults::default());
    let report = BOTH_STREAM
        .run("--stream-call-count 10 --expect-replies 10 -n 6 -c 2")
        .expect("result = a + b")
        .report(&server);
    assert_eq!(report.all_ok(), 6);
    assert_eq!(
        (report.messages(), server.counts().messages_received),
        (60, 60)
    );
}

#[test]
fn a_server_stream_is_ended_by_the_client_at_the_count() {
    let server = reference(Faults::default());
    let report = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 2000000000}"#)
        .expect("result = a + b + i")
        .flags("--stream-call-count 70 -n 6 -c 2")
        .report(&server);
    assert_eq!(report.all_ok(), 6);
    assert_eq!(report.messages(), 6 * 70);
}

#[test]
fn a_server_stream_shorter_than_the_count_ends_by_itself() {
    let server = reference(Faults::default());
    let report = SERVER_STREAM
        .checked("--stream-call-count 70 -n 6 -c 2")
        .report(&server);
    assert_eq!(report.all_ok(), 6);
    assert_eq!(server.counts().calls_ok, 6);
}

#[test]
fn an_interval_parts_the_messages_a_client_sends() {
    for shape in [CLIENT_STREAM, BOTH_STREAM] {
        let server = reference(Faults::default());
        let report = shape
            .checked("--stream-interval 20ms -n 6 -c 3")
            .report(&server);
        assert_eq!(report.all_ok(), 6, "{shape:?}");
        assert_eq!(server.counts().messages_received, 6 * shape.requests);
        // There is one pause fewer than messages.
        let least_ns = (shape.requests - 1) * 20_000_000;
        let fastest_ns = report.number("/latency_ns/min");
        assert!(fastest_ns >= least_ns, "{shape:?}: {fastest_ns}");
    }
}

#[test]
fn an_interval_is_seen_in_the_gaps_between_replies() {
    let server = reference(Faults::default());
    let report = BOTH_STREAM
        .checked("--stream-interval 30ms -n 3 -c 3")
        .report(&server);
    assert_eq!(report.all_ok(), 3);
    assert_eq!(report.number("/gap_ns/samples"), 9);
    // However late a reply is seen: a call's first one and its three gaps take as long as its three pauses.
    let ns = 3 * report.number("/gap_ns/mean") + report.number("/first_message_ns/mean");
    assert!(ns >= 3 * 30_000_000 - 4, "{ns}");
    assert!(report.number("/gap_ns/max") > 0);
}

#[test]
fn streams_without_an_interval_have_their_gaps_counted_message_by_message() {
    let server = reference(Faults::default());
    let report = SERVER_STREAM.checked("-n 20 -c 4").report(&server);
    assert_eq!(report.all_ok(), 20);
    assert_eq!(report.number("/gap_ns/samples"), 20 * 49);
    assert_eq!(report.number("/first_message_ns/samples"), 20);
}

#[test]
fn client_and_bidirectional_streams_last_as_long_as_asked() {
    for shape in [CLIENT_STREAM, BOTH_STREAM] {
        let server = reference(Faults::default());
        let report = shape
            .run("--stream-call-duration 1s --stream-interval 10ms -n 4 -c 4")
            .report(&server);
        assert_eq!(report.all_ok(), 4, "{shape:?}");
        assert!(report.number("/latency_ns/min") >= 1_000_000_000);
        let counts = server.counts();
        // More than the messages of the data, and no more than the time allows.
        let received = counts.messages_received;
        assert!(
            (4 * shape.requests..=4 * 101).contains(&received),
            "{received}"
        );
        assert_eq!(report.messages(), counts.messages_sent);
    }
}

#[test]
fn a_stream_that_sends_without_pause_for_a_time_is_answered_in_full() {
    let server = reference(Faults::default());
    let report = BOTH_STREAM
        .run("--stream-call-duration 100ms -n 2 -c 1")
        .report(&server);
    assert_eq!(report.all_ok(), 2);
    let counts = server.counts();
    assert!(
        counts.messages_received > 2 * BOTH_STREAM.requests,
        "{counts:?}"
    );
    assert_eq!(report.messages(), counts.messages_received);
}

#[test]
fn a_server_stream_is_ended_by_the_client_when_its_time_is_up() {
    let server = reference(Faults::default());
    let report = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 2000000000}"#)
        .expect("result = a + b + i")
        .flags("--stream-call-duration 100ms -n 4 -c 2")
        .report(&server);
    assert_eq!(report.all_ok(), 4);
    assert!(report.number("/latency_ns/min") >= 100_000_000);
    assert!(report.messages() > 0);
}

#[test]
fn a_stream_that_is_kept_from_sending_waits_in_peace_when_its_time_is_up() {
    // The server never widens the window of 65,535 bytes.
    let address = scripted::serve(|_| |_, _| true);
    let report = CLIENT_STREAM
        .run("--stream-call-duration 50ms -t 1500ms -n 1 -c 1")
        .report(address);
    assert_eq!(report.all_failed("DeadlineExceeded"), 1);
    // All but the first 50 ms of it were spent waiting.
    let cpu_s = report.own("/cpu_s").as_f64().unwrap();
    assert!(cpu_s < 0.75, "{cpu_s}");
}

/// A server that allows so much on each stream, and reads nothing.
fn deaf(window: u32) -> SocketAddr {
    scripted::accept(move |_| {
        move |mut socket: TcpStream| {
            let mut hello = Vec::new();
            write_settings(&mut hello, &[(INITIAL_WINDOW_SIZE, window)]);
            write_window_update(&mut hello, 0, 1 << 30);
            socket.write_all(&hello)?;
            // Until the client is gone: its goodbye is never read.
            let mut gone = [PollFd::new(&socket, PollFlags::RDHUP)];
            poll(&mut gone, None)?;
            Ok(())
        }
    })
}

/// The most memory that calls of 10 minutes or of 2 MB take whose peer reads nothing, beyond that of one such call with a
/// small window.
fn memory(flags: &str, window: u32, calls: u64) -> u64 {
    let peak = |flags: &str, window: u32, calls: u64| {
        let report = CLIENT_STREAM.run(flags).report(deaf(window));
        assert_eq!(report.cut(), calls);
        report.number("/peak_bytes")
    };
    let least = peak("--stream-call-count 10 -z 1s -c 1", 1, 1);
    peak(flags, window, calls).saturating_sub(least)
}

#[test]
fn a_peer_with_a_huge_window_that_reads_nothing_costs_no_memory() {
    let extra = memory("--stream-call-duration 10m -z 1s -c 1", 1 << 30, 1);
    assert!(extra < 16 << 20, "{extra}");
}

#[test]
fn calls_that_wait_for_flow_control_share_their_request() {
    // 2 MB each.
    let extra = memory("--stream-call-count 300000 -z 1s -c 64", 1000, 64);
    assert!(extra < 16 << 20, "{extra}");
}
