//! An HTTP/1.1 connection: a peer answers requests with anything, cut anywhere.
//!
//! The answers are read twice, the second time in pieces, and both times must have the same result. Meanwhile a request
//! has events only while it is open, and is closed once; nothing is made up; and a dead connection stays dead.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_http::http1::{Config, Connection, Violation};
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{Closed, ErrorCode, Handler, Next};

/// Whether the request was HEAD, and the bytes that come while it is open or after it.
type Answer = (bool, Vec<u8>);

fuzz_target!(|input: (u8, Option<u8>, Vec<u8>, Vec<Answer>)| {
    let (most_head, cancel_at, sizes, answers) = input;
    let run = |sizes: &[u8]| run(most_head, cancel_at, sizes, &answers);
    let whole = run(&[]);
    assert_eq!(whole, run(&[1]));
    assert_eq!(whole, run(&sizes));
});

/// What does not depend on the cuts: events, what each answer led to, and the end.
type Outcome = (
    Vec<Event>,
    Vec<Result<usize, Violation>>,
    Result<(), Violation>,
);

fn run(most_head: u8, cancel_at: Option<u8>, sizes: &[u8], answers: &[Answer]) -> Outcome {
    let most_head = 16 + usize::from(most_head);
    let mut connection = Connection::new(&Config { most_head });
    let mut calls = Calls {
        cancel_at: cancel_at.map(usize::from),
        ..Calls::default()
    };
    let mut results = Vec::new();
    let mut given = 0;
    for (is_head_request, bytes) in answers {
        if connection.capacity() > 0 {
            connection.open(results.len(), b"head", *is_head_request);
            connection.consume_output(4);
            calls.open = Some(results.len());
            assert_eq!(connection.capacity(), 0);
        }
        let mut pieces = cut(bytes, sizes).into_iter();
        let broken = pieces.find_map(|piece| connection.receive(piece, &mut calls).err());
        if let Some(violation) = broken {
            assert_eq!(connection.receive(b"more", &mut calls), Err(violation));
            assert!(!connection.is_reusable());
        }
        results.push(broken.map_or(Ok(connection.capacity()), Err));
        given += bytes.len();
        assert!(calls.content <= given, "content was made up");
        assert_eq!(connection.is_busy(), calls.open.is_some());
    }
    let end = connection.end_of_stream(&mut calls);
    assert_eq!(connection.capacity(), 0);
    assert_eq!(connection.take_call(), calls.open);
    (calls.events, results, end)
}

/// The bytes in pieces of these sizes, which come again and again; 0 is all the rest.
fn cut<'a>(mut bytes: &'a [u8], sizes: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut sizes = sizes.iter().cycle();
    while !bytes.is_empty() {
        let size = sizes.next().map_or(0, |size| usize::from(*size));
        let size = if size == 0 { bytes.len() } else { size };
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

#[derive(Debug, PartialEq)]
enum Event {
    Fields(usize, Vec<(Vec<u8>, Vec<u8>)>, bool),
    /// Neighbouring content is one event.
    Data(usize, Vec<u8>, bool),
    Closed(usize, Closed),
}

#[derive(Default)]
struct Calls {
    events: Vec<Event>,
    open: Option<usize>,
    content: usize,
    /// Cancels once so many fields have come.
    cancel_at: Option<usize>,
}

impl Calls {
    fn next(&self) -> Next {
        let heads = self
            .events
            .iter()
            .filter(|event| matches!(event, Event::Fields(..)));
        match self.cancel_at {
            Some(most) if heads.count() > most => Next::Cancel(ErrorCode::Cancel),
            _ => Next::Continue,
        }
    }
}

impl Handler<usize> for Calls {
    fn on_headers(&mut self, call: &mut usize, headers: &HeaderList, end_stream: bool) -> Next {
        assert_eq!(self.open, Some(*call));
        let fields = headers.iter().map(|(name, value)| {
            assert!(!name.iter().any(u8::is_ascii_uppercase));
            assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
            (name.to_vec(), value.to_vec())
        });
        self.events
            .push(Event::Fields(*call, fields.collect(), end_stream));
        self.next()
    }

    fn on_data(&mut self, call: &mut usize, data: &[u8], end_stream: bool) -> Next {
        assert_eq!(self.open, Some(*call));
        self.content += data.len();
        match self.events.last_mut() {
            Some(Event::Data(of, before, ended)) if of == call => {
                assert!(!*ended, "content after its end");
                before.extend_from_slice(data);
                *ended = end_stream;
            }
            _ => self
                .events
                .push(Event::Data(*call, data.to_vec(), end_stream)),
        }
        Next::Continue
    }

    fn on_closed(&mut self, call: &mut usize, why: Closed) {
        assert_eq!(self.open.take(), Some(*call));
        self.events.push(Event::Closed(*call, why));
    }
}
