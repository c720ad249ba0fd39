//! Opening connections, losing them, and opening them again.
//!
//! A link tries its own host's addresses first, and then those of the target's other hosts, in turn.

use std::io;
use std::sync::Arc;

use mio::{Events, Token};

use super::receive::KEYS;
use super::{Driver, NetError, Sheet};
use crate::net::names::Route;
use crate::net::{Phase, connect_words};
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::iteration::Bond;
use crate::scenario::engine::pool::Link;
use crate::scenario::engine::site::Site;
use crate::scenario::engine::wire::{Http, Service, Wire, fault, not_in_time, was_of_use};
use crate::scenario::tally::Reason;

/// A link tries so often to return to its own host.
const RETURN_NS: u64 = 1_000_000_000;

impl Driver<'_> {
    /// Opens every connection of this thread and finishes all handshakes. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// A target has no host that answers.
    pub fn connect(&mut self) -> Result<(), NetError> {
        let mut events = Events::with_capacity(1024);
        loop {
            let now_ns = self.now_ns();
            self.expect_greetings(now_ns);
            self.open_links(now_ns);
            for (pool, site) in self.pools.iter().zip(&self.common.sites.named) {
                let broken = pool
                    .links
                    .iter()
                    .find(|link| link.failures > 0 && link.wire.is_none());
                if let Some(link) = broken {
                    let fault = link.fault.as_ref();
                    return Err(unreachable(site, fault.map_or("", |fault| &fault.words)));
                }
            }
            if self
                .pools
                .iter()
                .flat_map(|pool| &pool.links)
                .all(|link| self.is_ready(link.wire))
            {
                return Ok(());
            }
            if self.is_interrupted() {
                return Err(NetError::Interrupted);
            }
            self.next_glance_ns = now_ns.saturating_add(super::GLANCE_NS);
            self.wait(&mut events)?;
            self.take_events(&events);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.common
            .signal
            .load(std::sync::atomic::Ordering::Relaxed)
    }

    fn is_ready(&self, wire: Option<usize>) -> bool {
        wire.and_then(|key| self.wires.get(key))
            .is_some_and(|wire| wire.phase == Phase::Ready)
    }

    /// Opens the links that have no connection and have waited long enough.
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        for target in 0..self.pools.len() {
            if self.common.sites.is_found(target) {
                self.open_found(target, now_ns);
            }
            let Some(pool) = self.pools.get(target) else {
                continue;
            };
            let is_due = |link: &Link| link.wire.is_none() && link.retry_at_ns <= now_ns;
            if !pool.links.iter().any(is_due) {
                continue;
            }
            for at in 0..pool.links.len() {
                let link = self
                    .pools
                    .get_mut(target)
                    .and_then(|pool| pool.links.get_mut(at));
                if let Some(link) = link.filter(|link| is_due(link)) {
                    link.tried = 0;
                    let fault = Fault::new(Reason::Connect, "no address".to_owned());
                    self.try_next(target, at, fault, now_ns);
                }
            }
        }
    }

    /// Gives links to an authority that is no target, once its name is looked up.
    fn open_found(&mut self, target: usize, now_ns: u64) {
        let (sites, index, threads) = (self.common.sites, self.index, self.common.threads);
        let pool = self.pools.get_mut(target);
        // Of those that other threads have found, this one opens only what it needs.
        let Some(pool) = pool.filter(|pool| pool.links.is_empty() && pool.has_waiting()) else {
            return;
        };
        match sites.looked_up(target) {
            None => {}
            Some(Ok(site)) => {
                self.core.again.extend(pool.waiting(Bond::Free).drain(..));
                *pool = super::pool(site, index, threads);
            }
            Some(Err(why)) => {
                for waiting in pool.waiting(Bond::Free).drain(..) {
                    let fault = Fault::new(Reason::Connect, why.to_owned());
                    self.core.refuse(waiting, fault, now_ns);
                }
            }
        }
    }

    /// Tries a link's next way. If there is none, the link waits.
    fn try_next(&mut self, target: usize, at: usize, mut fault: Fault, now_ns: u64) {
        while let Some((host, route)) = self.next_way(target, at, |link| &mut link.tried) {
            match self.open_wire(target, at, host, &route, now_ns) {
                Ok(key) => {
                    if let Some(link) = self.link_mut(target, at) {
                        link.wire = Some(key);
                    }
                    return;
                }
                Err(error) => fault = Fault::new(Reason::Connect, connect_words(&error)),
            }
        }
        if let Some(pool) = self.pools.get_mut(target) {
            pool.broke(at, fault, now_ns);
        }
        self.refuse_waiting(target, at, now_ns);
    }

    /// The next way of a link's round: its own host's addresses come first. `tried`: how many the round has tried.
    fn next_way(
        &mut self,
        target: usize,
        at: usize,
        tried: fn(&mut Link) -> &mut usize,
    ) -> Option<(usize, Arc<Route>)> {
        let site = self.common.sites.get(target)?;
        let link = self.pools.get_mut(target)?.links.get_mut(at)?;
        let own = site.own_host(link.number);
        let mut skipped = *tried(link);
        *tried(link) += 1;
        for offset in 0..site.hosts.len() {
            let host = (own + offset) % site.hosts.len();
            let routes = site.hosts.get(host)?.names.routes();
            match routes.get(skipped) {
                Some(route) => return Some((host, Arc::clone(route))),
                None => skipped -= routes.len(),
            }
        }
        None
    }

    /// Tries to move links back to their own hosts.
    pub(super) fn fail_back(&mut self, now_ns: u64) {
        let mut away = Vec::new();
        for (target, (site, pool)) in self
            .common
            .sites
            .named
            .iter()
            .zip(&mut self.pools)
            .enumerate()
        {
            if !site.fails_back || site.hosts.len() < 2 {
                continue;
            }
            for (at, link) in pool.links.iter_mut().enumerate() {
                let wire = link.wire.and_then(|key| self.wires.get(key));
                let is_away = wire.is_some_and(|wire| {
                    wire.phase == Phase::Ready && wire.owner.host != site.own_host(link.number)
                });
                if is_away && link.returning.is_none() && now_ns >= link.returns_at_ns {
                    link.returns_at_ns = now_ns.saturating_add(RETURN_NS);
                    link.returning_tried = 0;
                    away.push((target, at));
                }
            }
        }
        for (target, at) in away {
            self.try_return(target, at, now_ns);
        }
    }

    /// Tries the next address of a link's own host. If there is none, the link stays where it is.
    fn try_return(&mut self, target: usize, at: usize, now_ns: u64) {
        let sites = self.common.sites;
        let tried: fn(&mut Link) -> &mut usize = |link| &mut link.returning_tried;
        while let Some((host, route)) = self.next_way(target, at, tried) {
            let own = sites.get(target).zip(self.link_mut(target, at));
            if own.is_none_or(|(site, link)| site.own_host(link.number) != host) {
                return;
            }
            if let Ok(key) = self.open_wire(target, at, host, &route, now_ns) {
                if let Some(link) = self.link_mut(target, at) {
                    link.returning = Some(key);
                }
                return;
            }
        }
    }

    fn open_wire(
        &mut self,
        target: usize,
        at: usize,
        host: usize,
        route: &Arc<Route>,
        now_ns: u64,
    ) -> io::Result<usize> {
        let Some(site) = self.common.sites.get(target) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let tls = site.hosts.get(host).and_then(|host| host.tls.as_ref());
        let service = Service {
            target,
            host,
            link: at,
            has_answered: false,
        };
        let wire = Wire::open(route, tls, site.http(), service, now_ns)?;
        let entry = self.wires.vacant_entry();
        let key = entry.key();
        wire.join(self.poll.registry(), Token(key))?;
        entry.insert(wire);
        Ok(key)
    }

    /// A connecting socket became writable: it is connected, or it failed.
    pub(super) fn connected(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        match wire.connected() {
            Ok(false) => {}
            Ok(true) => {
                self.flush(key, now_ns);
                self.look_at_phase(key, now_ns);
            }
            Err(lost) => self.lose(key, fault(lost, &KEYS), now_ns),
        }
    }

    /// Checks whether a connection has become ready, must retire, or has retired.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        self.links_changed = true;
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let (target, at) = (wire.owner.target, wire.owner.link);
        if wire.phase == Phase::Greeting && wire.transport.is_open() && wire.http.is_ready() {
            if wire.http.is_draining() {
                let words = "the server ends connections immediately (GOAWAY)".to_owned();
                self.lose(key, Fault::new(Reason::GoAway, words), now_ns);
                return;
            }
            wire.phase = Phase::Ready;
            let before = self.link_mut(target, at).and_then(|link| {
                link.tried = 0;
                link.returning = link.returning.filter(|returning| *returning != key);
                link.wire.replace(key).filter(|before| *before != key)
            });
            // The link has returned to its own host.
            if let Some(before) = before {
                if let Some(wire) = self.wires.get_mut(before) {
                    wire.phase = Phase::Retiring;
                }
                self.look_at_phase(before, now_ns);
            }
            if let Some(pool) = self.pools.get_mut(target) {
                pool.list(at);
            }
            self.send_waiting(target, at, now_ns);
            return;
        }
        if wire.phase == Phase::Ready && wire.http.is_draining() {
            let fault = match wire.http {
                // A response is still coming: another connection would be one too many.
                Http::One(_) if wire.http.open() > 0 => return,
                // This side has given a request up, or the server has answered.
                Http::One(_) => None,
                Http::Two(ref http) => Some(match http.go_away() {
                    Some(_) => Fault::new(
                        Reason::GoAway,
                        "the server sent GOAWAY before it answered".to_owned(),
                    ),
                    None => Fault::new(
                        Reason::Closed,
                        "the server closed it before it answered".to_owned(),
                    ),
                }),
            };
            wire.phase = Phase::Retiring;
            self.part(key, fault.as_ref(), now_ns);
        }
        let wire = self.wires.get_mut(key);
        if let Some(wire) = wire.filter(|wire| wire.phase == Phase::Retiring)
            && wire.http.open() == 0
        {
            wire.close();
            self.drop_wire(key);
        }
    }

    /// A link has no connection any more. The next one is opened at once if this one was of use, or had no fault.
    fn part(&mut self, key: usize, fault: Option<&Fault>, now_ns: u64) {
        let Some(wire) = self.wires.get(key) else {
            return;
        };
        let Some(pool) = self.pools.get_mut(wire.owner.target) else {
            return;
        };
        let link = pool.links.get_mut(wire.owner.link);
        let Some(link) = link.filter(|link| link.wire == Some(key)) else {
            return;
        };
        match fault.filter(|_| !was_of_use(wire, now_ns)) {
            None => (link.wire, link.retry_at_ns) = (None, now_ns),
            Some(fault) => pool.broke(wire.owner.link, fault.clone(), wire.began_ns),
        }
    }

    /// The connection is gone: its requests fail, and its link is opened again.
    pub(super) fn lose(&mut self, key: usize, fault: Fault, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let (target, at, was_attempt) = (wire.owner.target, wire.owner.link, wire.is_attempt());
        let was_idle = wire.http.was_idle();
        let flights = wire.http.take();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = wire.flush();
        if !was_attempt {
            self.part(key, Some(&fault), now_ns);
        }
        self.drop_wire(key);
        if was_attempt && let Some(link) = self.link_mut(target, at) {
            if link.wire == Some(key) {
                self.try_next(target, at, fault.clone(), now_ns);
            } else if link
                .returning
                .take_if(|returning| *returning == key)
                .is_some()
            {
                self.try_return(target, at, now_ns);
            }
        }
        for flight in flights {
            if was_idle && self.may_repeat(flight) {
                self.send(flight.0, now_ns);
            } else {
                let words = format!("the connection was lost: {}", fault.words);
                self.core
                    .fail(flight, Fault::new(fault.reason, words), now_ns);
            }
        }
    }

    /// Whether a request may be sent again that its server has perhaps not seen: once, if it changes nothing twice.
    fn may_repeat(&mut self, key: FlightKey) -> bool {
        let Some(flight) = self.core.flights.get_mut(key.0 as usize) else {
            return false;
        };
        let is_idempotent = match self.shots.get(flight.step) {
            Some(Sheet::Http(shot)) => shot.is_idempotent(),
            _ => false,
        };
        if !is_idempotent || flight.refusals > 0 {
            return false;
        }
        (flight.refusals, flight.place) = (1, None);
        true
    }

    fn drop_wire(&mut self, key: usize) {
        self.links_changed = true;
        if let Some(wire) = self.wires.try_remove(key) {
            wire.leave(self.poll.registry());
        }
    }

    /// Gives up the attempts that take too long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        let is_late = |wire: &Wire| {
            let site = self.common.sites.get(wire.owner.target);
            let limit_ns = site.map_or(u64::MAX, |site| site.connect_timeout_ns);
            wire.is_attempt() && now_ns.saturating_sub(wire.began_ns) >= limit_ns
        };
        let late = self.wires.iter().filter(|(_, wire)| is_late(wire));
        let late: Vec<_> = late.map(|(key, wire)| (key, not_in_time(wire))).collect();
        for (key, fault) in late {
            self.lose(key, fault, now_ns);
        }
    }

    /// Ends all connections.
    pub(super) fn hang_up(&mut self) {
        for (_, wire) in &mut self.wires {
            wire.close();
        }
    }

    pub(super) fn link_mut(&mut self, target: usize, at: usize) -> Option<&mut Link> {
        self.pools.get_mut(target)?.links.get_mut(at)
    }
}

fn unreachable(site: &Site, reason: &str) -> NetError {
    let hosts: Vec<_> = site.hosts.iter().map(|host| host.label.as_str()).collect();
    NetError::Connect {
        target: format!("target `{}` at {}", site.name, hosts.join(", ")),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests;
