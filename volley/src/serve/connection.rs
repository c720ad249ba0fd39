//! A client's connection without its socket: bytes in, bytes out.

use std::collections::VecDeque;
use std::sync::Arc;

use super::breach::Breach;
use super::config::Config;
use super::counts::Counts;
use super::end::End;
use super::farewell::Farewell;
use super::outbox::Outbox;
use super::rules::Rules;
use super::settings;
use super::streams::Streams;
use crate::http2::frame::{PREFACE, write_go_away, write_settings, write_window_update};
use crate::http2::hpack::{Decoder, HeaderList};

/// The largest list of request headers, in bytes, counted as in RFC 7541 §4.1.
pub(super) const MAX_HEADER_LIST: usize = 64 << 10;
/// HPACK's table size without SETTINGS_HEADER_TABLE_SIZE, in bytes.
const HEADER_TABLE_SIZE: usize = 4096;
/// If this many bytes of output wait, the connection takes no more input.
const INPUT_STOP: usize = 256 << 10;

/// A header block that is not complete.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    pub(super) bytes: Vec<u8>,
}

/// The server's side of one HTTP/2 connection.
///
/// The owner passes on what it reads ([`receive`](Self::receive)), has answers made ([`fill`](Self::fill)), writes the
/// pending output ([`output`](Self::output)) and reports how much of it is written
/// ([`consume_output`](Self::consume_output)). Times are nanoseconds since any fixed moment.
pub struct Connection {
    pub(super) rules: Arc<Rules>,
    pub(super) end: End,
    pub(super) farewell: Farewell,
    /// Bytes of the client's preface that are still to come.
    pub(super) preface_left: usize,
    /// The client's first SETTINGS have come.
    pub(super) greeted: bool,
    /// The client has acknowledged our SETTINGS.
    pub(super) acknowledged: bool,
    /// The beginning of an incomplete frame.
    pub(super) partial: Vec<u8>,
    pub(super) block: Option<OpenBlock>,
    pub(super) decoder: Decoder,
    pub(super) fields: HeaderList,
    pub(super) streams: Streams,
    /// The highest stream the client has opened.
    pub(super) highest: u32,
    /// What the client may still send on all streams, in bytes, and what was not yet returned to it.
    pub(super) receive_window: i64,
    pub(super) unreturned: u32,
    /// What we may still send on all streams, in bytes.
    pub(super) window: i64,
    /// What we may send on a new stream, in bytes.
    pub(super) initial_window: u32,
    pub(super) outbox: Outbox,
    /// Calls that can continue.
    pub(super) ready: VecDeque<u32>,
    /// Calls that wait for the connection's window.
    pub(super) starved: VecDeque<u32>,
    /// Calls whose answer is delayed, and until when: in order, since all delays are equal.
    pub(super) delayed: VecDeque<(u64, u32)>,
}

impl Connection {
    /// A connection with the settings of `config`; faults are numbered for this connection alone.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_rules(Arc::new(Rules::new(config)))
    }

    pub(super) fn with_rules(rules: Arc<Rules>) -> Self {
        let mut outbox = Outbox::default();
        let mut ours = vec![
            (settings::INITIAL_WINDOW_SIZE, rules.window),
            (settings::MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST as u32),
        ];
        ours.extend(
            rules
                .max_streams
                .map(|n| (settings::MAX_CONCURRENT_STREAMS, n)),
        );
        write_settings(outbox.buffer(), &ours);
        let receive_window = rules.connection_window();
        if receive_window > settings::DEFAULT_WINDOW {
            write_window_update(
                outbox.buffer(),
                0,
                receive_window - settings::DEFAULT_WINDOW,
            );
        }
        Self {
            end: End::Open,
            farewell: Farewell::new(rules.faults.goaway_after),
            preface_left: PREFACE.len(),
            greeted: false,
            acknowledged: false,
            partial: Vec::new(),
            block: None,
            decoder: Decoder::new(HEADER_TABLE_SIZE, MAX_HEADER_LIST),
            fields: HeaderList::default(),
            streams: Streams::default(),
            highest: 0,
            receive_window: i64::from(receive_window),
            unreturned: 0,
            window: i64::from(settings::DEFAULT_WINDOW),
            initial_window: settings::DEFAULT_WINDOW,
            outbox,
            ready: VecDeque::new(),
            starved: VecDeque::new(),
            delayed: VecDeque::new(),
            rules,
        }
    }

    /// Takes bytes from the client. Answers are made by [`fill`](Self::fill).
    pub fn receive(&mut self, bytes: &[u8], now_ns: u64, counts: &mut Counts) {
        if self.end != End::Open {
            return;
        }
        if let Err(Breach { code, what }) = self.receive_frames(bytes, now_ns, counts) {
            write_go_away(self.outbox.buffer(), self.highest, code, what.as_bytes());
            self.end = End::Refused;
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
        while let Some(&(due, stream)) = self.delayed.front()
            && due <= now_ns
        {
            self.delayed.pop_front();
            self.ready.push_back(stream);
        }
    }

    /// When to call [`advance`](Self::advance) next.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        self.delayed.front().map(|&(due, _)| due)
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
