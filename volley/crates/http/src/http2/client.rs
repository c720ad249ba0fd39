//! A client's connection: its state, and the owner's operations. `receive` and its submodules handle what the peer
//! sends.

mod closing;
mod control;
mod data;
mod flow;
mod headers;
mod receive;
mod send;
mod whole;

use super::error::Violation;
use super::error_code::GoAway;
use super::frame::{self, PREFACE, STREAM_MASK};
use super::head::HeadWriter;
use super::hpack::{DEFAULT_TABLE_SIZE, Decoder};
use super::output::Output;
use super::pending::Turns;
use super::reader::Reader;
use super::seen::SeenBlocks;
use super::settings::{Config, PeerSettings, id};
use super::streams::Streams;
use super::window::{DEFAULT_WINDOW, MAX_WINDOW, ReceiveWindow, SendWindow};

/// An HTTP/2 connection as a client, with one `C` for each open stream.
pub struct Connection<C> {
    streams: Streams<C>,
    reader: Reader,
    receive_window: ReceiveWindow,
    /// The size to which the two receive windows are refilled.
    connection_target: u32,
    stream_target: u32,
    output: Output,

    decoder: Decoder,
    seen: SeenBlocks,

    heads: HeadWriter,
    peer: PeerSettings,
    send_window: SendWindow,
    turns: Turns,
    next_id: u32,
    /// The highest number that a stream may have.
    last_id: u32,

    /// The peer has acknowledged our SETTINGS.
    is_acknowledged: bool,
    is_ready: bool,
    is_shut_down: bool,
    go_away: Option<GoAway>,
    violation: Option<Violation>,
    pongs: u64,
}

impl<C> Connection<C> {
    /// A connection whose preface and SETTINGS are ready to be sent.
    pub fn new(config: &Config) -> Self {
        let stream_target = config.window.clamp(1, MAX_WINDOW);
        let connection_target = stream_target.max(DEFAULT_WINDOW);
        let mut output = Output::default();
        let out = output.bytes();
        out.extend_from_slice(PREFACE);
        let settings = [
            (id::ENABLE_PUSH, 0),
            (id::INITIAL_WINDOW_SIZE, stream_target),
            (id::MAX_HEADER_LIST_SIZE, config.max_header_list),
        ];
        frame::write_settings(out, &settings);
        if connection_target > DEFAULT_WINDOW {
            frame::write_window_update(out, 0, connection_target - DEFAULT_WINDOW);
        }
        Self {
            streams: Streams::default(),
            reader: Reader::new(config.max_header_list),
            receive_window: ReceiveWindow::new(connection_target),
            connection_target,
            stream_target,
            output,
            decoder: Decoder::new(DEFAULT_TABLE_SIZE, config.max_header_list as usize),
            seen: SeenBlocks::default(),
            heads: HeadWriter::new(),
            peer: PeerSettings::default(),
            send_window: SendWindow::new(DEFAULT_WINDOW),
            turns: Turns::default(),
            next_id: 1,
            last_id: config
                .most_streams
                .map_or(STREAM_MASK, |most| most.saturating_mul(2).saturating_sub(1))
                .min(STREAM_MASK),
            is_acknowledged: false,
            is_ready: false,
            is_shut_down: false,
            go_away: None,
            violation: None,
            pongs: 0,
        }
    }

    /// The peer's SETTINGS have come, so its limits are known.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// How many streams may be opened now. 0 before [`is_ready`](Self::is_ready) and after
    /// [`is_draining`](Self::is_draining); otherwise what the peer's limit and the remaining stream numbers allow.
    pub fn capacity(&self) -> usize {
        if !self.is_ready || self.is_draining() {
            return 0;
        }
        let limit = self.peer.max_concurrent_streams as usize;
        let numbers = (self.last_id - self.next_id) as usize / 2 + 1;
        limit.saturating_sub(self.streams.len()).min(numbers)
    }

    /// Whether the peer has taken any stream: it was opened, and no GOAWAY left it out.
    pub fn was_used(&self) -> bool {
        let last = self.go_away.as_ref().map(|go_away| go_away.last_stream);
        self.next_id > 1 && last != Some(0)
    }

    /// How many streams have been opened.
    pub fn opened(&self) -> u32 {
        self.next_id / 2
    }

    /// How many streams are open.
    pub fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// No more streams can ever be opened: GOAWAY came or was sent, the peer broke a rule, or the stream numbers ran
    /// out. Finish the open streams, then reconnect.
    pub fn is_draining(&self) -> bool {
        self.go_away.is_some()
            || self.is_shut_down
            || self.violation.is_some()
            || self.next_id > self.last_id
    }

    /// The peer's last GOAWAY.
    pub fn go_away(&self) -> Option<&GoAway> {
        self.go_away.as_ref()
    }

    /// How many PINGs the peer has answered.
    pub fn pongs(&self) -> u64 {
        self.pongs
    }

    /// The owner's data of an open stream.
    #[inline]
    pub fn call_mut(&mut self, stream: u32) -> Option<&mut C> {
        Some(&mut self.streams.get_mut(stream)?.call)
    }

    /// Visits every open stream, in no particular order.
    pub fn for_each_call(&mut self, mut f: impl FnMut(u32, &mut C)) {
        for stream in self.streams.iter_mut() {
            f(stream.id, &mut stream.call);
        }
    }

    /// Removes and returns all calls, in the order they were opened: the transport is gone. Nothing can be opened after
    /// this.
    pub fn take_calls(&mut self) -> Vec<C> {
        self.is_shut_down = true;
        let ids = self.streams.ids();
        let gone = ids.into_iter().filter_map(|id| self.streams.remove(id));
        gone.map(|stream| stream.call).collect()
    }

    /// The bytes to write to the peer.
    #[inline]
    pub fn output(&self) -> &[u8] {
        self.output.waiting()
    }

    /// The first `n` bytes of [`output`](Self::output) were written.
    #[inline]
    pub fn consume_output(&mut self, n: usize) {
        self.output.consume(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::frame::write_settings;
    use crate::http2::handler::{Closed, Handler, Next};
    use crate::http2::head::Head;
    use crate::http2::hpack::HeaderList;
    use std::sync::Arc;

    struct Deaf;

    impl Handler<()> for Deaf {
        fn on_headers(&mut self, (): &mut (), _: &HeaderList, _: bool) -> Next {
            Next::Continue
        }

        fn on_data(&mut self, (): &mut (), _: &[u8], _: bool) -> Next {
            Next::Continue
        }

        fn on_closed(&mut self, (): &mut (), _: Closed) {}
    }

    #[test]
    fn a_connection_drains_after_the_most_streams_that_it_may_open() {
        let mut connection = Connection::new(&Config {
            most_streams: Some(2),
            ..Config::default()
        });
        let mut settings = Vec::new();
        write_settings(&mut settings, &[]);
        assert_eq!(connection.receive(&settings, &mut Deaf), Ok(()));
        let head = Arc::new(Head::default());
        for opened in 0..2 {
            assert_eq!(
                (connection.opened(), connection.is_draining()),
                (opened, false)
            );
            assert_eq!(connection.capacity(), 2 - opened as usize);
            connection.open((), &head, true);
        }
        assert_eq!((connection.capacity(), connection.opened()), (0, 2));
        assert!(connection.is_draining());
    }

    #[test]
    fn a_connection_drains_when_the_stream_numbers_run_out() {
        let mut connection = Connection::new(&Config::default());
        let mut settings = Vec::new();
        write_settings(&mut settings, &[]);
        assert_eq!(connection.receive(&settings, &mut Deaf), Ok(()));
        connection.next_id = STREAM_MASK - 2;
        assert_eq!(connection.capacity(), 2);
        let head = Arc::new(Head::default());
        assert_eq!(connection.open((), &head, true), STREAM_MASK - 2);
        assert_eq!(
            (connection.capacity(), connection.is_draining()),
            (1, false)
        );
        assert_eq!(connection.open((), &head, true), STREAM_MASK);
        assert_eq!((connection.capacity(), connection.is_draining()), (0, true));
        assert_eq!(connection.open_streams(), 2);
    }
}
