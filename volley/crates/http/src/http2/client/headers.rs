//! HEADERS and CONTINUATION: response heads and trailers.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::error_code::ErrorCode;
use crate::http2::frame::{FrameHeader, flag};
use crate::http2::handler::Handler;
use crate::http2::hpack::{HeaderList, HpackError};
use crate::http2::response::{self, Reason, ResponseHead};
use crate::http2::seen::Seen;
use crate::http2::streams::ResponsePhase;

const TOO_LARGE: Reason = "the response's fields are larger than `SETTINGS_MAX_HEADER_LIST_SIZE`";
const SECOND_HEAD: Reason = "a second response head does not end the stream";
const ENDED_EARLY: Reason = "the stream ended after an informational response";

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
            let again = match stream.phase {
                ResponsePhase::AwaitingHead => match &self.seen.head {
                    Some(seen) if seen.is_again(block, before) => {
                        stream.begin_content(seen.meaning);
                        Some(&seen.list)
                    }
                    _ => None,
                },
                ResponsePhase::Content => match &self.seen.trailers {
                    Some(seen) if end_stream && seen.is_again(block, before) => Some(&seen.list),
                    _ => None,
                },
            };
            if let Some(list) = again {
                let next = handler.on_headers(&mut stream.call, list, end_stream);
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
        self.headers.clear();
        let fits = match self.decoder.decode(block, &mut self.headers) {
            Ok(()) => true,
            Err(HpackError::ListTooLarge { .. }) => false,
            Err(error) => return Err(Violation::HeaderBlock(error)),
        };
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        let phase = stream.phase;
        let section = match fits {
            true => match section(phase, end_stream, &self.headers) {
                // Blanks around values are no part of them: so they are read in HTTP/1.1, and of peers that copy them.
                Err(_) if self.headers.trim() => section(phase, end_stream, &self.headers),
                section => section,
            },
            false => Err(TOO_LARGE),
        };
        let generation = (before, self.decoder.generation());
        match section {
            Err(reason) => {
                return self.malformed(id, ErrorCode::ProtocolError, reason, handler);
            }
            Ok(Section::Head(ResponseHead::Informational)) => return Ok(()),
            Ok(Section::Head(head)) => {
                stream.begin_content(head);
                Seen::keep(&mut self.seen.head, block, generation, &self.headers, head);
            }
            Ok(Section::Trailers) => {
                Seen::keep(
                    &mut self.seen.trailers,
                    block,
                    generation,
                    &self.headers,
                    (),
                );
            }
        }
        let next = handler.on_headers(&mut stream.call, &self.headers, end_stream);
        self.after(id, end_stream, next, handler)
    }
}

/// The role of a header block.
enum Section {
    Head(ResponseHead),
    Trailers,
}

/// Checks a header block for its place in the response (RFC 9113 §8.1).
fn section(phase: ResponsePhase, end_stream: bool, list: &HeaderList) -> Result<Section, Reason> {
    match phase {
        ResponsePhase::AwaitingHead => match response::check_head(list)? {
            ResponseHead::Informational if end_stream => Err(ENDED_EARLY),
            head => Ok(Section::Head(head)),
        },
        ResponsePhase::Content if !end_stream => Err(SECOND_HEAD),
        ResponsePhase::Content => response::check_trailers(list).map(|()| Section::Trailers),
    }
}
