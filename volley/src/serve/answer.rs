//! Answers, made as the windows and the output buffer allow.

use super::connection::Connection;
use super::end::End;
use super::turn::{self, Turn};
use crate::http2::ErrorCode;
use crate::http2::frame::{write_rst_stream, write_window_update};

/// Output is made up to so many bytes, and made again when less than half of it is left. Large enough to make a system
/// call cheap per reply, small enough to stay in a core's own cache.
const OUTPUT_BOUND: usize = 128 << 10;

impl Connection {
    /// Makes output, as much as the client's windows and the bound of the buffer allow. Call it before each look at
    /// [`output`](Self::output): what is not made yet takes no memory.
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
                    // What is left of the request is not wanted (RFC 9113 §8.1).
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
