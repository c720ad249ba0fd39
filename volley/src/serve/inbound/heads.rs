//! HEADERS and CONTINUATION: calls begin, and requests end with trailers.

use crate::grpc::Code;
use crate::http2::ErrorCode;
use crate::http2::frame::{FrameHeader, flag, skip_priority, unpad, write_rst_stream};
use crate::http2::hpack::HpackError;
use crate::serve::breach::Breach;
use crate::serve::call::Call;
use crate::serve::connection::{Connection, MAX_HEADER_LIST, OpenBlock};
use crate::serve::counts::Counts;
use crate::serve::end::Failure;
use crate::serve::faults::Fault;
use crate::serve::requests::{self, Head};
use crate::serve::settings;
use crate::serve::work::Work;

impl Connection {
    pub(super) fn on_headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        let fragment = unpad(header.flags, payload)
            .and_then(|unpadded| skip_priority(header.flags, unpadded))
            .ok_or(Breach::protocol("HEADERS with too much padding"))?;
        let end_stream = header.has(flag::END_STREAM);
        if header.has(flag::END_HEADERS) {
            return self.on_block(header.stream, end_stream, fragment, now_ns, counts);
        }
        self.block = Some(OpenBlock {
            stream: header.stream,
            end_stream,
            bytes: fragment.to_vec(),
        });
        Ok(())
    }

    pub(super) fn on_continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        let Some(mut block) = self.block.take() else {
            return Err(Breach::protocol("CONTINUATION without HEADERS"));
        };
        block.bytes.extend_from_slice(payload);
        if header.has(flag::END_HEADERS) {
            return self.on_block(block.stream, block.end_stream, &block.bytes, now_ns, counts);
        }
        if block.bytes.len() > MAX_HEADER_LIST || payload.is_empty() {
            return Err(Breach {
                code: ErrorCode::EnhanceYourCalm,
                what: "an endless header block",
            });
        }
        self.block = Some(block);
        Ok(())
    }

    /// A whole header block: a new call, or the trailers of a request.
    fn on_block(
        &mut self,
        stream: u32,
        end_stream: bool,
        block: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        self.fields.clear();
        let head = match self.decoder.decode(block, &mut self.fields) {
            Ok(()) => requests::read(&self.fields),
            Err(HpackError::ListTooLarge { .. }) => Err(Failure::Http(431)),
            Err(_) => {
                return Err(Breach {
                    code: ErrorCode::CompressionError,
                    what: "a header block that HPACK cannot read",
                });
            }
        };
        if let Some(call) = self.streams.get_mut(&stream) {
            if call.request_done || !end_stream {
                self.reset(stream, ErrorCode::ProtocolError);
                return Ok(());
            }
            call.end_request();
            self.go_on(stream, now_ns);
            return Ok(());
        }
        if stream.is_multiple_of(2) {
            return Err(Breach::protocol(
                "HEADERS on a stream that no client can open",
            ));
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
        head: Result<Head, Failure>,
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
        let fault = self.rules.draw_fault();
        let work = match head {
            Err(failure) => Work::refused(failure),
            Ok(_) if fault == Some(Fault::TrailersOnly) => Work::refused(Failure::status(
                Code::Internal,
                "on purpose: 100 % of this call failed ✗",
            )),
            Ok(head) => Work::new(head),
        };
        // Until our SETTINGS are acknowledged, the client may use the RFC's own window.
        let receive_window = match self.acknowledged {
            true => self.rules.window,
            false => self.rules.window.max(settings::DEFAULT_WINDOW),
        };
        let window = i64::from(self.initial_window);
        let mut call = Call::new(work, fault, i64::from(receive_window), window);
        if end_stream {
            call.end_request();
        }
        self.streams.insert(stream, call);
        self.farewell.on_call(self.outbox.buffer());
        self.go_on(stream, now_ns);
    }
}
