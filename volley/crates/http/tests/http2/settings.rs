//! RFC 9113 §6.5: SETTINGS. What INITIAL_WINDOW_SIZE does to streams is in `send_window` and `receive_window`.

use volley_http::http2::frame::Kind;
use volley_http::http2::{ErrorCode, Violation};

use crate::build::{ACK, END_STREAM, headers, raw, settings, settings_ack};
use crate::peer::{Peer, Sent};

#[test]
fn each_settings_frame_is_acknowledged_and_an_acknowledgement_is_not() {
    let mut peer = Peer::ready();
    peer.feed(&[settings(&[]), settings_ack(), settings(&[(0xabcd, 1)])]);
    assert_eq!(peer.sent(), [Sent::SettingsAck, Sent::SettingsAck]);
}

#[test]
fn values_out_of_their_range_are_violations() {
    let value = |id, value| Peer::ready().violate(&[settings(&[(0x99, 0), (id, value)])]);
    let beyond = 1 << 31;
    assert_eq!(value(2, 1), Violation::EnablePush { value: 1 });
    assert_eq!(value(2, 2), Violation::EnablePush { value: 2 });
    assert_eq!(value(4, beyond), Violation::InitialWindow { value: beyond });
    assert_eq!(value(4, beyond).code(), ErrorCode::FlowControlError);
    for size in [0, 16_383, 16_777_216, u32::MAX] {
        assert_eq!(value(5, size), Violation::MaxFrameSize { value: size });
        assert_eq!(value(5, size).code(), ErrorCode::ProtocolError);
    }
}

#[test]
fn values_at_the_edge_of_their_range_are_taken() {
    let window = (1 << 31) - 1;
    let edges = [
        (2, 0),
        (4, 0),
        (4, window),
        (5, 16_384),
        (5, 16_777_215),
        (3, 0),
        (3, u32::MAX),
    ];
    Peer::ready().feed(&edges.map(|edge| settings(&[edge])));
}

#[test]
fn settings_of_a_wrong_form_are_violations() {
    let kind = Kind::Settings;
    let odd = Peer::ready().violate(&[raw(kind, 0, 0, &[0; 7])]);
    assert_eq!(odd, Violation::FrameSize { kind, length: 7 });
    assert_eq!(odd.code(), ErrorCode::FrameSizeError);
    let full_ack = Peer::ready().violate(&[raw(kind, ACK, 0, &[0; 6])]);
    assert_eq!(full_ack, Violation::FrameSize { kind, length: 6 });
    let on_stream = Peer::with_call().violate(&[raw(kind, 0, 1, &[])]);
    assert_eq!(on_stream, Violation::NeedsConnection { kind, stream: 1 });
}

#[test]
fn the_peers_limit_of_streams_is_kept_and_may_change() {
    let mut peer = Peer::ready_with(1000, &[(3, 2)]);
    assert_eq!(peer.connection.capacity(), 2);
    peer.open('a');
    peer.open('b');
    assert_eq!(peer.connection.capacity(), 0);
    peer.feed(&[settings(&[(3, 1)])]);
    assert_eq!(peer.connection.capacity(), 0);
    peer.feed(&[headers(1, &[(":status", "200")], END_STREAM)]);
    assert_eq!(
        (peer.connection.open_streams(), peer.connection.capacity()),
        (1, 0)
    );
    peer.feed(&[settings(&[(3, 3)])]);
    assert_eq!(peer.connection.capacity(), 2);
}

#[test]
fn a_smaller_header_table_is_announced_in_the_next_block_even_if_the_block_was_kept() {
    let mut peer = Peer::ready();
    for call in ['a', 'b', 'c'] {
        peer.open(call);
    }
    peer.sent();
    peer.feed(&[settings(&[(1, 0), (1, 64)])]);
    assert_eq!(peer.sent(), [Sent::SettingsAck]);
    peer.open('d');
    // Behind the nine bytes of header: sizes 0 and 64 (RFC 7541 §6.3).
    assert_eq!(peer.connection.output()[9..12], [0x20, 0x3f, 0x21]);
}
