//! The loop of a thread: coroutines go on, sockets are read and written, and then it sleeps.

use std::sync::Arc;

use slab::Slab;

use super::answer::Answer;
use super::kept::Kept;
use super::open_request::{MOST_BODY, OpenRequest};
use super::worker::{Mail, Worker};
use crate::engine::RunError;
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::lost::{Remedies, fault};
use crate::report::EndedBy;
use crate::tally::Reason;
use volley_base::budget::Budget;
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{Closed, ErrorCode, Handler, Next};
use volley_net as net;
use volley_net::{Event, Lost};

/// Signals, and what other threads do, are looked at so often.
const GLANCE_NS: u64 = 50_000_000;

/// What helps against errors, in the program and on the command line.
const REMEDIES: Remedies = Remedies {
    tls: net::Remedies {
        authority: "`--cacert`",
        any: "`--skipTLS`",
        name: "`:authority`",
        plaintext: "write `http`",
        identity: "`--cert` and `--key`",
    },
    http1: "`[\"x-protocol-to-use\"] = \"http/1.1\"`",
    https: "`[\":scheme\"] = \"https\"`",
    closed_early: ["check port, scheme and protocol"; 2],
};

/// Whether a request is not over, and no later one has its key.
pub fn is_open(calls: &Slab<OpenRequest>, key: u32, serial: u64) -> bool {
    let call = calls.get(key as usize);
    call.is_some_and(|call| call.serial == serial)
}

impl Worker {
    /// One turn. `Some`: it was the last one.
    pub(super) fn turn(&mut self) -> Result<Option<EndedBy>, RunError> {
        let now_ns = self.now_ns();
        if now_ns >= self.next_glance_ns {
            self.next_glance_ns = now_ns.saturating_add(GLANCE_NS);
            self.expect_greetings(now_ns);
        }
        self.ring(now_ns);
        self.go_on();
        self.net.flush_touched();
        if let Some(end) = self.end(now_ns) {
            return Ok(Some(end));
        }
        let wake_ns = self.next_wake_ns();
        self.net.wait(wake_ns, !self.ready.is_empty())?;
        self.open_mail(self.now_ns());
        while let Some(event) = self.net.next_event() {
            match event {
                Event::Mail | Event::Unblocked { .. } => {}
                Event::Connected { key, at_ns } => self.look_at(key, at_ns),
                Event::Bytes { key, length, at_ns } => self.receive(key, length, at_ns),
                Event::Ended { key, lost, at_ns } => self.ended(key, lost, at_ns),
            }
        }
        Ok(None)
    }

    fn next_wake_ns(&mut self) -> u64 {
        let calls = &self.calls;
        let is_open = |key, serial| is_open(calls, key, serial);
        let due = [self.timers.next_ns(), self.deadlines.next_ns(is_open)];
        let due = due.into_iter().flatten().chain([self.shared.ends_ns]);
        due.fold(self.next_glance_ns, u64::min)
    }

    fn ring(&mut self, now_ns: u64) {
        while let Some(waiter) = self.timers.pop(now_ns) {
            self.wake(waiter, Answer::Nothing);
        }
        while let Some((key, serial)) = self.deadlines.pop(now_ns) {
            if is_open(&self.calls, key, serial) {
                self.give_up(key as usize, now_ns);
            }
        }
    }

    fn open_mail(&mut self, now_ns: u64) {
        while let Ok(mail) = self.mail.try_recv() {
            match mail {
                Mail::Request(function, request) => {
                    if let Err(trouble) = self.answer(&function, request) {
                        self.fail(trouble);
                    }
                }
                Mail::Site(pool, site) => self.found(pool, *site, now_ns),
                Mail::Addresses(name, addresses) => self.resolved(name, addresses, now_ns),
            }
        }
    }

    /// The server has closed a connection, or it is `lost`.
    fn ended(&mut self, key: usize, lost: Option<Lost>, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let mut sink = Sink::new(&mut self.calls, &mut self.kept, &self.shared.budget, now_ns);
        let lost = wire.end(lost, &mut sink);
        let (over, came) = (sink.over, sink.came);
        self.hold(came);
        self.finish_all(over, now_ns);
        self.lose(key, fault(lost, &REMEDIES), now_ns);
    }

    /// Handles the bytes of one read.
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) {
        let wire = self.net.wires.get(key);
        let pool = wire.and_then(|wire| self.pools.get(wire.owner.pool));
        let site = pool.and_then(|pool| pool.site.as_deref());
        let mut sink = Sink::new(&mut self.calls, &mut self.kept, &self.shared.budget, now_ns);
        let agree = |http: &mut _, alpn: Option<&[u8]>| match site {
            Some(site) => site.agree(http, alpn),
            None => Ok(()),
        };
        let fed = self.net.feed(key, length, agree, &mut sink);
        let (over, came) = (sink.over, sink.came);
        self.hold(came);
        self.finish_all(over, now_ns);
        match fed {
            Err(lost) => self.ended(key, lost, now_ns),
            Ok(()) => {
                self.net.flush(key);
                self.look_at(key, now_ns);
            }
        }
    }

    fn finish_all(&mut self, over: Vec<(FlightKey, Closed)>, now_ns: u64) {
        for (FlightKey(key), why) in over {
            self.closed(key as usize, why, now_ns);
        }
    }
}

/// Handles the events of one read.
struct Sink<'a> {
    calls: &'a mut Slab<OpenRequest>,
    kept: &'a mut Kept,
    budget: &'a Arc<Budget>,
    now_ns: u64,
    /// Requests that are over.
    over: Vec<(FlightKey, Closed)>,
    /// The bytes that came, and are kept.
    came: usize,
}

impl<'a> Sink<'a> {
    fn new(
        calls: &'a mut Slab<OpenRequest>,
        kept: &'a mut Kept,
        budget: &'a Arc<Budget>,
        now_ns: u64,
    ) -> Self {
        Self {
            calls,
            kept,
            budget,
            now_ns,
            over: Vec::new(),
            came: 0,
        }
    }
}

impl Handler<FlightKey> for Sink<'_> {
    fn on_headers(&mut self, key: &mut FlightKey, headers: &HeaderList, end: bool) -> Next {
        let Some(call) = self.calls.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        let is_head = !std::mem::replace(&mut call.is_answered, true);
        let response = &mut call.response;
        let (place, fields) = match is_head {
            true => (&mut response.fields, headers.iter()),
            false => (&mut response.trailers, headers.iter()),
        };
        for (name, value) in fields {
            self.came += name.len() + value.len();
            place.push((name.into(), value.to_vec()));
        }
        if is_head {
            call.first_ns = Some(self.now_ns);
            response.is_head_only = end;
            let status = headers
                .get(b":status")
                .and_then(|status| std::str::from_utf8(status).ok());
            response.status = status
                .and_then(|status| status.parse().ok())
                .unwrap_or_default();
        }
        Next::Continue
    }

    fn on_data(&mut self, key: &mut FlightKey, data: &[u8], _: bool) -> Next {
        let Some(call) = self.calls.get_mut(key.0 as usize) else {
            return Next::Continue;
        };
        call.received += data.len() as u64;
        if call.response.body.len() + data.len() > MOST_BODY {
            let most = MOST_BODY >> 20;
            let fault = Fault::new(Reason::BodyTooLarge, format!("more than {most} MiB"));
            call.fault.get_or_insert(fault);
            return Next::Cancel(ErrorCode::Cancel);
        }
        self.came += data.len();
        while let Err(error) = call.response.body.extend(data, MOST_BODY, self.budget) {
            // Perhaps nobody will ever ask for those that are kept.
            if !self.kept.forget_oldest() {
                let fault = Fault::new(Reason::OverBudget, error.to_string());
                call.fault.get_or_insert(fault);
                return Next::Cancel(ErrorCode::Cancel);
            }
        }
        Next::Continue
    }

    fn on_closed(&mut self, key: &mut FlightKey, why: Closed) {
        self.over.push((*key, why));
    }
}
