//! A connection and all its output: events to its owner, frames to the peer.

use std::sync::Arc;

use volley_http::http2::frame::{FrameHeader, HEADER_LEN, Kind, PREFACE, flag};
use volley_http::http2::hpack::{Field, HeaderList, Indexing};
use volley_http::http2::{Closed, Config, Connection, ErrorCode, Handler, Head, Next, Violation};

use crate::build;

/// The events of the handler. Calls are named by a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Headers(char, Vec<(String, String)>, bool),
    Data(char, Vec<u8>, bool),
    Closed(char, Closed),
}

/// Records all events; cancels every call named in `cancels`.
#[derive(Default)]
pub struct Log {
    pub events: Vec<Event>,
    pub cancels: Vec<char>,
}

impl Log {
    fn next(&self, call: char) -> Next {
        match self.cancels.contains(&call) {
            true => Next::Cancel(ErrorCode::Cancel),
            false => Next::Continue,
        }
    }
}

impl Handler<char> for Log {
    fn on_headers(&mut self, call: &mut char, headers: &HeaderList, end_stream: bool) -> Next {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let fields = headers
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect();
        self.events.push(Event::Headers(*call, fields, end_stream));
        self.next(*call)
    }

    fn on_data(&mut self, call: &mut char, data: &[u8], end_stream: bool) -> Next {
        self.events
            .push(Event::Data(*call, data.to_vec(), end_stream));
        self.next(*call)
    }

    fn on_closed(&mut self, call: &mut char, why: Closed) {
        let call = *call;
        self.events.push(Event::Closed(call, why));
    }
}

/// A frame that the connection sent, in a form for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    Headers {
        stream: u32,
        end: bool,
    },
    Data {
        stream: u32,
        payload: Vec<u8>,
        end: bool,
    },
    Settings(Vec<(u16, u32)>),
    SettingsAck,
    Ping([u8; 8]),
    Pong([u8; 8]),
    Reset(u32, ErrorCode),
    GoAway(ErrorCode),
    WindowUpdate(u32, u32),
    Continuation(u32),
}

pub struct Peer {
    pub connection: Connection<char>,
    pub log: Log,
    pub head: Arc<Head>,
}

impl Peer {
    /// A new connection; nothing has been exchanged.
    pub fn new(window: u32) -> Self {
        let field = |name: &str, value: &str| {
            Field::new(name.as_bytes(), value.as_bytes(), Indexing::Incremental)
        };
        let fields = vec![
            field(":method", "POST"),
            field(":scheme", "http"),
            field(":path", "/benchmark.BenchmarkService/GetSum"),
            field(":authority", "localhost"),
        ];
        let max_header_list = 16_384;
        Self {
            connection: Connection::new(&Config {
                window,
                max_header_list,
                ..Config::default()
            }),
            log: Log::default(),
            head: Arc::new(Head {
                fields,
                ..Head::default()
            }),
        }
    }

    /// A connection on which both sides' SETTINGS were exchanged and acknowledged.
    pub fn ready_with(window: u32, settings: &[(u16, u32)]) -> Self {
        let mut peer = Self::new(window);
        peer.feed(&[build::settings(settings), build::settings_ack()]);
        assert!(peer.connection.is_ready());
        peer.sent();
        peer
    }

    /// The same with default settings.
    pub fn ready() -> Self {
        Self::ready_with(1 << 20, &[])
    }

    /// A ready connection with one call, `a`, on stream 1; its request has been sent.
    pub fn with_call() -> Self {
        let mut peer = Self::ready();
        assert_eq!(peer.open('a'), 1);
        peer.sent();
        peer
    }

    /// Opens a stream whose request is complete.
    pub fn open(&mut self, call: char) -> u32 {
        self.connection.open(call, &self.head, true)
    }

    /// Opens a stream whose request is still to come.
    pub fn open_for_sending(&mut self, call: char) -> u32 {
        self.connection.open(call, &self.head, false)
    }

    /// Feeds frames that obey the rules.
    #[track_caller]
    pub fn feed(&mut self, frames: &[Vec<u8>]) {
        let result = self.connection.receive(&frames.concat(), &mut self.log);
        assert_eq!(result, Ok(()));
    }

    /// Feeds frames of which the last breaks a rule. Returns the violation; its code is also in the GOAWAY.
    #[track_caller]
    pub fn violate(&mut self, frames: &[Vec<u8>]) -> Violation {
        let result = self.connection.receive(&frames.concat(), &mut self.log);
        let violation = result.expect_err("no violation was seen");
        let sent = self.sent();
        assert_eq!(
            sent.last(),
            Some(&Sent::GoAway(violation.code())),
            "{sent:?}"
        );
        assert!(self.connection.is_draining() && self.connection.capacity() == 0);
        let again = self.connection.receive(&build::ping([0; 8]), &mut self.log);
        assert_eq!(again, Err(violation), "a dead connection stays dead");
        violation
    }

    /// Takes all events.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.log.events)
    }

    /// Takes the frames that wait to be sent, without the preface.
    #[track_caller]
    pub fn sent(&mut self) -> Vec<Sent> {
        let output = self.connection.output().to_vec();
        self.connection.consume_output(output.len());
        parse(output.strip_prefix(PREFACE).unwrap_or(&output))
    }
}

/// The output of a connection, frame by frame.
#[track_caller]
pub fn parse(mut bytes: &[u8]) -> Vec<Sent> {
    let mut all = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<HEADER_LEN>() {
        let frame = FrameHeader::parse(header);
        let (payload, rest) = rest.split_at(frame.length as usize);
        all.push(one(frame, payload));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "half a frame was written");
    all
}

fn one(frame: FrameHeader, payload: &[u8]) -> Sent {
    let number = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
    let code = |at| ErrorCode::from_u32(number(at)).unwrap();
    let stream = frame.stream;
    match frame.kind {
        Kind::Headers => Sent::Headers {
            stream,
            end: frame.has(flag::END_STREAM),
        },
        Kind::Continuation => Sent::Continuation(stream),
        Kind::Data => {
            let (payload, end) = (payload.to_vec(), frame.has(flag::END_STREAM));
            Sent::Data {
                stream,
                payload,
                end,
            }
        }
        Kind::Settings if frame.has(flag::ACK) => Sent::SettingsAck,
        Kind::Settings => {
            let pair = |pair: &[u8; 6]| {
                let [i0, i1, v0, v1, v2, v3] = *pair;
                (
                    u16::from_be_bytes([i0, i1]),
                    u32::from_be_bytes([v0, v1, v2, v3]),
                )
            };
            Sent::Settings(payload.as_chunks().0.iter().map(pair).collect())
        }
        Kind::Ping if frame.has(flag::ACK) => Sent::Pong(payload.try_into().unwrap()),
        Kind::Ping => Sent::Ping(payload.try_into().unwrap()),
        Kind::RstStream => Sent::Reset(stream, code(0)),
        Kind::GoAway => Sent::GoAway(code(4)),
        Kind::WindowUpdate => Sent::WindowUpdate(stream, number(0)),
        Kind::Priority | Kind::PushPromise | Kind::Unknown(_) => {
            panic!("a client has no use for {frame:?}")
        }
    }
}
