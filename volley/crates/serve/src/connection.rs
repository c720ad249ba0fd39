//! A client's connection without its socket: bytes in, bytes out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::call::Streams;
use super::config::{Config, Rules};
use super::counts::Counts;
use super::farewell::{End, Farewell};
use super::items::{Exchange, Items};
use super::outbox::Outbox;
use super::turn::{self, Turn};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{
    PREFACE, write_go_away, write_rst_stream, write_settings, write_window_update,
};
use volley_http::http2::hpack::{DEFAULT_TABLE_SIZE, Decoder, HeaderList};
use volley_http::http2::reader::Reader;
use volley_http::http2::settings::{PeerSettings, id};
use volley_http::http2::window::{DEFAULT_WINDOW, ReceiveWindow, SendWindow};

/// The largest list of request headers, in bytes, counted as in RFC 7541 §4.1.
const MAX_HEADER_LIST: u32 = 64 << 10;
/// If this many bytes of output wait, the connection takes no more input.
const INPUT_STOP: usize = 256 << 10;

/// Output is made up to this many bytes, and again when less than half of them is left. Large enough to make system
/// calls cheap per reply, small enough for a core's own cache.
const OUTPUT_BOUND: usize = 128 << 10;

/// The server's side of one HTTP/2 connection.
///
/// The owner passes on what it reads ([`receive`](Self::receive)), has answers made ([`fill`](Self::fill)), writes the
/// pending output ([`output`](Self::output)) and reports how much of it is written
/// ([`consume_output`](Self::consume_output)). Times are nanoseconds since any fixed moment.
pub struct ServerSide {
    pub(super) rules: Arc<Rules>,
    pub(super) end: End,
    pub(super) farewell: Farewell,
    /// Bytes of the client's preface that are still to come.
    pub(super) preface_left: usize,
    /// The client has acknowledged our SETTINGS.
    pub(super) acknowledged: bool,
    pub(super) reader: Reader,
    pub(super) decoder: Decoder,
    pub(super) fields: HeaderList,
    pub(super) streams: Streams,
    /// The highest stream the client has opened.
    pub(super) highest: u32,
    pub(super) items: Items,
    /// Requests that are over, for their buffers.
    #[expect(clippy::vec_box, reason = "they move into calls and back as they are")]
    pub(super) spare: Vec<Box<Exchange>>,
    /// What the client may still send on all streams.
    pub(super) receive_window: ReceiveWindow,
    /// What we may still send on all streams.
    pub(super) window: SendWindow,
    pub(super) peer: PeerSettings,
    pub(super) outbox: Outbox,
    /// Calls that can continue.
    pub(super) ready: VecDeque<u32>,
    /// Calls that wait for the connection's window.
    pub(super) starved: VecDeque<u32>,
    /// Calls whose answer waits, and until when, the earliest first.
    pub(super) delayed: BinaryHeap<Reverse<(u64, u32)>>,
}

impl ServerSide {
    /// A connection with the settings of `config`; faults are numbered for this connection alone.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_rules(Arc::new(Rules::new(config)))
    }

    pub(super) fn with_rules(rules: Arc<Rules>) -> Self {
        let mut outbox = Outbox::default();
        let mut ours = vec![
            (id::INITIAL_WINDOW_SIZE, rules.window),
            (id::MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST),
        ];
        ours.extend(rules.max_streams.map(|n| (id::MAX_CONCURRENT_STREAMS, n)));
        write_settings(outbox.buffer(), &ours);
        let receive_window = rules.connection_window();
        if receive_window > DEFAULT_WINDOW {
            write_window_update(outbox.buffer(), 0, receive_window - DEFAULT_WINDOW);
        }
        Self {
            end: End::Open,
            farewell: Farewell::new(rules.faults.goaway_after),
            preface_left: PREFACE.len(),
            acknowledged: false,
            reader: Reader::new(MAX_HEADER_LIST),
            decoder: Decoder::new(DEFAULT_TABLE_SIZE, MAX_HEADER_LIST as usize),
            fields: HeaderList::default(),
            streams: Streams::default(),
            highest: 0,
            items: Items::new(&rules.store),
            spare: Vec::new(),
            receive_window: ReceiveWindow::new(receive_window),
            window: SendWindow::new(DEFAULT_WINDOW),
            peer: PeerSettings::of_client(),
            outbox,
            ready: VecDeque::new(),
            starved: VecDeque::new(),
            delayed: BinaryHeap::new(),
            rules,
        }
    }

    /// Takes bytes from the client. Answers are made by [`fill`](Self::fill).
    pub fn receive(&mut self, bytes: &[u8], now_ns: u64, counts: &mut Counts) {
        if self.end != End::Open {
            return;
        }
        if let Err(violation) = self.receive_frames(bytes, now_ns, counts) {
            let (code, words) = (violation.code(), violation.to_string());
            write_go_away(self.outbox.buffer(), self.highest, code, words.as_bytes());
            self.end = End::Refused;
        }
    }

    /// Makes output, as far as the client's windows and the buffer's limit allow. Call it before reading
    /// [`output`](Self::output): output that is not made yet takes no memory.
    pub fn fill(&mut self) {
        if self.end != End::Open || self.outbox.pending().len() >= OUTPUT_BOUND / 2 {
            return;
        }
        self.outbox.compact();
        while self.outbox.pending().len() < OUTPUT_BOUND {
            let Some(stream) = self.ready.pop_front() else {
                break;
            };
            let Some(call) = self.streams.get_mut(&stream) else {
                continue;
            };
            let wrong_at = self.rules.faults.wrong_at;
            match turn::go_on(call, stream, &mut self.outbox, &mut self.window, wrong_at) {
                Turn::Over => self.ready.push_back(stream),
                Turn::Waiting => call.queued = false,
                Turn::Starved => self.starved.push_back(stream),
                Turn::Done => {
                    // The rest of the request is not needed (RFC 9113 §8.1).
                    if !call.request_done {
                        write_rst_stream(self.outbox.buffer(), stream, ErrorCode::NoError);
                    }
                    let done = self.streams.remove(&stream);
                    self.spare.extend(done.and_then(|call| call.exchange));
                    continue;
                }
                Turn::Ends(end) => {
                    self.end = end;
                    return;
                }
            }
            call.return_window(self.rules.window, stream, &mut self.outbox);
        }
    }

    /// Whether to read from the client now: not while too much output is unread.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.outbox.pending().len() < INPUT_STOP
    }

    /// The bytes to write next.
    #[inline]
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.outbox.pending()
    }

    /// The first `n` bytes of [`output`](Self::output) are written.
    #[inline]
    pub fn consume_output(&mut self, n: usize, counts: &mut Counts) {
        self.outbox.consume(n, counts);
    }

    /// Releases the calls whose delay is over.
    pub fn advance(&mut self, now_ns: u64) {
        while let Some(&Reverse((due, stream))) = self.delayed.peek()
            && due <= now_ns
        {
            self.delayed.pop();
            self.ready.push_back(stream);
        }
    }

    /// When to call [`advance`](Self::advance) next.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        self.delayed.peek().map(|Reverse((due, _))| *due)
    }

    /// Whether there is something to write to a writable socket: output is pending, or can be made.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.outbox.pending().is_empty() || (self.end == End::Open && !self.ready.is_empty())
    }

    /// Whether to close the socket: everything is written.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let said = match self.end {
            End::Open => self.farewell.is_final() && self.streams.is_empty(),
            End::Refused | End::Cut => true,
            End::Silent => false,
        };
        said && self.outbox.pending().is_empty()
    }

    /// Whether a fault cuts the connection, so that TLS must not send close_notify either.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// The socket is gone. Open calls count as ended by the client, or by us if we ended the connection.
    pub fn lost(self, counts: &mut Counts) {
        let open = self.streams.len() as u64 + self.outbox.unwritten_calls();
        match self.end {
            End::Open => counts.calls_reset += open,
            End::Refused | End::Cut | End::Silent => counts.calls_failed += open,
        }
    }
}
