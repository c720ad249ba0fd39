//! The cuts between reads must not matter.

use proptest::prelude::*;
use volley_http::http2::Violation;
use volley_http::http2::frame::Kind;

use crate::build::*;
use crate::peer::{Event, Peer};

/// Calls on streams 1, 3, 5 and 7: two of them with a request that waits, one cancelled by us, one by the handler.
fn opened() -> Peer {
    let mut peer = Peer::new(2000);
    peer.feed(&[settings(&[(4, 100)])]);
    peer.open('a');
    let b = peer.open_for_sending('b');
    peer.connection.send(b, &[1; 300], true);
    let c = peer.open_for_sending('c');
    peer.connection.send(c, &[2; 150], false);
    let d = peer.open('d');
    peer.log.cancels.push('d');
    assert_eq!(d, 7);
    let e = peer.open('e');
    peer.connection
        .cancel(e, volley_http::http2::ErrorCode::Cancel);
    peer
}

/// Everything visible of a connection after it was fed.
fn fed(
    chunks: &[&[u8]],
) -> (
    Vec<Event>,
    Vec<u8>,
    Result<(), Violation>,
    usize,
    usize,
    u64,
) {
    let mut peer = opened();
    let connection = &mut peer.connection;
    let result = chunks
        .iter()
        .try_for_each(|chunk| connection.receive(chunk, &mut peer.log));
    let output = connection.output().to_vec();
    let (open, capacity, pongs) = (
        connection.open_streams(),
        connection.capacity(),
        connection.pongs(),
    );
    (peer.events(), output, result, open, capacity, pongs)
}

fn stream() -> impl Strategy<Value = u32> {
    prop_oneof![20 => prop::sample::select(vec![1u32, 3, 5, 7]), 2 => Just(9), 1 => 0u32..20]
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn setting() -> impl Strategy<Value = (u16, u32)> {
    prop_oneof![
        (Just(4u16), 0u32..5000),
        (Just(5u16), 16_384u32..20_000),
        (Just(1u16), 0u32..5000),
        (any::<u16>(), 0u32..3),
    ]
}

/// One or more frames, most of them such as a correct peer sends.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let status = [(":status", "200")];
    prop_oneof![
        6 => stream().prop_map(head),
        6 => (stream(), bytes(60)).prop_map(|(stream, bytes)| data(stream, &bytes)),
        3 => stream().prop_map(trailers),
        1 => stream().prop_map(move |stream| headers(stream, &status, END_STREAM)),
        1 => (stream(), 0usize..8).prop_map(|(stream, cut)| {
            let block = block(&[(":status", "200"), ("x", "y")]);
            let (first, rest) = block.split_at(cut);
            [raw(Kind::Headers, 0, stream, first), raw(Kind::Continuation, END_HEADERS, stream, rest)].concat()
        }),
        1 => (stream(), bytes(300)).prop_map(|(stream, bytes)| last_data(stream, &bytes)),
        1 => (stream(), bytes(20)).prop_map(|(stream, bytes)| raw(Kind::Data, PADDED, stream, &bytes)),
        3 => (stream(), 0u32..200).prop_map(|(stream, by)| window_update(stream, by)),
        1 => (stream(), 0u32..20).prop_map(|(stream, code)| rst_stream(stream, code)),
        2 => prop::collection::vec(setting(), 0..4).prop_map(|all| settings(&all)),
        1 => Just(settings_ack()),
        1 => any::<[u8; 8]>().prop_map(ping),
        1 => Just(raw(Kind::Ping, ACK, 0, &[0; 8])),
        1 => (0u32..8, 0u32..20).prop_map(|(last, code)| go_away(last, code, "bye")),
        1 => stream().prop_map(|stream| raw(Kind::Priority, 0, stream, &[0; 5])),
        1 => (10u8.., any::<u8>(), stream(), bytes(40))
            .prop_map(|(kind, flags, stream, bytes)| raw(Kind::from_u8(kind), flags, stream, &bytes)),
        1 => (any::<u8>(), any::<u8>(), stream(), bytes(12))
            .prop_map(|(kind, flags, stream, bytes)| raw(Kind::from_u8(kind), flags, stream, &bytes)),
        1 => bytes(20),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn results_do_not_depend_on_where_the_bytes_are_cut(
        script in prop::collection::vec(frames(), 0..40),
        cuts in prop::collection::vec(1usize..50, 1..20),
    ) {
        let script = script.concat();
        let whole = fed(&[&script]);
        let mut rest = &script[..];
        let mut chunks = vec![];
        for &cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, later) = rest.split_at(cut.min(rest.len()));
            chunks.push(chunk);
            rest = later;
        }
        prop_assert_eq!(&fed(&chunks), &whole);
        let single: Vec<&[u8]> = script.chunks(1).collect();
        prop_assert_eq!(&fed(&single), &whole);
    }

    #[test]
    fn a_call_is_closed_once_and_nothing_is_heard_of_it_afterwards(
        script in prop::collection::vec(frames(), 0..60),
    ) {
        let (events, _, _, open, _, _) = fed(&[&script.concat()]);
        let mut closed = vec![];
        for event in events {
            let (Event::Headers(call, ..) | Event::Data(call, ..) | Event::Closed(call, _)) = &event;
            prop_assert!(!closed.contains(call), "{event:?} after the end");
            if let Event::Closed(call, _) = event {
                closed.push(call);
            }
        }
        prop_assert_eq!(closed.len() + open, 4);
    }
}
