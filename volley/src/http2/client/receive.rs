//! From bytes to frames, and from frames to their handlers.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::frame::{self, DEFAULT_MAX_FRAME_SIZE, FrameHeader, HEADER_LEN, Kind};
use crate::http2::handler::Handler;

/// Which frame may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The peer's first: SETTINGS (RFC 9113 §3.4).
    Settings,
    /// Any frame.
    Any,
    /// Only CONTINUATION of the open header block (RFC 9113 §4.3).
    Continuation,
}

impl<C> Connection<C> {
    /// Takes what was read from the peer, cut anywhere.
    ///
    /// # Errors
    ///
    /// The rule that the peer broke. GOAWAY waits in the output, the connection is dead, and every further call returns
    /// the same error. Get the calls that are still open with [`take_calls`](Self::take_calls).
    pub fn receive<H: Handler<C>>(
        &mut self,
        bytes: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        let result = self.receive_bytes(bytes, handler);
        if let Err(violation) = result {
            self.violation = Some(violation);
            self.partial = Vec::new();
            // No stream of the peer was ever processed: it cannot open any.
            frame::write_go_away(self.output.bytes(), 0, violation.code(), &[]);
        }
        result
    }

    fn receive_bytes<H: Handler<C>>(
        &mut self,
        mut bytes: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        if !self.partial.is_empty() {
            let Some(rest) = self.complete(bytes, handler)? else {
                return Ok(());
            };
            bytes = rest;
        }
        while let Some((header, rest)) = bytes.split_first_chunk::<HEADER_LEN>() {
            let frame = FrameHeader::parse(header);
            if frame.length as usize > DEFAULT_MAX_FRAME_SIZE {
                break;
            }
            let Some((payload, rest)) = rest.split_at_checked(frame.length as usize) else {
                break;
            };
            if frame.kind == Kind::Data && self.expected == Expected::Any {
                self.data(frame, payload, handler)?;
            } else {
                self.frame(frame, payload, handler)?;
            }
            bytes = rest;
        }
        self.check_length(bytes)?;
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Continues the frame in `partial`. Returns the bytes behind it, or `None` if it is still not whole.
    #[cold]
    fn complete<'a, H: Handler<C>>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut H,
    ) -> Result<Option<&'a [u8]>, Violation> {
        let missing = HEADER_LEN.saturating_sub(self.partial.len());
        let (head, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.partial.extend_from_slice(head);
        self.check_length(&self.partial)?;
        let Some(header) = self.partial.first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let frame = FrameHeader::parse(header);
        let whole = HEADER_LEN + frame.length as usize;
        let missing = whole.saturating_sub(self.partial.len());
        let (payload, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.partial.extend_from_slice(payload);
        if self.partial.len() < whole {
            return Ok(None);
        }
        let mut buffer = std::mem::take(&mut self.partial);
        let payload = buffer.get(HEADER_LEN..).unwrap_or_default();
        self.frame(frame, payload, handler)?;
        buffer.clear();
        self.partial = buffer;
        Ok(Some(bytes))
    }

    /// Refuses a frame that is too long as soon as its length is known, without waiting for the rest.
    fn check_length(&self, bytes: &[u8]) -> Result<(), Violation> {
        let Some(&[a, b, c]) = bytes.first_chunk::<3>() else {
            return Ok(());
        };
        let length = u32::from_be_bytes([0, a, b, c]);
        if length as usize <= DEFAULT_MAX_FRAME_SIZE {
            return Ok(());
        }
        // Bytes before SETTINGS that are not a frame are another protocol: `HTTP/1.1 400`, a page, a TLS alert.
        match self.expected {
            Expected::Settings => Err(Violation::NotHttp2),
            _ => Err(Violation::FrameTooLarge { length }),
        }
    }
}
