//! The open streams of a connection.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::config::Fate;
use super::counts::Counts;
use super::farewell::Failure;
use super::faults::Fault;
use super::items::{Exchange, Items};
use super::outbox::Outbox;
use super::reply::Piece;
use super::work::{MAX_MESSAGE, Work};
use volley_base::budget::Budget;
use volley_http::grpc::{Code, SplitError, Splitter};
use volley_http::http2::frame::write_window_update;
use volley_http::http2::window::{ReceiveWindow, SendWindow};

/// If this many replies wait, the client gets no more window on the stream.
const QUEUE_LIMIT: usize = 4096;

/// The state of a stream whose answer is not fully written.
pub(super) struct Call {
    splitter: Splitter,
    pub(super) work: Work,
    /// It is a request of items, not a gRPC call; `work` is without effect.
    pub(super) exchange: Option<Box<Exchange>>,
    /// The client has ended its side.
    pub(super) request_done: bool,
    /// What the client may still send.
    pub(super) receive_window: ReceiveWindow,
    /// What the server may still send.
    pub(super) window: SendWindow,
    pub(super) headers_sent: bool,
    /// Replies sent or in `piece`.
    pub(super) sent: u64,
    /// A reply that a window cut.
    pub(super) piece: Piece,
    /// `piece` is incomplete on purpose: the trailers follow in the middle of its message.
    pub(super) truncated: bool,
    pub(super) fault: Option<Fault>,
    /// It is in the connection's list of calls to continue, or among the delayed ones.
    pub(super) queued: bool,
    /// Its answer waits for the server's delay.
    pub(super) is_late: bool,
    /// Its wait, if any, is over, or has started.
    pub(super) has_waited: bool,
}

impl Call {
    /// A call whose client may send `receive_window` bytes and receive `window` bytes.
    pub(super) fn new(work: Work, fate: Fate, receive_window: u32, window: u32) -> Self {
        Self {
            splitter: Splitter::default(),
            work,
            exchange: None,
            request_done: false,
            receive_window: ReceiveWindow::new(receive_window),
            window: SendWindow::new(window),
            headers_sent: false,
            sent: 0,
            piece: Piece::default(),
            truncated: false,
            fault: fate.fault,
            queued: false,
            is_late: fate.is_late,
            has_waited: false,
        }
    }

    /// Takes the data of a frame.
    pub(super) fn receive(&mut self, data: &[u8], budget: &Arc<Budget>, counts: &mut Counts) {
        if let Some(exchange) = &mut self.exchange {
            return exchange.take(data, budget);
        }
        if self.work.complete {
            return;
        }
        let work = &mut self.work;
        let split = self.splitter.push(
            data,
            MAX_MESSAGE,
            budget,
            &mut |compressed: bool, message: &[u8]| {
                counts.messages_received += 1;
                work.take(compressed, message);
                match work.complete {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        );
        if let Err(error) = split {
            self.work.fail(match error {
                SplitError::TooLong { .. } => Failure::status(
                    Code::ResourceExhausted,
                    "a request message is longer than 4 MiB",
                ),
                SplitError::OverBudget(_) => Failure::status(
                    Code::ResourceExhausted,
                    "requests that have not come whole take too much memory",
                ),
                SplitError::Flag(_) => Failure::status(
                    Code::Internal,
                    "a request message begins with neither 0 nor 1",
                ),
            });
        }
    }

    /// The client has sent everything.
    pub(super) fn end_request(&mut self, items: &Items, counts: &mut Counts) {
        self.request_done = true;
        match &mut self.exchange {
            Some(exchange) => exchange.end(self.fault, items, counts),
            None => self.work.end(self.splitter.is_between_messages()),
        }
    }

    /// Returns what the client has used of its window, once that is half of it, unless too many replies wait.
    pub(super) fn return_window(&mut self, window: u32, stream: u32, outbox: &mut Outbox) {
        if self.request_done || self.work.replies.queued() >= QUEUE_LIMIT {
            return;
        }
        if let Some(increment) = self.receive_window.refill(window) {
            write_window_update(outbox.buffer(), stream, increment);
        }
    }

    /// How many bytes may be sent: there is room for them on the stream, and in the `window` of the connection.
    #[inline]
    pub(super) fn room(&self, window: &SendWindow) -> usize {
        self.window.available().min(window.available())
    }

    /// So many bytes are sent.
    #[inline]
    pub(super) fn spend(&mut self, bytes: usize, window: &mut SendWindow) {
        self.window.consume(bytes);
        window.consume(bytes);
    }

    /// Whether it belongs into the list of calls to continue, where it is not yet: then it counts as queued.
    pub(super) fn enqueue(&mut self) -> bool {
        let is_due = !self.queued && self.is_answerable();
        self.queued |= is_due;
        is_due
    }

    /// Whether there is something to send, or to end.
    #[inline]
    fn is_answerable(&self) -> bool {
        match &self.exchange {
            _ if self.fault == Some(Fault::Unanswered) => false,
            Some(exchange) => exchange.answer.is_made(),
            None => self.work.is_answerable() || !self.piece.left().is_empty(),
        }
    }

    /// How many replies are left before this call's fault; `None` if it has no such fault.
    #[inline]
    pub(super) fn replies_before_fault(&self) -> Option<u64> {
        self.fault?;
        Some(
            self.work
                .replies_before_the_middle()
                .saturating_sub(self.sent),
        )
    }
}

/// Open calls. Stream numbers rise by two and are limited by the connection's life, so one multiplication spreads them
/// well enough. A client that chooses colliding numbers slows down only its own connection.
pub(super) type Streams = HashMap<u32, Call, BuildHasherDefault<NumberHasher>>;

/// Fibonacci hashing of one number.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        // 2⁶⁴ divided by the golden ratio. hashbrown takes its buckets from the low bits and its tags from the high
        // ones.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
