//! Connections of a thread, and the requests on them. Each host has its own, as many as the program says; they are opened
//! when requests need them.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::io;
use std::sync::Arc;
use std::thread;

use mio::unix::SourceFd;
use mio::{Interest, Token};

use super::answer::Answer;
use super::call::{Base, Call, Draft, Response};
use super::task::Waiter;
use super::turn::is_open;
use super::worker::{Mail, Resolved, Timer, Worker};
use crate::engine::connect_words;
use crate::engine::names::{Route as Way, system};
use crate::grpc::Status;
use crate::http2::hpack::{HeaderList, Indexing, literal, literal_name};
use crate::http2::{Closed, Head, Own};
use crate::scenario::Text;
use crate::scenario::Values;
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::heads::{field, indexing};
use crate::scenario::engine::site::Site;
use crate::scenario::engine::wire::{Http, Phase, Wire};
use crate::scenario::plan::{HttpRequest, Route, Target};
use crate::scenario::request::{Ask as Rendered, Head as Lines};
use crate::scenario::tally::{Failure, Reason, Timing};
use crate::spec::{Endpoint, address};

/// The time that a connection has until it is ready.
const CONNECT_NS: u64 = 10_000_000_000;

/// After so many refusals, a request fails.
const MOST_REFUSALS: u8 = 10;

/// The most hosts that a thread has connections to.
const MOST_HOSTS: usize = 10_000;

/// The most entries of what is only kept because it may be needed again.
const MOST_KNOWN: usize = 10_000;

/// The connections to a host.
pub struct Pool {
    base: Base,
    /// `None`: its name is being looked up.
    pub site: Option<Arc<Site>>,
    /// Keys of connections that are ready or will be.
    links: Vec<usize>,
    /// Requests that wait for one with room.
    waiting: VecDeque<usize>,
    /// Coroutines that wait for one while the name is looked up.
    callers: Vec<Waiter>,
    turn: usize,
}

/// A connection.
pub struct Link {
    pub wire: Wire,
    /// The program knows it by this.
    pub number: u64,
    pub pool: usize,
    /// Addresses that are not tried yet.
    routes: Vec<Arc<Way>>,
    /// Coroutines that wait until it is ready.
    callers: Vec<Waiter>,
}

impl Worker {
    /// A coroutine wants a connection.
    pub(super) fn connect(&mut self, waiter: Waiter, base: Base, now_ns: u64) {
        let at = match self.pool(&base) {
            Ok(at) => at,
            Err(_) => return self.wake(waiter, Answer::Client(None)),
        };
        let most = self.group.connections as usize;
        let Some(pool) = self.pools.get_mut(at) else {
            return;
        };
        if pool.site.is_none() {
            pool.callers.push(waiter);
        } else if pool.links.len() < most {
            self.open(at, Some(waiter), now_ns);
        } else {
            pool.turn = (pool.turn + 1) % pool.links.len().max(1);
            let key = pool.links.get(pool.turn).copied();
            match key.and_then(|key| self.links.get_mut(key)) {
                Some(link) if link.wire.is_attempt() => link.callers.push(waiter),
                link => {
                    let number = link.map(|link| link.number);
                    self.wake(waiter, Answer::Client(number));
                }
            }
        }
    }

    /// The pool of a host. Its name is looked up first.
    fn pool(&mut self, base: &Base) -> Result<usize, String> {
        if let Some(at) = self.pool_of.get(base) {
            return Ok(*at);
        }
        let endpoint = address(&base.authority, Some(if base.is_tls { 443 } else { 80 }));
        let endpoint = endpoint.map_err(|error| error.to_string())?;
        if self.pools.len() >= MOST_HOSTS {
            return Err(format!(
                "a thread has requests to {MOST_HOSTS} hosts at most"
            ));
        }
        let at = self.pools.vacant_key();
        let target = Target {
            name: base.authority.clone(),
            hosts: vec![Endpoint::Name(endpoint)],
            is_tls: base.is_tls,
            version: base.version(),
            connections: self.group.connections,
            streams: u32::MAX,
            connect_timeout_ns: CONNECT_NS,
            fails_back: false,
            route: Route::Targets,
            authority: None,
            tls: self.shared.options.tls.clone(),
        };
        let postbox = self.postbox.clone();
        let look = move || {
            let site = Site::new(&target).map_err(|error| error.to_string());
            postbox.send(Mail::Site(at, Box::new(site)));
        };
        let started = thread::Builder::new().name("route".to_owned()).spawn(look);
        started.map_err(|error| format!("cannot be looked up: {error}"))?;
        self.pool_of.insert(base.clone(), at);
        Ok(self.pools.insert(Pool {
            base: base.clone(),
            site: None,
            links: Vec::new(),
            waiting: VecDeque::new(),
            callers: Vec::new(),
            turn: 0,
        }))
    }

    /// A host was looked up.
    pub(super) fn found(&mut self, at: usize, site: Result<Site, String>, now_ns: u64) {
        let Some(pool) = self.pools.get_mut(at) else {
            return;
        };
        let callers = std::mem::take(&mut pool.callers);
        match site {
            Ok(site) => {
                pool.site = Some(Arc::new(site));
                for waiter in callers {
                    let base = self.pools.get(at).map(|pool| pool.base.clone());
                    if let Some(base) = base {
                        self.connect(waiter, base, now_ns);
                    }
                }
                self.send_waiting(at, now_ns);
            }
            Err(words) => {
                for waiter in callers {
                    self.wake(waiter, Answer::Client(None));
                }
                self.fail_waiting(at, &Fault::new(Reason::Connect, words), now_ns);
                // The next request tries again.
                if let Some(pool) = self.pools.try_remove(at) {
                    self.pool_of.remove(&pool.base);
                }
            }
        }
    }

    fn fail_waiting(&mut self, at: usize, fault: &Fault, now_ns: u64) {
        let waiting = self
            .pools
            .get_mut(at)
            .map(|pool| std::mem::take(&mut pool.waiting));
        for key in waiting.into_iter().flatten() {
            self.finish(key, Err(fault.clone()), now_ns);
        }
    }

    /// Opens one more connection. `caller` waits until it is ready.
    fn open(&mut self, at: usize, caller: Option<Waiter>, now_ns: u64) {
        let site = self.pools.get(at).and_then(|pool| pool.site.clone());
        let Some(host) = site.as_ref().and_then(|site| site.hosts.first()) else {
            return;
        };
        let mut routes: Vec<_> = host.names.routes().iter().rev().cloned().collect();
        let mut fault = Fault::new(Reason::Connect, "no address".to_owned());
        while let Some(route) = routes.pop() {
            match self.open_wire(at, &route, now_ns) {
                Ok((wire, key)) => {
                    self.serial += 1;
                    let number = self.serial;
                    self.link_numbers.insert(number, key);
                    self.links.insert(Link {
                        wire,
                        number,
                        pool: at,
                        routes,
                        callers: caller.into_iter().collect(),
                    });
                    if let Some(pool) = self.pools.get_mut(at) {
                        pool.links.push(key);
                    }
                    self.timers
                        .set(now_ns.saturating_add(CONNECT_NS), Timer::Slow(key, number));
                    return;
                }
                Err(error) => fault = Fault::new(Reason::Connect, connect_words(&error)),
            }
        }
        if let Some(waiter) = caller {
            self.wake(waiter, Answer::Client(None));
        }
        if self.pools.get(at).is_some_and(|pool| pool.links.is_empty()) {
            self.fail_waiting(at, &fault, now_ns);
        }
    }

    /// A connection to an address, and the key that it is to have.
    fn open_wire(&mut self, at: usize, route: &Arc<Way>, now_ns: u64) -> io::Result<(Wire, usize)> {
        let site = self.pools.get(at).and_then(|pool| pool.site.clone());
        let site = site.ok_or(io::ErrorKind::NotFound)?;
        let tls = site.hosts.first().and_then(|host| host.tls.as_ref());
        let key = self.links.vacant_key();
        let wire = Wire::open(route, tls, site.http(), (at, 0, key), now_ns)?;
        self.poll.registry().register(
            &mut SourceFd(&wire.transport.descriptor()),
            Token(key),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        Ok((wire, key))
    }

    /// A request of a coroutine.
    pub(super) fn send_new(&mut self, waiter: Waiter, draft: Box<Draft>, waits: bool, now_ns: u64) {
        let known = (draft.row.clone(), draft.is_grpc);
        let row = match self.rows.get(&known) {
            Some(row) => *row,
            None => {
                let row = self.shared.rows.of(&known.0, known.1);
                make_room(&mut self.rows, |_| false);
                self.rows.insert(known, row);
                row
            }
        };
        let pool = self.pool(&draft.base);
        self.serial += 1;
        let (serial, timeout_ns) = (self.serial, draft.timeout_ns);
        let key = self.calls.insert(Call {
            draft,
            serial,
            row,
            pool: pool.as_ref().copied().unwrap_or(usize::MAX),
            waiter: waits.then_some(waiter),
            sender: (!waits).then_some(waiter),
            place: None,
            id: (0, 0),
            asked_ns: now_ns,
            sent_ns: None,
            first_ns: None,
            is_answered: false,
            refusals: 0,
            received: 0,
            response: Response::default(),
            fault: None,
        });
        let (flight, calls) = (u32::try_from(key).unwrap_or(u32::MAX), &self.calls);
        self.deadlines
            .add(timeout_ns, now_ns, flight, serial, |key, serial| {
                is_open(calls, key, serial)
            });

        match pool {
            Ok(at) => self.send(at, key, now_ns),
            Err(words) => self.finish(key, Err(Fault::new(Reason::Connect, words)), now_ns),
        }
    }

    /// Sends a request, or lets it wait for a connection.
    fn send(&mut self, at: usize, key: usize, now_ns: u64) {
        let most = self.group.connections as usize;
        let Some(pool) = self.pools.get_mut(at) else {
            return;
        };
        if pool.site.is_none() {
            pool.waiting.push_back(key);
            return;
        }
        let count = pool.links.len();
        pool.turn = pool.turn.wrapping_add(1);
        let in_turn = (0..count).map(|offset| (pool.turn + offset) % count.max(1));
        let with_room = in_turn.filter_map(|place| {
            let link = *pool.links.get(place)?;
            let wire = &self.links.get(link)?.wire;
            (wire.room(usize::MAX) > 0).then(|| (wire.http.open(), link))
        });
        match with_room.min_by_key(|(open, _)| *open) {
            // All are busy, and there may be one more.
            Some((open, link)) if open == 0 || count >= most => self.write(key, link, now_ns),
            best => {
                let is_opening = count < most && self.opening(at) <= self.waiting(at);
                if is_opening {
                    self.open(at, None, now_ns);
                }
                match best {
                    Some((_, link)) => self.write(key, link, now_ns),
                    None => {
                        // If no connection could be opened at all, this fails like all that wait.
                        let Some(pool) = self.pools.get_mut(at) else {
                            return;
                        };
                        pool.waiting.push_back(key);
                        if pool.links.is_empty() {
                            let words = "no connection could be opened".to_owned();
                            self.fail_waiting(at, &Fault::new(Reason::Connect, words), now_ns);
                        }
                    }
                }
            }
        }
    }

    /// How many connections are not ready yet.
    fn opening(&self, at: usize) -> usize {
        let links = self.pools.get(at).map(|pool| &pool.links[..]);
        let links = links.unwrap_or_default().iter();
        let is_attempt = |key: &&usize| {
            self.links
                .get(**key)
                .is_some_and(|link| link.wire.is_attempt())
        };
        links.filter(is_attempt).count()
    }

    fn waiting(&self, at: usize) -> usize {
        self.pools.get(at).map_or(0, |pool| pool.waiting.len())
    }

    /// Writes a request to a connection with room.
    fn write(&mut self, key: usize, link_key: usize, now_ns: u64) {
        let (Some(call), Some(link)) = (self.calls.get_mut(key), self.links.get_mut(link_key))
        else {
            return;
        };
        let flight = FlightKey(u32::try_from(key).unwrap_or(u32::MAX));
        let draft = &call.draft;
        let scheme = if draft.base.is_tls { "https" } else { "http" };
        let before = link.wire.http.unsent(0);
        let stream = match &mut link.wire.http {
            Http::Two(http) => {
                let kind = (
                    draft.method.clone(),
                    draft.base.is_tls,
                    draft.authority.clone(),
                );
                make_room(&mut self.heads, |_| false);
                let head = self.heads.entry(kind).or_insert_with(|| {
                    let fields = [
                        (":method", draft.method.as_bytes()),
                        (":scheme", scheme.as_bytes()),
                        (":authority", draft.authority.as_bytes()),
                    ];
                    let fields = fields.into_iter().map(|(name, value)| field(name, value));
                    Arc::new(Head {
                        fields: fields.collect(),
                        before_own: 3,
                    })
                });
                let (mut first, mut last, mut begin) = (Vec::new(), Vec::new(), Vec::new());
                literal_name(b":path", Indexing::Without, &mut begin);
                literal(&begin, &draft.path, &mut first);
                for (name, value) in &draft.fields {
                    begin.clear();
                    let text = String::from_utf8_lossy(name);
                    literal_name(name, indexing(&text, Indexing::Without), &mut begin);
                    literal(&begin, value, &mut last);
                }
                let own = Own {
                    first: &first,
                    last: &last,
                };
                let ends = draft.body.is_empty() && !draft.is_grpc;
                let stream = http.open_with(flight, head, own, ends);
                if !ends {
                    http.send(stream, &draft.body, true);
                }
                stream
            }
            Http::One(http) => {
                let headers = draft.fields.iter().map(|(name, value)| {
                    let name = String::from_utf8_lossy(name).into_owned();
                    (name.into(), Text::fixed(&value[..]))
                });
                let request = HttpRequest {
                    method: draft.method.as_str().into(),
                    headers: headers.collect(),
                    body: None,
                    redirects: 0,
                };
                let lines = Lines::new(&request);
                let ask = Rendered {
                    authority: draft.authority.as_bytes(),
                    body: (!draft.body.is_empty()).then_some(draft.body.len()),
                    ..Rendered::default()
                };
                let write_path = |out: &mut Vec<u8>| {
                    out.extend_from_slice(&draft.path);
                    Ok(())
                };
                let mut out = Vec::new();
                // Without slots, nothing can be missing.
                let _ = lines.render(&ask, &Values::new(0), write_path, &mut out);
                http.open(flight, &out, lines.is_head());
                http.send(&draft.body);
                u32::try_from(http.opened()).unwrap_or(u32::MAX)
            }
        };
        let bytes = link.wire.http.unsent(stream).saturating_sub(before) as u64;
        call.place = Some((link_key, stream));
        match call.sent_ns {
            None => {
                // Sent again, it is still known by this.
                call.id = (link.number, stream.into());
                call.sent_ns = Some(now_ns);
                self.tally.sent(call.row, now_ns, bytes);
                if now_ns > call.asked_ns {
                    self.tally.waited(call.row);
                }
            }
            Some(sent_ns) => self.tally.sent_again(call.row, sent_ns, bytes),
        }
        let id = call.id;
        if let Some(sender) = call.sender.take() {
            self.sent.insert(id, key);
            self.wake(sender, Answer::Sent(Some(id)));
        }
        self.touch(link_key);
    }

    fn touch(&mut self, key: usize) {
        if let Some(link) = self.links.get_mut(key)
            && !std::mem::replace(&mut link.wire.is_touched, true)
        {
            self.touched.push(key);
        }
    }

    pub(super) fn flush_touched(&mut self, now_ns: u64) {
        for key in std::mem::take(&mut self.touched) {
            if let Some(link) = self.links.get_mut(key) {
                link.wire.is_touched = false;
            }
            self.flush(key, now_ns);
        }
    }

    pub(super) fn flush(&mut self, key: usize, now_ns: u64) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        if let Err(error) = link.wire.flush() {
            let fault = Fault::new(Reason::Closed, error.to_string());
            self.lose(key, fault, now_ns);
        }
    }

    /// Checks whether a connection has become ready, or must not be used any more, or can take a request again.
    pub(super) fn look_at(&mut self, key: usize, now_ns: u64) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let (wire, at) = (&mut link.wire, link.pool);
        if wire.phase == Phase::Greeting && wire.transport.is_open() && wire.http.is_ready() {
            wire.phase = Phase::Ready;
            let (number, callers) = (link.number, std::mem::take(&mut link.callers));
            for waiter in callers {
                self.wake(waiter, Answer::Client(Some(number)));
            }
        }
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let wire = &mut link.wire;
        if wire.phase == Phase::Ready && wire.http.is_draining() {
            wire.phase = Phase::Retiring;
            if let Some(pool) = self.pools.get_mut(at) {
                pool.links.retain(|known| *known != key);
            }
        }
        if wire.phase == Phase::Retiring && wire.http.open() == 0 {
            wire.close();
            self.drop_link(key);
        }
        self.send_waiting(at, now_ns);
    }

    /// Sends what waits for a connection to a host.
    fn send_waiting(&mut self, at: usize, now_ns: u64) {
        for _ in 0..self.waiting(at) {
            let Some(pool) = self.pools.get_mut(at) else {
                return;
            };
            let Some(key) = pool.waiting.pop_front() else {
                return;
            };
            let before = pool.waiting.len();
            self.send(at, key, now_ns);
            // There was no room: it waits again, and so do the others.
            if self.waiting(at) > before {
                if let Some(pool) = self.pools.get_mut(at) {
                    pool.waiting.rotate_right(1);
                }
                return;
            }
        }
    }

    fn drop_link(&mut self, key: usize) {
        if let Some(link) = self.links.try_remove(key) {
            self.link_numbers.remove(&link.number);
            // A closed descriptor leaves the poll by itself.
            let _ = self
                .poll
                .registry()
                .deregister(&mut SourceFd(&link.wire.transport.descriptor()));
        }
    }

    /// A connection is gone, or was never made.
    pub(super) fn lose(&mut self, key: usize, mut fault: Fault, now_ns: u64) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let at = link.pool;
        if link.wire.is_attempt() {
            // The next address, in the same place.
            while let Some(route) = self.links.get_mut(key).and_then(|link| link.routes.pop()) {
                match self.reopen(key, at, &route, now_ns) {
                    Ok(()) => return,
                    Err(error) => fault = Fault::new(Reason::Connect, connect_words(&error)),
                }
            }
        }
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let (was_idle, callers) = (link.wire.http.was_idle(), std::mem::take(&mut link.callers));
        let was_attempt = link.wire.is_attempt();
        let flights = link.wire.http.take();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = link.wire.flush();
        if let Some(pool) = self.pools.get_mut(at) {
            pool.links.retain(|known| *known != key);
        }
        self.drop_link(key);
        for waiter in callers {
            self.wake(waiter, Answer::Client(None));
        }
        for FlightKey(call) in flights {
            let call = call as usize;
            match was_idle && self.may_repeat(call) {
                true => self.send(at, call, now_ns),
                false => {
                    let words = format!("the connection was lost: {}", fault.words);
                    self.finish(call, Err(Fault::new(fault.reason, words)), now_ns);
                }
            }
        }
        let has_none = self.pools.get(at).is_some_and(|pool| pool.links.is_empty());
        match was_attempt && has_none {
            true => self.fail_waiting(at, &fault, now_ns),
            false => self.send_waiting(at, now_ns),
        }
    }

    fn reopen(&mut self, key: usize, at: usize, route: &Arc<Way>, now_ns: u64) -> io::Result<()> {
        let site = self.pools.get(at).and_then(|pool| pool.site.clone());
        let site = site.ok_or(io::ErrorKind::NotFound)?;
        let tls = site.hosts.first().and_then(|host| host.tls.as_ref());
        let wire = Wire::open(route, tls, site.http(), (at, 0, key), now_ns)?;
        let link = self.links.get_mut(key).ok_or(io::ErrorKind::NotFound)?;
        let registry = self.poll.registry();
        let _ = registry.deregister(&mut SourceFd(&link.wire.transport.descriptor()));
        registry.register(
            &mut SourceFd(&wire.transport.descriptor()),
            Token(key),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        link.wire = wire;
        Ok(())
    }

    /// Whether a request may be sent again that its server has perhaps not seen: once, if it changes nothing twice.
    fn may_repeat(&mut self, key: usize) -> bool {
        let Some(call) = self.calls.get_mut(key) else {
            return false;
        };
        let may = call.draft.is_idempotent() && call.refusals == 0;
        if may {
            call.refusals += 1;
            call.place = None;
        }
        may
    }

    /// A request's stream is over.
    pub(super) fn closed(&mut self, key: usize, why: Closed, now_ns: u64) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        let fault = |reason, words: &str| Err(Fault::new(reason, words.to_owned()));
        let done = match (call.fault.take(), why) {
            (Some(fault), _) => Err(fault),
            (None, Closed::Ended) => Ok(()),
            (None, Closed::Refused) if call.is_answered => fault(
                Reason::Reset,
                "the server refused it after its answer had begun",
            ),
            (None, Closed::Refused) if call.refusals < MOST_REFUSALS => {
                call.refusals += 1;
                call.place = None;
                let at = call.pool;
                if let Some(pool) = self.pools.get_mut(at) {
                    pool.waiting.push_back(key);
                }
                return;
            }
            (None, Closed::Refused) => {
                fault(Reason::GoAway, "the server refused it again and again")
            }
            (None, Closed::Reset(code)) => {
                let words = match code {
                    Ok(code) => format!("the server reset it: {code}"),
                    Err(number) => format!("the server reset it: code {number}"),
                };
                Err(Fault::new(Reason::Reset, words))
            }
            (None, Closed::Malformed(rule)) => fault(Reason::Protocol, rule),
            (None, Closed::Cancelled) => fault(Reason::Closed, "it was given up"),
        };
        self.finish(key, done, now_ns);
    }

    /// A request has taken too long.
    pub(super) fn give_up(&mut self, key: usize, now_ns: u64) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (place, at) = (call.place, call.pool);
        if let Some((link, stream)) = place
            && let Some(link) = self.links.get_mut(link)
        {
            link.wire.http.cancel(stream);
        }
        if let Some(pool) = self.pools.get_mut(at) {
            pool.waiting.retain(|waiting| *waiting != key);
        }
        let call = self.calls.get(key).map(|call| call.draft.timeout_ns);
        let ms = call.unwrap_or_default() / 1_000_000;
        let words = format!("no complete response within {ms} ms");
        self.finish(key, Err(Fault::new(Reason::Timeout, words)), now_ns);
        if let Some((link, _)) = place {
            self.touch(link);
            self.look_at(link, now_ns);
        }
    }

    /// A request is over: it is counted, and its coroutine goes on.
    fn finish(&mut self, key: usize, done: Result<(), Fault>, now_ns: u64) {
        let Some(mut call) = self.calls.try_remove(key) else {
            return;
        };
        let is_complete = done.is_ok();
        let (status, done) = match done {
            Err(fault) => (None, Err(fault)),
            Ok(()) => judge(&call),
        };
        let failure = done.as_ref().err().map(|fault| Failure {
            reason: fault.reason,
            what: &fault.words,
        });
        match call.sent_ns {
            Some(sent_ns) => {
                let timing = Timing {
                    due_ns: None,
                    sent_ns,
                    first_ns: call.first_ns,
                    end_ns: now_ns,
                };
                let verdict = failure.as_ref().map_or(Ok(()), Err);
                self.tally
                    .ended(call.row, &timing, status, call.received, verdict);
            }
            None => {
                if let Some(failure) = &failure {
                    self.tally.unsent(call.row, now_ns, failure);
                }
            }
        }
        let response = is_complete.then(|| Box::new(std::mem::take(&mut call.response)));
        if let Some(sender) = call.sender {
            self.wake(sender, Answer::Sent(None));
            return;
        }
        let is_unawaited = self.sent.remove(&call.id).is_some() && call.waiter.is_none();
        match call.waiter {
            Some(waiter) => self.wake(waiter, Answer::Response(response)),
            None if is_unawaited => self.kept.insert(call.id, response),
            None => {}
        }
    }

    pub(super) fn await_response(&mut self, waiter: Waiter, id: (u64, u64)) {
        if let Some(response) = self.kept.take(id) {
            return self.wake(waiter, Answer::Response(response));
        }
        let open = self.sent.get(&id).and_then(|key| self.calls.get_mut(*key));
        match open {
            Some(call) if call.waiter.is_none() => call.waiter = Some(waiter),
            _ => self.wake(waiter, Answer::Response(None)),
        }
    }

    /// A coroutine wants the addresses of a name.
    pub(super) fn resolve(&mut self, waiter: Waiter, name: String, ttl_ns: u64, now_ns: u64) {
        make_room(&mut self.resolved, |known| !known.waiters.is_empty());
        let known = self.resolved.entry(name.clone()).or_default();
        if known.until_ns > now_ns {
            let addresses = known.addresses.clone();
            return self.wake(waiter, Answer::Addresses(addresses));
        }
        known.waiters.push((waiter, ttl_ns));
        if known.waiters.len() > 1 {
            return;
        }
        let (postbox, asked) = (self.postbox.clone(), name.clone());
        let look = move || {
            let found = address(&name, Some(0))
                .ok()
                .and_then(|address| system(&address).ok());
            let mut addresses = Vec::new();
            for address in found.unwrap_or_default() {
                let ip = address.ip().to_string();
                if !addresses.contains(&ip) {
                    addresses.push(ip);
                }
            }
            postbox.send(Mail::Addresses(name, addresses));
        };
        let started = thread::Builder::new().name("names".to_owned()).spawn(look);
        if started.is_err() {
            self.resolved(asked, Vec::new(), now_ns);
        }
    }

    pub(super) fn resolved(&mut self, name: String, addresses: Vec<String>, now_ns: u64) {
        let Some(known) = self.resolved.get_mut(&name) else {
            return;
        };
        let waiters = std::mem::take(&mut known.waiters);
        let ttl_ns = waiters.iter().map(|(_, ttl_ns)| *ttl_ns).min();
        *known = Resolved {
            addresses: addresses.clone(),
            until_ns: now_ns.saturating_add(ttl_ns.unwrap_or_default()),
            waiters: Vec::new(),
        };
        for (waiter, _) in waiters {
            self.wake(waiter, Answer::Addresses(addresses.clone()));
        }
    }
}

/// Forgets what may be forgotten if there is too much of it: a program may make up names without end.
fn make_room<K: Eq + Hash, V>(known: &mut HashMap<K, V>, is_needed: impl Fn(&V) -> bool) {
    if known.len() >= MOST_KNOWN {
        known.retain(|_, value| is_needed(value));
    }
}

/// The status of a complete response, and whether it is a good one.
fn judge(call: &Call) -> (Option<u16>, Result<(), Fault>) {
    let response = &call.response;
    if !call.draft.is_grpc {
        let status = response.status;
        let done = match status {
            200..400 => Ok(()),
            _ => Err(Fault::new(Reason::Status, format!("status {status}"))),
        };
        return (Some(status), done);
    }
    let mut list = HeaderList::new();
    let fields = match response.trailers.is_empty() {
        true => &response.fields,
        false => &response.trailers,
    };
    for (name, value) in fields {
        list.push(name, value);
    }
    let status = Status::from_trailers(&list);
    let done = match status.is_ok() {
        true => Ok(()),
        false => Err(Fault::new(Reason::Status, status.to_string())),
    };
    (Some(status.code as u16), done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_stays_when_the_rest_is_forgotten() {
        let mut known: HashMap<usize, bool> = (0..MOST_KNOWN).map(|n| (n, n == 7)).collect();
        make_room(&mut known, |is_needed| *is_needed);
        assert_eq!(known, HashMap::from([(7, true)]));
    }
}
