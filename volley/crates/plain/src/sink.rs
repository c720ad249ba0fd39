//! Handling the events of one connection: the hot path of a run.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::call::{Call, Ticket};
use super::link::Link;
use super::pacer::Pacer;
use super::recorder::Recorder;
use super::script::Script;
use volley_base::budget::{Budget, Buffer};
use volley_http::grpc::{Code, PREFIX_LEN, SplitError, Status, Take, heads, status};
use volley_http::http2::frame::HEADER_LEN;
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{Closed, ErrorCode, Handler, Next};
use volley_report::measure::{Cause, Outcome, StreamEvent};

/// After this many tries, a refusal ends the call.
pub const MOST_REFUSALS: u8 = 10;

/// What is said of a call that took too long, as grpc-go says it.
pub const TOO_LATE: &str = "context deadline exceeded";

/// Rules that apply to the replies of every call.
#[derive(Clone, Copy, Debug)]
pub struct ReplyRules {
    /// The longest message accepted, in bytes.
    pub max_message: usize,
    /// The time to the first reply is measured. If there is but one, it is the latency.
    pub times_first: bool,
    /// A call that takes this long or longer has failed, even if its end was read before it was cancelled.
    pub timeout_ns: u64,
    /// Server streaming: the client ends the call after this many replies; 0: never.
    pub enough_replies: u64,
}

/// What a thread records with, and what applies to all its calls.
pub struct CallContext<B, S> {
    /// The thread's recorder.
    pub recorder: B,
    /// The thread's script.
    pub script: S,
    /// Rules that apply to every reply.
    pub rules: ReplyRules,
    /// Calls that were due before this moment belong to the warm-up, not to the run.
    pub counted_from_ns: u64,
    /// Of streams that live.
    pub pacer: Option<Pacer>,
    /// Memory for a compressed reply.
    pub inflated: Buffer,
}

impl<B: Recorder, S: Script> CallContext<B, S> {
    /// Counts the messages of a stream that are left without a reply; `answered`: how many of its worker's have one.
    pub fn leave_unanswered(&mut self, ticket: &Ticket, answered: u64, now_ns: u64) {
        if let Some(pacer) = &self.pacer {
            for due_ns in pacer.due(ticket.worker, answered, u64::MAX) {
                self.recorder.message_unanswered(due_ns, now_ns);
            }
        }
    }
}

/// Handles the events of one read; `now_ns` is when that read returned.
pub struct Sink<'a, B, S> {
    /// The moment of the read.
    pub now_ns: u64,
    /// What its thread records with.
    pub context: &'a mut CallContext<B, S>,
    /// For replies that come in several pieces, and for compressed ones.
    pub budget: &'a Arc<Budget>,
    /// Workers of the link that have no call.
    pub idle: &'a mut Vec<u32>,
    /// Calls that the server never began, to be sent again.
    pub again: &'a mut Vec<Ticket>,
    /// The number of replies in this read, and how many of them came together with the one before.
    pub came: u64,
    /// See `came`.
    pub together: u64,
    /// The number of DATA frames with content in this read, less `came` (modulo 2^64). Most frames bring one message
    /// and change nothing.
    pub more_frames: u64,
}

impl<B: Recorder, S: Script> Handler<Call<S::Mark>> for Sink<'_, B, S> {
    fn on_headers(
        &mut self,
        call: &mut Call<S::Mark>,
        headers: &HeaderList,
        end_stream: bool,
    ) -> Next {
        if S::READS {
            self.context.script.head(call.mark, headers);
        }
        if call.answered {
            if end_stream {
                call.status = Some(heads::trailers(headers));
            }
            return Next::Continue;
        }
        call.answered = true;
        (call.encoding, call.status) = heads::begun(headers, end_stream);
        match call.status.is_some() && !end_stream && !status::has_grpc(headers) {
            true => Next::Cancel(ErrorCode::Cancel), // what follows is not gRPC
            false => Next::Continue,
        }
    }

    #[inline]
    fn on_data(&mut self, call: &mut Call<S::Mark>, data: &[u8], _end_stream: bool) -> Next {
        let before = call.replies;
        let flow = match call
            .splitter
            .only_message(data, self.context.rules.max_message)
        {
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
                let Status { code, message } = error.into();
                call.blame(code, message);
                Next::Cancel(ErrorCode::Cancel)
            }
        }
    }

    fn on_run(&mut self, call: &mut Call<S::Mark>, last: &[u8], frames: &[u8]) -> usize {
        let payload = last.get(HEADER_LEN..).unwrap_or_default();
        let Some(message) = call
            .splitter
            .only_message(payload, self.context.rules.max_message)
        else {
            return 0;
        };
        let count = self.run(call, last, message.len(), frames);
        if count > 0 && self.counts(&call.ticket) {
            let before = call.replies - count as u64;
            self.time(call, before, count as u64);
        }
        count
    }

    fn on_closed(&mut self, call: &mut Call<S::Mark>, why: Closed) {
        let untouched = matches!(why, Closed::Refused) && call.fault.is_none() && !call.answered;
        if untouched && call.ticket.refusals < MOST_REFUSALS {
            self.context
                .recorder
                .retried(u64::from(self.counts(&call.ticket)));
            if self.context.pacer.is_some() {
                self.context.recorder.stream(StreamEvent::Refused);
                let answered = call.first + call.replies;
                self.context
                    .leave_unanswered(&call.ticket, answered, self.now_ns);
            }
            self.again.push(Ticket {
                refusals: call.ticket.refusals + 1,
                ..call.ticket
            });
            return;
        }
        self.end(call, why);
    }
}

impl<'a, B: Recorder, S: Script> Sink<'a, B, S> {
    /// Makes the handler of one read's events on a link's connection.
    #[inline(always)]
    pub fn new(
        now_ns: u64,
        link: &'a mut Link,
        context: &'a mut CallContext<B, S>,
        budget: &'a Arc<Budget>,
    ) -> Self {
        Self {
            now_ns,
            context,
            budget,
            idle: &mut link.idle,
            again: &mut link.again,
            came: 0,
            together: 0,
            more_frames: 0,
        }
    }

    /// Counts a call that is over and frees its worker.
    pub fn end(&mut self, call: &mut Call<S::Mark>, why: Closed) {
        let counts = self.counts(&call.ticket);
        let took_ns = self.now_ns.saturating_sub(call.ticket.sent_ns);
        let timeout_ns = self.context.rules.timeout_ns;
        if took_ns >= timeout_ns {
            call.blame_for(Cause::Late, Code::DeadlineExceeded, TOO_LATE.to_owned());
        } else if call.has_code(Code::DeadlineExceeded) && took_ns >= timeout_ns / 10 * 9 {
            // A server that keeps to the limit may say so first.
            call.cause = Cause::Late;
        }
        if counts || S::READS {
            call.judge(why);
            if counts
                && call.wrong_reply
                && let Some(fault) = &call.fault
            {
                self.context
                    .recorder
                    .wrong_reply(self.now_ns, &fault.message);
            }
        }
        let outcome = call.outcome();
        if self.context.pacer.is_some() {
            self.end_paced(call, outcome != Outcome::Ok);
        }
        self.over(call.ticket, outcome);
    }

    /// A stream that lives is over: it broke, unless the client ended it and the server had nothing against it.
    #[cold]
    fn end_paced(&mut self, call: &Call<S::Mark>, has_failed: bool) {
        let pacer = self.context.pacer.as_ref();
        if has_failed || pacer.is_some_and(|pacer| self.now_ns < pacer.closes_ns) {
            self.context.recorder.stream(StreamEvent::Broke);
        }
        let answered = call.first + call.replies;
        self.context
            .leave_unanswered(&call.ticket, answered, self.now_ns);
    }

    /// Replies of a stream that lives came: each answers its message, and is timed from when that one was due.
    #[inline(never)]
    fn answer(&mut self, call: &Call<S::Mark>, before: u64, came: u64) {
        let CallContext {
            pacer, recorder, ..
        } = &mut *self.context;
        if let Some(pacer) = pacer {
            for due_ns in pacer.due(call.ticket.worker, call.first + before, came) {
                recorder.message_answered(due_ns, self.now_ns);
            }
        }
    }

    /// The same for a call that may have no stream at the moment.
    #[inline]
    pub fn over(&mut self, ticket: Ticket, outcome: Outcome) {
        if S::READS {
            self.context.script.ended(&ticket, &outcome);
        }
        if self.counts(&ticket) {
            self.context.recorder.ended(&ticket, self.now_ns, outcome);
        }
        if B::HAS_WORKERS {
            self.idle.push(ticket.worker);
        }
    }

    /// Whether a call belongs to the run, not to the warm-up.
    #[inline(always)]
    fn counts(&self, ticket: &Ticket) -> bool {
        ticket.intended_ns >= self.context.counted_from_ns
    }

    /// Check and count one reply.
    #[inline(always)]
    fn reply(&mut self, call: &mut Call<S::Mark>, message: &[u8]) -> ControlFlow<()> {
        if S::READS {
            self.context.script.reply(call.mark, call.replies, message);
        }
        if let Err(mismatch) = call.expected.check(call.replies, message) {
            call.wrong(&mismatch);
        }
        call.replies += 1;
        if call.replies == self.context.rules.enough_replies {
            call.enough = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Checks and counts replies of the same form that follow the last one; `last` ends with that one's message.
    #[inline]
    fn run(
        &mut self,
        call: &mut Call<S::Mark>,
        last: &[u8],
        message: usize,
        bytes: &[u8],
    ) -> usize {
        if S::READS || self.context.rules.enough_replies > 0 {
            return 0;
        }
        let run = call.expected.run(call.replies);
        let count = run.map_or(0, |run| run.count(last, message, bytes));
        call.replies += count as u64;
        count
    }

    /// Checks and counts the messages in one piece of DATA, which may hold several or a part of
    /// one.
    #[inline(never)]
    fn split(
        &mut self,
        call: &mut Call<S::Mark>,
        data: &[u8],
    ) -> Result<ControlFlow<()>, SplitError> {
        let before = call.replies;
        let (max_message, budget) = (self.context.rules.max_message, self.budget);
        let mut splitter = std::mem::take(&mut call.splitter);
        let mut replies = Replies { sink: self, call };
        let flow = splitter.push(data, max_message, budget, &mut replies);
        call.splitter = splitter;
        if !data.is_empty() && self.counts(&call.ticket) {
            let came = call.replies - before;
            self.more_frames = self.more_frames.wrapping_add(1).wrapping_sub(came);
        }
        flow
    }

    /// Messages of one piece came at one moment: only the first has a gap to measure.
    #[inline(always)]
    fn time(&mut self, call: &mut Call<S::Mark>, before: u64, came: u64) {
        let now_ns = self.now_ns;
        if before == 0 {
            if self.context.rules.times_first {
                self.context
                    .recorder
                    .first_message(now_ns.saturating_sub(call.ticket.sent_ns));
            }
            self.together += came - 1;
        } else if call.last_ns == now_ns {
            self.together += came;
        } else {
            self.context
                .recorder
                .gap(now_ns.saturating_sub(call.last_ns));
            self.together += came - 1;
        }
        call.last_ns = now_ns;
        self.came += came;
        if self.context.pacer.is_some() {
            self.answer(call, before, came);
        }
    }

    /// Counts what the read brought: once per read, not once per message.
    pub fn settle(self) {
        let frames = self.came.wrapping_add(self.more_frames);
        if frames > 0 {
            self.context
                .recorder
                .messages(self.came, frames, self.now_ns);
            self.context.recorder.zero_gaps(self.together);
        }
    }
}

/// The replies of a call that come in one piece.
struct Replies<'s, 'a, B, S: Script> {
    sink: &'s mut Sink<'a, B, S>,
    call: &'s mut Call<S::Mark>,
}

impl<B: Recorder, S: Script> Take<()> for Replies<'_, '_, B, S> {
    #[inline]
    fn message(&mut self, is_compressed: bool, message: &[u8]) -> ControlFlow<()> {
        if !is_compressed {
            return self.sink.reply(self.call, message);
        }
        let mut inflated = std::mem::take(&mut self.sink.context.inflated);
        let max = self.sink.context.rules.max_message;
        let encoding = self.call.encoding;
        let flow = match encoding.decode(message, max, &mut inflated, self.sink.budget) {
            Ok(()) => {
                if self.sink.counts(&self.call.ticket) {
                    let (wire, whole) = (message.len() as u64, inflated.len() as u64);
                    self.sink.context.recorder.compressed(wire, whole);
                }
                self.sink.reply(self.call, &inflated)
            }
            Err(error) => {
                let Status { code, message } = error.into();
                self.call.blame(code, message);
                ControlFlow::Break(())
            }
        };
        inflated.rewind();
        self.sink.context.inflated = inflated;
        flow
    }

    #[inline]
    fn run(&mut self, last: &[u8], rest: &[u8]) -> usize {
        let message = last.len() - PREFIX_LEN;
        self.sink.run(self.call, last, message, rest) * last.len()
    }
}
