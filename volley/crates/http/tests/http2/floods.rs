//! RFC 9113 §10.5: a peer that causes useless work. Whatever it sends, our memory stays bounded.

use volley_http::http2::{Closed, ErrorCode, Violation};

use crate::build::{data, head, ping, rst_stream, settings, window_update};
use crate::peer::{Event, Peer};

/// Feeds the same frame over and over without ever sending an answer.
fn flood(peer: &mut Peer, frame: &[u8], times: usize) -> Result<(), Violation> {
    let chunk = frame.repeat(1000);
    (0..times / 1000).try_for_each(|_| peer.connection.receive(&chunk, &mut peer.log))
}

#[test]
fn answers_nobody_reads_end_the_connection() {
    let mut refused = vec![];
    for frame in [ping([0; 8]), settings(&[])] {
        let mut peer = Peer::with_call();
        refused.push(flood(&mut peer, &frame, 1_000_000));
        assert!(peer.connection.output().len() < 300_000);
    }
    for result in refused {
        let violation = result.expect_err("the flood went on for ever");
        assert!(matches!(violation, Violation::Flood { .. }), "{violation}");
        assert_eq!(violation.code(), ErrorCode::EnhanceYourCalm);
    }
}

#[test]
fn window_updates_we_are_made_to_send_are_answers_too() {
    let mut peer = Peer::ready_with(1, &[]);
    let a = peer.open('a');
    peer.feed(&[head(a)]);
    let violation = flood(&mut peer, &data(a, b"x"), 1_000_000);
    assert!(matches!(violation, Err(Violation::Flood { .. })));
}

#[test]
fn answers_that_are_read_may_go_on_for_ever() {
    let mut peer = Peer::ready();
    for _ in 0..100 {
        assert_eq!(flood(&mut peer, &ping([0; 8]), 10_000), Ok(()));
        let written = peer.connection.output().len();
        assert_eq!(written, 170_000);
        peer.connection.consume_output(written);
    }
}

#[test]
fn frames_that_need_no_answer_cost_no_memory() {
    let mut peer = Peer::with_call();
    peer.feed(&[head(1)]);
    peer.events();
    for frame in [data(3, b""), rst_stream(3, 8), window_update(3, 1)] {
        let b = peer.open('b');
        assert_eq!(b % 2, 1);
        peer.connection.cancel(b, ErrorCode::Cancel);
        peer.sent();
        assert_eq!(flood(&mut peer, &frame, 100_000), Ok(()));
        assert!(peer.connection.output().is_empty());
    }
    assert_eq!(peer.events(), []);
}

#[test]
fn resets_of_every_call_leave_nothing_behind() {
    let mut peer = Peer::ready();
    for _ in 0..20_000 {
        let a = peer.open('a');
        peer.feed(&[rst_stream(a, 7)]);
        peer.sent();
        assert_eq!(peer.events(), [Event::Closed('a', Closed::Refused)]);
    }
    assert_eq!(peer.connection.open_streams(), 0);
}
