//! Flow control of what we send: which stream may continue when a window opens. `control` takes WINDOW_UPDATE, `data` sends it.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::frame;
use crate::http2::streams::RequestPhase;

impl<C> Connection<C> {
    /// Every stream's send window changes with the initial size, and may become negative (RFC 9113 §6.9.2).
    pub(super) fn shift_send_windows(&mut self, delta: i64) -> Result<(), Violation> {
        let mut freed = Vec::new();
        for stream in self.streams.iter_mut() {
            let id = stream.id;
            let shifted = stream.send.shift(delta);
            shifted.map_err(|_| Violation::WindowOverflow { stream: id })?;
            if stream.pending.is_some() {
                freed.push(id);
            }
        }
        // The slab's order means nothing. The order of opening is fair, and independent of how the bytes were cut.
        freed.sort_unstable();
        for id in freed {
            self.take_turn(id);
        }
        self.send_pending();
        Ok(())
    }

    /// Queues the stream for the connection's window, if it has something to send and may send it.
    pub(super) fn take_turn(&mut self, id: u32) {
        let open = self.streams.len();
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if stream.in_row || stream.pending.is_none() || stream.send.available() == 0 {
            return;
        }
        stream.in_row = true;
        let streams = &self.streams;
        self.turns.push(id, open, |id| {
            streams.get(id).is_some_and(|stream| stream.in_row)
        });
    }

    /// Sends what was held back, one frame per stream in turn, until the connection's window is used up.
    pub(super) fn send_pending(&mut self) {
        while self.send_window.available() > 0 {
            let Some(id) = self.turns.pop() else {
                return;
            };
            let Some(stream) = self.streams.get_mut(id) else {
                continue;
            };
            stream.in_row = false;
            let Some(mut pending) = stream.pending.take() else {
                continue;
            };
            let bytes = pending.bytes();
            let allowed = stream.send.available().min(self.send_window.available());
            let (now, later) =
                bytes.split_at(bytes.len().min(allowed).min(self.peer.max_frame_size));
            let ends = pending.end_stream && later.is_empty();
            let is_done = later.is_empty();
            if !now.is_empty() {
                frame::write_data(self.output.bytes(), id, now, ends);
            }
            let sent = now.len();
            stream.send.consume(sent);
            self.send_window.consume(sent);
            if ends {
                stream.request = RequestPhase::Ended;
            }
            if !is_done {
                pending.consume(sent);
                stream.pending = Some(pending);
                self.take_turn(id);
            }
        }
    }
}
