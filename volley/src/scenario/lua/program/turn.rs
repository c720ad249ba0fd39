//! The loop of a thread: coroutines go on, sockets are read and written, and then it sleeps.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use mio::{Events, Token};
use slab::Slab;

use super::answer::Answer;
use super::call::{Call, MOST_BODY};
use super::kept::Kept;
use super::worker::{ALARM, MAIL, Mail, Timer, Worker};
use crate::budget::Budget;
use crate::http2::hpack::HeaderList;
use crate::http2::{Closed, ErrorCode, Handler, Next};
use crate::net::{self, Lost, NetError, Phase};
use crate::scenario::engine::RunError;
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::wire::{Remedies, fault};
use crate::scenario::report::EndedBy;
use crate::scenario::tally::Reason;

/// Signals, and what other threads do, are looked at so often.
const GLANCE_NS: u64 = 50_000_000;

/// What helps against errors, in the program and on the command line.
pub const REMEDIES: Remedies = Remedies {
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

/// Reads from one connection before the others get their turn.
const READS_AT_ONCE: usize = 8;

/// Whether a request is not over, and no later one has its key.
pub fn is_open(calls: &Slab<Call>, key: u32, serial: u64) -> bool {
    let call = calls.get(key as usize);
    call.is_some_and(|call| call.serial == serial)
}

impl Worker {
    /// One turn. `Some`: it was the last one.
    pub(super) fn turn(&mut self, events: &mut Events) -> Result<Option<EndedBy>, RunError> {
        let now_ns = self.now_ns();
        self.ring(now_ns);
        self.go_on();
        self.flush_touched(now_ns);
        if let Some(end) = self.end(now_ns) {
            return Ok(Some(end));
        }
        self.wait(events)?;
        let now_ns = self.now_ns();
        self.open_mail(now_ns);
        for key in std::mem::take(&mut self.unread) {
            self.read(key);
        }
        for event in &*events {
            match event.token() {
                ALARM => self.alarm.rang(),
                MAIL => {}
                Token(key) => {
                    let to_end = event.is_read_closed() || event.is_error();
                    if to_end && let Some(link) = self.links.get_mut(key) {
                        link.wire.expect_end();
                    }
                    if event.is_writable() {
                        self.writable(key);
                    }
                    if event.is_readable() || to_end {
                        self.read(key);
                    }
                }
            }
        }
        Ok(None)
    }

    fn wait(&mut self, events: &mut Events) -> Result<(), RunError> {
        let now_ns = self.now_ns();
        let calls = &self.calls;
        let is_open = |key, serial| is_open(calls, key, serial);
        let due = [self.timers.next_ns(), self.deadlines.next_ns(is_open)];
        let glance_ns = now_ns.saturating_add(GLANCE_NS);
        let due = due.into_iter().flatten().chain([self.shared.ends_ns]);
        let wake_ns = due.fold(glance_ns, u64::min);
        let can_work = !self.ready.is_empty() || !self.unread.is_empty();
        let timeout = match wake_ns <= now_ns || can_work {
            true => Some(Duration::ZERO),
            false => {
                let set = self.alarm.set(wake_ns, now_ns);
                set.map_err(NetError::host("set a timer"))?;
                None
            }
        };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                Err(NetError::host("wait for sockets")(error).into())
            }
            _ => Ok(()),
        }
    }

    fn ring(&mut self, now_ns: u64) {
        while let Some(timer) = self.timers.pop(now_ns) {
            match timer {
                Timer::Wake(waiter) => self.wake(waiter, Answer::Nothing),
                Timer::Slow(key, number) => {
                    let link = self.links.get(key).filter(|link| link.number == number);
                    if let Some(link) = link.filter(|link| link.wire.is_attempt()) {
                        let words = link.wire.transport.wait_words();
                        let fault = Fault::new(Reason::Connect, format!("{words} in time"));
                        self.lose(key, fault, now_ns);
                    }
                }
            }
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

    fn writable(&mut self, key: usize) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let wire = &mut link.wire;
        let now_ns = self.shared.clock.now_ns();
        if wire.phase != Phase::Connecting {
            if wire.unblock() {
                self.flush(key, now_ns);
            }
            return;
        }
        match wire.connected() {
            Ok(false) => {}
            Ok(true) => {
                self.flush(key, now_ns);
                self.look_at(key, now_ns);
            }
            Err(lost) => self.lose(key, fault(lost, &REMEDIES), now_ns),
        }
    }

    fn read(&mut self, key: usize) {
        for _ in 0..READS_AT_ONCE {
            let Some(link) = self.links.get_mut(key) else {
                return;
            };
            if link.wire.phase == Phase::Connecting {
                return;
            }
            let filled = link.wire.transport.fill(&mut self.buffer);
            let now_ns = self.shared.clock.now_ns();
            match filled {
                Ok(0) => return self.ended(key, None, now_ns),
                Ok(length) => self.receive(key, length, now_ns),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let lost = link.wire.unreadable(error);
                    if lost.is_some() {
                        self.ended(key, lost, now_ns);
                    }
                    return;
                }
            }
        }
        self.unread.push(key);
    }

    /// The server has closed a connection, or it is `lost`.
    fn ended(&mut self, key: usize, lost: Option<Lost>, now_ns: u64) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let mut sink = Sink::new(&mut self.calls, &mut self.kept, &self.shared.budget, now_ns);
        let lost = link.wire.end(lost, &mut sink);
        let (over, came) = (sink.over, sink.came);
        self.hold(came);
        self.finish_all(over, now_ns);
        self.lose(key, fault(lost, &REMEDIES), now_ns);
    }

    /// Handles the bytes of one read.
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) {
        let (Some(link), Some(bytes)) = (self.links.get_mut(key), self.buffer.get(..length)) else {
            return;
        };
        let site = self
            .pools
            .get(link.pool)
            .and_then(|pool| pool.site.as_deref());
        let mut sink = Sink::new(&mut self.calls, &mut self.kept, &self.shared.budget, now_ns);
        let agree = |http: &mut _, alpn: Option<&[u8]>| match site {
            Some(site) => site.agree(http, alpn),
            None => Ok(()),
        };
        let taken = link.wire.take(bytes, agree, &mut sink);
        let (over, came) = (sink.over, sink.came);
        self.hold(came);
        self.finish_all(over, now_ns);
        if let Err(lost) = taken {
            return self.lose(key, fault(lost, &REMEDIES), now_ns);
        }
        let is_over = self
            .links
            .get(key)
            .is_some_and(|link| link.wire.transport.is_over());
        match is_over {
            true => self.ended(key, None, now_ns),
            false => {
                self.flush(key, now_ns);
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
    calls: &'a mut Slab<Call>,
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
        calls: &'a mut Slab<Call>,
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
