//! Frames from the client: passes them on by kind. Request messages are handled here.

mod control;
mod heads;

use std::cmp::Reverse;

use super::connection::ServerSide;
use super::counts::Counts;
use super::outbox::Mark;
use volley_http::http2::frame::{
    FrameHeader, HEADER_LEN, Kind, PREFACE, flag, write_rst_stream, write_window_update,
};
use volley_http::http2::reader::unpad;
use volley_http::http2::window::Taken;
use volley_http::http2::{ErrorCode, Violation};

impl ServerSide {
    /// Takes the frames in `bytes`; keeps the beginning of an incomplete one.
    pub(super) fn receive_frames(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        let mut bytes = self.skip_preface(bytes)?;
        if self.reader.has_begun() {
            let Some((frame, buffer, rest)) = self.reader.complete(bytes)? else {
                return Ok(());
            };
            let payload = buffer.get(HEADER_LEN..).unwrap_or_default();
            self.frame(frame, payload, now_ns, counts)?;
            self.reader.give_back(buffer);
            bytes = rest;
        }
        while let Some((frame, payload, rest)) = self.reader.next(bytes)? {
            self.frame(frame, payload, now_ns, counts)?;
            bytes = rest;
        }
        self.reader.keep(bytes);
        Ok(())
    }

    fn skip_preface<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Violation> {
        if self.preface_left == 0 {
            return Ok(bytes);
        }
        let expected = &PREFACE[PREFACE.len() - self.preface_left..];
        let n = expected.len().min(bytes.len());
        let (got, rest) = bytes.split_at(n);
        if !expected.starts_with(got) {
            return Err(Violation::NotHttp2);
        }
        self.preface_left -= n;
        Ok(rest)
    }

    /// Takes one whole frame.
    #[inline]
    fn frame(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        self.reader.check_turn(frame)?;
        match frame.kind {
            Kind::Data => self.on_data(frame, payload, now_ns, counts),
            Kind::Headers => self.on_headers(frame, payload, now_ns, counts),
            Kind::Continuation => self.on_continuation(frame, payload, now_ns, counts),
            Kind::RstStream => self.on_reset(frame, payload, counts),
            Kind::Settings => self.on_settings(frame, payload),
            Kind::Ping => self.on_ping(frame, payload),
            Kind::WindowUpdate => self.on_window_update(frame, payload),
            Kind::PushPromise => Err(Violation::Push),
            // A client may announce that it leaves; it is served as long as it stays. Priorities are ignored.
            Kind::GoAway | Kind::Priority | Kind::Unknown(_) => Ok(()),
        }
    }

    /// DATA: request messages.
    fn on_data(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        let stream = frame.stream;
        let target = self.rules.connection_window();
        if self.receive_window.take(frame.length, target) == Taken::Exceeded {
            return Err(Violation::WindowExceeded { stream: 0 });
        }
        if let Some(increment) = self.receive_window.refill(target) {
            write_window_update(self.outbox.buffer(), 0, increment);
        }
        let data = unpad(frame, payload)?;
        let window = self.rules.window;
        let Some(call) = self.streams.get_mut(&stream) else {
            return self.check_not_idle(frame);
        };
        if call.request_done {
            self.reset(stream, ErrorCode::StreamClosed);
            return Ok(());
        }
        if call.receive_window.take(frame.length, window) == Taken::Exceeded {
            self.reset(stream, ErrorCode::FlowControlError);
            return Ok(());
        }
        call.receive(data, &self.rules.budget, counts);
        if frame.has(flag::END_STREAM) {
            call.end_request(&self.items, counts);
        } else {
            call.return_window(window, stream, &mut self.outbox);
        }
        self.go_on(stream, now_ns);
        Ok(())
    }

    /// Has a call's answer made, after its delay if there is one.
    fn go_on(&mut self, stream: u32, now_ns: u64) {
        let Some(call) = self.streams.get_mut(&stream) else {
            return;
        };
        if !call.enqueue() {
            return;
        }
        let has_waited = std::mem::replace(&mut call.has_waited, true);
        let is_late = call.is_late;
        let due_ns = (!has_waited).then(|| self.rules.answered_ns(is_late, now_ns));
        match due_ns.flatten() {
            Some(due_ns) => self.delayed.push(Reverse((due_ns, stream))),
            None => self.ready.push_back(stream),
        }
    }

    /// Ends a call because of an error of the client on its stream.
    fn reset(&mut self, stream: u32, code: ErrorCode) {
        self.streams.remove(&stream);
        write_rst_stream(self.outbox.buffer(), stream, code);
        self.outbox.mark(Mark::CallFailed);
    }

    /// Frames for a closed stream are ignored: they may have been on their way (RFC 9113 §5.1). A stream that was never
    /// opened accepts none.
    fn check_not_idle(&self, frame: FrameHeader) -> Result<(), Violation> {
        let FrameHeader { kind, stream, .. } = frame;
        if stream == 0 {
            return Err(Violation::NeedsStream { kind });
        }
        if stream > self.highest || stream.is_multiple_of(2) {
            return Err(Violation::IdleStream { kind, stream });
        }
        Ok(())
    }
}
