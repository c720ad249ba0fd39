//! A client's connection over HTTP/1.1 without its socket, for the service of items: bytes in, bytes out.
//!
//! One request at a time: those that a client has already sent wait for the answer before theirs.

mod head;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use super::config::Rules;
use super::counts::Counts;
use super::farewell::End;
use super::faults::Fault;
use super::items::{Exchange, Head, Items};
use super::outbox::{Mark, Outbox};
use super::turn::GARBAGE;
use head::{Framing, Parsed};

/// The longest head of a request, and the longest trailers, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The longest line before a chunk, in bytes.
const MAX_CHUNK_LINE: usize = 256;
/// If this many bytes wait, the connection takes no more input.
const INPUT_STOP: usize = 128 << 10;

/// The server's side of one HTTP/1.1 connection. Its methods are those of [`super::ServerSide`].
pub(super) struct Http1 {
    rules: Arc<Rules>,
    items: Items,
    /// What the client has sent, from `at` on.
    input: Vec<u8>,
    at: usize,
    stage: Stage,
    exchange: Exchange,
    fault: Option<Fault>,
    is_late: bool,
    /// Close after this answer.
    is_last: bool,
    /// Requests before the connection is closed.
    requests_left: Option<u64>,
    outbox: Outbox,
    end: End,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    /// So many bytes of the body.
    Body(u64),
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line end of a chunk.
    ChunkEnd,
    Trailers,
    /// The answer, at this time.
    Late(u64),
    /// Nothing.
    Over,
}

/// The request breaks the protocol: it gets this status, and the connection ends.
struct Refused(u16);

impl Http1 {
    pub(super) fn new(rules: Arc<Rules>) -> Self {
        Self {
            items: Items::new(&rules.store),
            input: Vec::new(),
            at: 0,
            stage: Stage::Head,
            exchange: Exchange::default(),
            fault: None,
            is_late: false,
            is_last: false,
            requests_left: rules.faults.goaway_after.map(Into::into),
            outbox: Outbox::default(),
            end: End::Open,
            rules,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8], now_ns: u64, counts: &mut Counts) {
        if self.stage == Stage::Over {
            return;
        }
        self.input.extend_from_slice(bytes);
        self.go_on(now_ns, counts);
    }

    /// Sends a late answer whose time has come, and handles what waited behind it.
    pub(super) fn advance(&mut self, now_ns: u64, counts: &mut Counts) {
        if matches!(self.stage, Stage::Late(due) if due <= now_ns) {
            self.answer();
            self.go_on(now_ns, counts);
        }
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        match self.stage {
            Stage::Late(due) => Some(due),
            _ => None,
        }
    }

    pub(super) fn wants_input(&self) -> bool {
        self.outbox.pending().len() < INPUT_STOP && self.input.len() - self.at < INPUT_STOP
    }

    pub(super) fn output(&self) -> &[u8] {
        self.outbox.pending()
    }

    /// The first `n` bytes are written: that makes room for answers to what has been received.
    pub(super) fn consume_output(&mut self, n: usize, now_ns: u64, counts: &mut Counts) {
        self.outbox.consume(n, counts);
        if self.at < self.input.len() {
            self.go_on(now_ns, counts);
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.end, End::Refused | End::Cut) && self.outbox.pending().is_empty()
    }

    pub(super) fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    pub(super) fn lost(self, counts: &mut Counts) {
        let is_begun = !matches!(self.stage, Stage::Head | Stage::Over);
        let open = self.outbox.unwritten_calls() + u64::from(is_begun || self.is_hung());
        match self.end {
            End::Open => counts.calls_reset += open,
            End::Refused | End::Cut | End::Silent => counts.calls_failed += open,
        }
    }

    /// A fault has ended the connection in the middle of a request, or leaves it unanswered.
    fn is_hung(&self) -> bool {
        self.stage == Stage::Over && self.fault.is_some()
    }

    /// Handles what has been received, as far as possible.
    fn go_on(&mut self, now_ns: u64, counts: &mut Counts) {
        while self.outbox.pending().len() < INPUT_STOP {
            match self.step(now_ns, counts) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Refused(status)) => {
                    if self.stage == Stage::Head {
                        counts.calls_started += 1;
                    }
                    self.exchange.begin(Head::NOTHING);
                    self.exchange
                        .answer
                        .error(status, "the request is not valid HTTP/1.1");
                    (self.fault, self.is_last) = (None, true);
                    self.answer();
                }
            }
        }
        if self.at == self.input.len() || self.at >= INPUT_STOP || self.stage == Stage::Over {
            self.input.drain(..self.at);
            self.at = 0;
        }
    }

    /// One step; `false`: more input is needed, or time, or nothing at all.
    fn step(&mut self, now_ns: u64, counts: &mut Counts) -> Result<bool, Refused> {
        let input = self.input.get(self.at..).unwrap_or_default();
        match self.stage {
            Stage::Late(_) | Stage::Over => return Ok(false),
            Stage::Head => {
                let Some(parsed) = head::parse(input, MAX_HEAD)? else {
                    return Ok(false);
                };
                self.at += parsed.length;
                self.begin(&parsed, counts);
            }
            Stage::Body(0) => self.end_request(now_ns, counts),
            Stage::Body(left) => return Ok(self.body(left, Stage::Body)),
            Stage::ChunkSize => match httparse::parse_chunk_size(input) {
                Ok(httparse::Status::Complete((length, size))) => {
                    self.at += length;
                    self.stage = match size {
                        0 => Stage::Trailers,
                        size => Stage::Chunk(size),
                    };
                }
                Ok(httparse::Status::Partial) if input.len() <= MAX_CHUNK_LINE => return Ok(false),
                Ok(httparse::Status::Partial) | Err(_) => return Err(Refused(400)),
            },
            Stage::Chunk(0) => self.stage = Stage::ChunkEnd,
            Stage::Chunk(left) => return Ok(self.body(left, Stage::Chunk)),
            Stage::ChunkEnd => match input {
                [b'\r', b'\n', ..] => {
                    self.at += 2;
                    self.stage = Stage::ChunkSize;
                }
                [] | [b'\r'] => return Ok(false),
                _ => return Err(Refused(400)),
            },
            Stage::Trailers => {
                let Some(length) = head::trailers(input, MAX_HEAD)? else {
                    return Ok(false);
                };
                self.at += length;
                self.end_request(now_ns, counts);
            }
        }
        Ok(true)
    }

    /// A request begins.
    fn begin(&mut self, parsed: &Parsed, counts: &mut Counts) {
        counts.calls_started += 1;
        let fate = self.rules.draw_fate(parsed.head.hit());
        (self.fault, self.is_late) = (fate.fault, fate.is_late);
        if let Some(left) = &mut self.requests_left {
            *left = left.saturating_sub(1);
        }
        self.is_last = parsed.is_last || self.requests_left == Some(0);
        self.exchange.begin(parsed.head);
        self.stage = match parsed.framing {
            Framing::Length(length) => Stage::Body(length),
            Framing::Chunked => Stage::ChunkSize,
        };
        if parsed.wants_continue {
            write::continue_100(self.outbox.buffer());
        }
    }

    /// Takes what has come of `left` bytes of the body, after which it is at another stage; `false` if nothing came.
    fn body(&mut self, left: u64, stage: fn(u64) -> Stage) -> bool {
        let input = self.input.get(self.at..).unwrap_or_default();
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        let data = input.get(..n).unwrap_or_default();
        self.exchange.take(data, &self.rules.budget);
        self.at += n;
        if self.exchange.answer.is_made() {
            // The rest of a body that is too long is not read.
            self.is_last = true;
            self.answer();
        }
        let is_on = n > 0 && self.stage != Stage::Over;
        if is_on {
            self.stage = stage(left - n as u64);
        }
        is_on
    }

    /// The request is complete.
    fn end_request(&mut self, now_ns: u64, counts: &mut Counts) {
        self.exchange.end(self.fault, &self.items, counts);
        match self.rules.answered_ns(self.is_late, now_ns) {
            Some(due_ns) => self.stage = Stage::Late(due_ns),
            None => self.answer(),
        }
    }

    /// Writes the answer, or makes the fault that there is instead of one.
    fn answer(&mut self) {
        self.stage = Stage::Over;
        match self.fault {
            Some(Fault::Unanswered) => return,
            Some(Fault::Garbage) => {
                self.outbox.buffer().extend_from_slice(GARBAGE);
                self.end = End::Silent;
                return;
            }
            Some(Fault::Reset | Fault::Close) => {
                self.end = End::Cut;
                return;
            }
            _ => self.fault = None,
        }
        let answer = &self.exchange.answer;
        write::answer(self.outbox.buffer(), answer, self.is_last);
        self.outbox.mark(match answer.is_good() {
            true => Mark::CallOk,
            false => Mark::CallFailed,
        });
        if answer.is_cut {
            self.end = End::Cut;
        } else if self.is_last {
            self.end = End::Refused;
        } else {
            self.stage = Stage::Head;
        }
    }
}
