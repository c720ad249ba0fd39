//! RFC 9113 §4.3, §6.10: header blocks of several frames.

use volley_http::http2::frame::Kind;
use volley_http::http2::{ErrorCode, Violation};

use crate::build::{END_HEADERS, END_STREAM, PADDED, PRIORITY, block, data, head, ping, raw};
use crate::peer::{Event, Peer, Sent};

fn begun(stream: u32, fragment: &[u8]) -> Vec<u8> {
    raw(Kind::Headers, END_STREAM, stream, fragment)
}

fn more(stream: u32, flags: u8, fragment: &[u8]) -> Vec<u8> {
    raw(Kind::Continuation, flags, stream, fragment)
}

#[test]
fn a_block_cut_into_single_bytes_is_put_together() {
    let mut frames = vec![begun(1, b"")];
    let block = block(&[(":status", "200"), ("grpc-status", "0")]);
    frames.extend(block.iter().map(|byte| more(1, 0, &[*byte])));
    let mut peer = Peer::with_call();
    peer.feed(&frames);
    assert_eq!(peer.events(), []);
    peer.feed(&[more(1, END_HEADERS, b"")]);
    let [Event::Headers('a', fields, true), Event::Closed('a', _)] = &peer.events()[..] else {
        panic!("the head has not come");
    };
    assert_eq!(fields[1], ("grpc-status".into(), "0".into()));
}

#[test]
fn nothing_may_come_between_the_frames_of_a_block() {
    for (frame, kind) in [
        (ping([0; 8]), Kind::Ping),
        (data(1, b"x"), Kind::Data),
        (head(1), Kind::Headers),
        (raw(Kind::Unknown(99), 0, 0, b""), Kind::Unknown(99)),
        (more(3, END_HEADERS, b""), Kind::Continuation),
    ] {
        let mut peer = Peer::with_call();
        peer.open('b');
        peer.sent();
        let violation = peer.violate(&[begun(1, b"\x88"), frame]);
        assert_eq!(violation, Violation::InterruptedHeaders { kind, stream: 1 });
        assert_eq!(violation.code(), ErrorCode::ProtocolError);
    }
}

#[test]
fn a_continuation_of_nothing_is_a_violation() {
    let stray = Violation::StrayContinuation { stream: 1 };
    assert_eq!(
        Peer::with_call().violate(&[more(1, END_HEADERS, b"")]),
        stray
    );
    assert_eq!(
        Peer::with_call().violate(&[head(1), more(1, END_HEADERS, b"")]),
        stray
    );
}

#[test]
fn a_block_that_cannot_be_decoded_is_a_violation() {
    let violation = Peer::with_call().violate(&[raw(Kind::Headers, END_HEADERS, 1, &[0x80])]);
    assert!(matches!(violation, Violation::HeaderBlock(_)));
    assert_eq!(violation.code(), ErrorCode::CompressionError);
}

#[test]
fn endless_continuations_are_refused_whether_empty_or_full() {
    let mut empty = vec![begun(1, b"\x88")];
    empty.extend(vec![more(1, 0, b""); 1000]);
    let violation = Peer::with_call().violate(&empty);
    assert!(matches!(
        violation,
        Violation::ContinuationFlood { stream: 1, .. }
    ));
    assert_eq!(violation.code(), ErrorCode::EnhanceYourCalm);

    let mut full = vec![begun(1, &[0x88; 16_384])];
    full.extend(vec![more(1, 0, &[0x88; 16_384]); 2]);
    let violation = Peer::with_call().violate(&full);
    assert_eq!(
        violation,
        Violation::HeaderBlockTooLarge {
            stream: 1,
            limit: 32_768
        }
    );
    assert_eq!(violation.code(), ErrorCode::EnhanceYourCalm);
}

#[test]
fn a_block_may_end_after_its_stream_was_cancelled() {
    let mut peer = Peer::with_call();
    peer.feed(&[begun(1, b"\x88")]);
    peer.connection.cancel(1, ErrorCode::Cancel);
    peer.sent();
    peer.feed(&[more(1, END_HEADERS, b"\x88"), ping([7; 8])]);
    assert_eq!(peer.sent(), [Sent::Pong([7; 8])]);
    assert_eq!(peer.events(), []);
}

#[test]
fn padding_and_priority_must_fit_their_frame() {
    let kind = Kind::Headers;
    let padded = raw(kind, PADDED, 1, &[2, 0x88]);
    assert_eq!(
        Peer::with_call().violate(&[padded]),
        Violation::Padding { kind }
    );
    let short = raw(kind, PRIORITY, 1, &[0; 4]);
    assert_eq!(
        Peer::with_call().violate(&[short]),
        Violation::FrameSize { kind, length: 4 }
    );
}
