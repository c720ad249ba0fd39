//! The counting methods that the load loop calls for every call and every read.

use volley_http::grpc::Code;

use super::details::Kept;
use super::tally::Counted;
use super::{Awaits, Cause, Compressed, Cut, DetailOutcome, Ended, Outcome, Tally};

/// A call that is sent later than this after it was due counts as late, in nanoseconds.
pub const LATE_NS: u64 = 1_000_000;

impl Tally {
    /// A call was sent; counts only its first try.
    #[inline]
    pub fn sent(&mut self, intended_ns: u64, now_ns: u64) {
        let delay_ns = now_ns.saturating_sub(intended_ns);
        if let Some(delay) = &mut self.counted.delay {
            delay.record(delay_ns);
        }
        let late = u64::from(delay_ns > LATE_NS);
        self.counted.counts.sent += 1;
        self.counted.counts.late += late;
        let bin = self.bin(now_ns);
        bin.sent += 1;
        bin.late += late;
    }

    /// `n` replies were received in `frames` DATA frames with content, whatever becomes of their
    /// calls. A frame may hold several replies, or a part of one.
    #[inline]
    pub fn messages(&mut self, n: u64, frames: u64, now_ns: u64) {
        self.counted.life.heard(now_ns);
        self.counted.counts.messages += n;
        self.counted.counts.data_frames += frames;
        self.bin(now_ns).messages += n;
    }

    /// One of these replies was compressed: its bytes on the wire, and what they became.
    pub fn compressed(&mut self, wire_bytes: u64, bytes: u64) {
        self.counted.compressed.add(&Compressed {
            messages: 1,
            wire_bytes,
            bytes,
        });
    }

    /// The time between two replies of one stream that were read separately.
    #[inline]
    pub fn gap(&mut self, ns: u64) {
        self.counted.gap.record(ns);
    }

    /// `n` replies were read together with the one before them.
    #[inline]
    pub fn zero_gaps(&mut self, n: u64) {
        self.counted.gap.record_zeros(n);
    }

    /// The time from a call's sending to its first reply.
    #[inline]
    pub fn first_message(&mut self, ns: u64) {
        self.counted.first_message.record(ns);
    }

    /// A call ended. Its end decides in which bin and second it is counted, even after the window.
    #[inline]
    pub fn ended(&mut self, call: &Ended) {
        if self.still_to_skip > 0 {
            self.still_to_skip -= 1;
            self.counted.counts.skipped += 1;
            return;
        }
        match &call.outcome {
            Outcome::Ok => {
                self.counted.life.heard(call.end_ns);
                self.counted.counts.ok += 1;
                self.bin(call.end_ns).ok += 1;
                self.time(call);
                if !self.counted.details.is_full() {
                    self.keep(call, DetailOutcome::Ok);
                }
            }
            Outcome::Failed { code, error, cause } => self.fail(call, *code, error, *cause),
        }
    }

    /// One call was still open when the window closed. It is kept among the single calls, and its age is among the
    /// latencies.
    pub fn cut_call(&mut self, cut: &Cut) {
        let age_ns = |from_ns| cut.at_ns.saturating_sub(from_ns);
        let from_ns = self.timed_from(cut.intended_ns, cut.sent_ns);
        let counted = &mut self.counted;
        counted.counts.cut += 1;
        counted.details.keep(Kept {
            end_ns: cut.at_ns,
            latency_ns: age_ns(from_ns),
            outcome: DetailOutcome::Cut,
        });
        let heard_ns = match cut.awaits {
            Awaits::NextReply { since_ns } => since_ns,
            Awaits::FirstReply | Awaits::End => cut.sent_ns,
        };
        counted.life.unanswered(heard_ns, cut.at_ns);
        counted.age(cut.intended_ns, cut.sent_ns, cut.at_ns);
        match cut.awaits {
            Awaits::FirstReply => counted.first_message.record_open(age_ns(cut.sent_ns), 1),
            Awaits::NextReply { since_ns } => counted.gap.record_open(age_ns(since_ns), 1),
            Awaits::End => {}
        }
    }

    /// So many calls were due inside the window, at about that time, and were not sent by its end.
    pub fn missed(&mut self, intended_ns: u64, at_ns: u64, count: u64) {
        self.counted.counts.missed += count;
        let age_ns = at_ns.saturating_sub(intended_ns);
        let times = [&mut self.counted.response, &mut self.counted.delay];
        for times in times.into_iter().flatten() {
            times.record_open(age_ns, count);
        }
    }

    /// Nothing could be sent from a moment to the end: a connection was lost.
    pub fn without_connection(&mut self, since_ns: u64, at_ns: u64) {
        self.counted.life.unanswered(since_ns, at_ns);
    }

    /// `n` calls were sent again because the server had not begun them.
    pub fn retried(&mut self, n: u64) {
        self.counted.counts.retried += n;
    }

    /// A call got a wrong reply, which `what` describes. Call it once per such call, just before
    /// its end is counted: a skipped call is not a failed check.
    #[cold]
    pub fn wrong_reply(&mut self, now_ns: u64, what: &str) {
        if self.still_to_skip == 0 {
            self.counted.checks.count(now_ns, what);
        }
    }

    /// The start of a call's main latency.
    #[inline]
    fn timed_from(&self, intended_ns: u64, sent_ns: u64) -> u64 {
        let open_loop = self.counted.response.is_some();
        if open_loop { intended_ns } else { sent_ns }
    }

    /// Records the latencies of a call that counts.
    #[inline]
    fn time(&mut self, call: &Ended) {
        let service_ns = call.end_ns.saturating_sub(call.sent_ns);
        self.counted.service.record(service_ns);
        let mut latency_ns = service_ns;
        if let Some(response) = &mut self.counted.response {
            latency_ns = call.end_ns.saturating_sub(call.intended_ns);
            response.record(latency_ns);
        }
        self.record(latency_ns);
    }

    #[cold]
    fn fail(&mut self, call: &Ended, code: Code, error: &str, cause: Cause) {
        self.bin(call.end_ns).failed += 1;
        let counted = &mut self.counted;
        counted.counts.failed += 1;
        *counted.failed.entry(code).or_default() += 1;
        match cause {
            Cause::Answer | Cause::Late => counted.life.heard(call.end_ns),
            Cause::TimedOut | Cause::Lost => counted.life.unanswered(call.sent_ns, call.end_ns),
            Cause::Own => {}
        }
        let error = counted.errors.count(error);
        match cause {
            _ if self.count_errors => self.time(call),
            Cause::Late | Cause::TimedOut => {
                counted.age(call.intended_ns, call.sent_ns, call.end_ns);
            }
            Cause::Answer | Cause::Lost | Cause::Own => {}
        }
        self.keep(call, DetailOutcome::Failed { code, error });
    }

    fn keep(&mut self, call: &Ended, outcome: DetailOutcome) {
        let from_ns = self.timed_from(call.intended_ns, call.sent_ns);
        self.counted.details.keep(Kept {
            end_ns: call.end_ns,
            latency_ns: call.end_ns.saturating_sub(from_ns),
            outcome,
        });
    }
}

impl Counted {
    /// A call that began at these moments had no end by that one.
    fn age(&mut self, intended_ns: u64, sent_ns: u64, at_ns: u64) {
        self.service.record_open(at_ns.saturating_sub(sent_ns), 1);
        if let Some(response) = &mut self.response {
            response.record_open(at_ns.saturating_sub(intended_ns), 1);
        }
    }
}
