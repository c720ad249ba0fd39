//! What a connection reports to its owner about each call.

use super::error_code::ErrorCode;
use super::hpack::HeaderList;

/// What happens to a call after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The call continues.
    Continue,
    /// Send RST_STREAM with this code; the call then closes with [`Closed::Cancelled`].
    ///
    /// Nothing is sent if both sides have already ended the stream.
    Cancel(ErrorCode),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The peer ended its response (END_STREAM).
    Ended,
    /// The peer sent RST_STREAM with this code; `Err` holds a number that RFC 9113 does not name.
    Reset(Result<ErrorCode, u32>),
    /// The peer says that it did not process the call (REFUSED_STREAM, or above the last stream of a GOAWAY). It is
    /// safe to repeat (RFC 9113 §8.7).
    Refused,
    /// The handler asked for it.
    Cancelled,
    /// The peer broke a rule that concerns only this stream, which was reset. The text names the rule.
    Malformed(&'static str),
}

/// The owner's side of a connection: one method per event. `C` is the owner's data for each call.
/// For each call, the order is: `on_headers` (not called for 1xx), any number of `on_data`, `on_headers` again if there
/// are trailers, then `on_closed` once. `on_closed` may come at any point. It does not come for calls that were removed
/// with [`cancel`](super::Connection::cancel) or [`take_calls`](super::Connection::take_calls).
pub trait Handler<C> {
    /// A response head; in the second call for a stream, its trailers. The list has been checked: pseudo-headers come
    /// first and only where they belong, and names are in lower case.
    fn on_headers(&mut self, call: &mut C, headers: &HeaderList, end_stream: bool) -> Next;

    /// Content, without its padding; may be empty. Its boundaries are not those of messages.
    fn on_data(&mut self, call: &mut C, data: &[u8], end_stream: bool) -> Next;

    /// Frames that follow the last one, `last`, in what was read. Those with the same header are content of the same
    /// call; the first one has it. Takes as many of these as it can, one after another, and returns their number: the
    /// rest come again. `frames` holds whole pieces of the length of `last`.
    #[inline]
    fn on_run(&mut self, _call: &mut C, _last: &[u8], _frames: &[u8]) -> usize {
        0
    }

    /// The call is over, and its stream is about to be removed.
    fn on_closed(&mut self, call: &mut C, why: Closed);
}
