//! Whole responses are taken at once, and nobody can tell: a peer's bytes give the same results when each is read alone,
//! as then one frame after another is looked at.

use std::sync::Arc;

use proptest::prelude::*;
use volley_http::http2::frame::Kind;
use volley_http::http2::hpack::{Field, HeaderList, Indexing};
use volley_http::http2::{
    Closed, Config, Connection, Content, ErrorCode, Handler, Head, Next, Own, Violation,
};

use crate::build::*;

/// The calls that are open, on the streams 1, 3, 5, …
const CALLS: u32 = 24;

/// A call, and the event after which the handler cancels it.
struct Call {
    name: u32,
    cancelled_after: usize,
    heard: usize,
}

/// All that the handler hears.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn hear(&mut self, call: &mut Call, event: String) -> Next {
        self.0.push(format!("{}: {event}", call.name));
        call.heard += 1;
        match call.heard == call.cancelled_after {
            true => Next::Cancel(ErrorCode::Cancel),
            false => Next::Continue,
        }
    }
}

impl Handler<Call> for Log {
    fn on_headers(&mut self, call: &mut Call, headers: &HeaderList, end_stream: bool) -> Next {
        let fields: Vec<_> = headers.iter().collect();
        self.hear(call, format!("{fields:?} {end_stream}"))
    }

    fn on_data(&mut self, call: &mut Call, data: &[u8], end_stream: bool) -> Next {
        self.hear(call, format!("{data:?} {end_stream}"))
    }

    fn on_closed(&mut self, call: &mut Call, why: Closed) {
        self.hear(call, format!("{why:?}"));
    }
}

/// How a call is opened: by its method, whether its request is complete, and when the handler cancels it.
type Opening = (bool, bool, usize);

/// What a script leaves: events, output, and the connection's state.
type Outcome = (
    Vec<String>,
    Vec<u8>,
    Result<(), Violation>,
    usize,
    usize,
    usize,
);

fn fed(window: u32, openings: &[Opening], chunks: &[&[u8]]) -> Outcome {
    let mut log = Log::default();
    let mut connection = Connection::new(&Config {
        window,
        ..Config::default()
    });
    let greeting = [settings(&[]), settings_ack()].concat();
    assert_eq!(connection.receive(&greeting, &mut log), Ok(()));
    let head = |method: &str| {
        let field = Field::new(&b":method"[..], method.as_bytes(), Indexing::Incremental);
        Arc::new(Head {
            fields: vec![field],
            ..Head::default()
        })
    };
    let (post, head) = (head("POST"), head("HEAD"));
    for (name, (is_head, is_complete, cancelled_after)) in (0..).zip(openings) {
        let call = Call {
            name,
            cancelled_after: *cancelled_after,
            heard: 0,
        };
        let head = if *is_head { &head } else { &post };
        match is_complete {
            true => connection.open_whole(call, head, Own::default(), Content::Own(b"request")),
            false => connection.open(call, head, false),
        };
    }
    let result = chunks
        .iter()
        .try_for_each(|chunk| connection.receive(chunk, &mut log));
    let output = connection.output().to_vec();
    let (open, capacity) = (connection.open_streams(), connection.capacity());
    let left = connection.take_calls().len();
    (log.0, output, result, open, capacity, left)
}

fn openings() -> impl Strategy<Value = Vec<Opening>> {
    let opening = (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.9),
        prop_oneof![4 => Just(0usize), 1 => 1usize..5],
    );
    prop::collection::vec(opening, CALLS as usize)
}

/// The three frames of a response, most of them as they were before; some belong to another call, or have something more.
fn response(stream: u32) -> impl Strategy<Value = Vec<u8>> {
    let head_of = |stream, more: Option<(&str, &str)>| {
        let fields = [(":status", "200"), ("content-type", "application/grpc")];
        let fields: Vec<_> = fields.into_iter().chain(more).collect();
        headers(stream, &fields, 0)
    };
    let head = prop_oneof![
        12 => Just(head(stream)),
        1 => Just(head_of(stream, Some(("content-length", "3")))),
        1 => Just(head_of(stream, Some(("x", "y")))),
        1 => Just(headers(stream, &[(":status", "103")], 0)),
        1 => Just(head_of(stream + 2, None)),
        1 => Just([data(stream, b"early"), head_of(stream, None)].concat()),
        1 => Just(raw(Kind::Headers, END_HEADERS | 0x20, stream, &[&[0; 5][..], &block(&[(":status", "200")])].concat())),
    ];
    let content = prop_oneof![
        9 => prop::collection::vec(any::<u8>(), 1..40).prop_map(move |bytes| data(stream, &bytes)),
        // Some of these use up the connection's window.
        5 => (4000_usize..6000).prop_map(move |length| data(stream, &vec![7; length])),
        1 => Just(data(stream, b"")),
        1 => Just(last_data(stream, b"end")),
        1 => Just(raw(Kind::Data, PADDED, stream, b"\x02abc\0\0")),
        1 => Just(data(stream + 2, b"another's")),
        1 => Just([data(stream, b"one"), data(stream, b"two")].concat()),
        1 => Just(ping([1; 8])),
    ];
    let last = prop_oneof![
        12 => Just(trailers(stream)),
        1 => Just(headers(stream, &[("grpc-status", "5")], END_STREAM)),
        1 => Just(headers(stream, &[("grpc-status", "0")], 0)),
        1 => Just(trailers(stream + 2)),
        1 => Just(rst_stream(stream, 8)),
        // It changes the table of the peer's fields.
        1 => Just(raw(Kind::Headers, END_HEADERS | END_STREAM, stream, b"\x40\x01a\x01b")),
    ];
    (head, content, last).prop_map(|(head, content, last)| [head, content, last].concat())
}

/// Responses to the calls in their order, some of which have none.
fn script() -> impl Strategy<Value = Vec<u8>> {
    let responses: Vec<_> = (0..CALLS)
        .map(|call| prop::option::weighted(0.9, response(2 * call + 1)))
        .collect();
    responses.prop_map(|all| all.into_iter().flatten().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_whole_response_gives_what_its_frames_give(
        window in prop_oneof![Just(70_000_u32), 20_u32..400],
        openings in openings(),
        script in script(),
        flip in prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>())),
        cuts in prop::collection::vec(1usize..120, 1..20),
    ) {
        let mut script = script;
        if let Some((at, bits)) = flip
            && !script.is_empty()
        {
            let at = at.index(script.len());
            script[at] ^= bits;
        }
        let single: Vec<&[u8]> = script.chunks(1).collect();
        let expected = fed(window, &openings, &single);
        prop_assert_eq!(&fed(window, &openings, &[&script]), &expected);
        let (mut rest, mut chunks) = (&script[..], vec![]);
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, later) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = later;
        }
        prop_assert_eq!(&fed(window, &openings, &chunks), &expected);
    }
}

/// Requests of a length, opened at once and in two steps: the same bytes, whatever the windows allow.
#[test]
fn a_request_that_is_opened_whole_is_the_same_on_the_wire() {
    let own = Own {
        first: b"\0\x01a\x01b",
        last: b"\0\x01c\x01d",
    };
    // Fields that the encoder's table keeps, in one frame and in three.
    for value in [1, 40_000] {
        let field = |name: &str, value: &str| {
            Field::new(name.as_bytes(), value.as_bytes(), Indexing::Incremental)
        };
        let head = Arc::new(Head {
            fields: vec![field("x-long", &"~".repeat(value)), field("x-name", "b")],
            ..Head::default()
        });
        opened_whole_as_in_parts(&head, own);
        opened_whole_as_in_parts(&head, Own::default());
    }
}

fn opened_whole_as_in_parts(head: &Arc<Head>, own: Own<'_>) {
    for (length, window) in [
        (0, 100),
        (1, 100),
        (99, 100),
        (100, 100),
        (101, 100),
        (40_000, 50_000),
        (70_000, 80_000),
    ] {
        let bytes = Arc::new(vec![7; length]);
        let sent = |whole: Option<bool>| {
            let mut connection = Connection::new(&Config::default());
            let greeting = settings(&[(4, window)]);
            assert_eq!(connection.receive(&greeting, &mut Log::default()), Ok(()));
            for name in 0..3 {
                let call = Call {
                    name,
                    cancelled_after: 0,
                    heard: 0,
                };
                match whole {
                    Some(true) => {
                        connection.open_whole(call, head, own, Content::Shared(&bytes));
                    }
                    Some(false) => {
                        connection.open_whole(call, head, own, Content::Own(&bytes));
                    }
                    None => {
                        let stream = connection.open_with(call, head, own, false);
                        connection.send(stream, &bytes, true);
                    }
                }
            }
            let opens = [
                window_update(1, 50_000),
                window_update(0, 500_000),
                window_update(5, 50_000),
            ];
            assert_eq!(
                connection.receive(&opens.concat(), &mut Log::default()),
                Ok(())
            );
            let queued: Vec<usize> = [1, 3, 5].map(|id| connection.queued(id)).into();
            (connection.output().to_vec(), queued)
        };
        let expected = sent(None);
        assert_eq!(sent(Some(true)), expected, "{length} bytes");
        assert_eq!(sent(Some(false)), expected, "{length} bytes");
    }
}
