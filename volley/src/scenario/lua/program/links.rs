//! Connections of a thread. Each host has its own, as many as the program says; they are opened when requests need them.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::io;
use std::sync::Arc;
use std::thread;

use mio::Token;

use super::answer::Answer;
use super::call::Base;
use super::task::Waiter;
use super::turn::REMEDIES;
use super::worker::{Mail, Timer, Worker};
use crate::net::names::Route as Way;
use crate::net::{self, Phase, connect_words};
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::site::Site;
use crate::scenario::engine::wire::{Http, fault};
use crate::scenario::plan::{Route, Target};
use crate::scenario::tally::Reason;
use crate::spec::{Endpoint, address};

/// The time that a connection has until it is ready.
const CONNECT_NS: u64 = 10_000_000_000;

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
    pub waiting: VecDeque<usize>,
    /// Coroutines that wait for one while the name is looked up.
    callers: Vec<Waiter>,
    turn: usize,
}

/// A connection; its link knows the rest.
type Wire = net::Wire<Http, ()>;

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
    pub(super) fn pool(&mut self, base: &Base) -> Result<usize, String> {
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
            connections: self.group.connections.max(1),
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
            let key = self.links.vacant_key();
            match self.open_wire(key, at, &route, now_ns) {
                Ok(wire) => {
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

    /// A connection to an address. Its events have this key.
    fn open_wire(
        &mut self,
        key: usize,
        at: usize,
        route: &Arc<Way>,
        now_ns: u64,
    ) -> io::Result<Wire> {
        let site = self.pools.get(at).and_then(|pool| pool.site.clone());
        let site = site.ok_or(io::ErrorKind::NotFound)?;
        let tls = site.hosts.first().and_then(|host| host.tls.as_ref());
        let wire = Wire::open(route, tls, site.http(), (), now_ns)?;
        wire.join(self.poll.registry(), Token(key))?;
        Ok(wire)
    }

    /// Sends a request, or lets it wait for a connection.
    pub(super) fn send(&mut self, at: usize, key: usize, now_ns: u64) {
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

    pub(super) fn touch(&mut self, key: usize) {
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
            match link.wire.silence(error) {
                Ok(()) => {
                    link.wire.expect_end();
                    self.unread.push(key);
                }
                Err(lost) => self.lose(key, fault(lost, &REMEDIES), now_ns),
            }
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
            link.wire.leave(self.poll.registry());
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
        let wire = self.open_wire(key, at, route, now_ns)?;
        let link = self.links.get_mut(key).ok_or(io::ErrorKind::NotFound)?;
        let old = std::mem::replace(&mut link.wire, wire);
        old.leave(self.poll.registry());
        Ok(())
    }
}

/// Forgets what may be forgotten if there is too much of it: a program may make up names without end.
pub fn make_room<K: Eq + Hash, V>(known: &mut HashMap<K, V>, is_needed: impl Fn(&V) -> bool) {
    if known.len() >= MOST_KNOWN {
        known.retain(|_, value| is_needed(value));
    }
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
