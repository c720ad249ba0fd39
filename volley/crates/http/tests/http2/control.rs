//! RFC 9113 §6.7, §6.8: PING and GOAWAY.

use volley_http::http2::frame::Kind;
use volley_http::http2::{Closed, ErrorCode, GoAway, Violation};

use crate::build::{ACK, go_away, head, ping, raw, trailers};
use crate::peer::{Event, Peer, Sent};

const LAST_OF_ALL: u32 = (1 << 31) - 1;

#[test]
fn a_ping_is_answered_with_its_own_bytes() {
    let mut peer = Peer::ready();
    peer.feed(&[ping(*b"volleys!"), ping([0; 8])]);
    assert_eq!(peer.sent(), [Sent::Pong(*b"volleys!"), Sent::Pong([0; 8])]);
}

#[test]
fn answers_to_our_pings_are_counted() {
    let mut peer = Peer::ready();
    peer.connection.ping([5; 8]);
    assert_eq!(peer.sent(), [Sent::Ping([5; 8])]);
    assert_eq!(peer.connection.pongs(), 0);
    peer.feed(&[raw(Kind::Ping, ACK, 0, &[5; 8])]);
    assert_eq!(peer.connection.pongs(), 1);
    assert_eq!(peer.sent(), []);
}

#[test]
fn pings_and_go_aways_of_a_wrong_form_are_violations() {
    for (kind, length) in [(Kind::Ping, 7u32), (Kind::Ping, 9), (Kind::GoAway, 7)] {
        let violation = Peer::ready().violate(&[raw(kind, 0, 0, &vec![0; length as usize])]);
        assert_eq!(violation, Violation::FrameSize { kind, length });
        let violation = Peer::with_call().violate(&[raw(kind, 0, 1, &[0; 8])]);
        assert_eq!(violation, Violation::NeedsConnection { kind, stream: 1 });
    }
}

#[test]
fn a_graceful_end_comes_in_two_steps_and_what_was_processed_is_finished() {
    let mut peer = Peer::ready();
    for call in ['a', 'b', 'c'] {
        peer.open(call);
    }
    peer.feed(&[go_away(LAST_OF_ALL, 0, "")]);
    assert!(peer.connection.is_draining());
    assert_eq!(
        (peer.connection.capacity(), peer.connection.open_streams()),
        (0, 3)
    );
    assert_eq!(peer.events(), []);
    peer.feed(&[go_away(1, 0, "")]);
    let refused = ['b', 'c'].map(|call| Event::Closed(call, Closed::Refused));
    assert_eq!(peer.events(), refused);
    peer.feed(&[head(1), trailers(1)]);
    assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
    assert_eq!(peer.connection.open_streams(), 0);
}

#[test]
fn a_go_away_is_kept_with_its_code_and_words() {
    let mut peer = Peer::ready();
    assert_eq!(peer.connection.go_away(), None);
    peer.feed(&[go_away(0, 11, "too_many_pings\u{7}")]);
    let code = Ok(ErrorCode::EnhanceYourCalm);
    let debug = "too_many_pings ".to_owned();
    assert_eq!(
        peer.connection.go_away(),
        Some(&GoAway {
            last_stream: 0,
            code,
            debug
        })
    );
    let long = "x".repeat(10_000);
    peer.feed(&[go_away(0, 99, &long)]);
    let kept = peer.connection.go_away().unwrap();
    assert_eq!((kept.code, kept.debug.len()), (Err(99), 256));
}

#[test]
fn a_go_away_that_takes_back_an_earlier_one_is_a_violation() {
    let mut peer = Peer::ready();
    peer.feed(&[go_away(5, 0, ""), go_away(5, 0, ""), go_away(3, 0, "")]);
    let violation = peer.violate(&[go_away(5, 0, "")]);
    assert_eq!(violation, Violation::GoAwayRaised { from: 3, to: 5 });
}

#[test]
fn frames_of_streams_the_peer_said_it_would_not_process_are_ignored() {
    let mut peer = Peer::with_call();
    peer.feed(&[go_away(0, 0, ""), head(1), trailers(1)]);
    assert_eq!(peer.events(), [Event::Closed('a', Closed::Refused)]);
}
