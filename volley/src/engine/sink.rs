//! Handling the events of one connection: the hot path of a run.

use std::ops::ControlFlow;

use super::book::Book;
use super::call::{Call, Ticket};
use super::link::Link;
use crate::grpc::{Code, SplitError, Status};
use crate::http2::hpack::HeaderList;
use crate::http2::{Closed, ErrorCode, Handler, Next};
use crate::measure::Outcome;

/// After this many tries, a refusal ends the call.
pub const MOST_REFUSALS: u8 = 10;

/// Rules that apply to the replies of every call.
#[derive(Clone, Copy, Debug)]
pub struct ReplyRules {
    /// The longest message accepted, in bytes.
    pub max_message: usize,
    /// Server streaming: the client ends the call after this many replies; 0: never.
    pub enough_replies: u64,
}

/// Handles the events of one read; `now_ns` is when that read returned.
pub struct Sink<'a, B> {
    /// The moment of the read.
    pub now_ns: u64,
    /// The thread's book.
    pub book: &'a mut B,
    /// Workers of the link that have no call.
    pub idle: &'a mut Vec<u32>,
    /// Calls that the server never began, to be sent again.
    pub again: &'a mut Vec<Ticket>,
    /// Rules that apply to every reply.
    pub rules: ReplyRules,
    /// Calls sent before this moment belong to the warm-up, not to the run.
    pub counted_from_ns: u64,
    /// Decompresses compressed replies.
    pub inflated: &'a mut Vec<u8>,
    /// The number of replies in this read, and how many of them came together with the one before.
    pub came: u64,
    /// See `came`.
    pub together: u64,
    /// The number of DATA frames with content in this read, less `came` (modulo 2^64). Most frames bring one message
    /// and change nothing.
    pub more_frames: u64,
}

impl<B: Book> Handler<Call> for Sink<'_, B> {
    fn on_headers(&mut self, call: &mut Call, headers: &HeaderList, end_stream: bool) -> Next {
        if call.answered {
            if end_stream {
                call.status = Some(Status::from_trailers(headers));
            }
            return Next::Continue;
        }
        call.answered = true;
        // An OK here is not yet the call's status: the trailers decide.
        call.status = Status::from_headers(headers, end_stream)
            .filter(|status| end_stream || !status.is_ok());
        if call.status.is_some() && !end_stream {
            return Next::Cancel(ErrorCode::Cancel); // what follows is not gRPC
        }
        Next::Continue
    }

    #[inline]
    fn on_data(&mut self, call: &mut Call, data: &[u8], _end_stream: bool) -> Next {
        let before = call.replies;
        let flow = match call.splitter.only_message(data, self.rules.max_message) {
            Some(message) => Ok(self.reply(call, message)),
            None => self.split(call, data),
        };
        let came = call.replies - before;
        if came > 0 && self.counts(&call.ticket) {
            self.time(call, before, came);
        }
        match flow {
            Ok(ControlFlow::Continue(())) => Next::Continue,
            Ok(ControlFlow::Break(())) => Next::Cancel(ErrorCode::Cancel),
            Err(error) => {
                let code = match error {
                    SplitError::Flag(_) => Code::Internal,
                    SplitError::TooLong { .. } => Code::ResourceExhausted,
                };
                call.blame(code, error.to_string());
                Next::Cancel(ErrorCode::Cancel)
            }
        }
    }

    fn on_closed(&mut self, call: Call, why: Closed) {
        let untouched = matches!(why, Closed::Refused) && call.fault.is_none() && !call.answered;
        if untouched && call.ticket.refusals < MOST_REFUSALS {
            self.book.retried(u64::from(self.counts(&call.ticket)));
            self.again.push(Ticket {
                refusals: call.ticket.refusals + 1,
                ..call.ticket
            });
            return;
        }
        self.end(call, why);
    }
}

impl<'a, B: Book> Sink<'a, B> {
    /// Makes the handler of one read's events on a link's connection.
    #[inline(always)]
    pub fn new(
        now_ns: u64,
        link: &'a mut Link,
        book: &'a mut B,
        inflated: &'a mut Vec<u8>,
        rules: ReplyRules,
        counted_from_ns: u64,
    ) -> Self {
        Self {
            now_ns,
            book,
            idle: &mut link.idle,
            again: &mut link.again,
            rules,
            counted_from_ns,
            inflated,
            came: 0,
            together: 0,
            more_frames: 0,
        }
    }

    /// Counts a call that is over and frees its worker.
    pub fn end(&mut self, mut call: Call, why: Closed) {
        if self.counts(&call.ticket) {
            call.judge(why);
            if call.wrong_reply
                && let Some(fault) = &call.fault
            {
                self.book.wrong_reply(self.now_ns, &fault.message);
            }
        }
        self.over(call.ticket, call.outcome());
    }

    /// The same for a call that may have no stream at the moment.
    #[inline]
    pub fn over(&mut self, ticket: Ticket, outcome: Outcome) {
        if self.counts(&ticket) {
            self.book.ended(&ticket, self.now_ns, outcome);
        }
        if B::HAS_WORKERS {
            self.idle.push(ticket.worker);
        }
    }

    /// Whether a call belongs to the run, not to the warm-up.
    #[inline(always)]
    fn counts(&self, ticket: &Ticket) -> bool {
        ticket.sent_ns >= self.counted_from_ns
    }

    /// Check and count one reply.
    #[inline(always)]
    fn reply(&self, call: &mut Call, message: &[u8]) -> ControlFlow<()> {
        if let Err(mismatch) = call.expected.check(call.replies, message) {
            call.wrong(&mismatch);
        }
        call.replies += 1;
        if call.replies == self.rules.enough_replies {
            call.enough = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Checks and counts the messages in one piece of DATA, which may hold several or a part of
    /// one.
    #[inline(never)]
    fn split(&mut self, call: &mut Call, data: &[u8]) -> Result<ControlFlow<()>, SplitError> {
        let before = call.replies;
        let max_message = self.rules.max_message;
        let mut splitter = std::mem::take(&mut call.splitter);
        let flow = splitter.push(data, max_message, |is_compressed, message| {
            if !is_compressed {
                return self.reply(call, message);
            }
            match inflate(message, max_message, self.inflated) {
                Ok(()) => self.reply(call, self.inflated),
                Err(status) => {
                    call.blame(status.code, status.message);
                    ControlFlow::Break(())
                }
            }
        });
        call.splitter = splitter;
        if !data.is_empty() && self.counts(&call.ticket) {
            let came = call.replies - before;
            self.more_frames = self.more_frames.wrapping_add(1).wrapping_sub(came);
        }
        flow
    }

    /// Messages of one piece came at one moment: only the first has a gap to measure.
    #[inline(always)]
    fn time(&mut self, call: &mut Call, before: u64, came: u64) {
        let now_ns = self.now_ns;
        if before == 0 {
            self.book
                .first_message(now_ns.saturating_sub(call.ticket.sent_ns));
            self.together += came - 1;
        } else if call.last_ns == now_ns {
            self.together += came;
        } else {
            self.book.gap(now_ns.saturating_sub(call.last_ns));
            self.together += came - 1;
        }
        call.last_ns = now_ns;
        self.came += came;
    }

    /// Counts what the read brought: once per read, not once per message.
    pub fn settle(self) {
        let frames = self.came.wrapping_add(self.more_frames);
        if frames > 0 {
            self.book.messages(self.came, frames, self.now_ns);
            self.book.zero_gaps(self.together);
        }
    }
}

/// Decompresses a reply into `out`; returns a status if it is broken or too long.
#[cold]
fn inflate(message: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), Status> {
    use std::io::Read;
    out.clear();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let internal = |message: String| Status {
        code: Code::Internal,
        message,
    };
    flate2::read::GzDecoder::new(message)
        .take(limit)
        .read_to_end(out)
        .map_err(|error| {
            internal(format!(
                "a compressed reply cannot be decompressed: {error}"
            ))
        })?;
    if out.len() > max {
        return Err(Status {
            code: Code::ResourceExhausted,
            message: format!("a reply is longer than {max} bytes after decompression"),
        });
    }
    Ok(())
}
