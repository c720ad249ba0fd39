//! The frames that carry no request: resets, settings, pings and windows.

use crate::connection::ServerSide;
use crate::counts::Counts;
use volley_http::http2::frame::{FrameHeader, STREAM_MASK, flag, write_ping, write_settings_ack};
use volley_http::http2::reader::{exact, needs_connection};
use volley_http::http2::window::{DEFAULT_WINDOW, Overflow};
use volley_http::http2::{ErrorCode, Violation};

impl ServerSide {
    pub(super) fn on_reset(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        exact::<4>(frame, payload)?;
        if self.streams.remove(&frame.stream).is_some() {
            counts.calls_reset += 1;
            return Ok(());
        }
        self.check_not_idle(frame)
    }

    pub(super) fn on_settings(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        needs_connection(frame)?;
        if frame.has(flag::ACK) {
            exact::<0>(frame, payload)?;
            self.on_acknowledged();
            return Ok(());
        }
        // Of the other settings, only the form counts: no frame here exceeds the smallest limit, and headers use no
        // dynamic table.
        let change = self.peer.apply(payload)?;
        self.reader.greeted();
        for (&stream, call) in &mut self.streams {
            call.window
                .shift(change.window_delta)
                .map_err(|Overflow| Violation::WindowOverflow { stream })?;
            if call.enqueue() {
                self.ready.push_back(stream);
            }
        }
        write_settings_ack(self.outbox.buffer());
        Ok(())
    }

    /// From here on, the client obeys our initial window. Until now it may have used the default, if that is larger
    /// (RFC 9113 §6.9.3).
    fn on_acknowledged(&mut self) {
        let window = self.rules.window;
        if std::mem::replace(&mut self.acknowledged, true) || window >= DEFAULT_WINDOW {
            return;
        }
        for (&stream, call) in &mut self.streams {
            call.receive_window
                .shift(i64::from(window) - i64::from(DEFAULT_WINDOW));
            call.return_window(window, stream, &mut self.outbox);
        }
    }

    pub(super) fn on_ping(&mut self, frame: FrameHeader, payload: &[u8]) -> Result<(), Violation> {
        needs_connection(frame)?;
        let payload = *exact::<8>(frame, payload)?;
        if frame.has(flag::ACK) {
            self.farewell
                .on_pong(payload, self.highest, self.outbox.buffer());
        } else {
            write_ping(self.outbox.buffer(), true, payload);
        }
        Ok(())
    }

    pub(super) fn on_window_update(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let increment = u32::from_be_bytes(*exact::<4>(frame, payload)?) & STREAM_MASK;
        let stream = frame.stream;
        if stream == 0 {
            if increment == 0 {
                return Err(Violation::EmptyWindowUpdate);
            }
            self.window
                .shift(i64::from(increment))
                .map_err(|Overflow| Violation::WindowOverflow { stream })?;
            self.ready.append(&mut self.starved);
            return Ok(());
        }
        let Some(call) = self.streams.get_mut(&stream) else {
            return self.check_not_idle(frame);
        };
        if increment == 0 {
            self.reset(stream, ErrorCode::ProtocolError);
        } else if call.window.shift(i64::from(increment)).is_err() {
            self.reset(stream, ErrorCode::FlowControlError);
        } else if call.enqueue() {
            self.ready.push_back(stream);
        }
        Ok(())
    }
}
