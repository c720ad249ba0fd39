//! What the owner of a connection can do with it.

use std::sync::Arc;

use volley_http::http2::hpack::{Field, Indexing};
use volley_http::http2::{Closed, ErrorCode, Head};

use crate::build::{END_STREAM, data, head, headers, last_data, settings};
use crate::peer::{Event, Peer, Sent};

#[test]
fn a_handler_can_cancel_a_call_at_its_head_or_in_its_content() {
    for frame in [head(1), data(1, b"x")] {
        let mut peer = Peer::with_call();
        let is_data = frame == data(1, b"x");
        if is_data {
            peer.feed(&[head(1)]);
        }
        peer.log.cancels.push('a');
        peer.feed(&[frame, data(1, b"y")]);
        assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::Cancel)]);
        assert_eq!(
            peer.events().pop(),
            Some(Event::Closed('a', Closed::Cancelled))
        );
        assert_eq!(peer.connection.open_streams(), 0);
    }
}

#[test]
fn a_handler_that_cancels_what_both_sides_have_ended_sends_nothing() {
    let mut peer = Peer::with_call();
    peer.feed(&[head(1)]);
    peer.log.cancels.push('a');
    peer.feed(&[last_data(1, b"x")]);
    assert_eq!(peer.sent(), []);
    assert_eq!(
        peer.events().pop(),
        Some(Event::Closed('a', Closed::Cancelled))
    );
}

#[test]
fn a_cancelled_call_is_given_back_once() {
    let mut peer = Peer::with_call();
    assert_eq!(peer.connection.cancel(1, ErrorCode::Cancel), Some('a'));
    assert_eq!(peer.connection.cancel(1, ErrorCode::Cancel), None);
    assert_eq!(peer.connection.cancel(77, ErrorCode::Cancel), None);
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::Cancel)]);
    assert_eq!(peer.events(), []);
}

#[test]
fn calls_can_be_reached_by_their_stream_and_visited() {
    let mut peer = Peer::ready();
    let (a, b) = (peer.open('a'), peer.open('b'));
    *peer.connection.call_mut(b).unwrap() = 'z';
    assert_eq!(peer.connection.call_mut(5), None);
    let mut seen = vec![];
    peer.connection
        .for_each_call(|stream, call| seen.push((stream, *call)));
    seen.sort_unstable();
    assert_eq!(seen, [(a, 'a'), (b, 'z')]);
}

#[test]
fn when_the_transport_is_gone_all_calls_come_back_in_their_order() {
    let mut peer = Peer::ready();
    for call in "abcde".chars() {
        peer.open(call);
    }
    peer.connection.cancel(3, ErrorCode::Cancel);
    assert_eq!(peer.connection.take_calls(), ['a', 'c', 'd', 'e']);
    assert_eq!(
        (peer.connection.open_streams(), peer.connection.capacity()),
        (0, 0)
    );
    assert_eq!(peer.connection.take_calls(), []);
}

#[test]
fn after_a_violation_the_open_calls_can_still_be_taken() {
    let mut peer = Peer::ready();
    peer.open('a');
    peer.open_for_sending('b');
    peer.sent();
    peer.violate(&[data(99, b"x")]);
    peer.connection.send(3, b"to nobody", true);
    assert_eq!(peer.connection.cancel(1, ErrorCode::Cancel), Some('a'));
    assert_eq!(peer.sent(), [], "nothing follows the GOAWAY");
    assert_eq!(peer.connection.take_calls(), ['b']);
    assert_eq!(peer.events(), []);
}

#[test]
fn shutting_down_says_goodbye_once_and_lets_open_calls_finish() {
    let mut peer = Peer::with_call();
    peer.connection.shut_down(ErrorCode::NoError);
    peer.connection.shut_down(ErrorCode::NoError);
    assert_eq!(peer.sent(), [Sent::GoAway(ErrorCode::NoError)]);
    assert!(peer.connection.is_draining());
    assert_eq!(peer.connection.capacity(), 0);
    peer.feed(&[headers(1, &[(":status", "200")], END_STREAM)]);
    assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
}

#[test]
fn heads_that_are_sent_again_are_the_same_bytes_and_others_are_their_own() {
    let mut peer = Peer::ready();
    let block = |peer: &mut Peer, head: &Arc<Head>| {
        let stream = peer.connection.open('a', head, true);
        let frame = peer.connection.output().to_vec();
        peer.connection.consume_output(frame.len());
        assert_eq!(frame[5..9], stream.to_be_bytes());
        frame[9..].to_vec()
    };
    let one = Arc::clone(&peer.head);
    let mut fields = one.fields.clone();
    fields.push(Field::new(
        &b"x-number"[..],
        &b"1"[..],
        Indexing::Incremental,
    ));
    let two = Arc::new(Head {
        fields,
        ..Head::default()
    });
    let first = block(&mut peer, &one);
    let again = block(&mut peer, &one);
    assert!(again.len() < first.len(), "the second block uses the table");
    assert_eq!(block(&mut peer, &one), again);
    assert_ne!(block(&mut peer, &two), again);
    // `two` has added a field to the table, so what `one` refers to has moved.
    let moved = block(&mut peer, &one);
    assert_eq!(moved.len(), again.len());
    assert_ne!(moved, again);
    assert_eq!(block(&mut peer, &one), moved);
}

#[test]
fn a_head_too_large_for_one_frame_is_continued() {
    let mut peer = Peer::ready();
    let value = vec![b'~'; 20_000];
    let fields = vec![Field::new(&b"x-large"[..], value, Indexing::Without)];
    let large = Arc::new(Head {
        fields,
        ..Head::default()
    });
    for _ in 0..2 {
        let stream = peer.connection.open('a', &large, true);
        let head = Sent::Headers { stream, end: true };
        assert_eq!(peer.sent(), [head, Sent::Continuation(stream)]);
    }
}

#[test]
#[should_panic(expected = "ask `capacity` first")]
fn opening_more_than_the_peer_allows_is_a_fault_of_the_owner() {
    let mut peer = Peer::ready();
    peer.feed(&[settings(&[(3, 0)])]);
    peer.open('a');
}
