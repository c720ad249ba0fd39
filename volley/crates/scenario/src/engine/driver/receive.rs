//! Reading: bytes come in, responses are held against what was expected, and iterations go on. What the server refused (after a
//! GOAWAY, for instance) is sent again.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Core, Driver};
use crate::engine::flight::{Fault, Flight, FlightKey};
use crate::engine::lost::{Remedies, fault};
use crate::engine::record;
use crate::plan::{HttpRequest, Request};
use crate::response::{End, Head};
use crate::tally::Reason;
use volley_http::http::{DecodeError, decode, follow};
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{Closed, ErrorCode, Handler, Next};
use volley_net as net;
use volley_net::{Event, Lost, Phase};

/// What is noted about a head: see [`is_bare`]. gRPC's notes are others.
const BARE: u8 = 0x80;

/// After so many tries, a refusal ends a request.
const MOST_REFUSALS: u8 = 10;

impl Driver<'_> {
    /// Handles what came of the sockets.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.net.next_event() {
            match event {
                Event::Mail | Event::Unblocked { .. } => {}
                Event::Connected { key, at_ns } => self.look_at_phase(key, at_ns),
                Event::Bytes { key, length, at_ns } => self.receive(key, length, at_ns),
                Event::Ended { key, lost, at_ns } => self.ended(key, lost, at_ns),
            }
        }
    }

    /// The server has closed a connection, or it is `lost`.
    #[cold]
    fn ended(&mut self, key: usize, lost: Option<Lost>, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let lost = wire.end(lost, &mut Sink::new(&mut self.core, now_ns));
        self.lose(key, fault(lost, &KEYS), now_ns);
    }

    /// Handles the bytes of one read.
    #[inline]
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) {
        let Self {
            net,
            core,
            common,
            pools,
            ..
        } = self;
        let Some(wire) = net.wires.get(key) else {
            return;
        };
        let (target, link) = (wire.owner.target, wire.owner.link);
        let mut sink = Sink::new(core, now_ns);
        let agree = |http: &mut _, alpn: Option<&[u8]>| match common.sites.get(target) {
            Some(site) => site.agree(http, alpn),
            None => Ok(()),
        };
        let fed = net.feed(key, length, agree, &mut sink);
        let has_head = sink.has_head;
        let Some(wire) = net.wires.get_mut(key) else {
            return;
        };
        if has_head
            && !std::mem::replace(&mut wire.owner.has_answered, true)
            && let Some(pool) = pools.get_mut(target)
            && let Some(link) = pool.links.get_mut(link)
        {
            link.place.answered(now_ns);
        }
        let is_settled = wire.phase == Phase::Ready && !wire.http.is_draining();
        if let Err(lost) = fed {
            self.ended(key, lost, now_ns);
            return;
        }
        core.freed.push((target, link));
        net.touch(key);
        if !is_settled {
            net.flush(key);
            self.look_at_phase(key, now_ns);
        }
        self.go_on(now_ns);
        self.net.flush_touched();
    }
}

/// What helps against errors, in the file.
const KEYS: Remedies = Remedies {
    tls: net::Remedies {
        authority: "`tls: {ca: FILE}` of the target",
        any: "`tls: {insecure: true}`",
        name: "`tls: {server_name: NAME}` of the target",
        plaintext: "write `http://`",
        identity: "`tls: {cert: FILE, key: FILE}` of the target",
    },
    http1: "`http: {version: 1}`",
    https: "`https://`",
    closed_early: [
        "if it speaks TLS, write `https://`",
        "if it speaks plaintext, write `http://`",
    ],
};

/// Handles the events of one read.
struct Sink<'s, 'a> {
    core: &'s mut Core<'a>,
    now_ns: u64,
    /// The head of a response came.
    has_head: bool,
}

impl<'s, 'a> Sink<'s, 'a> {
    fn new(core: &'s mut Core<'a>, now_ns: u64) -> Self {
        Self {
            core,
            now_ns,
            has_head: false,
        }
    }
}

impl Handler<FlightKey> for Sink<'_, '_> {
    fn on_headers(&mut self, call: &mut FlightKey, headers: &HeaderList, end_stream: bool) -> Next {
        self.has_head = true;
        self.core.head(*call, headers, end_stream, self.now_ns)
    }

    fn on_data(&mut self, call: &mut FlightKey, data: &[u8], end_stream: bool) -> Next {
        self.core.data(*call, data, end_stream, self.now_ns)
    }

    #[inline]
    fn on_run(&mut self, call: &mut FlightKey, last: &[u8], frames: &[u8]) -> usize {
        self.core.grpc_run(*call, last, frames)
    }

    fn on_closed(&mut self, call: &mut FlightKey, why: Closed) {
        self.core.closed(*call, why, self.now_ns);
    }
}

impl Core<'_> {
    /// A response's head came, or its trailers.
    #[inline]
    fn head(&mut self, key: FlightKey, fields: &HeaderList, end: bool, now_ns: u64) -> Next {
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        if let Some(exchange) = &mut flight.exchange {
            let of_response = match flight.answered {
                true => &mut exchange.trailers,
                false => &mut exchange.fields,
            };
            *of_response = record::fields(fields);
            exchange.is_answered = true;
        }
        if flight.expected.is_some() {
            return self.grpc_head(key, fields, end);
        }
        if std::mem::replace(&mut flight.answered, true) {
            self.check_body(key.0 as usize, Some(fields));
            return Next::Continue;
        }
        flight.first_ns = Some(now_ns);
        flight.status = fields.get(b":status").and_then(number);
        let status = flight.status.unwrap_or(0);
        let (Some(step), Some(iteration)) = (
            self.plan.steps.get(flight.step),
            self.iterations.get_mut(flight.iteration),
        ) else {
            return Next::Continue;
        };
        let site = self.sites.get(flight.target);
        let host = site.and_then(|site| site.hosts.get(flight.host));
        if !is_bare(fields)
            && let Some(host) = host
            && iteration.course.keeps_cookies(self.plan)
        {
            let set = fields.iter().filter(|(name, _)| *name == b"set-cookie");
            for (_, value) in set {
                iteration
                    .jar
                    .store(value, &host.url(&flight.path), unix_s());
            }
        }
        if let Request::Http(request) = &step.request
            && request.redirects > 0
            && let Some(follow) = follow(status, method(flight, request))
            && let Some(location) = fields.get(b"location")
            && self.redirect(key, location, follow, (request.redirects, &step.expect))
        {
            return Next::Continue;
        }
        self.read_head(key, fields);
        Next::Continue
    }

    /// Looks at what the head of a response brings.
    #[inline]
    pub(super) fn read_head(&mut self, key: FlightKey, fields: &HeaderList) {
        if self.lua.is_some() {
            self.keep_head(key, fields);
        }
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return;
        };
        let (Some(reading), Some(iteration)) = (
            self.readings.get_mut(flight.step),
            self.iterations.get_mut(flight.iteration),
        ) else {
            return;
        };
        if reading.reads_body() && flight.expected.is_none() {
            flight.coding = match is_bare(fields) {
                true => None,
                false => coding(fields),
            };
        }
        self.url.clear();
        if reading.reads_url()
            && let Some(site) = self.sites.get(flight.target)
            && let Some(host) = site.hosts.get(flight.host)
        {
            host.write_url(&flight.path, &mut self.url);
        }
        let head = Head {
            status: flight.status.unwrap_or(0),
            fields,
            url: &self.url,
        };
        reading.head(head, &mut iteration.values, &mut flight.verdicts);
    }

    #[inline]
    fn data(&mut self, key: FlightKey, data: &[u8], end: bool, now_ns: u64) -> Next {
        let Some(flight) = self.flights.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        flight.received += data.len() as u64;
        flight.heard_ns = now_ns;
        if flight.expected.is_some() {
            return self.grpc_data(key, data, now_ns);
        }
        if let Some(exchange) = &mut flight.exchange {
            exchange.reply.push(data);
        }
        let Some(reading) = self.readings.get_mut(flight.step) else {
            return Next::Continue;
        };
        if !reading.reads_body() || flight.moves.is_some() {
            return Next::Continue;
        }
        if flight.body.len() + data.len() > self.plan.limits.body {
            let words = format!(
                "the body is over the limit of {} bytes (`limits.body`)",
                self.plan.limits.body
            );
            let failure = Fault::new(Reason::BodyTooLarge, words);
            flight.failure.get_or_insert_with(|| Box::new(failure));
            return Next::Cancel(ErrorCode::Cancel);
        }
        if end && flight.body.is_empty() && flight.coding.is_none() && flight.kept.is_none() {
            if let Some(iteration) = self.iterations.get_mut(flight.iteration) {
                let end = End {
                    body: Some(data),
                    trailers: None,
                    code: None,
                };
                reading.end(end, &mut iteration.values, &mut flight.verdicts);
                flight.is_checked = true;
            }
            return Next::Continue;
        }
        match flight.body.extend(data, self.plan.limits.body, self.budget) {
            Ok(()) => Next::Continue,
            Err(error) => {
                flight.blame(Reason::OverBudget, error.to_string());
                Next::Cancel(ErrorCode::Cancel)
            }
        }
    }

    /// Looks at what the end of a response brings: trailers, and a body that was not looked at as it came.
    pub(super) fn check_body(&mut self, at: usize, trailers: Option<&HeaderList>) {
        let Some(flight) = self.flights.get_mut(at) else {
            return;
        };
        let (Some(reading), Some(iteration)) = (
            self.readings.get_mut(flight.step),
            self.iterations.get_mut(flight.iteration),
        ) else {
            return;
        };
        if flight.is_checked || flight.moves.is_some() {
            return;
        }
        let stated = flight.stated.take();
        let trailers = trailers.or(stated.as_deref());
        let is_grpc = flight.expected.is_some();
        let mut body = &*flight.body;
        // A response without a body, as to HEAD, may name a coding.
        if let Some(coding) = &flight.coding
            && !body.is_empty()
        {
            let (most, inflated) = (self.plan.limits.body, &mut self.inflated);
            let decoded = decode(coding, body, most, inflated, self.budget);
            if let Err(error) = decoded {
                inflated.clear();
                let reason = match error {
                    DecodeError::OverBudget(_) => Reason::OverBudget,
                    _ => Reason::Decoding,
                };
                flight.blame(reason, error.to_string());
                return;
            }
            std::mem::swap(&mut flight.body, inflated);
            inflated.clear();
            body = &flight.body;
        }
        let end = End {
            body: (!is_grpc || flight.replies > 0).then_some(body),
            trailers,
            code: flight.status.filter(|_| is_grpc),
        };
        reading.end(end, &mut iteration.values, &mut flight.verdicts);
        flight.is_checked = true;
    }

    #[inline]
    fn closed(&mut self, key: FlightKey, why: Closed, now_ns: u64) {
        let at = key.0 as usize;
        let Some(flight) = self.flights.get_mut(at) else {
            return;
        };
        let failure = match why {
            Closed::Ended if flight.moves.is_some() && flight.failure.is_none() => {
                flight.redirects += 1;
                flight.moved = flight.moves.take();
                (flight.answered, flight.status, flight.place) = (false, None, None);
                (flight.coding, flight.is_checked, flight.kept) = (None, false, None);
                flight.body.clear();
                flight.verdicts.clear();
                self.again.push((key.0, flight.serial));
                return;
            }
            Closed::Ended => {
                if flight.expected.is_some() {
                    let step = self.plan.steps.get(flight.step);
                    Self::grpc_ended(flight, step.and_then(|step| step.expect.code));
                }
                self.check_body(at, None);
                if self.lua.is_some() {
                    self.look(at);
                }
                None
            }
            Closed::Cancelled => None,
            Closed::Refused if flight.refusals < MOST_REFUSALS && !flight.answered => {
                flight.refusals += 1;
                flight.place = None;
                self.again.push((key.0, flight.serial));
                return;
            }
            Closed::Refused if flight.answered => Some(Fault::new(
                Reason::Reset,
                "the server refused it after its answer had begun".to_owned(),
            )),
            Closed::Refused => Some(Fault::new(
                Reason::GoAway,
                "the server refused it again and again".to_owned(),
            )),
            Closed::Reset(code) => Some(Fault::new(Reason::Reset, reset_words(code))),
            Closed::Malformed(rule) => Some(Fault::new(Reason::Protocol, rule.to_owned())),
        };
        let own = self
            .flights
            .get_mut(at)
            .map_or(Ok(()), |flight| flight.verdict());
        self.finish(at, own.and(failure.map_or(Ok(()), Err)), now_ns);
    }
}

/// The method that a request was sent with first.
fn method<'a>(flight: &'a Flight, request: &'a HttpRequest) -> &'a str {
    let rewritten = flight.rewritten.as_deref();
    let written = rewritten.and_then(|rewritten| rewritten.method.as_deref());
    written.unwrap_or(&request.method)
}

/// Whether a head has neither cookies nor encodings. That is noted: a server may send the same head again and again.
#[inline]
fn is_bare(fields: &HeaderList) -> bool {
    if fields.tag() == BARE {
        return true;
    }
    let mut names = fields.iter().map(|(name, _)| name);
    let is_bare = !names.any(|name| name == b"set-cookie" || name == b"content-encoding");
    if is_bare {
        fields.set_tag(BARE);
    }
    is_bare
}

/// All encodings of a body, which may be in several fields; `None`: it has none.
fn coding(fields: &HeaderList) -> Option<Box<[u8]>> {
    let named = fields
        .iter()
        .filter(|(name, _)| *name == b"content-encoding");
    let mut values = named.map(|(_, value)| value);
    let mut all = values.next()?.to_vec();
    for value in values {
        all.push(b',');
        all.extend_from_slice(value);
    }
    Some(all.into())
}

fn reset_words(code: Result<ErrorCode, u32>) -> String {
    match code {
        Ok(code) => format!("the server reset the stream: {code:?}"),
        Err(number) => format!("the server reset the stream with the unknown code {number}"),
    }
}

/// Seconds since 1970, for cookies.
fn unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

/// A status of three digits.
#[inline]
fn number(value: &[u8]) -> Option<u16> {
    value.iter().try_fold(0u16, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}
