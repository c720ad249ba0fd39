//! RFC 9113 §8: what a response is.

use std::sync::Arc;

use volley_http::http2::frame::Kind;
use volley_http::http2::hpack::{Field, Indexing};
use volley_http::http2::{Closed, ErrorCode};

use crate::build::{
    END_STREAM, PADDED, PRIORITY, block, data, head, headers, last_data, raw, trailers,
};
use crate::peer::{Event, Peer, Sent};

fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    fields.iter().map(owned).collect()
}

/// Feeds frames that make the response of call `a` malformed. Returns the events before, and the reason.
#[track_caller]
fn malformed(frames: &[Vec<u8>]) -> &'static str {
    let mut peer = Peer::with_call();
    peer.feed(frames);
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::ProtocolError)]);
    assert_eq!(peer.connection.open_streams(), 0);
    match peer.events().pop() {
        Some(Event::Closed('a', Closed::Malformed(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_response_is_a_head_content_and_trailers() {
    let mut peer = Peer::with_call();
    peer.feed(&[
        head(1),
        data(1, b"one"),
        data(1, b""),
        data(1, b"two"),
        trailers(1),
    ]);
    let expected = [
        Event::Headers(
            'a',
            fields(&[(":status", "200"), ("content-type", "application/grpc")]),
            false,
        ),
        Event::Data('a', b"one".to_vec(), false),
        Event::Data('a', vec![], false),
        Event::Data('a', b"two".to_vec(), false),
        Event::Headers('a', fields(&[("grpc-status", "0")]), true),
        Event::Closed('a', Closed::Ended),
    ];
    assert_eq!(peer.events(), expected);
    assert_eq!(peer.sent(), []);
    assert_eq!(peer.connection.open_streams(), 0);
}

#[test]
fn a_response_may_end_with_its_head_or_with_its_content() {
    let mut peer = Peer::with_call();
    peer.open('b');
    peer.feed(&[
        headers(1, &[(":status", "404")], END_STREAM),
        head(3),
        last_data(3, b"x"),
    ]);
    let events = peer.events();
    assert_eq!(
        events[0],
        Event::Headers('a', fields(&[(":status", "404")]), true)
    );
    assert_eq!(events[1], Event::Closed('a', Closed::Ended));
    assert_eq!(
        events[3..],
        [
            Event::Data('b', b"x".to_vec(), true),
            Event::Closed('b', Closed::Ended)
        ]
    );
}

#[test]
fn informational_responses_are_skipped() {
    let mut peer = Peer::with_call();
    let early = headers(1, &[(":status", "103"), ("link", "x")], 0);
    peer.feed(&[
        early.clone(),
        early,
        headers(1, &[(":status", "200")], END_STREAM),
    ]);
    let head = Event::Headers('a', fields(&[(":status", "200")]), true);
    assert_eq!(peer.events(), [head, Event::Closed('a', Closed::Ended)]);
}

#[test]
fn a_response_cannot_be_only_informational_nor_switch_protocols() {
    malformed(&[headers(1, &[(":status", "100")], END_STREAM)]);
    malformed(&[headers(1, &[(":status", "101")], 0)]);
    malformed(&[headers(1, &[(":status", "100")], 0), data(1, b"x")]);
}

#[test]
fn content_before_the_head_is_malformed() {
    assert_eq!(
        malformed(&[data(1, b"x")]),
        "content came before the response head"
    );
    malformed(&[last_data(1, b"")]);
}

#[test]
fn a_head_without_a_good_status_is_malformed() {
    let reason = malformed(&[headers(1, &[("grpc-status", "0")], END_STREAM)]);
    assert_eq!(reason, "the response does not begin with `:status`");
    for fields in [
        &[][..],
        &[(":status", "2xx")],
        &[(":status", "200"), (":status", "200")],
        &[("x", "y"), (":status", "200")],
        &[(":status", "200"), (":path", "/")],
        &[(":method", "GET"), (":status", "200")],
    ] {
        malformed(&[headers(1, fields, 0)]);
    }
}

#[test]
fn field_names_and_values_that_no_field_may_have_are_malformed() {
    let reason = malformed(&[headers(1, &[(":status", "200"), ("Grpc-Status", "0")], 0)]);
    assert_eq!(reason, "a field's name is not in lower case");
    for field in [
        ("", "x"),
        ("a b", "x"),
        ("a", "x\r\ny: z"),
        ("a", " x\n "),
        ("connection", "close"),
    ] {
        malformed(&[headers(1, &[(":status", "200"), field], 0)]);
        malformed(&[head(1), headers(1, &[field], END_STREAM)]);
    }
}

#[test]
fn blanks_around_values_are_taken_off() {
    for blanks in [" ", "\t", "  \t "] {
        let around = |value: &str| format!("{blanks}{value}{blanks}");
        let (status, length, message) = (around("200"), around("1"), around("not found"));
        let first = [
            (":status", &*status),
            ("content-length", &*length),
            ("empty", blanks),
        ];
        let last = [("grpc-status", "5"), ("grpc-message", &*message)];
        let mut peer = Peer::with_call();
        // Twice: what is read of a block that comes again is the same.
        let b = peer.open('b');
        peer.sent();
        for stream in [1, b] {
            peer.feed(&[
                headers(stream, &first, 0),
                data(stream, b"x"),
                headers(stream, &last, END_STREAM),
            ]);
            let events = peer.events();
            let head = fields(&[(":status", "200"), ("content-length", "1"), ("empty", "")]);
            let trailers = fields(&[("grpc-status", "5"), ("grpc-message", "not found")]);
            assert!(matches!(&events[0], Event::Headers(_, fields, false) if *fields == head));
            assert!(matches!(&events[2], Event::Headers(_, fields, true) if *fields == trailers));
            assert!(matches!(events[3], Event::Closed(_, Closed::Ended)));
        }
        assert_eq!(peer.sent(), []);
    }
}

#[test]
fn many_fields_are_read_as_long_as_their_size_allows() {
    let many: Vec<(&str, &str)> = vec![("x", ""); 450];
    let block = [block(&[(":status", "200")]), block(&many)].concat();
    let mut peer = Peer::with_call();
    peer.feed(&[raw(Kind::Headers, 5, 1, &block)]);
    let events = peer.events();
    assert!(matches!(&events[0], Event::Headers('a', fields, true) if fields.len() == 451));
    assert_eq!(events[1], Event::Closed('a', Closed::Ended));
}

#[test]
fn trailers_have_no_pseudo_headers_and_end_the_stream() {
    let reason = malformed(&[head(1), headers(1, &[(":status", "200")], END_STREAM)]);
    assert_eq!(
        reason,
        "a pseudo-header stands where only regular fields are allowed"
    );
    let reason = malformed(&[head(1), headers(1, &[("grpc-status", "0")], 0)]);
    assert_eq!(reason, "a second response head does not end the stream");
}

#[test]
fn content_that_is_not_as_long_as_content_length_says_is_malformed() {
    let head = headers(1, &[(":status", "200"), ("content-length", "3")], 0);
    malformed(&[head.clone(), data(1, b"ab"), data(1, b"cd")]);
    malformed(&[head.clone(), last_data(1, b"ab")]);
    malformed(&[head.clone(), data(1, b"ab"), trailers(1)]);
    let mut peer = Peer::with_call();
    peer.feed(&[head, data(1, b"ab"), data(1, b"c"), trailers(1)]);
    assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
}

#[test]
fn a_status_that_never_has_content_may_name_a_length() {
    let mut peer = Peer::with_call();
    peer.feed(&[headers(
        1,
        &[(":status", "304"), ("content-length", "3")],
        END_STREAM,
    )]);
    assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
}

#[test]
fn an_answer_to_head_may_name_a_length_but_has_no_content() {
    let asked = || {
        let mut peer = Peer::ready();
        let method = Field::new(&b":method"[..], &b"HEAD"[..], Indexing::Incremental);
        Arc::get_mut(&mut peer.head).unwrap().fields[0] = method;
        peer.open('a');
        peer
    };
    let length = [(":status", "200"), ("content-length", "3")];
    let ended = [
        vec![headers(1, &length, END_STREAM)],
        vec![headers(1, &length, 0), last_data(1, b"")],
    ];
    for frames in ended {
        let mut peer = asked();
        peer.feed(&frames);
        assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
    }
    let mut peer = asked();
    peer.feed(&[headers(1, &length, 0), last_data(1, b"abc")]);
    let closed = peer.events().pop();
    assert!(matches!(
        closed,
        Some(Event::Closed('a', Closed::Malformed(_)))
    ));
}

#[test]
fn fields_larger_than_we_announced_lose_the_call_but_not_the_connection() {
    let mut peer = Peer::with_call();
    peer.open('b');
    let value = "x".repeat(120);
    let many: Vec<(&str, &str)> = vec![("y", &value); 110];
    let block = [block(&[(":status", "200")]), block(&many)].concat();
    let (first, rest) = block.split_at(10_000);
    let frames = [
        raw(Kind::Headers, 0, 1, first),
        raw(Kind::Continuation, 4, 1, rest),
        headers(3, &[(":status", "200")], END_STREAM),
    ];
    peer.sent();
    peer.feed(&frames);
    assert_eq!(peer.sent(), [Sent::Reset(1, ErrorCode::ProtocolError)]);
    let events = peer.events();
    assert!(matches!(
        events[0],
        Event::Closed('a', Closed::Malformed(_))
    ));
    assert_eq!(events.last(), Some(&Event::Closed('b', Closed::Ended)));
}

#[test]
fn padding_and_priority_of_a_head_are_taken_off() {
    let fields_block = block(&[(":status", "200")]);
    let payload = [&[3][..], &[0x80, 0, 0, 1, 255], &fields_block, &[0; 3]].concat();
    let mut peer = Peer::with_call();
    let flags = 4 | PADDED | PRIORITY | END_STREAM;
    peer.feed(&[raw(Kind::Headers, flags, 1, &payload)]);
    assert_eq!(
        peer.events()[0],
        Event::Headers('a', fields(&[(":status", "200")]), true)
    );
}

#[test]
fn a_response_that_is_whole_before_the_request_stops_the_request() {
    let mut peer = Peer::ready_with(1000, &[(4, 2)]);
    let a = peer.open_for_sending('a');
    peer.connection.send(a, b"abcd", true);
    peer.sent();
    peer.feed(&[headers(a, &[(":status", "200")], END_STREAM)]);
    assert_eq!(peer.sent(), [Sent::Reset(a, ErrorCode::NoError)]);
    assert_eq!(peer.events().pop(), Some(Event::Closed('a', Closed::Ended)));
    assert_eq!(peer.connection.queued(a), 0);
}

#[test]
fn the_same_block_is_read_anew_once_the_table_has_changed() {
    let mut peer = Peer::with_call();
    let calls: Vec<u32> = "bcdef".chars().map(|call| peer.open(call)).collect();
    peer.sent();
    let block = |stream, block: &[u8]| raw(Kind::Headers, 5, stream, block);
    // `x: 1` is added to the table and read from it twice, then `x: 2` replaces it (RFC 7541 §2.3.3).
    peer.feed(&[
        block(1, b"\x88\x40\x01x\x011"),
        block(calls[0], b"\x88\xbe"),
        block(calls[1], b"\x88\xbe"),
        block(calls[2], b"\x88\x7e\x012"),
        block(calls[3], b"\x88\xbe"),
        block(calls[4], b"\x88\xbf"),
    ]);
    let value = |event| match event {
        Event::Headers(_, fields, true) => Some(fields[1].1.clone()),
        _ => None,
    };
    let values: Vec<String> = peer.events().into_iter().filter_map(value).collect();
    assert_eq!(values, ["1", "1", "1", "2", "2", "1"]);
}

#[test]
fn a_block_that_was_good_as_a_head_or_as_trailers_is_not_good_everywhere() {
    let mut peer = Peer::with_call();
    let (b, c, d, e) = (
        peer.open('b'),
        peer.open('c'),
        peer.open('d'),
        peer.open('e'),
    );
    peer.sent();
    peer.feed(&[head(1), trailers(1), head(b), trailers(b)]);
    peer.events();
    let not_last = headers(e, &[("grpc-status", "0")], 0);
    peer.feed(&[head(c), head(c), trailers(d), head(e), not_last]);
    let resets = [c, d, e].map(|stream| Sent::Reset(stream, ErrorCode::ProtocolError));
    assert_eq!(peer.sent(), resets);
}
