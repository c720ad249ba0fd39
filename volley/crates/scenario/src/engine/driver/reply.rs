//! The responses of gRPC calls.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::Core;
use crate::engine::flight::{Fault, Flight, FlightKey, index};
use crate::tally::Reason;
use volley_base::budget::{Budget, Buffer};
use volley_http::grpc::encoding::DecodeError;
use volley_http::grpc::{Code, PREFIX_LEN, SplitError, Take, heads, status};
use volley_http::http2::frame::HEADER_LEN;
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{ErrorCode, Next};

impl Core<'_> {
    /// A call's headers or trailers came.
    #[inline]
    pub(super) fn grpc_head(&mut self, key: FlightKey, fields: &HeaderList, end: bool) -> Next {
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        if flight.answered && end && heads::went_well(fields) {
            flight.status = Some(Code::Ok as u16);
            self.check_body(key.0 as usize, Some(fields));
            return Next::Continue;
        }
        let status = match flight.answered {
            true => end.then(|| heads::trailers(fields)),
            false => {
                let (encoding, status) = heads::begun(fields, end);
                flight.encoding = encoding;
                status
            }
        };
        if !std::mem::replace(&mut flight.answered, true) {
            self.read_head(key, fields);
        }
        let Some((status, flight)) = status.zip(self.flights.get_mut(key.0 as usize)) else {
            return Next::Continue;
        };
        flight.status = Some(status.code as u16);
        if !end && status::has_grpc(fields) {
            flight.stated = Some(Box::new(fields.clone()));
            return Next::Continue;
        }
        if fields.get(b"grpc-status").is_none() {
            // It is no gRPC status: why it counts as this one.
            let step = self.plan.steps.get(flight.step);
            let expected = step.and_then(|step| step.expect.code).unwrap_or(0);
            if status.code as u16 != expected {
                flight.blame(Reason::Status, status.message);
            }
        }
        self.check_body(key.0 as usize, Some(fields));
        match end {
            true => Next::Continue,
            false => Next::Cancel(ErrorCode::Cancel), // what follows is not gRPC
        }
    }

    /// A piece of a call's replies came.
    #[inline]
    pub(super) fn grpc_data(&mut self, key: FlightKey, data: &[u8], now_ns: u64) -> Next {
        let Self {
            flights,
            plan,
            budget,
            inflated,
            ..
        } = self;
        let Some(flight) = flights.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        let most = plan.limits.body;
        if let Some(message) = flight.splitter.only_message(data, most) {
            return flight.reply(message, now_ns, budget);
        }
        let mut splitter = std::mem::take(&mut flight.splitter);
        let mut replies = Replies {
            flight,
            inflated,
            budget,
            most,
            now_ns,
        };
        let flow = splitter.push(data, most, budget, &mut replies);
        flight.splitter = splitter;
        match flow {
            Ok(ControlFlow::Continue(())) => Next::Continue,
            Ok(ControlFlow::Break(())) => Next::Cancel(ErrorCode::Cancel),
            Err(SplitError::TooLong { length, max }) => {
                let words =
                    format!("a reply of {length} bytes is over the limit of {max} (`limits.body`)");
                flight.blame(Reason::BodyTooLarge, words);
                Next::Cancel(ErrorCode::Cancel)
            }
            Err(error) => {
                let reason = match error {
                    SplitError::OverBudget(_) => Reason::OverBudget,
                    _ => Reason::Protocol,
                };
                flight.blame(reason, error.to_string());
                Next::Cancel(ErrorCode::Cancel)
            }
        }
    }

    /// Replies of the same form that follow the last one: how many of them are as expected.
    #[inline]
    pub(super) fn grpc_run(&mut self, key: FlightKey, last: &[u8], frames: &[u8]) -> usize {
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return 0;
        };
        let payload = last.get(HEADER_LEN..).unwrap_or_default();
        match flight.splitter.only_message(payload, self.plan.limits.body) {
            Some(message) if !flight.keeps_reply => {
                let count = flight.run(last, message.len(), frames);
                flight.received += (count * payload.len()) as u64;
                count
            }
            _ => 0,
        }
    }

    /// A call ended well, as far as HTTP/2 knows. `code`: what its step expects.
    #[inline]
    pub(super) fn grpc_ended(flight: &mut Flight, code: Option<u16>) {
        if flight.status.is_none() {
            let internal = Code::Internal as u16;
            flight.status = Some(internal);
            if code != Some(internal) {
                let words = "the server closed the stream without sending trailers";
                flight.blame(Reason::Status, words.to_owned());
            }
        }
        if !flight.splitter.is_between_messages() {
            flight.blame(Reason::Protocol, "the last reply is cut".to_owned());
        }
        let expected = flight
            .expected
            .as_ref()
            .and_then(|expected| expected.replies());
        if let Some(expected) = expected
            && flight.status == Some(0)
            && expected != flight.replies
        {
            let words = format!("{} instead of {expected}", flight.replies);
            flight.blame(Reason::Replies, words);
        }
    }
}

impl Flight {
    /// Notes what is wrong: the first thing, and others only if all is kept.
    #[cold]
    pub fn blame(&mut self, reason: Reason, words: String) {
        match (&self.failure, &mut self.exchange) {
            (None, _) => self.failure = Some(Box::new(Fault::new(reason, words))),
            (Some(_), Some(exchange)) => {
                if exchange.later.iter().all(|(known, _)| *known != reason) {
                    exchange.later.push((reason, words));
                }
            }
            (Some(_), None) => {}
        }
    }

    /// Takes one reply.
    #[inline]
    fn reply(&mut self, message: &[u8], now_ns: u64, budget: &Arc<Budget>) -> Next {
        if let Some(expected) = &self.expected
            && let Err(mismatch) = expected.check(self.replies, message)
        {
            let place = expected.place(&mismatch);
            let reason = place.map_or(Reason::Decoding, |place| Reason::Each(index(place)));
            self.blame(reason, mismatch.to_string());
        }
        self.first_ns.get_or_insert(now_ns);
        self.replies += 1;
        if self.keeps_reply {
            self.body.rewind();
            if let Err(error) = self.body.extend(message, message.len(), budget) {
                self.blame(Reason::OverBudget, error.to_string());
                return Next::Cancel(ErrorCode::Cancel);
            }
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.reply = message.into();
        }
        Next::Continue
    }

    /// Takes replies of the same form as the last one.
    #[inline]
    fn run(&mut self, last: &[u8], message: usize, bytes: &[u8]) -> usize {
        let run = self
            .expected
            .as_ref()
            .and_then(|expected| expected.run(self.replies));
        let count = run.map_or(0, |run| run.count(last, message, bytes));
        self.replies += count as u64;
        count
    }
}

fn flow(next: Next) -> ControlFlow<()> {
    match next {
        Next::Continue => ControlFlow::Continue(()),
        Next::Cancel(_) => ControlFlow::Break(()),
    }
}

/// The replies of a call that come in one piece.
struct Replies<'s> {
    flight: &'s mut Flight,
    inflated: &'s mut Buffer,
    budget: &'s Arc<Budget>,
    most: usize,
    now_ns: u64,
}

impl Take<()> for Replies<'_> {
    #[inline]
    fn message(&mut self, is_compressed: bool, message: &[u8]) -> ControlFlow<()> {
        if !is_compressed {
            return flow(self.flight.reply(message, self.now_ns, self.budget));
        }
        let (most, encoding) = (self.most, self.flight.encoding);
        let next = match encoding.decode(message, most, self.inflated, self.budget) {
            Ok(()) => self.flight.reply(self.inflated, self.now_ns, self.budget),
            Err(error) => {
                let (reason, words) = match error {
                    DecodeError::TooLong { max } => (
                        Reason::BodyTooLarge,
                        format!(
                            "a decompressed reply is over the limit of {max} bytes (`limits.body`)"
                        ),
                    ),
                    DecodeError::OverBudget(error) => (Reason::OverBudget, error.to_string()),
                    error => (Reason::Decoding, error.to_string()),
                };
                self.flight.blame(reason, words);
                Next::Cancel(ErrorCode::Cancel)
            }
        };
        self.inflated.clear();
        flow(next)
    }

    #[inline]
    fn run(&mut self, last: &[u8], rest: &[u8]) -> usize {
        match self.flight.keeps_reply {
            true => 0,
            false => self.flight.run(last, last.len() - PREFIX_LEN, rest) * last.len(),
        }
    }
}
