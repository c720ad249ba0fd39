//! Makes answers, as the windows and the output buffer allow.

use super::connection::Connection;
use super::end::End;
use super::turn::{self, Turn};
use crate::http2::ErrorCode;
use crate::http2::frame::{write_rst_stream, write_window_update};

/// Output is made up to this many bytes, and again when less than half of them is left. Large enough to make system
/// calls cheap per reply, small enough for a core's own cache.
const OUTPUT_BOUND: usize = 128 << 10;

impl Connection {
    /// Makes output, as far as the client's windows and the buffer's limit allow. Call it before reading
    /// [`output`](Self::output): output that is not made yet takes no memory.
    pub fn fill(&mut self) {
        if self.end != End::Open || self.outbox.pending().len() >= OUTPUT_BOUND / 2 {
            return;
        }
        self.outbox.compact();
        while self.outbox.pending().len() < OUTPUT_BOUND {
            let Some(stream) = self.ready.pop_front() else {
                break;
            };
            let Some(call) = self.streams.get_mut(&stream) else {
                continue;
            };
            let wrong_at = self.rules.faults.wrong_at;
            match turn::go_on(call, stream, &mut self.outbox, &mut self.window, wrong_at) {
                Turn::Over => self.ready.push_back(stream),
                Turn::Waiting => call.queued = false,
                Turn::Starved => self.starved.push_back(stream),
                Turn::Done => {
                    // The rest of the request is not needed (RFC 9113 §8.1).
                    if !call.request_done {
                        write_rst_stream(self.outbox.buffer(), stream, ErrorCode::NoError);
                    }
                    self.streams.remove(&stream);
                    continue;
                }
                Turn::Ends(end) => {
                    self.end = end;
                    return;
                }
            }
            if let Some(increment) = call.window_to_return(self.rules.window) {
                write_window_update(self.outbox.buffer(), stream, increment);
            }
        }
    }
}
