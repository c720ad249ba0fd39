//! What a connection tells its owner about each call.

use super::error_code::ErrorCode;
use super::hpack::HeaderList;

/// What is to happen to a call after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    Continue,
    /// Send RST_STREAM with this code; the call is closed with [`Closed::Cancelled`].
    ///
    /// Nothing is sent if both sides had ended the stream anyway.
    Cancel(ErrorCode),
}

/// How a call came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The peer ended its response (END_STREAM).
    Ended,
    /// The peer sent RST_STREAM with this code; `Err` holds a number RFC 9113 does not name.
    Reset(Result<ErrorCode, u32>),
    /// The peer says it never looked at the call (REFUSED_STREAM, or above the last stream of a GOAWAY): it is safe to
    /// repeat (RFC 9113 §8.7).
    Refused,
    /// The handler asked for it.
    Cancelled,
    /// The peer broke a rule that concerns this stream alone; it was reset. The text says which rule.
    Malformed(&'static str),
}

/// The owner's side of a connection: one method an event. `C` is what the owner keeps for each call.
///
/// For each call the order is `on_headers` (not called for 1xx), any number of `on_data`, `on_headers` again if there
/// are trailers, then `on_closed` once; `on_closed` may come at any point. It does not come for calls that were taken
/// back with [`cancel`](super::Connection::cancel) or [`take_calls`](super::Connection::take_calls).
pub trait Handler<C> {
    /// A response's head, or its trailers if it is the second call for this stream. The list is checked: pseudo-headers
    /// first and only where they belong, names in lower case.
    fn on_headers(&mut self, call: &mut C, headers: &HeaderList, end_stream: bool) -> Next;

    /// Content, without its padding; may be empty. Where it is cut says nothing about messages.
    fn on_data(&mut self, call: &mut C, data: &[u8], end_stream: bool) -> Next;

    /// The call is over; its stream is gone from the connection.
    fn on_closed(&mut self, call: C, why: Closed);
}
