//! Passes each frame to its handler, if the frame is allowed at all.

use super::Connection;
use super::receive::Expected;
use crate::http2::error::Violation;
use crate::http2::frame::{FrameHeader, Kind, flag};
use crate::http2::handler::Handler;

impl<C> Connection<C> {
    /// Kept out of the frame loop, which should contain only DATA.
    #[inline(never)]
    pub(super) fn frame<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        self.check_turn(frame)?;
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

    fn check_turn(&self, frame: FrameHeader) -> Result<(), Violation> {
        let FrameHeader { kind, stream, .. } = frame;
        match self.expected {
            Expected::Settings if kind != Kind::Settings || frame.has(flag::ACK) => {
                Err(Violation::NoSettingsFirst { kind })
            }
            Expected::Continuation
                if kind != Kind::Continuation || stream != self.header_block.stream() =>
            {
                let stream = self.header_block.stream();
                Err(Violation::InterruptedHeaders { kind, stream })
            }
            _ => Ok(()),
        }
    }

    /// For a frame on a stream that is not open. A stream that the peer would open, or that was not opened yet, is
    /// idle. On a closed one, a peer may only send what it sent before it knew (RFC 9113 §5.1).
    #[cold]
    pub(super) fn check_closed(&self, frame: FrameHeader) -> Result<(), Violation> {
        let FrameHeader { kind, stream, .. } = frame;
        if stream == 0 {
            return Err(Violation::NeedsStream { kind });
        }
        if stream.is_multiple_of(2) || stream >= self.next_id {
            return Err(Violation::IdleStream { kind, stream });
        }
        let is_content = matches!(kind, Kind::Data | Kind::Headers);
        if is_content && self.ended.contains(stream, self.next_id) {
            return Err(Violation::StreamClosed { kind, stream });
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
