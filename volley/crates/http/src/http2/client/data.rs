//! DATA: the hot path.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::error_code::ErrorCode;
use crate::http2::frame::{self, FrameHeader, HEADER_LEN, flag};
use crate::http2::handler::{Handler, Next};
use crate::http2::reader::unpad;
use crate::http2::streams::ResponsePhase;
use crate::http2::window::Taken;

const NO_HEAD: &str = "content came before the response head";
const TOO_LONG: &str = "the content is longer than `content-length`, or an answer to HEAD has any";

impl<C> Connection<C> {
    /// Always inlined into the frame loop: as a separate call it costs a third more (5.5 ns a frame instead of 4.1).
    #[inline(always)]
    pub(super) fn data<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        // The whole payload counts, padding included, whatever happens to the stream (RFC 9113 §6.9.1).
        let taken = self
            .receive_window
            .take(frame.length, self.connection_target);
        if taken != Taken::Fine {
            self.refill_connection(taken)?;
        }
        let content = if frame.has(flag::PADDED) {
            unpad(frame, payload)?
        } else {
            payload
        };
        let id = frame.stream;
        let Some(stream) = self.streams.get_mut(id) else {
            return self.check_closed(frame);
        };
        let taken = stream.receive.take(frame.length, self.stream_target);
        if taken == Taken::Exceeded {
            return Err(Violation::WindowExceeded { stream: id });
        }
        let end_stream = frame.has(flag::END_STREAM);
        if stream.phase == ResponsePhase::AwaitingHead {
            return self.malformed(id, ErrorCode::ProtocolError, NO_HEAD, handler);
        }
        if let Some(left) = &mut stream.content_left {
            let Some(less) = left.checked_sub(content.len() as u64) else {
                return self.malformed(id, ErrorCode::ProtocolError, TOO_LONG, handler);
            };
            *left = less;
        }
        let next = handler.on_data(&mut stream.call, content, end_stream);
        if end_stream || next != Next::Continue {
            return self.after(id, end_stream, next, handler);
        }
        if taken == Taken::Low {
            return self.refill_stream(id);
        }
        Ok(())
    }

    /// Offers frames that may have the same header as the last one to the handler. `bytes` begins with the last one,
    /// `rest` is what follows it. Returns what is left.
    #[inline(never)]
    pub(super) fn run<'a, H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        bytes: &[u8],
        rest: &'a [u8],
        handler: &mut H,
    ) -> &'a [u8] {
        let length = frame.length as usize;
        let size = HEADER_LEN + length;
        let Some(stream) = self.streams.get_mut(frame.stream) else {
            return rest;
        };
        if length == 0
            || stream.phase == ResponsePhase::AwaitingHead
            || stream.content_left.is_some()
        {
            return rest;
        }
        // As many as leave more than half of both windows.
        let room = self.receive_window.room(self.connection_target);
        let room = room.min(stream.receive.room(self.stream_target));
        let most = (room / length).min(rest.len() / size);
        let (Some(last), Some(frames)) = (bytes.get(..size), rest.get(..most * size)) else {
            return rest;
        };
        let taken = handler.on_run(&mut stream.call, last, frames).min(most);
        stream.receive.consume(taken * length);
        self.receive_window.consume(taken * length);
        rest.get(taken * size..).unwrap_or_default()
    }

    #[cold]
    fn refill_connection(&mut self, taken: Taken) -> Result<(), Violation> {
        // Cannot happen while a frame is shorter than half the window, but nothing should depend on that.
        if taken == Taken::Exceeded {
            return Err(Violation::WindowExceeded { stream: 0 });
        }
        if let Some(increment) = self.receive_window.refill(self.connection_target) {
            self.output.answer(self.streams.len(), |out| {
                frame::write_window_update(out, 0, increment);
            })?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn refill_stream(&mut self, id: u32) -> Result<(), Violation> {
        let target = self.stream_target;
        let stream = self.streams.get_mut(id);
        if let Some(increment) = stream.and_then(|stream| stream.receive.refill(target)) {
            self.output.answer(self.streams.len(), |out| {
                frame::write_window_update(out, id, increment);
            })?;
        }
        Ok(())
    }
}
