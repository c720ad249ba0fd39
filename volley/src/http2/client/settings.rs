//! The peer's SETTINGS, and its acknowledgement of ours.

use super::Connection;
use super::control::{exact, needs_connection};
use super::receive::Expected;
use crate::http2::error::Violation;
use crate::http2::frame::{self, FrameHeader, flag};
use crate::http2::window::DEFAULT_WINDOW;

impl<C> Connection<C> {
    /// RFC 9113 §6.5.
    pub(super) fn settings(&mut self, frame: FrameHeader, payload: &[u8]) -> Result<(), Violation> {
        needs_connection(frame)?;
        if frame.has(flag::ACK) {
            exact::<0>(frame, payload)?;
            return self.settings_acknowledged();
        }
        let change = self.peer.apply(payload)?;
        if let Some((smallest, last)) = change.table_sizes {
            for size in [smallest, last] {
                self.heads.set_peer_max_table_size(size as usize);
            }
        }
        self.is_ready = true;
        self.expected = Expected::Any;
        self.output
            .answer(self.streams.len(), frame::write_settings_ack)?;
        if change.window_delta != 0 {
            self.shift_send_windows(change.window_delta)?;
        }
        Ok(())
    }

    /// From here on, the peer obeys our initial window. Until now it may have used the default, if that is larger (RFC
    /// 9113 §6.9.3). An unexpected acknowledgement changes nothing.
    fn settings_acknowledged(&mut self) -> Result<(), Violation> {
        if std::mem::replace(&mut self.is_acknowledged, true)
            || self.stream_target >= DEFAULT_WINDOW
        {
            return Ok(());
        }
        let delta = i64::from(self.stream_target) - i64::from(DEFAULT_WINDOW);
        for stream in self.streams.iter_mut() {
            stream.receive.shift(delta);
        }
        for id in self.streams.ids() {
            self.refill_stream(id)?;
        }
        Ok(())
    }
}
