//! DATA: request messages.

use crate::http2::ErrorCode;
use crate::http2::frame::{FrameHeader, flag, unpad, write_window_update};
use crate::serve::breach::Breach;
use crate::serve::connection::Connection;
use crate::serve::counts::Counts;

impl Connection {
    pub(super) fn on_data(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        now_ns: u64,
        counts: &mut Counts,
    ) -> Result<(), Breach> {
        self.receive_window -= i64::from(header.length);
        if self.receive_window < 0 {
            return Err(Breach::flow("DATA over the connection's window"));
        }
        self.unreturned += header.length;
        if self.unreturned >= self.rules.connection_window() / 2 {
            write_window_update(self.outbox.buffer(), 0, self.unreturned);
            self.receive_window += i64::from(std::mem::take(&mut self.unreturned));
        }
        let data =
            unpad(header.flags, payload).ok_or(Breach::protocol("DATA with too much padding"))?;
        let Some(call) = self.streams.get_mut(&header.stream) else {
            return self.check_not_idle(header.stream);
        };
        if call.request_done {
            self.reset(header.stream, ErrorCode::StreamClosed);
            return Ok(());
        }
        if !call.receive(header.length, data, counts) {
            self.reset(header.stream, ErrorCode::FlowControlError);
            return Ok(());
        }
        if header.has(flag::END_STREAM) {
            call.end_request();
        } else if let Some(increment) = call.window_to_return(self.rules.window) {
            write_window_update(self.outbox.buffer(), header.stream, increment);
        }
        self.go_on(header.stream, now_ns);
        Ok(())
    }
}
