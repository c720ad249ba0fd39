//! A test client made of bytes.

use super::super::{Config, Counts, ServerSide};
use std::ops::ControlFlow;
use std::sync::Arc;
use volley_http::grpc::Splitter;
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{
    FrameHeader, HEADER_LEN, Kind, PREFACE, flag, write_data, write_headers, write_settings,
    write_settings_ack, write_window_update,
};
use volley_http::http2::hpack::{Decoder, Encoder, Field, HeaderList, Indexing};

/// What the server sent, frame by frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// stream, `name: value` of each field, END_STREAM
    Headers(u32, Vec<String>, bool),
    /// stream, payload, END_STREAM
    Data(u32, Vec<u8>, bool),
    Reset(u32, ErrorCode),
    /// last stream, code, debug data
    GoAway(u32, ErrorCode, String),
    Ping(bool, [u8; 8]),
    Window(u32, u32),
    Settings(Vec<(u16, u32)>),
    SettingsAck,
    /// Bytes that are not a frame.
    Garbage(usize),
}

pub struct Client {
    pub server: ServerSide,
    pub counts: Counts,
    encoder: Encoder,
    decoder: Decoder,
    pub now_ns: u64,
}

impl Client {
    /// Connected, with SETTINGS exchanged and windows that never limit anything.
    pub fn new(config: &Config) -> Self {
        let mut client = Self::with_settings(config, &[(4, 1 << 30)]);
        client.send(|out| write_window_update(out, 0, 1 << 30));
        client
    }

    pub fn with_settings(config: &Config, settings: &[(u16, u32)]) -> Self {
        let mut client = Self::silent(config);
        client.send(|out| {
            out.extend_from_slice(PREFACE);
            write_settings(out, settings);
            write_settings_ack(out);
        });
        assert!(client.see().contains(&Seen::SettingsAck));
        client
    }

    /// Connected, with nothing sent.
    pub fn silent(config: &Config) -> Self {
        Self {
            server: ServerSide::new(config),
            counts: Counts::default(),
            encoder: Encoder::new(),
            decoder: Decoder::new(4096, 1 << 20),
            now_ns: 0,
        }
    }

    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        write(&mut bytes);
        self.server.receive(&bytes, self.now_ns, &mut self.counts);
    }

    /// Starts a call.
    pub fn open(&mut self, stream: u32, method: &str) {
        let path = format!("/benchmark.BenchmarkService/{method}");
        self.open_with(
            stream,
            &[
                (":method", "POST"),
                (":path", &path),
                ("content-type", "application/grpc"),
            ],
        );
    }

    pub fn open_with(&mut self, stream: u32, fields: &[(&str, &str)]) {
        let fields: Vec<Field> = fields
            .iter()
            .map(|(name, value)| {
                Field::new(name.as_bytes(), value.as_bytes(), Indexing::Incremental)
            })
            .collect();
        let mut block = Vec::new();
        self.encoder.encode(&fields, &mut block);
        self.send(|out| write_headers(out, stream, &block, false, 16_384));
    }

    /// Sends protobuf messages, each with its prefix, in one frame.
    pub fn messages(&mut self, stream: u32, messages: &[&[u8]], end_stream: bool) {
        self.send(|out| write_data(out, stream, &prefixed(messages), end_stream));
    }

    /// A whole call of one message: `a`, `b` and `count`, each below 128.
    pub fn call(&mut self, stream: u32, method: &str, a: u8, b: u8, count: u8) {
        self.open(stream, method);
        self.messages(stream, &[&[8, a, 16, b, 24, count]], true);
    }

    /// Everything that the server has to send now, read completely.
    pub fn see(&mut self) -> Vec<Seen> {
        let mut bytes = Vec::new();
        loop {
            self.server.advance(self.now_ns);
            self.server.fill();
            let n = self.server.output().len();
            if n == 0 {
                return self.read(&bytes);
            }
            bytes.extend_from_slice(self.server.output());
            self.server.consume_output(n, &mut self.counts);
        }
    }

    /// Checks that it sends this now.
    #[track_caller]
    pub fn sees(&mut self, wanted: &[Seen]) {
        assert_eq!(self.see(), wanted);
    }

    /// Checks what it has counted.
    #[track_caller]
    pub fn counted<const N: usize>(&self, some: fn(&Counts) -> [u64; N], wanted: [u64; N]) {
        self.counts.are(some, wanted);
    }

    fn read(&mut self, mut bytes: &[u8]) -> Vec<Seen> {
        let mut seen = Vec::new();
        while !bytes.is_empty() {
            let header = FrameHeader::parse(bytes.first_chunk().expect("a whole header"));
            let Some((payload, rest)) =
                bytes[HEADER_LEN..].split_at_checked(header.length as usize)
            else {
                seen.push(Seen::Garbage(bytes.len()));
                break;
            };
            bytes = rest;
            seen.push(self.frame(header, payload));
        }
        seen
    }

    fn frame(&mut self, header: FrameHeader, payload: &[u8]) -> Seen {
        let number =
            |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().expect("four bytes"));
        let code = |at| ErrorCode::from_u32(number(at)).expect("a code of the RFC");
        let end = header.has(flag::END_STREAM);
        let stream = header.stream;
        match header.kind {
            Kind::Data => Seen::Data(stream, payload.to_vec(), end),
            Kind::Headers => {
                assert!(header.has(flag::END_HEADERS));
                let mut list = HeaderList::new();
                self.decoder
                    .decode(payload, &mut list)
                    .expect("a block that HPACK can read");
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                let fields = list
                    .iter()
                    .map(|(name, value)| format!("{}: {}", text(name), text(value)));
                Seen::Headers(stream, fields.collect(), end)
            }
            Kind::RstStream => Seen::Reset(stream, code(0)),
            Kind::GoAway => Seen::GoAway(
                number(0),
                code(4),
                String::from_utf8_lossy(&payload[8..]).into(),
            ),
            Kind::Ping => Seen::Ping(
                header.has(flag::ACK),
                payload.try_into().expect("eight bytes"),
            ),
            Kind::WindowUpdate => Seen::Window(stream, number(0)),
            Kind::Settings if header.has(flag::ACK) => Seen::SettingsAck,
            Kind::Settings => {
                let pairs = payload.as_chunks::<6>().0.iter();
                let value = |v: &[u8; 6]| {
                    (
                        u16::from_be_bytes([v[0], v[1]]),
                        u32::from_be_bytes([v[2], v[3], v[4], v[5]]),
                    )
                };
                Seen::Settings(pairs.map(value).collect())
            }
            other => panic!("a server does not send {other:?}"),
        }
    }
}

pub fn prefixed(messages: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        bytes.push(0);
        bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
        bytes.extend_from_slice(message);
    }
    bytes
}

impl Seen {
    /// The response headers of a call that is answered.
    pub fn response(stream: u32) -> Self {
        Self::Headers(
            stream,
            vec![
                ":status: 200".into(),
                "content-type: application/grpc".into(),
            ],
            false,
        )
    }

    pub fn ok(stream: u32) -> Self {
        Self::Headers(stream, vec!["grpc-status: 0".into()], true)
    }

    /// One reply in its own frame; `value` is below 128 and not 0.
    pub fn reply(stream: u32, value: u8) -> Self {
        Self::Data(stream, vec![0, 0, 0, 0, 2, 8, value], false)
    }
}

/// The replies on `stream`, only whole ones, however frames cut them.
pub fn replies(seen: &[Seen], stream: u32) -> Vec<i32> {
    let mut splitter = Splitter::default();
    let mut values = Vec::new();
    for frame in seen {
        if let Seen::Data(id, payload, _) = frame
            && *id == stream
        {
            let flow = splitter.push(
                payload,
                100,
                &Arc::default(),
                &mut |_: bool, message: &[u8]| {
                    values.push(super::super::message::read(message).expect("a message")[0]);
                    ControlFlow::<()>::Continue(())
                },
            );
            assert_eq!(flow, Ok(ControlFlow::Continue(())));
        }
    }
    values
}
