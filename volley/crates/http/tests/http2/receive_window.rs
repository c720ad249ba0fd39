//! RFC 9113 §5.2, §6.9: what the peer may send.

use volley_http::http2::frame::Kind;
use volley_http::http2::{ErrorCode, Violation};

use crate::build::{PADDED, data, head, last_data, raw, settings, settings_ack};
use crate::peer::{Event, Peer, Sent};

#[test]
fn windows_are_replenished_when_half_is_used() {
    let mut peer = Peer::ready_with(100_000, &[]);
    let (a, b) = (peer.open('a'), peer.open('b'));
    peer.sent();
    peer.feed(&[head(a), head(b)]);
    let frame = |stream| data(stream, &[0; 10_000]);
    peer.feed(&[frame(a), frame(a), frame(a), frame(a)]);
    assert_eq!(peer.sent(), []);
    // Both streams together reach half of the connection's window; a stream's half is reached only by itself.
    peer.feed(&[frame(b)]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(0, 50_000)]);
    peer.feed(&[frame(a)]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(a, 50_000)]);
}

#[test]
fn a_window_of_one_byte_works() {
    let mut peer = Peer::ready_with(1, &[]);
    let a = peer.open('a');
    peer.sent();
    peer.feed(&[head(a)]);
    for _ in 0..10 {
        peer.feed(&[data(a, b"x")]);
        assert_eq!(peer.sent(), [Sent::WindowUpdate(a, 1)]);
    }
    assert_eq!(
        peer.violate(&[data(a, b"xy")]),
        Violation::WindowExceeded { stream: a }
    );
}

#[test]
fn a_stream_that_has_ended_is_not_replenished() {
    let mut peer = Peer::ready_with(10, &[]);
    let a = peer.open('a');
    peer.sent();
    peer.feed(&[head(a), last_data(a, b"12345678")]);
    assert_eq!(peer.sent(), []);
}

#[test]
fn a_peer_that_exceeds_a_streams_window_breaks_the_connection() {
    let mut peer = Peer::ready_with(10, &[]);
    let a = peer.open('a');
    peer.sent();
    let violation = peer.violate(&[head(a), data(a, b"01234567890")]);
    assert_eq!(violation, Violation::WindowExceeded { stream: a });
    assert_eq!(violation.code(), ErrorCode::FlowControlError);
}

#[test]
fn padding_counts_and_is_not_handed_on() {
    let mut peer = Peer::ready_with(20, &[]);
    let a = peer.open('a');
    peer.sent();
    peer.feed(&[head(a)]);
    peer.events();
    let padded = [&[7][..], b"ab", &[0; 7]].concat();
    peer.feed(&[raw(Kind::Data, PADDED, a, &padded)]);
    assert_eq!(peer.events(), [Event::Data('a', b"ab".to_vec(), false)]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(a, 10)]);
}

#[test]
fn padding_longer_than_the_payload_is_a_violation() {
    for payload in [&[1][..], &[5, 0, 0, 0, 0], &[]] {
        let mut peer = Peer::with_call();
        let violation = peer.violate(&[head(1), raw(Kind::Data, PADDED, 1, payload)]);
        assert_eq!(violation, Violation::Padding { kind: Kind::Data });
    }
}

#[test]
fn data_on_a_stream_we_cancelled_still_counts_for_the_connection() {
    let mut peer = Peer::ready_with(65_535, &[]);
    let a = peer.open('a');
    peer.feed(&[head(a)]);
    assert_eq!(peer.connection.cancel(a, ErrorCode::Cancel), Some('a'));
    peer.sent();
    peer.events();
    peer.feed(&[data(a, &[0; 16_384]), data(a, &[0; 16_384])]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(0, 32_768)]);
    assert_eq!(peer.events(), []);
}

#[test]
fn until_it_has_acknowledged_a_smaller_window_the_peer_may_use_the_default() {
    let mut peer = Peer::new(1000);
    peer.feed(&[settings(&[])]);
    let a = peer.open('a');
    peer.sent();
    peer.feed(&[head(a), data(a, &[0; 10_000])]);
    assert_eq!(peer.sent(), []);
    // From here on the window is 1,000 bytes, and 10,000 of them are used: it is refilled to 1,000.
    peer.feed(&[settings_ack()]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(a, 10_000)]);
    peer.feed(&[data(a, &[0; 1000])]);
    assert_eq!(peer.sent(), [Sent::WindowUpdate(a, 1000)]);
    assert_eq!(
        peer.violate(&[data(a, &[0; 1001])]),
        Violation::WindowExceeded { stream: a }
    );
}

#[test]
fn streams_opened_after_the_acknowledgement_have_the_smaller_window() {
    let mut peer = Peer::ready_with(1000, &[]);
    peer.feed(&[settings_ack()]);
    let a = peer.open('a');
    peer.sent();
    let violation = peer.violate(&[head(a), data(a, &[0; 1001])]);
    assert_eq!(violation, Violation::WindowExceeded { stream: a });
}

#[test]
fn empty_frames_need_no_window() {
    let mut peer = Peer::ready_with(1, &[]);
    let a = peer.open('a');
    peer.sent();
    peer.feed(&[head(a)]);
    peer.feed(&vec![data(a, b""); 1000]);
    assert_eq!(peer.sent(), []);
}
