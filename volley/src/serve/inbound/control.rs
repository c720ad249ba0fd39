//! The frames that carry no request: resets, settings, pings and windows.

use crate::http2::ErrorCode;
use crate::http2::frame::{FrameHeader, flag, write_ping, write_settings_ack};
use crate::serve::breach::Breach;
use crate::serve::connection::Connection;
use crate::serve::counts::Counts;
use crate::serve::settings;

impl Connection {
    pub(super) fn on_reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        if payload.len() != 4 {
            return Err(Breach::size("RST_STREAM is not four bytes long"));
        }
        if self.streams.remove(&header.stream).is_some() {
            counts.calls_reset += 1;
            return Ok(());
        }
        self.check_not_idle(header.stream)
    }

    pub(super) fn on_settings(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Breach> {
        if header.stream != 0 {
            return Err(Breach::protocol("SETTINGS on a stream"));
        }
        if header.has(flag::ACK) {
            self.acknowledged = true;
            return match payload {
                [] => Ok(()),
                _ => Err(Breach::size(
                    "an acknowledgement of SETTINGS with a payload",
                )),
            };
        }
        self.greeted = true;
        if let Some(window) = settings::read_initial_window(payload)? {
            let change = i64::from(window) - i64::from(self.initial_window);
            self.initial_window = window;
            for (&stream, call) in &mut self.streams {
                call.window += change;
                if call.window > i64::from(settings::MAX_WINDOW) {
                    return Err(Breach::flow("SETTINGS make a window larger than 2^31-1"));
                }
                if !call.queued && call.is_answerable() {
                    call.queued = true;
                    self.ready.push_back(stream);
                }
            }
        }
        write_settings_ack(self.outbox.buffer());
        Ok(())
    }

    pub(super) fn on_ping(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Breach> {
        let Ok(payload) = payload.try_into() else {
            return Err(Breach::size("PING is not eight bytes long"));
        };
        if header.stream != 0 {
            return Err(Breach::protocol("PING on a stream"));
        }
        if header.has(flag::ACK) {
            self.farewell
                .on_pong(payload, self.highest, self.outbox.buffer());
        } else {
            write_ping(self.outbox.buffer(), true, payload);
        }
        Ok(())
    }

    pub(super) fn on_window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Breach> {
        let Ok(increment) = payload.try_into().map(u32::from_be_bytes) else {
            return Err(Breach::size("WINDOW_UPDATE is not four bytes long"));
        };
        let increment = i64::from(increment & settings::MAX_WINDOW);
        let most = i64::from(settings::MAX_WINDOW);
        if header.stream == 0 {
            self.window += increment;
            if increment == 0 {
                return Err(Breach::protocol("WINDOW_UPDATE of 0 bytes"));
            }
            if self.window > most {
                return Err(Breach::flow(
                    "WINDOW_UPDATE makes a window larger than 2^31-1",
                ));
            }
            self.ready.append(&mut self.starved);
            return Ok(());
        }
        let Some(call) = self.streams.get_mut(&header.stream) else {
            return self.check_not_idle(header.stream);
        };
        call.window += increment;
        if increment == 0 {
            self.reset(header.stream, ErrorCode::ProtocolError);
        } else if call.window > most {
            self.reset(header.stream, ErrorCode::FlowControlError);
        } else if !call.queued && call.is_answerable() {
            call.queued = true;
            self.ready.push_back(header.stream);
        }
        Ok(())
    }
}
