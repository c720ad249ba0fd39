//! From bytes to events.

use super::chunk;
use super::client::{Connection, Phase};
use super::error::Violation;
use super::gather::{Until, is_end};
use super::head::{self, Framing, Head};
use super::seen::{Known, place};
use crate::http2::{Closed, Handler, Next};

/// How every response begins.
const PREFIX: &[u8] = b"HTTP/1.";

impl<C> Connection<C> {
    /// Takes what was read from the peer, cut anywhere.
    ///
    /// For a request, the order is: `on_headers` (not called for 1xx), any number of `on_data`, `on_headers` again if
    /// there are trailers, then `on_closed` once; the last one before it says that it ends. After a
    /// [`Next::Cancel`] before the end, whatever its code, the connection is of no use.
    ///
    /// # Errors
    ///
    /// The rule that the peer broke. Every further call returns the same error. Get the request that is still open with
    /// [`take_call`](Self::take_call).
    pub fn receive<H: Handler<C>>(
        &mut self,
        bytes: &[u8],
        handler: &mut H,
    ) -> Result<(), Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.step(rest, handler) {
                Ok(rest) => rest,
                Err(violation) => {
                    self.violation = Some(violation);
                    return Err(violation);
                }
            };
        }
        Ok(())
    }

    /// The peer closed the connection, or its half of it. A body without a length is complete by that.
    ///
    /// # Errors
    ///
    /// It closed before the end of a response: get the request with [`take_call`](Self::take_call). Or the error that
    /// [`receive`](Self::receive) has returned before.
    pub fn end_of_stream<H: Handler<C>>(&mut self, handler: &mut H) -> Result<(), Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        self.keeps_alive = false;
        let violation = match self.phase {
            Phase::Idle | Phase::Over => return Ok(()),
            Phase::UntilClose => {
                self.on_data(&[], true, handler);
                return Ok(());
            }
            Phase::Head if !self.has_begun => Violation::ClosedBefore,
            Phase::Head => Violation::ClosedInHead,
            _ => Violation::ClosedInBody,
        };
        self.violation = Some(violation);
        Err(violation)
    }

    /// Handles the first of the bytes, of which there is at least one. Returns the rest.
    #[inline]
    fn step<'a, H: Handler<C>>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut H,
    ) -> Result<&'a [u8], Violation> {
        match self.phase {
            Phase::Idle => Err(Violation::Unasked),
            Phase::Over => Ok(&[]),
            Phase::Head => self.head(bytes, handler),
            Phase::Length(left) => {
                let (content, rest, left) = split(bytes, left);
                self.phase = Phase::Length(left);
                self.on_data(content, left == 0, handler);
                Ok(rest)
            }
            Phase::UntilClose => {
                self.on_data(bytes, false, handler);
                Ok(&[])
            }
            Phase::ChunkLine => self.chunk_line(bytes),
            Phase::Chunk(left) => {
                let (content, rest, left) = split(bytes, left);
                self.phase = match left {
                    0 => Phase::ChunkEnd,
                    left => Phase::Chunk(left),
                };
                self.on_data(content, false, handler);
                Ok(rest)
            }
            Phase::ChunkEnd => self.chunk_end(bytes),
            Phase::Trailers => self.trailers(bytes, handler),
        }
    }

    fn head<'a, H: Handler<C>>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut H,
    ) -> Result<&'a [u8], Violation> {
        self.has_begun = true;
        let waiting = self.gather.waiting().len();
        let mut known = Known::default();
        if waiting == 0 {
            let seen = &self.heads[place(bytes)];
            if let Some((head, rest)) = seen.again(bytes) {
                self.begin_body(place(bytes), head, handler);
                return Ok(rest);
            }
            known = seen.known(bytes);
        }
        let expected = PREFIX.get(waiting..).unwrap_or_default();
        if !expected.iter().zip(bytes).all(|(a, b)| a == b) {
            return Err(Violation::NotHttp1);
        }
        let limit = self.most_head;
        let too_long = Violation::HeadTooLarge { limit };
        let gathered = self
            .gather
            .take(bytes, known.end, Until::EmptyLine, limit, too_long)?;
        let Some((whole, rest)) = gathered else {
            return Ok(&[]);
        };
        let place = place(whole);
        let head = self.heads[place].read(whole, known)?;
        match head.status {
            101 => return Err(Violation::SwitchedProtocols),
            // The final head is still to come.
            100..200 => return Ok(rest),
            _ => {}
        }
        self.begin_body(place, head, handler);
        Ok(rest)
    }

    /// The head of the response is the last one at this place.
    #[inline]
    fn begin_body<H: Handler<C>>(&mut self, place: usize, head: Head, handler: &mut H) {
        self.keeps_alive &= head.keeps_alive;
        let framing = head.framing(self.is_head_request);
        self.phase = match framing {
            Framing::Length(length) => Phase::Length(length),
            Framing::Chunked => Phase::ChunkLine,
            Framing::UntilClose => {
                self.keeps_alive = false;
                Phase::UntilClose
            }
        };
        let ends = framing == Framing::Length(0);
        if let Some(call) = &mut self.call {
            let next = handler.on_headers(call, &self.heads[place].fields, ends);
            self.after(next, ends, handler);
        }
    }

    #[inline]
    fn chunk_line<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Violation> {
        let limit = chunk::MOST_LINE;
        let too_long = Violation::ChunkLineTooLong { limit };
        let gathered = self
            .gather
            .take(bytes, 0, Until::LineEnd, limit, too_long)?;
        let Some((line, rest)) = gathered else {
            return Ok(&[]);
        };
        self.phase = match chunk::size(line)? {
            0 => Phase::Trailers,
            size => Phase::Chunk(size),
        };
        Ok(rest)
    }

    #[inline]
    fn chunk_end<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Violation> {
        let gathered = self
            .gather
            .take(bytes, 0, Until::LineEnd, 2, Violation::ChunkEnd)
            .map_err(|_| Violation::ChunkEnd)?;
        let Some((line, rest)) = gathered else {
            return Ok(&[]);
        };
        if !line.strip_suffix(b"\n").is_some_and(is_end) {
            return Err(Violation::ChunkEnd);
        }
        self.phase = Phase::ChunkLine;
        Ok(rest)
    }

    fn trailers<'a, H: Handler<C>>(
        &mut self,
        bytes: &'a [u8],
        handler: &mut H,
    ) -> Result<&'a [u8], Violation> {
        let limit = self.most_head;
        let too_long = Violation::TrailersTooLarge { limit };
        let gathered = self
            .gather
            .take(bytes, 0, Until::EmptyLine, limit, too_long)?;
        let Some((section, rest)) = gathered else {
            return Ok(&[]);
        };
        if section.strip_suffix(b"\n").is_some_and(is_end) {
            self.on_data(&[], true, handler);
            return Ok(rest);
        }
        head::read_trailers(section, &mut self.trailers)?;
        if let Some(call) = &mut self.call {
            let next = handler.on_headers(call, &self.trailers, true);
            self.after(next, true, handler);
        }
        Ok(rest)
    }

    #[inline]
    fn on_data<H: Handler<C>>(&mut self, content: &[u8], ends: bool, handler: &mut H) {
        if let Some(call) = &mut self.call {
            let next = handler.on_data(call, content, ends);
            self.after(next, ends, handler);
        }
    }

    /// Handles the handler's decision after an event.
    #[inline]
    fn after<H: Handler<C>>(&mut self, next: Next, ends: bool, handler: &mut H) {
        if !ends && next == Next::Continue {
            return;
        }
        let why = match next {
            Next::Continue => Closed::Ended,
            Next::Cancel(_) => Closed::Cancelled,
        };
        if ends && self.is_sent() {
            self.phase = Phase::Idle;
        } else {
            self.abandon();
        }
        if let Some(mut call) = self.call.take() {
            handler.on_closed(&mut call, why);
        }
    }
}

/// The bytes of a body that has so many left, those behind it, and how many are still left.
#[inline]
fn split(bytes: &[u8], left: u64) -> (&[u8], &[u8], u64) {
    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    let (content, rest) = bytes.split_at(here);
    (content, rest, left - here as u64)
}
