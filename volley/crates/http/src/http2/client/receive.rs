//! From bytes to frames, and from frames to what handles them.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::frame::{self, FrameHeader, HEADER_LEN, Kind};
use crate::http2::handler::Handler;

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
            self.reader.forget();
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
        if self.reader.has_begun() {
            let Some((frame, buffer, rest)) = self.reader.complete(bytes)? else {
                return Ok(());
            };
            self.frame(frame, buffer.get(HEADER_LEN..).unwrap_or_default(), handler)?;
            self.reader.give_back(buffer);
            bytes = rest;
        }
        while let Some((frame, payload, rest)) = self.reader.next(bytes)? {
            if frame.kind != Kind::Data || !self.reader.expects_any() {
                if frame.kind == Kind::Headers
                    && let Some(rest) = self.whole(frame, payload, rest, handler)?
                {
                    bytes = rest;
                    continue;
                }
                self.frame(frame, payload, handler)?;
                bytes = rest;
                continue;
            }
            self.data(frame, payload, handler)?;
            let is_again = frame.flags == 0
                && rest.first_chunk::<HEADER_LEN>() == bytes.first_chunk::<HEADER_LEN>();
            bytes = if is_again {
                self.run(frame, bytes, rest, handler)
            } else {
                rest
            };
        }
        self.reader.keep(bytes);
        Ok(())
    }

    /// Kept out of the frame loop, which should contain only DATA.
    #[inline(never)]
    pub(super) fn frame<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        self.reader.check_turn(frame)?;
        match frame.kind {
            Kind::Data => self.data(frame, payload, handler),
            Kind::Headers => self.headers(frame, payload, handler),
            Kind::Continuation => self.continuation(frame, payload, handler),
            Kind::Priority => priority(frame),
            Kind::RstStream => self.rst_stream(frame, payload, handler),
            Kind::Settings => self.settings(frame, payload),
            Kind::PushPromise => Err(Violation::Push),
            Kind::Ping => self.ping_frame(frame, payload),
            Kind::GoAway => self.go_away_frame(frame, payload, handler),
            Kind::WindowUpdate => self.window_update(frame, payload, handler),
            // RFC 9113 §5.5.
            Kind::Unknown(_) => Ok(()),
        }
    }

    /// For a frame on a stream that is not open. A stream that the peer would open, or that was not opened yet, is
    /// idle. On a closed one, a frame is ignored: the peer may have sent it before it knew (RFC 9113 §5.1), and if it has
    /// ended the stream itself, the frame still harms no other stream.
    #[cold]
    pub(super) fn check_closed(&self, frame: FrameHeader) -> Result<(), Violation> {
        let FrameHeader { kind, stream, .. } = frame;
        if stream == 0 {
            return Err(Violation::NeedsStream { kind });
        }
        if stream.is_multiple_of(2) || stream >= self.next_id {
            return Err(Violation::IdleStream { kind, stream });
        }
        Ok(())
    }
}

/// Deprecated, and ignored apart from its form (RFC 9113 §5.3.2, §6.3). A wrong length would be a stream error; since
/// the stream need not be open, it is treated as a connection error, as §5.4.1 allows.
fn priority(frame: FrameHeader) -> Result<(), Violation> {
    let FrameHeader { kind, length, .. } = frame;
    match (frame.stream, length) {
        (0, _) => Err(Violation::NeedsStream { kind }),
        (_, 5) => Ok(()),
        _ => Err(Violation::FrameSize { kind, length }),
    }
}
