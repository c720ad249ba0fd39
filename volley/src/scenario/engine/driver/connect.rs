//! Opening connections, losing them, and opening them again.
//!
//! A link tries its own host's addresses first, and then those of the target's other hosts, in turn.

use std::io;
use std::sync::Arc;

use mio::unix::SourceFd;
use mio::{Events, Interest, Token};

use super::{Driver, EngineError, Sheet};
use crate::engine::connect_words;
use crate::engine::names::Route;
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::site::Site;
use crate::scenario::engine::wire::{Phase, Wire};
use crate::scenario::tally::Reason;

/// A link tries so often to return to its own host.
const RETURN_NS: u64 = 1_000_000_000;

/// What is said of a connection that did not become ready in time.
const NO_ANSWER: &str = "nothing answered in time (`http.connect_timeout`)";

impl Driver<'_> {
    /// Opens every connection of this thread and finishes all handshakes. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// A target has no host that answers.
    pub fn connect(&mut self) -> Result<(), EngineError> {
        let mut events = Events::with_capacity(1024);
        loop {
            let now_ns = self.now_ns();
            self.expect_greetings(now_ns);
            self.open_links(now_ns);
            for (pool, site) in self.pools.iter().zip(self.common.sites) {
                let broken = pool
                    .links
                    .iter()
                    .find(|link| link.failures > 0 && link.wire.is_none());
                if let Some(link) = broken {
                    return Err(unreachable(site, &link.reason));
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
                return Err(EngineError::Interrupted);
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
            let Some(pool) = self.pools.get(target) else {
                continue;
            };
            let is_due =
                |link: &super::super::pool::Link| link.wire.is_none() && link.retry_at_ns <= now_ns;
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
                    self.try_next(target, at, "no address", now_ns);
                }
            }
        }
    }

    /// Tries a link's next way. If there is none, the link waits.
    fn try_next(&mut self, target: usize, at: usize, reason: &str, now_ns: u64) {
        let mut reason = reason.to_owned();
        while let Some((host, route)) = self.next_way(target, at) {
            match self.open_wire(target, at, host, &route, now_ns) {
                Ok(key) => {
                    if let Some(link) = self.link_mut(target, at) {
                        link.wire = Some(key);
                    }
                    return;
                }
                Err(error) => reason = connect_words(&error),
            }
        }
        if let Some(pool) = self.pools.get_mut(target) {
            pool.broke(at, reason, now_ns);
        }
        self.refuse_waiting(target, now_ns);
    }

    /// The next way of a link's round: its own host's addresses come first.
    fn next_way(&mut self, target: usize, at: usize) -> Option<(usize, Arc<Route>)> {
        let site = self.common.sites.get(target)?;
        let link = self.pools.get_mut(target)?.links.get_mut(at)?;
        let own = link.number as usize % site.hosts.len().max(1);
        let mut skipped = link.tried;
        link.tried += 1;
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
        for (_, wire) in &self.wires {
            let Some(site) = self
                .common
                .sites
                .get(wire.target)
                .filter(|site| site.fails_back)
            else {
                continue;
            };
            let link = self
                .pools
                .get_mut(wire.target)
                .and_then(|pool| pool.links.get_mut(wire.link));
            if let Some(link) = link
                && wire.phase == Phase::Ready
                && wire.host != link.number as usize % site.hosts.len().max(1)
                && now_ns >= link.returns_at_ns
            {
                link.returns_at_ns = now_ns.saturating_add(RETURN_NS);
                link.tried = 0;
                away.push((wire.target, wire.link));
            }
        }
        for (target, at) in away {
            if let Some((host, route)) = self.next_way(target, at) {
                // If it does not answer, the link stays where it is.
                let _ = self.open_wire(target, at, host, &route, now_ns);
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
        let place = (target, host, at);
        let wire = Wire::open(route, tls, site.http(), place, now_ns)?;
        let entry = self.wires.vacant_entry();
        let key = entry.key();
        self.poll.registry().register(
            &mut SourceFd(&wire.transport.descriptor()),
            Token(key),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        entry.insert(wire);
        Ok(key)
    }

    /// A connecting socket became writable: it is connected, or it failed.
    pub(super) fn connected(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        match wire.transport.connected() {
            Ok(false) => {}
            Ok(true) => {
                wire.phase = match wire.transport.needs_proxy() {
                    true => Phase::Tunnelling,
                    false => Phase::Greeting,
                };
                self.flush(key, now_ns);
                self.look_at_phase(key, now_ns);
            }
            Err(error) => self.lose(key, &connect_words(&error), now_ns),
        }
    }

    /// Checks whether a connection has become ready, must retire, or has retired.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        self.links_changed = true;
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let (target, at) = (wire.target, wire.link);
        if wire.phase == Phase::Greeting && wire.transport.is_open() && wire.http.is_ready() {
            if wire.http.is_draining() {
                self.lose(key, "the server closed the connection immediately", now_ns);
                return;
            }
            wire.phase = Phase::Ready;
            let before = self.link_mut(target, at).and_then(|link| {
                (link.failures, link.tried) = (0, 0);
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
            self.send_waiting(target, now_ns);
            return;
        }
        if wire.phase == Phase::Ready && wire.http.is_draining() {
            wire.phase = Phase::Retiring;
            let was_used = wire.http.was_used();
            if let Some(pool) = self.pools.get_mut(target) {
                match was_used {
                    true => {
                        let link = pool.links.get_mut(at).filter(|link| link.wire == Some(key));
                        if let Some(link) = link {
                            (link.wire, link.retry_at_ns) = (None, now_ns);
                        }
                    }
                    false => {
                        pool.broke(at, "the server sent GOAWAY immediately".to_owned(), now_ns)
                    }
                }
            }
        }
        let wire = self.wires.get_mut(key);
        if let Some(wire) = wire.filter(|wire| wire.phase == Phase::Retiring)
            && wire.http.open() == 0
        {
            wire.close();
            self.drop_wire(key);
        }
    }

    /// The connection is gone: its requests fail, and its link is opened again.
    pub(super) fn lose(&mut self, key: usize, reason: &str, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let (target, at, was_attempt) = (wire.target, wire.link, wire.is_attempt());
        let was_idle = wire.http.was_idle();
        let flights = wire.http.take();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = wire.flush();
        self.drop_wire(key);
        let is_current = self
            .link_mut(target, at)
            .is_some_and(|link| link.wire == Some(key));
        if is_current && was_attempt {
            self.try_next(target, at, reason, now_ns);
        } else if is_current && let Some(link) = self.link_mut(target, at) {
            (link.wire, link.retry_at_ns) = (None, now_ns);
        }
        for flight in flights {
            if was_idle && self.may_repeat(flight) {
                let serial = self.core.flights.get(flight.0 as usize);
                let serial = serial.map_or(0, |flight| flight.serial);
                self.core.again.push((flight.0, serial));
            } else {
                let words = format!("the connection was lost: {reason}");
                self.core
                    .fail(flight, Fault::new(Reason::Closed, words), now_ns);
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
            // A closed descriptor leaves the poll by itself.
            let _ = self
                .poll
                .registry()
                .deregister(&mut SourceFd(&wire.transport.descriptor()));
        }
    }

    /// Gives up the attempts that take too long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        let is_late = |wire: &Wire| {
            let site = self.common.sites.get(wire.target);
            let limit_ns = site.map_or(u64::MAX, |site| site.connect_timeout_ns);
            wire.is_attempt() && now_ns.saturating_sub(wire.began_ns) >= limit_ns
        };
        let late = self.wires.iter().filter(|(_, wire)| is_late(wire));
        let late: Vec<usize> = late.map(|(key, _)| key).collect();
        for key in late {
            self.lose(key, NO_ANSWER, now_ns);
        }
    }

    /// Ends all connections.
    pub(super) fn hang_up(&mut self) {
        for (_, wire) in &mut self.wires {
            wire.close();
        }
    }

    pub(super) fn link_mut(
        &mut self,
        target: usize,
        at: usize,
    ) -> Option<&mut super::super::pool::Link> {
        self.pools.get_mut(target)?.links.get_mut(at)
    }
}

fn unreachable(site: &Site, reason: &str) -> EngineError {
    let hosts: Vec<_> = site.hosts.iter().map(|host| host.label.as_str()).collect();
    EngineError::Connect {
        target: format!("target `{}` at {}", site.name, hosts.join(", ")),
        reason: reason.to_owned(),
    }
}
