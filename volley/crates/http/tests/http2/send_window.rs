//! RFC 9113 §5.2, §6.9: what we may send.

use volley_http::http2::frame::Kind;
use volley_http::http2::{Closed, ErrorCode, Violation};

use crate::build::{raw, rst_stream, settings, window_update};
use crate::peer::{Event, Peer, Sent};

/// A ready connection whose streams may send `window` bytes each.
fn ready(window: u32) -> Peer {
    Peer::ready_with(1 << 20, &[(4, window)])
}

fn data(stream: u32, payload: &[u8], end: bool) -> Sent {
    Sent::Data {
        stream,
        payload: payload.to_vec(),
        end,
    }
}

/// The lengths of all DATA frames that wait to be sent, by stream.
fn lengths(peer: &mut Peer) -> Vec<(u32, usize)> {
    let length = |sent| match sent {
        Sent::Data {
            stream, payload, ..
        } => Some((stream, payload.len())),
        _ => None,
    };
    peer.sent().into_iter().filter_map(length).collect()
}

#[test]
fn content_goes_out_at_once_if_it_fits() {
    let mut peer = ready(100);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, b"one", false);
    peer.connection.send(a, b"", false);
    peer.connection.send(a, b"two", true);
    let head = Sent::Headers {
        stream: a,
        end: false,
    };
    assert_eq!(
        peer.sent(),
        [head, data(a, b"one", false), data(a, b"two", true)]
    );
    assert_eq!(peer.connection.queued(a), 0);
}

#[test]
fn a_request_without_content_is_ended_by_its_head() {
    let mut peer = ready(100);
    let a = peer.open('a');
    assert_eq!(
        peer.sent(),
        [Sent::Headers {
            stream: a,
            end: true
        }]
    );
    peer.connection.send(a, b"late", true);
    assert_eq!(peer.sent(), []);
}

#[test]
fn what_does_not_fit_waits_for_the_streams_window() {
    let mut peer = ready(3);
    let a = peer.open_for_sending('a');
    peer.sent();
    peer.connection.send(a, b"abcd", false);
    peer.connection.send(a, b"ef", true);
    assert_eq!(peer.sent(), [data(a, b"abc", false)]);
    assert_eq!(peer.connection.queued(a), 3);
    peer.feed(&[window_update(a, 1)]);
    assert_eq!(peer.sent(), [data(a, b"d", false)]);
    peer.feed(&[window_update(a, 10)]);
    assert_eq!(peer.sent(), [data(a, b"ef", true)]);
    assert_eq!(peer.connection.queued(a), 0);
}

#[test]
fn an_end_without_bytes_needs_no_window() {
    let mut peer = ready(0);
    let a = peer.open_for_sending('a');
    peer.sent();
    peer.connection.send(a, b"", true);
    assert_eq!(peer.sent(), [data(a, b"", true)]);
}

#[test]
fn an_end_given_after_bytes_that_wait_goes_out_with_the_last_of_them() {
    let mut peer = ready(0);
    let a = peer.open_for_sending('a');
    peer.sent();
    peer.connection.send(a, b"ab", false);
    peer.connection.send(a, b"", true);
    peer.connection.send(a, b"after the end", false);
    assert_eq!(peer.sent(), []);
    peer.feed(&[window_update(a, 100)]);
    assert_eq!(peer.sent(), [data(a, b"ab", true)]);
}

#[test]
fn frames_keep_to_the_peers_largest() {
    let mut peer = Peer::ready_with(1 << 20, &[(4, 1 << 20)]);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, &[0; 40_000], true);
    assert_eq!(lengths(&mut peer), [(a, 16_384), (a, 16_384), (a, 7232)]);
    peer.feed(&[settings(&[(5, 20_000)]), window_update(0, 1 << 20)]);
    let b = peer.open_for_sending('b');
    peer.connection.send(b, &[0; 40_000], true);
    assert_eq!(lengths(&mut peer), [(b, 20_000), (b, 20_000)]);
}

#[test]
fn the_connections_window_bounds_all_streams_and_is_shared_out_in_turn() {
    let mut peer = Peer::ready_with(1 << 20, &[(4, 1 << 20)]);
    let (a, b) = (peer.open_for_sending('a'), peer.open_for_sending('b'));
    peer.connection.send(a, &[0; 100_000], true);
    peer.connection.send(b, &[0; 40_000], true);
    let sent: usize = lengths(&mut peer).iter().map(|(_, length)| length).sum();
    assert_eq!(sent, 65_535);
    assert_eq!(
        (peer.connection.queued(a), peer.connection.queued(b)),
        (34_465, 40_000)
    );
    peer.feed(&[window_update(0, 50_000)]);
    let turns = [(a, 16_384), (b, 16_384), (a, 16_384), (b, 848)];
    assert_eq!(lengths(&mut peer), turns);
    peer.feed(&[window_update(0, 50_000)]);
    assert_eq!(lengths(&mut peer), [(a, 1697), (b, 16_384), (b, 6384)]);
}

#[test]
fn a_smaller_initial_window_makes_windows_negative_and_they_are_filled_up_first() {
    let mut peer = ready(10);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, b"0123456789abc", true);
    peer.sent();
    peer.feed(&[settings(&[(4, 4)]), window_update(a, 6)]);
    assert_eq!(peer.sent(), [Sent::SettingsAck]);
    peer.feed(&[window_update(a, 1)]);
    assert_eq!(peer.sent(), [data(a, b"a", false)]);
    peer.feed(&[settings(&[(4, 5)])]);
    assert_eq!(peer.sent(), [Sent::SettingsAck, data(a, b"b", false)]);
}

#[test]
fn a_larger_initial_window_frees_what_waits_on_every_stream() {
    let mut peer = ready(0);
    for call in ['a', 'b'] {
        let stream = peer.open_for_sending(call);
        peer.connection.send(stream, b"xy", true);
    }
    peer.sent();
    peer.feed(&[settings(&[(4, 1), (4, 7)])]);
    assert_eq!(
        peer.sent(),
        [
            Sent::SettingsAck,
            data(1, b"xy", true),
            data(3, b"xy", true)
        ]
    );
}

#[test]
fn a_window_that_becomes_small_while_its_stream_stands_in_the_row_is_kept_to() {
    let mut peer = Peer::ready_with(1 << 20, &[(4, 70_000)]);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, &[0; 70_000], true);
    assert_eq!(peer.connection.queued(a), 4465);
    peer.sent();
    peer.feed(&[settings(&[(4, 0)]), window_update(0, 10_000)]);
    assert_eq!(peer.sent(), [Sent::SettingsAck]);
    peer.feed(&[settings(&[(4, 70_000)])]);
    assert_eq!(lengths(&mut peer), [(a, 4465)]);
}

#[test]
fn a_window_update_of_nothing_is_an_error_of_its_stream() {
    let mut peer = Peer::with_call();
    peer.feed(&[window_update(1, 0)]);
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::ProtocolError)]);
    assert!(matches!(
        peer.events()[..],
        [Event::Closed('a', Closed::Malformed(_))]
    ));
}

#[test]
fn a_window_update_of_nothing_for_the_connection_is_a_violation() {
    assert_eq!(
        Peer::ready().violate(&[window_update(0, 0)]),
        Violation::EmptyWindowUpdate
    );
}

#[test]
fn a_streams_window_beyond_its_most_is_an_error_of_the_stream() {
    let mut peer = Peer::with_call();
    peer.feed(&[window_update(1, (1 << 31) - 1)]);
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::FlowControlError)]);
    assert!(matches!(
        peer.events()[..],
        [Event::Closed('a', Closed::Malformed(_))]
    ));
}

#[test]
fn the_connections_window_beyond_its_most_is_a_violation() {
    let violation = Peer::ready().violate(&[window_update(0, (1 << 31) - 65_535)]);
    assert_eq!(violation, Violation::WindowOverflow { stream: 0 });
    assert_eq!(violation.code(), ErrorCode::FlowControlError);
    Peer::ready().feed(&[window_update(0, (1 << 31) - 65_536)]);
}

#[test]
fn settings_that_widen_a_streams_window_beyond_its_most_are_a_violation() {
    let mut peer = Peer::with_call();
    peer.feed(&[window_update(1, 1)]);
    let violation = peer.violate(&[settings(&[(4, (1 << 31) - 1)])]);
    assert_eq!(violation, Violation::WindowOverflow { stream: 1 });
}

#[test]
fn a_window_update_of_a_wrong_length_is_a_violation() {
    let kind = Kind::WindowUpdate;
    let violation = Peer::with_call().violate(&[raw(kind, 0, 1, &[0, 0, 1])]);
    assert_eq!(violation, Violation::FrameSize { kind, length: 3 });
}

#[test]
fn streams_that_go_while_they_wait_are_forgotten() {
    let mut peer = Peer::ready_with(1 << 20, &[(4, 1 << 20)]);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, &[0; 65_535], false);
    for _ in 0..1000 {
        let b = peer.open_for_sending('b');
        peer.connection.send(b, b"waits", true);
        peer.feed(&[rst_stream(b, 8)]);
    }
    peer.connection.send(a, b"last", true);
    peer.sent();
    peer.feed(&[window_update(0, 100)]);
    assert_eq!(peer.sent(), [data(a, b"last", true)]);
}

#[test]
fn streams_freed_together_go_in_the_order_they_were_opened() {
    let mut peer = ready(0);
    let (a, b) = (peer.open_for_sending('a'), peer.open_for_sending('b'));
    peer.connection.cancel(a, ErrorCode::Cancel);
    let c = peer.open_for_sending('c');
    for stream in [c, b] {
        peer.connection.send(stream, b"x", false);
    }
    peer.sent();
    peer.feed(&[settings(&[(4, 9)])]);
    assert_eq!(
        peer.sent(),
        [
            Sent::SettingsAck,
            data(b, b"x", false),
            data(c, b"x", false)
        ]
    );
}
