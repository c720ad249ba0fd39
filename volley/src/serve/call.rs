//! One open stream.

use std::ops::ControlFlow;

use super::counts::Counts;
use super::end::Failure;
use super::faults::Fault;
use super::piece::Piece;
use super::work::{MAX_MESSAGE, Work};
use crate::grpc::{Code, SplitError, Splitter};

/// If this many replies wait, the client gets no more window on the stream.
const QUEUE_LIMIT: usize = 4096;

/// The state of a stream whose answer is not fully written.
pub(super) struct Call {
    splitter: Splitter,
    pub(super) work: Work,
    /// The client has ended its side.
    pub(super) request_done: bool,
    /// What the client may still send, in bytes.
    receive_window: i64,
    /// Bytes received that were not yet returned to the client's window.
    unreturned: u32,

    /// What the server may still send, in bytes; SETTINGS can make it negative (RFC 9113 §6.9.2).
    pub(super) window: i64,
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
    /// Its delay is over, or has started.
    pub(super) delayed: bool,
}

impl Call {
    /// A call whose client may send `receive_window` bytes and receive `window` bytes.
    pub(super) fn new(work: Work, fault: Option<Fault>, receive_window: i64, window: i64) -> Self {
        Self {
            splitter: Splitter::default(),
            work,
            request_done: false,
            receive_window,
            unreturned: 0,
            window,
            headers_sent: false,
            sent: 0,
            piece: Piece::default(),
            truncated: false,
            fault,
            queued: false,
            delayed: false,
        }
    }

    /// Takes the data of a frame of `length` bytes, padding included. Returns `false` if the window had no room for it.
    pub(super) fn receive(&mut self, length: u32, data: &[u8], counts: &mut Counts) -> bool {
        self.receive_window -= i64::from(length);
        self.unreturned += length;
        if self.receive_window < 0 {
            return false;
        }
        if self.work.complete {
            return true;
        }
        let work = &mut self.work;
        let split = self
            .splitter
            .push(data, MAX_MESSAGE, |compressed, message| {
                counts.messages_received += 1;
                work.take(compressed, message);
                match work.complete {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
        if let Err(error) = split {
            self.work.fail(match error {
                SplitError::TooLong { .. } => Failure::status(
                    Code::ResourceExhausted,
                    "a request message is longer than 4 MiB",
                ),
                SplitError::Flag(_) => Failure::status(
                    Code::Internal,
                    "a request message begins with neither 0 nor 1",
                ),
            });
        }
        true
    }

    /// The client has sent everything.
    pub(super) fn end_request(&mut self) {
        self.request_done = true;
        self.work.end(self.splitter.is_between_messages());
    }

    /// How much of a window of `window` bytes to return to the client: at half of it, unless too many replies wait.
    pub(super) fn window_to_return(&mut self, window: u32) -> Option<u32> {
        let due = self.unreturned >= window.div_ceil(2)
            && !self.request_done
            && self.work.replies.queued() < QUEUE_LIMIT;
        if !due {
            return None;
        }
        self.receive_window += i64::from(self.unreturned);
        Some(std::mem::take(&mut self.unreturned))
    }

    /// Whether there is something to send, or to end.
    #[inline]
    pub(super) fn is_answerable(&self) -> bool {
        self.work.is_answerable() || !self.piece.left().is_empty()
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
