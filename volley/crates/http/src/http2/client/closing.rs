//! How streams end, other than by the owner's own request.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::error_code::ErrorCode;
use crate::http2::frame;
use crate::http2::handler::{Closed, Handler, Next};
use crate::http2::streams::RequestPhase;

const TOO_SHORT: &str = "the content is shorter than `content-length`";

impl<C> Connection<C> {
    /// Handles the handler's decision after an event: continue, or close the stream.
    pub(super) fn after<H: Handler<C>>(
        &mut self,
        id: u32,
        end_stream: bool,
        next: Next,
        handler: &mut H,
    ) -> Result<(), Violation> {
        if !end_stream && next == Next::Continue {
            return Ok(());
        }
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        if end_stream && next == Next::Continue && stream.content_left.is_some_and(|left| left > 0)
        {
            return self.malformed(id, ErrorCode::ProtocolError, TOO_SHORT, handler);
        }
        let (why, code) = match next {
            Next::Cancel(code) => (Closed::Cancelled, code),
            // The response is complete, so the rest of the request is of no use (RFC 9113 §8.1).
            Next::Continue => (Closed::Ended, ErrorCode::NoError),
        };
        let both_ended = end_stream && stream.request == RequestPhase::Ended;
        self.close(id, (!both_ended).then_some(code), why, handler)
    }

    /// A stream error (RFC 9113 §5.4.2): sends RST_STREAM and removes the stream.
    #[cold]
    pub(super) fn malformed<H: Handler<C>>(
        &mut self,
        id: u32,
        code: ErrorCode,
        reason: &'static str,
        handler: &mut H,
    ) -> Result<(), Violation> {
        self.close(id, Some(code), Closed::Malformed(reason), handler)
    }

    /// Removes the stream and returns its call; sends RST_STREAM if there is a code for it.
    pub(super) fn close<H: Handler<C>>(
        &mut self,
        id: u32,
        reset: Option<ErrorCode>,
        why: Closed,
        handler: &mut H,
    ) -> Result<(), Violation> {
        // In place: a call is large.
        if !self.streams.end(id, |call| handler.on_closed(call, why)) {
            return Ok(());
        }
        match reset {
            Some(code) => self.output.answer(self.streams.len(), |out| {
                frame::write_rst_stream(out, id, code);
            }),
            None => Ok(()),
        }
    }
}
