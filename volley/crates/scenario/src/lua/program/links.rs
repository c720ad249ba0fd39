//! Connections of a thread. Each host has its own, as many as the program says; they are opened when requests need them.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use std::thread;

use super::answer::Answer;
use super::open_request::Base;
use super::task::Waiter;
use super::worker::{Mail, Worker};
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::site::{Site, SiteHost};
use crate::engine::wire::Http;
use crate::plan::{Route, Target};
use crate::tally::Reason;
use volley_load::spec::{Endpoint, address};
use volley_net::{Phase, Place, Sockets, Way, connect_words};

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
    /// Keys of its links.
    links: Vec<usize>,
    /// Requests that wait for one with room.
    pub waiting: VecDeque<usize>,
    /// Coroutines that wait for one while the name is looked up.
    callers: Vec<Waiter>,
    turn: usize,
}

/// The place of a connection. A link ends with its connection.
pub struct Link {
    pub place: Place,
    /// The program knows it by this.
    pub number: u64,
    pub pool: usize,
    /// Coroutines that wait until it is ready.
    callers: Vec<Waiter>,
}

/// What a connection knows of its link.
#[derive(Clone, Copy)]
pub struct WireOwner {
    pub link: usize,
    pub number: u64,
    pub pool: usize,
}

/// A connection of a link.
type Wire = volley_net::Wire<Http, WireOwner>;

/// A thread's connections.
pub type Net = Sockets<Http, WireOwner>;

impl Pool {
    /// `None`: its name is being looked up.
    fn host(&self) -> Option<&SiteHost> {
        self.site.as_ref()?.hosts.first()
    }
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
                Some(link) if link.place.wire.is_none() => link.callers.push(waiter),
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
        self.serial += 1;
        let link = self.links.insert(Link {
            place: Place::default(),
            number: self.serial,
            pool: at,
            callers: caller.into_iter().collect(),
        });
        if let Some(pool) = self.pools.get_mut(at) {
            pool.links.push(link);
        }
        let fault = Fault::new(Reason::Connect, "no address".to_owned());
        self.try_next(link, fault, now_ns);
    }

    /// Tries the next way to a link's host. Without one, the link is given up, unless an attempt goes on.
    fn try_next(&mut self, key: usize, mut fault: Fault, now_ns: u64) {
        let Some(link) = self.links.get_mut(key) else {
            return;
        };
        let site = self.pools.get(link.pool).and_then(|pool| pool.site.clone());
        let host = site.as_ref().and_then(|site| site.hosts.first());
        let service = WireOwner {
            link: key,
            number: link.number,
            pool: link.pool,
        };
        let way = |tried: usize| {
            Some(Way {
                route: Arc::clone(host?.names.routes().get(tried)?),
                tls: host?.tls.as_ref(),
                http: site.as_ref()?.http(),
                owner: service,
            })
        };
        match self.net.try_next(&mut link.place, now_ns, way) {
            Ok(()) => return,
            Err(Some(error)) => fault = Fault::new(Reason::Connect, connect_words(&error)),
            Err(None) => {}
        }
        if link.place.is_trying() {
            return;
        }
        if let Some(host) = host {
            host.names.ask();
        }
        self.drop_link(key);
        let pool = self.pools.get(service.pool);
        if pool.is_some_and(|pool| pool.links.is_empty()) {
            self.fail_waiting(service.pool, &fault, now_ns);
        }
    }

    /// Gives up the attempts that take too long, and tries the next way beside those that take long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        // Each of a host's addresses has its share; the last one has all.
        let limit_ns = |_, wire: &Wire| {
            let pool = self.pools.get(wire.owner.pool);
            let host = pool.and_then(Pool::host);
            let ways = host.map_or(1, |host| host.names.routes().len());
            let link = self.links.get(wire.owner.link);
            match link.is_some_and(|link| link.place.tried >= ways) {
                true => CONNECT_NS,
                false => CONNECT_NS / ways.max(1) as u64,
            }
        };
        let latest = |owner: &WireOwner| self.links.get(owner.link)?.place.attempt();
        let (overdue, slow) = self.net.late(now_ns, limit_ns, latest);
        for key in overdue {
            if let Some(wire) = self.net.wires.get(key) {
                let words = wire.transport.wait_words();
                let fault = Fault::new(Reason::Connect, format!("{words} in time"));
                self.lose(key, fault, now_ns);
            }
        }
        for key in slow {
            if let Some(link) = self.net.wires.get(key).map(|wire| wire.owner.link) {
                let fault = Fault::new(Reason::Connect, String::new());
                self.try_next(link, fault, now_ns);
            }
        }
    }

    /// The link that a connection is or was of.
    fn link_of(&mut self, wire: &WireOwner) -> Option<&mut Link> {
        let link = self.links.get_mut(wire.link);
        link.filter(|link| link.number == wire.number)
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
            let link = self.links.get(*pool.links.get(place)?)?;
            let key = link.place.wire?;
            let wire = self.net.wires.get(key)?;
            (wire.room(usize::MAX) > 0).then(|| (wire.http.open(), key))
        });
        match with_room.min_by_key(|(open, _)| *open) {
            // All are busy, and there may be one more.
            Some((open, wire)) if open == 0 || count >= most => self.write(key, wire, now_ns),
            best => {
                let is_opening = count < most && self.opening(at) <= self.waiting(at);
                if is_opening {
                    self.open(at, None, now_ns);
                }
                match best {
                    Some((_, wire)) => self.write(key, wire, now_ns),
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
        let links = links.filter_map(|key| self.links.get(*key));
        links.filter(|link| link.place.wire.is_none()).count()
    }

    fn waiting(&self, at: usize) -> usize {
        self.pools.get(at).map_or(0, |pool| pool.waiting.len())
    }

    /// Checks whether a connection has become ready, or must not be used any more, or can take a request again.
    pub(super) fn look_at(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let service = wire.owner;
        if wire.phase == Phase::Greeting && wire.transport.is_open() && wire.http.is_ready() {
            wire.phase = Phase::Ready;
            self.ready(key, &service);
        }
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let is_retiring = wire.phase == Phase::Ready && wire.http.is_draining();
        if is_retiring {
            wire.phase = Phase::Retiring;
        }
        if wire.phase == Phase::Retiring && wire.http.open() == 0 {
            wire.close();
            self.net.remove(key);
        }
        if is_retiring && self.link_of(&service).is_some() {
            self.drop_link(service.link);
        }
        self.send_waiting(service.pool, now_ns);
    }

    /// A connection is ready: coroutines have waited for that.
    fn ready(&mut self, key: usize, service: &WireOwner) {
        let Some(link) = self.link_of(service) else {
            return;
        };
        let (number, callers) = (link.number, std::mem::take(&mut link.callers));
        let (_, slower) = link.place.won(key);
        for key in slower {
            self.net.remove(key);
        }
        for waiter in callers {
            self.wake(waiter, Answer::Client(Some(number)));
        }
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

    /// Gives a link up. Its connection, if it has one, may go on.
    fn drop_link(&mut self, key: usize) {
        let Some(link) = self.links.try_remove(key) else {
            return;
        };
        if let Some(pool) = self.pools.get_mut(link.pool) {
            pool.links.retain(|known| *known != key);
        }
        for waiter in link.callers {
            self.wake(waiter, Answer::Client(None));
        }
    }

    /// A connection is gone, or was never made.
    pub(super) fn lose(&mut self, key: usize, fault: Fault, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let (service, was_attempt) = (wire.owner, wire.is_attempt());
        let was_idle = wire.http.was_idle();
        let flights = wire.http.take();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = wire.flush();
        self.net.remove(key);
        if was_attempt {
            if let Some(link) = self.link_of(&service)
                && link.place.failed(key)
            {
                self.try_next(service.link, fault, now_ns);
                self.send_waiting(service.pool, now_ns);
            }
            return;
        }
        if self.link_of(&service).is_some() {
            self.drop_link(service.link);
            let pool = self.pools.get(service.pool);
            if let Some(host) = pool.and_then(Pool::host) {
                host.names.ask();
            }
        }
        for FlightKey(call) in flights {
            let call = call as usize;
            match was_idle && self.may_repeat(call) {
                true => self.send(service.pool, call, now_ns),
                false => {
                    let words = format!("the connection was lost: {}", fault.words);
                    self.finish(call, Err(Fault::new(fault.reason, words)), now_ns);
                }
            }
        }
        self.send_waiting(service.pool, now_ns);
    }
}

/// Forgets what may be forgotten if there is too much of it: a program may make up names without end.
pub fn make_room<K: Eq + Hash, V>(known: &mut HashMap<K, V>, is_needed: impl Fn(&V) -> bool) {
    if known.len() >= MOST_KNOWN {
        known.retain(|_, value| is_needed(value));
    }
}

#[cfg(test)]
mod tests;
