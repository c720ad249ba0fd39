//! Whole responses: a head and trailers as they came last, and one frame of content between them. Most unary calls have
//! such a response, and it comes in one piece.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::frame::{FrameHeader, Kind, flag};
use crate::http2::handler::{Closed, Handler, Next};
use crate::http2::response::ResponseHead;
use crate::http2::streams::{RequestPhase, ResponsePhase};

/// The flags of a head, and of trailers.
const HEAD: u8 = flag::END_HEADERS;
const TRAILERS: u8 = flag::END_HEADERS | flag::END_STREAM;

impl<C> Connection<C> {
    /// Takes a whole response that begins with `frame`, of this payload, and goes on in `rest`: tells the handler what it
    /// would hear of one frame after another, with one look at the stream. Returns what follows what it has taken;
    /// `None`: nothing, the frames must be looked at one by one.
    #[inline(never)]
    pub(super) fn whole<'a, H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        rest: &'a [u8],
        handler: &mut H,
    ) -> Result<Option<&'a [u8]>, Violation> {
        let (id, generation) = (frame.stream, self.decoder.generation());
        let (head, trailers) = (self.seen.head(payload), &self.seen.trailers);
        if frame.flags != HEAD || !self.reader.expects_any() || !head.is_again(payload, generation)
        {
            return Ok(None);
        }
        let is_of = |next: FrameHeader, kind, flags| {
            next.kind == kind && next.flags == flags && next.stream == id
        };
        // What is wrong with these frames is found after the ones before them have had their effects.
        let Ok(Some((content, data, after_data))) = self.reader.next(rest) else {
            return Ok(None);
        };
        let Ok(Some((last, block, after_all))) = self.reader.next(after_data) else {
            return Ok(None);
        };
        let has_no_length = ResponseHead::Final {
            content_length: None,
        };
        if !is_of(content, Kind::Data, 0)
            || !is_of(last, Kind::Headers, TRAILERS)
            || head.meaning != has_no_length
            || !trailers.is_again(block, generation)
        {
            return Ok(None);
        }
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(None);
        };
        // More than half of both windows is left after it, so neither is refilled.
        let room = self.receive_window.room(self.connection_target);
        let room = room.min(stream.receive.room(self.stream_target));
        if stream.phase != ResponsePhase::AwaitingHead
            || stream.is_head
            || data.is_empty()
            || data.len() > room
        {
            return Ok(None);
        }
        stream.begin_content(head.meaning);
        let next = handler.on_headers(&mut stream.call, &head.list, false);
        if next != Next::Continue {
            return self.after(id, false, next, handler).map(|()| Some(rest));
        }
        self.receive_window.consume(data.len());
        stream.receive.consume(data.len());
        let next = handler.on_data(&mut stream.call, data, false);
        if next != Next::Continue {
            return self
                .after(id, false, next, handler)
                .map(|()| Some(after_data));
        }
        let next = handler.on_headers(&mut stream.call, &trailers.list, true);
        let ended = match next == Next::Continue && stream.request == RequestPhase::Ended {
            true => self.close(id, None, Closed::Ended, handler),
            false => self.after(id, true, next, handler),
        };
        ended.map(|()| Some(after_all))
    }
}
