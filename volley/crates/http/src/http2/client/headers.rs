//! HEADERS and CONTINUATION: response heads and trailers.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::error_code::ErrorCode;
use crate::http2::frame::{FrameHeader, flag};
use crate::http2::handler::Handler;
use crate::http2::hpack::{HeaderList, HpackError};
use crate::http2::response::{self, Reason, ResponseHead};
use crate::http2::streams::ResponsePhase;

const TOO_LARGE: Reason = "the response's fields are larger than `SETTINGS_MAX_HEADER_LIST_SIZE`";
const SECOND_HEAD: Reason = "a second response head does not end the stream";
const ENDED_EARLY: Reason = "the stream ended after an informational response";

/// What trailers say of what follows them.
const TRAILERS: ResponseHead = ResponseHead::Final {
    content_length: None,
};

impl<C> Connection<C> {
    pub(super) fn headers<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        let block = self.reader.begin_block(frame, payload)?;
        if self.streams.get_mut(frame.stream).is_none() {
            self.check_closed(frame)?;
        }
        match block {
            Some(block) => self.block(frame.stream, frame.has(flag::END_STREAM), block, handler),
            None => Ok(()),
        }
    }

    pub(super) fn continuation<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        let Some((block, end_stream)) = self.reader.continue_block(frame, payload)? else {
            return Ok(());
        };
        let result = self.block(frame.stream, end_stream, &block, handler);
        self.reader.give_back_block(block);
        result
    }

    /// A whole header block. It is decoded even if its stream is gone, to keep the table in step (RFC 9113 §4.3).
    fn block<H: Handler<C>>(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        let before = self.decoder.generation();
        if let Some(stream) = self.streams.get_mut(id) {
            let seen = match stream.phase {
                ResponsePhase::AwaitingHead => Some(self.seen.head(block)),
                ResponsePhase::Content => end_stream.then_some(&self.seen.trailers),
            };
            if let Some(seen) = seen.filter(|seen| seen.is_again(block, before)) {
                if stream.phase == ResponsePhase::AwaitingHead {
                    stream.begin_content(seen.meaning);
                }
                let next = handler.on_headers(&mut stream.call, &seen.list, end_stream);
                return self.after(id, end_stream, next, handler);
            }
        }
        self.new_block(id, end_stream, block, before, handler)
    }

    /// A block that must be decoded and checked; it may come again.
    #[inline(never)]
    fn new_block<H: Handler<C>>(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        before: Option<u64>,
        handler: &mut H,
    ) -> Result<(), Violation> {
        let stream = self.streams.get_mut(id);
        let seen = match &stream {
            Some(stream) if stream.phase == ResponsePhase::Content => &mut self.seen.trailers,
            _ => self.seen.head_mut(block),
        };
        let known = match seen.read(block, &mut self.decoder) {
            Ok(known) => Some(known),
            Err(HpackError::ListTooLarge { .. }) => None,
            Err(error) => return Err(Violation::HeaderBlock(error)),
        };
        let Some(stream) = stream else {
            return Ok(());
        };
        let phase = stream.phase;
        let section = match known {
            Some(known) => match section(phase, end_stream, &seen.list, known) {
                // Blanks around values are no part of them: so they are read in HTTP/1.1, and of peers that copy them.
                Err(_) if seen.list.trim() => section(phase, end_stream, &seen.list, 0),
                section => section,
            },
            None => Err(TOO_LARGE),
        };
        match section {
            Err(reason) => {
                return self.malformed(id, ErrorCode::ProtocolError, reason, handler);
            }
            Ok(ResponseHead::Informational) => return Ok(()),
            Ok(meaning) => {
                if phase == ResponsePhase::AwaitingHead {
                    stream.begin_content(meaning);
                }
                seen.keep(before, &self.decoder, meaning);
            }
        }
        let next = handler.on_headers(&mut stream.call, &seen.list, end_stream);
        self.after(id, end_stream, next, handler)
    }
}

/// Checks a header block for its place in the response (RFC 9113 §8.1): what a head says, and trailers with it. The
/// first `known` fields were checked before.
fn section(
    phase: ResponsePhase,
    end_stream: bool,
    list: &HeaderList,
    known: usize,
) -> Result<ResponseHead, Reason> {
    match phase {
        ResponsePhase::AwaitingHead => match response::check_head(list, known)? {
            ResponseHead::Informational if end_stream => Err(ENDED_EARLY),
            head => Ok(head),
        },
        ResponsePhase::Content if !end_stream => Err(SECOND_HEAD),
        ResponsePhase::Content => response::check_trailers(list, known).map(|()| TRAILERS),
    }
}
