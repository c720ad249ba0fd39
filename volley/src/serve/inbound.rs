//! Frames from the client: cuts them out of the bytes and passes them on by type.

mod control;
mod data;
mod heads;

use super::breach::Breach;
use super::connection::Connection;
use super::counts::Counts;
use super::outbox::Mark;
use crate::http2::ErrorCode;
use crate::http2::frame::{
    DEFAULT_MAX_FRAME_SIZE, FrameHeader, HEADER_LEN, Kind, PREFACE, flag, write_rst_stream,
};

impl Connection {
    /// Takes the frames in `bytes`; keeps the beginning of an incomplete one.
    pub(super) fn receive_frames(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        let mut bytes = self.skip_preface(bytes)?;
        while !self.partial.is_empty() && !bytes.is_empty() {
            let missing = frame_len(&self.partial)? - self.partial.len();
            let (next, rest) = bytes.split_at(missing.min(bytes.len()));
            self.partial.extend_from_slice(next);
            bytes = rest;
            if self.partial.len() >= HEADER_LEN && self.partial.len() == frame_len(&self.partial)? {
                let mut whole = std::mem::take(&mut self.partial);
                self.frame(&whole, now_ns, counts)?;
                whole.clear();
                self.partial = whole;
            }
        }
        while bytes.len() >= HEADER_LEN {
            let length = frame_len(bytes)?;
            let Some((whole, rest)) = bytes.split_at_checked(length) else {
                break;
            };
            self.frame(whole, now_ns, counts)?;
            bytes = rest;
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn skip_preface<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Breach> {
        if self.preface_left == 0 {
            return Ok(bytes);
        }
        let expected = &PREFACE[PREFACE.len() - self.preface_left..];
        let n = expected.len().min(bytes.len());
        let (got, rest) = bytes.split_at(n);
        if !expected.starts_with(got) {
            return Err(Breach::protocol("this is not HTTP/2"));
        }
        self.preface_left -= n;
        Ok(rest)
    }

    /// Takes one whole frame.
    #[inline]
    fn frame(&mut self, whole: &[u8], now_ns: u64, counts: &mut Counts) -> Result<(), Breach> {
        let Some((header, payload)) = whole.split_first_chunk() else {
            return Ok(());
        };
        let header = FrameHeader::parse(header);
        if !self.greeted && (header.kind != Kind::Settings || header.has(flag::ACK)) {
            return Err(Breach::protocol("the first frame is not SETTINGS"));
        }
        if let Some(block) = &self.block
            && (header.kind != Kind::Continuation || header.stream != block.stream)
        {
            return Err(Breach::protocol("a header block is interrupted"));
        }
        match header.kind {
            Kind::Data => self.on_data(header, payload, now_ns, counts),
            Kind::Headers => self.on_headers(header, payload, now_ns, counts),
            Kind::Continuation => self.on_continuation(header, payload, now_ns, counts),
            Kind::RstStream => self.on_reset(header, payload, counts),
            Kind::Settings => self.on_settings(header, payload),
            Kind::Ping => self.on_ping(header, payload),
            Kind::WindowUpdate => self.on_window_update(header, payload),
            Kind::PushPromise => Err(Breach::protocol("a client cannot push")),
            // A client may announce that it leaves; it is served as long as it stays. Priorities are ignored.
            Kind::GoAway | Kind::Priority | Kind::Unknown(_) => Ok(()),
        }
    }

    /// Has a call's answer made, after its delay if there is one.
    fn go_on(&mut self, stream: u32, now_ns: u64) {
        let Some(call) = self.streams.get_mut(&stream) else {
            return;
        };
        if call.queued || !call.is_answerable() {
            return;
        }
        call.queued = true;
        if self.rules.delay_ns == 0 || call.delayed {
            self.ready.push_back(stream);
        } else {
            call.delayed = true;
            self.delayed
                .push_back((now_ns.saturating_add(self.rules.delay_ns), stream));
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
    fn check_not_idle(&self, stream: u32) -> Result<(), Breach> {
        if stream > self.highest || stream.is_multiple_of(2) {
            return Err(Breach::protocol("a frame for a stream that is not open"));
        }
        Ok(())
    }
}

/// The length of the frame at the start of `bytes`, header included; the length of a header while that is incomplete.
#[inline]
fn frame_len(bytes: &[u8]) -> Result<usize, Breach> {
    let Some(header) = bytes.first_chunk() else {
        return Ok(HEADER_LEN);
    };
    let length = FrameHeader::parse(header).length as usize;
    if length > DEFAULT_MAX_FRAME_SIZE {
        return Err(Breach::size("a frame of more than 16384 bytes"));
    }
    Ok(HEADER_LEN + length)
}
