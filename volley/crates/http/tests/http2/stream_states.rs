//! RFC 9113 §5.1: which frame may come in which state of a stream.

use volley_http::http2::frame::Kind;
use volley_http::http2::{Closed, ErrorCode, Violation};

use crate::build::{
    END_STREAM, block, data, head, headers, last_data, raw, rst_stream, trailers, window_update,
};
use crate::peer::{Event, Peer, Sent};

#[test]
fn frames_on_a_stream_that_was_never_opened_are_violations() {
    let status = [(":status", "200")];
    for stream in [2, 3, 4, 1001, (1 << 31) - 1] {
        for (frame, kind) in [
            (data(stream, b"x"), Kind::Data),
            (headers(stream, &status, 0), Kind::Headers),
            (rst_stream(stream, 8), Kind::RstStream),
            (window_update(stream, 1), Kind::WindowUpdate),
        ] {
            let violation = Peer::with_call().violate(&[frame]);
            assert_eq!(violation, Violation::IdleStream { kind, stream });
            assert_eq!(violation.code(), ErrorCode::ProtocolError);
        }
    }
}

#[test]
fn frames_that_need_a_stream_are_violations_on_stream_0() {
    for (frame, kind) in [
        (data(0, b"x"), Kind::Data),
        (headers(0, &[], 0), Kind::Headers),
        (rst_stream(0, 8), Kind::RstStream),
        (raw(Kind::Priority, 0, 0, &[0; 5]), Kind::Priority),
    ] {
        assert_eq!(
            Peer::with_call().violate(&[frame]),
            Violation::NeedsStream { kind }
        );
    }
}

#[test]
fn priority_is_ignored_in_every_state_if_it_has_five_bytes() {
    let priority = |stream| raw(Kind::Priority, 0, stream, &[0, 0, 0, 1, 16]);
    let mut peer = Peer::with_call();
    peer.feed(&[
        priority(1),
        priority(2),
        priority(99),
        trailers_only(1),
        priority(1),
    ]);
    assert_eq!(peer.sent(), []);
    let kind = Kind::Priority;
    let violation = Peer::with_call().violate(&[raw(kind, 0, 1, &[0; 4])]);
    assert_eq!(violation, Violation::FrameSize { kind, length: 4 });
}

fn trailers_only(stream: u32) -> Vec<u8> {
    headers(
        stream,
        &[(":status", "200"), ("grpc-status", "0")],
        END_STREAM,
    )
}

#[test]
fn frames_after_the_peer_has_ended_a_stream_or_reset_it_are_ignored() {
    let late = [
        data(1, b"x"),
        last_data(1, b""),
        trailers(1),
        head(1),
        window_update(1, 5),
        window_update(1, 0),
        rst_stream(1, 0),
        rst_stream(1, 2),
        raw(Kind::Headers, 0, 1, &[]),
        raw(Kind::Continuation, 4, 1, &block(&[("x", "y")])),
    ];
    for (end, why) in [
        (trailers_only(1), Closed::Ended),
        (rst_stream(1, 8), Closed::Reset(Ok(ErrorCode::Cancel))),
        (rst_stream(1, 0), Closed::Reset(Ok(ErrorCode::NoError))),
        (
            headers(1, &[("x", "y")], 0),
            Closed::Malformed("the response does not begin with `:status`"),
        ),
    ] {
        let mut peer = Peer::with_call();
        let b = peer.open('b');
        peer.feed(&[end]);
        assert_eq!(peer.events().last(), Some(&Event::Closed('a', why)));
        peer.sent();
        peer.feed(&late);
        assert_eq!((peer.events(), peer.sent()), (vec![], vec![]), "{why:?}");
        peer.feed(&[head(b), trailers(b)]);
        assert_eq!(
            peer.events().last(),
            Some(&Event::Closed('b', Closed::Ended))
        );
    }
}

#[test]
fn content_of_a_stream_that_the_peer_has_ended_is_credited_to_the_connection() {
    let mut peer = Peer::ready_with(65_535, &[]);
    peer.open('a');
    peer.feed(&[rst_stream(1, 8)]);
    peer.sent();
    let (mut bytes, mut credited) = (0u32, 0);
    // Three windows: without credit, the second one would break the rules.
    while bytes < 3 * 65_535 {
        peer.feed(&[data(1, &[0; 16_000])]);
        bytes += 16_000;
        for sent in peer.sent() {
            match sent {
                Sent::WindowUpdate(0, increment) => credited += increment,
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(bytes - credited <= 65_535, "{credited} of {bytes}");
}

#[test]
fn all_frames_after_our_own_reset_are_ignored() {
    let mut peer = Peer::with_call();
    assert_eq!(peer.connection.cancel(1, ErrorCode::Cancel), Some('a'));
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::Cancel)]);
    peer.feed(&[
        head(1),
        data(1, b"x"),
        window_update(1, 5),
        trailers(1),
        rst_stream(1, 8),
    ]);
    assert_eq!((peer.sent(), peer.events()), (vec![], vec![]));
}

#[test]
fn headers_after_our_own_reset_still_teach_the_table() {
    let mut peer = Peer::with_call();
    peer.open('b');
    peer.connection.cancel(1, ErrorCode::Cancel);
    // The block of the closed stream adds `x: y` to the dynamic table, and the next block uses it (RFC 7541 §6.2.1).
    let teaching = raw(Kind::Headers, 4, 1, b"\x88\x40\x01x\x01y");
    let using = raw(Kind::Headers, 5, 3, b"\x88\xbe");
    peer.feed(&[teaching, using]);
    let fields = vec![(":status".into(), "200".into()), ("x".into(), "y".into())];
    assert_eq!(peer.events()[0], Event::Headers('b', fields, true));
}

#[test]
fn a_reset_closes_the_call_with_its_code_even_an_unknown_one() {
    for (code, why) in [
        (2, Closed::Reset(Ok(ErrorCode::InternalError))),
        (0, Closed::Reset(Ok(ErrorCode::NoError))),
        (7, Closed::Refused),
        (0xdead, Closed::Reset(Err(0xdead))),
    ] {
        let mut peer = Peer::with_call();
        peer.feed(&[rst_stream(1, code)]);
        assert_eq!(peer.events(), [Event::Closed('a', why)]);
        assert_eq!(peer.sent(), []);
    }
}

#[test]
fn a_reset_of_a_wrong_length_is_a_violation() {
    let kind = Kind::RstStream;
    let violation = Peer::with_call().violate(&[raw(kind, 0, 1, &[0; 5])]);
    assert_eq!(violation, Violation::FrameSize { kind, length: 5 });
}

#[test]
fn a_push_promise_is_a_violation() {
    let promise = raw(Kind::PushPromise, 4, 1, &[0, 0, 0, 2, 0x88]);
    assert_eq!(Peer::with_call().violate(&[promise]), Violation::Push);
}

#[test]
fn frames_of_an_unknown_kind_are_ignored_on_any_stream() {
    let mut peer = Peer::with_call();
    peer.feed(&[0, 1, 2, 77].map(|stream| raw(Kind::Unknown(0xfa), 0xff, stream, b"whatever")));
    assert_eq!((peer.sent(), peer.events()), (vec![], vec![]));
}

#[test]
fn a_frame_longer_than_16384_bytes_is_refused_before_it_has_come() {
    let mut peer = Peer::with_call();
    peer.feed(&[raw(Kind::Unknown(0xfa), 0, 0, &[0; 16_384])]);
    let violation = peer.violate(&[vec![0, 0x40, 1]]);
    assert_eq!(violation, Violation::FrameTooLarge { length: 16_385 });
    assert_eq!(violation.code(), ErrorCode::FrameSizeError);
}
