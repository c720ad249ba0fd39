//! A connection, its owner and its peer.

use std::sync::Arc;

use volley_http::http2::frame::{FrameHeader, HEADER_LEN, Kind, PREFACE};
use volley_http::http2::hpack::{Field, Indexing};
use volley_http::http2::{Config, Connection, ErrorCode, Head, Violation};

use crate::calls::Calls;
use crate::windows::Windows;

pub const MAX_HEADER_LIST: u32 = 1000;

pub struct World {
    pub connection: Connection<u32>,
    pub calls: Calls,
    heads: [Arc<Head>; 2],
    chunk: usize,
    pub result: Result<(), Violation>,
    /// All input and all output; how much of each the model has read.
    fed: Vec<u8>,
    pub written: Vec<u8>,
    fed_read: usize,
    written_read: usize,
    /// How many bytes of the pending output are already in `written`.
    seen: usize,
    windows: Windows,
}

impl World {
    pub fn new(window: u32, chunk: usize) -> Self {
        let field = |name: &[u8], value: &[u8]| Field::new(name, value, Indexing::Incremental);
        let one = vec![field(b":method", b"POST"), field(b":path", b"/a")];
        let two = vec![field(b":method", b"POST"), field(b":path", b"/b")];
        Self {
            connection: Connection::new(&Config {
                window,
                max_header_list: MAX_HEADER_LIST,
                ..Config::default()
            }),
            calls: Calls::default(),
            heads: [one, two].map(|fields| {
                Arc::new(Head {
                    fields,
                    ..Head::default()
                })
            }),
            chunk,
            result: Ok(()),
            fed: Vec::new(),
            written: Vec::new(),
            fed_read: 0,
            written_read: PREFACE.len(),
            seen: 0,
            windows: Windows::default(),
        }
    }

    /// Executes `op`, taking arguments from `rest`. Returns the rest of the script.
    pub fn step<'a>(&mut self, op: u8, rest: &'a [u8]) -> &'a [u8] {
        let (&argument, after) = rest.split_first().unwrap_or((&0, &[]));
        let (flag, stream) = (op & 8 != 0, u32::from(argument % 32));
        match op % 8 {
            0 => self.open(usize::from(op >> 4) % 2, flag),
            1 => {
                let length = usize::from(op >> 4) * 1500;
                self.connection.send(stream, &vec![0; length], flag);
                return after;
            }
            2 => {
                if let Some(call) = self.connection.cancel(stream, ErrorCode::Cancel) {
                    assert_eq!(call, stream);
                    assert!(self.calls.open.remove(&call), "cancelled twice");
                }
                return after;
            }
            3 => match op >> 3 {
                0 => self.connection.shut_down(ErrorCode::NoError),
                1..16 => self.connection.ping([op; 8]),
                n => self.flush(usize::from(n)),
            },
            // A frame with a valid header: kind and flags from the script, then the payload's length and stream.
            4 | 5 => {
                let Some((&[kind, flags, length, stream], after)) = rest.split_first_chunk() else {
                    return &[];
                };
                let (payload, after) = after.split_at(after.len().min(usize::from(length)));
                let mut frame = Vec::new();
                let (length, kind) = (payload.len() as u32, Kind::from_u8(kind % 11));
                let stream = u32::from(stream % 32);
                FrameHeader {
                    length,
                    kind,
                    flags,
                    stream,
                }
                .write(&mut frame);
                frame.extend_from_slice(payload);
                self.receive(&frame);
                return after;
            }
            _ => {
                let (bytes, after) = rest.split_at(rest.len().min(usize::from(op >> 3)));
                self.receive(bytes);
                return after;
            }
        }
        rest
    }

    fn open(&mut self, head: usize, end_stream: bool) {
        if self.connection.capacity() > 0 {
            // Calls are named by their stream, which is not known before.
            let stream = self.connection.open(0, &self.heads[head], end_stream);
            *self
                .connection
                .call_mut(stream)
                .expect("it was just opened") = stream;
            assert!(self.calls.open.insert(stream), "a number was used twice");
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.fed.extend_from_slice(bytes);
        let connection = &mut self.connection;
        let queued: usize = self
            .calls
            .open
            .iter()
            .map(|&id| connection.queued(id))
            .sum();
        let (open, before) = (connection.open_streams(), connection.output().len());
        for chunk in bytes.chunks(self.chunk) {
            let was = self.result;
            self.result = connection.receive(chunk, &mut self.calls);
            assert!(
                was.is_ok() || was == self.result,
                "a dead connection came to life"
            );
        }
        let grown = connection.output().len() - before;
        let most = 10 * queued + 4 * bytes.len() + 32 * open + 64;
        assert!(
            grown <= most,
            "{grown} bytes of output for {} of input",
            bytes.len()
        );
    }

    fn flush(&mut self, n: usize) {
        self.watch();
        let n = n.min(self.seen);
        self.connection.consume_output(n);
        self.seen -= n;
    }

    /// Records what was written since the last time.
    fn watch(&mut self) {
        let output = self.connection.output();
        self.written.extend_from_slice(&output[self.seen..]);
        self.seen = output.len();
    }

    /// What must always hold.
    pub fn check(&mut self) {
        assert_eq!(self.connection.open_streams(), self.calls.open.len());
        for &stream in &self.calls.open {
            assert_eq!(self.connection.call_mut(stream), Some(&mut { stream }));
        }
        assert!(self.result.is_ok() || self.connection.capacity() == 0);
        while let Some((frame, payload)) = next_frame(&self.fed, &mut self.fed_read) {
            self.windows.widen(frame, payload);
        }
        self.watch();
        while let Some((frame, _)) = next_frame(&self.written, &mut self.written_read) {
            self.windows.spend(frame);
        }
        assert_eq!(
            self.written_read,
            self.written.len(),
            "half a frame was written"
        );
    }
}

/// The next frame from `at` on, if it is whole.
fn next_frame<'a>(bytes: &'a [u8], at: &mut usize) -> Option<(FrameHeader, &'a [u8])> {
    let (header, rest) = bytes.get(*at..)?.split_first_chunk::<HEADER_LEN>()?;
    let frame = FrameHeader::parse(header);
    let payload = rest.get(..frame.length as usize)?;
    *at += HEADER_LEN + payload.len();
    Some((frame, payload))
}
