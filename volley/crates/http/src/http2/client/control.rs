//! SETTINGS, PING, GOAWAY, WINDOW_UPDATE and RST_STREAM.

use super::Connection;
use crate::http2::error::Violation;
use crate::http2::error_code::{ErrorCode, GoAway};
use crate::http2::frame::{self, FrameHeader, STREAM_MASK, flag};
use crate::http2::handler::{Closed, Handler};
use crate::http2::reader::{exact, needs_connection, wrong_size};
use crate::http2::window::{DEFAULT_WINDOW, Overflow};

const EMPTY_UPDATE: &str = "the peer sent a `WINDOW_UPDATE` of 0 bytes";
const WINDOW_OVERFLOW: &str = "the peer widened the stream's window to more than 2147483647 bytes";

/// How many bytes of a GOAWAY's debug data are kept.
const MAX_DEBUG: usize = 256;

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
        self.reader.greeted();
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

    /// RFC 9113 §6.7.
    pub(super) fn ping_frame(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        needs_connection(frame)?;
        let payload = *exact::<8>(frame, payload)?;
        if frame.has(flag::ACK) {
            self.pongs += 1;
            return Ok(());
        }
        self.output.answer(self.streams.len(), |out| {
            frame::write_ping(out, true, payload)
        })
    }

    /// RFC 9113 §6.8. In a graceful shutdown, the first of two GOAWAY frames names stream 2³¹ − 1.
    pub(super) fn go_away_frame<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        needs_connection(frame)?;
        let Some((&[l0, l1, l2, l3, c0, c1, c2, c3], debug)) = payload.split_first_chunk::<8>()
        else {
            return Err(wrong_size(frame));
        };
        let last = u32::from_be_bytes([l0, l1, l2, l3]) & STREAM_MASK;
        let before = self.go_away.as_ref().map(|go_away| go_away.last_stream);
        if let Some(from) = before.filter(|&before| last > before) {
            return Err(Violation::GoAwayRaised { from, to: last });
        }
        let debug = debug.get(..MAX_DEBUG).unwrap_or(debug);
        self.go_away = Some(GoAway {
            last_stream: last,
            code: ErrorCode::from_u32(u32::from_be_bytes([c0, c1, c2, c3])),
            debug: String::from_utf8_lossy(debug).replace(char::is_control, " "),
        });
        for id in self.streams.above(last) {
            self.close(id, None, Closed::Refused, handler)?;
        }
        Ok(())
    }

    /// RFC 9113 §6.9.
    pub(super) fn window_update<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        let increment = u32::from_be_bytes(*exact::<4>(frame, payload)?) & STREAM_MASK;
        let id = frame.stream;
        if id == 0 {
            if increment == 0 {
                return Err(Violation::EmptyWindowUpdate);
            }
            self.send_window
                .shift(i64::from(increment))
                .map_err(|Overflow| Violation::WindowOverflow { stream: 0 })?;
            self.send_pending();
            return Ok(());
        }
        let Some(stream) = self.streams.get_mut(id) else {
            return self.check_closed(frame);
        };
        if increment == 0 {
            return self.malformed(id, ErrorCode::ProtocolError, EMPTY_UPDATE, handler);
        }
        if stream.send.shift(i64::from(increment)).is_err() {
            return self.malformed(id, ErrorCode::FlowControlError, WINDOW_OVERFLOW, handler);
        }
        self.take_turn(id);
        self.send_pending();
        Ok(())
    }

    /// RFC 9113 §6.4.
    pub(super) fn rst_stream<H: Handler<C>>(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        let code = ErrorCode::from_u32(u32::from_be_bytes(*exact::<4>(frame, payload)?));
        let id = frame.stream;
        if self.streams.get(id).is_none() {
            return self.check_closed(frame);
        }
        let why = match code {
            Ok(ErrorCode::RefusedStream) => Closed::Refused,
            code => Closed::Reset(code),
        };
        self.close(id, None, why, handler)
    }
}
