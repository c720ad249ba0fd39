//! RFC 9113 §3.4: how a connection begins.

use volley_http::http2::frame::{Kind, PREFACE};
use volley_http::http2::{ErrorCode, Violation};

use crate::build::{ACK, ping, raw, settings, settings_ack};
use crate::peer::{Peer, Sent};

#[test]
fn it_begins_with_the_preface_settings_and_a_wider_connection_window() {
    let mut peer = Peer::new(1 << 20);
    assert!(peer.connection.output().starts_with(PREFACE));
    let settings = Sent::Settings(vec![(2, 0), (4, 1 << 20), (6, 16_384)]);
    let update = Sent::WindowUpdate(0, (1 << 20) - 65_535);
    assert_eq!(peer.sent(), [settings, update]);
}

#[test]
fn a_small_window_leaves_the_connection_its_65535_bytes() {
    let mut peer = Peer::new(100);
    assert_eq!(
        peer.sent(),
        [Sent::Settings(vec![(2, 0), (4, 100), (6, 16_384)])]
    );
}

#[test]
fn a_window_that_cannot_be_is_taken_as_the_nearest_that_can() {
    let most = (1 << 31) - 1;
    for (asked, got) in [(0, 1), (u32::MAX, most)] {
        let sent = Peer::new(asked).sent();
        assert_eq!(sent[0], Sent::Settings(vec![(2, 0), (4, got), (6, 16_384)]));
    }
    assert_eq!(
        Peer::new(u32::MAX).sent()[1],
        Sent::WindowUpdate(0, most - 65_535)
    );
}

#[test]
fn nothing_can_be_opened_until_the_peers_settings_have_come() {
    let mut peer = Peer::new(1000);
    assert!(!peer.connection.is_ready());
    assert_eq!(peer.connection.capacity(), 0);
    peer.sent();
    peer.feed(&[settings(&[(3, 7)])]);
    assert!(peer.connection.is_ready());
    assert_eq!(peer.connection.capacity(), 7);
    assert_eq!(peer.sent(), [Sent::SettingsAck]);
}

#[test]
fn a_peer_that_does_not_begin_with_settings_is_refused() {
    for (frame, kind) in [
        (ping([0; 8]), Kind::Ping),
        (settings_ack(), Kind::Settings),
        (raw(Kind::Unknown(0xbe), ACK, 0, &[]), Kind::Unknown(0xbe)),
        (raw(Kind::Data, 0, 1, b"x"), Kind::Data),
    ] {
        let violation = Peer::new(1000).violate(&[frame]);
        assert_eq!(violation, Violation::NoSettingsFirst { kind });
        assert_eq!(violation.code(), ErrorCode::ProtocolError);
    }
}

#[test]
fn a_peer_that_speaks_http_1_or_tls_is_named_as_such() {
    let alert = [0x15, 3, 1, 0, 2, 2, 70];
    for (answer, violation) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], Violation::Http1),
        (b"HTT", Violation::Http1),
        (b"<html>", Violation::NotHttp2),
        (&alert, Violation::NotHttp2),
    ] {
        assert_eq!(Peer::new(1000).violate(&[answer.to_vec()]), violation);
    }
}

#[test]
fn later_bytes_that_look_like_http_1_are_a_frame_too_large() {
    let violation = Peer::ready().violate(&[b"HTTP/1.1 400".to_vec()]);
    assert_eq!(
        violation,
        Violation::FrameTooLarge {
            length: 0x0048_5454
        }
    );
}
