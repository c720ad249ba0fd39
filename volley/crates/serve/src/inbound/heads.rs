//! HEADERS and CONTINUATION: calls begin, and requests end with trailers.

use crate::call::Call;
use crate::config::Fate;
use crate::connection::ServerSide;
use crate::counts::Counts;
use crate::farewell::Failure;
use crate::faults::{Fault, Hit};
use crate::requests::{self, Request};
use crate::work::Work;
use volley_http::grpc::Code;
use volley_http::http2::frame::{FrameHeader, Kind, flag, write_rst_stream};
use volley_http::http2::hpack::HpackError;
use volley_http::http2::window::DEFAULT_WINDOW;
use volley_http::http2::{ErrorCode, Violation};

impl ServerSide {
    pub(super) fn on_headers(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        match self.reader.begin_block(frame, payload)? {
            Some(block) => self.on_block(
                frame.stream,
                frame.has(flag::END_STREAM),
                block,
                now_ns,
                counts,
            ),
            None => Ok(()),
        }
    }

    pub(super) fn on_continuation(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        let Some((block, end_stream)) = self.reader.continue_block(frame, payload)? else {
            return Ok(());
        };
        let result = self.on_block(frame.stream, end_stream, &block, now_ns, counts);
        self.reader.give_back_block(block);
        result
    }

    /// A whole header block: a new call, or the trailers of a request.
    fn on_block(
        &mut self,
        stream: u32,
        end_stream: bool,
        block: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        self.fields.clear();
        let head = match self.decoder.decode(block, &mut self.fields) {
            Ok(()) => requests::read(&self.fields),
            Err(HpackError::ListTooLarge { .. }) => Err(Failure::Http(431)),
            Err(error) => return Err(Violation::HeaderBlock(error)),
        };
        if let Some(call) = self.streams.get_mut(&stream) {
            if call.request_done || !end_stream {
                self.reset(stream, ErrorCode::ProtocolError);
                return Ok(());
            }
            call.end_request(&self.items, counts);
            self.go_on(stream, now_ns);
            return Ok(());
        }
        if stream.is_multiple_of(2) {
            let kind = Kind::Headers;
            return Err(Violation::IdleStream { kind, stream });
        }
        if stream > self.highest {
            self.highest = stream;
            // Streams above the last one of the final GOAWAY get no answer (RFC 9113 §6.8).
            if !self.farewell.is_final() {
                self.open(stream, head, end_stream, now_ns, counts);
            }
        }
        Ok(())
    }

    fn open(
        &mut self,
        stream: u32,
        head: Result<Request, Failure>,
        end_stream: bool,
        now_ns: u64,
        counts: &mut Counts,
    ) {
        if self
            .rules
            .max_streams
            .is_some_and(|most| self.streams.len() >= most as usize)
        {
            write_rst_stream(self.outbox.buffer(), stream, ErrorCode::RefusedStream);
            return;
        }
        counts.calls_started += 1;
        let hit = head.as_ref().map_or(Some(Hit::Rpc), |head| head.hit());
        let fate = hit.map_or(Fate::NONE, |hit| self.rules.draw_fate(hit));
        let mut exchange = None;
        let work = match head {
            Err(failure) => Work::refused(failure),
            Ok(Request::Rpc(_)) if fate.fault == Some(Fault::TrailersOnly) => {
                let words = "on purpose: 100 % of this call failed ✗";
                Work::refused(Failure::status(Code::Internal, words))
            }
            Ok(Request::Rpc(head)) => Work::new(head),
            Ok(Request::Items(head)) => {
                let exchange = exchange.insert(self.spare.pop().unwrap_or_default());
                exchange.begin(head);
                Work::IDLE
            }
        };
        // Until our SETTINGS are acknowledged, the client may use the RFC's own window.
        let receive_window = match self.acknowledged {
            true => self.rules.window,
            false => self.rules.window.max(DEFAULT_WINDOW),
        };
        let mut call = Call::new(work, fate, receive_window, self.peer.initial_window);
        call.exchange = exchange;
        if end_stream {
            call.end_request(&self.items, counts);
        }
        self.streams.insert(stream, call);
        self.farewell.on_call(self.outbox.buffer());
        self.go_on(stream, now_ns);
    }
}
