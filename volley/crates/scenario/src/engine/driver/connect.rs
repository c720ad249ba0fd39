//! Opening connections, losing them, and opening them again.
//!
//! A link tries its own host's addresses first, and then those of the target's other hosts, in turn.

use std::sync::Arc;

use super::{Driver, NetError, Prepared};
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::iteration::Bond;
use crate::engine::pool::Link;
use crate::engine::site::Site;
use crate::engine::wire::{Http, Wire, WireOwner, not_in_time, was_of_use};
use crate::tally::Reason;
use volley_net::names::Route;
use volley_net::{Phase, Way, connect_words};

/// A link tries so often to return to its own host.
const RETURN_NS: u64 = 1_000_000_000;

impl Driver<'_> {
    /// Opens every connection of this thread and finishes all handshakes. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// A target has no host that answers.
    pub fn connect(&mut self) -> Result<(), NetError> {
        loop {
            let now_ns = self.now_ns();
            self.expect_greetings(now_ns);
            self.open_links(now_ns);
            for (pool, site) in self.pools.iter().zip(&self.common.sites.named) {
                let broken = pool
                    .links
                    .iter()
                    .find(|link| link.place.failures > 0 && link.place.is_empty());
                if let Some(link) = broken {
                    let fault = link.fault.as_ref();
                    return Err(unreachable(site, fault.map_or("", |fault| &fault.words)));
                }
            }
            if self
                .pools
                .iter()
                .flat_map(|pool| &pool.links)
                .all(|link| link.place.wire.is_some())
            {
                return Ok(());
            }
            if self.is_interrupted() {
                return Err(NetError::Interrupted);
            }
            self.next_glance_ns = now_ns.saturating_add(super::GLANCE_NS);
            self.wait()?;
            self.take_events();
        }
    }

    fn is_interrupted(&self) -> bool {
        self.common
            .signal
            .load(std::sync::atomic::Ordering::Relaxed)
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
            let is_due = |link: &Link| link.place.is_due(now_ns);
            if !pool.links.iter().any(is_due) {
                continue;
            }
            for at in 0..pool.links.len() {
                let link = self
                    .pools
                    .get_mut(target)
                    .and_then(|pool| pool.links.get_mut(at));
                if let Some(link) = link.filter(|link| is_due(link)) {
                    link.place.tried = 0;
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

    /// Tries a link's next way. If there is none, and no attempt goes on, the link waits.
    fn try_next(&mut self, target: usize, at: usize, mut fault: Fault, now_ns: u64) {
        let Some(site) = self.common.sites.get(target) else {
            return;
        };
        let pool = self.pools.get_mut(target);
        let Some(link) = pool.and_then(|pool| pool.links.get_mut(at)) else {
            return;
        };
        let (number, place) = (link.number, &mut link.place);
        let way = |tried| way(site, number, tried).map(|way| self::open(site, target, at, way));
        match self.net.try_next(place, now_ns, way) {
            Ok(()) => return,
            Err(Some(error)) => fault = Fault::new(Reason::Connect, connect_words(&error)),
            Err(None) => {}
        }
        if !place.is_trying() {
            place.broke(now_ns);
            link.fault = Some(fault);
            site.look_up_again();
            self.refuse_waiting(target, at, now_ns);
        }
    }

    /// Tries to move links back to their own hosts.
    pub(super) fn fail_back(&mut self, now_ns: u64) {
        let mut away = Vec::new();
        let sites = self.common.sites.named.iter().zip(&mut self.pools);
        for (target, (site, pool)) in sites.enumerate() {
            if !site.fails_back || site.hosts.len() < 2 {
                continue;
            }
            for (at, link) in pool.links.iter_mut().enumerate() {
                let wire = link.place.wire.and_then(|key| self.net.wires.get(key));
                let is_away =
                    wire.is_some_and(|wire| wire.owner.host != site.own_host(link.number));
                if is_away && !link.place.is_trying() && now_ns >= link.returns_at_ns {
                    link.returns_at_ns = now_ns.saturating_add(RETURN_NS);
                    link.place.tried = 0;
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
        let Some(site) = self.common.sites.get(target) else {
            return;
        };
        let pool = self.pools.get_mut(target);
        let Some(link) = pool.and_then(|pool| pool.links.get_mut(at)) else {
            return;
        };
        let (number, own) = (link.number, site.own_host(link.number));
        let way = |tried| {
            let way = way(site, number, tried).filter(|(host, _)| *host == own);
            way.map(|way| self::open(site, target, at, way))
        };
        // If none is left, the link tries again later.
        let _ = self.net.try_next(&mut link.place, now_ns, way);
    }

    /// Checks whether a connection has become ready, must retire, or has retired.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        self.links_changed = true;
        let Some(wire) = self.net.wires.get_mut(key) else {
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
            let link = self.link_mut(target, at);
            let (before, slower) = link.map_or_else(Default::default, |link| link.place.won(key));
            for key in slower {
                self.net.remove(key);
            }
            // The link has returned to its own host.
            if let Some(before) = before {
                if let Some(wire) = self.net.wires.get_mut(before) {
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
        let wire = self.net.wires.get_mut(key);
        if let Some(wire) = wire.filter(|wire| wire.phase == Phase::Retiring)
            && wire.http.open() == 0
        {
            wire.close();
            self.drop_wire(key);
        }
    }

    /// A link has no connection any more. The next one is opened at once if this one was of use, or had no fault.
    fn part(&mut self, key: usize, fault: Option<&Fault>, now_ns: u64) {
        let Some(wire) = self.net.wires.get(key) else {
            return;
        };
        let Some(pool) = self.pools.get_mut(wire.owner.target) else {
            return;
        };
        let link = pool.links.get_mut(wire.owner.link);
        let Some(link) = link.filter(|link| link.place.wire == Some(key)) else {
            return;
        };
        let is_good = fault.is_none() || was_of_use(wire, now_ns);
        link.place.parted(is_good, wire.began_ns, now_ns);
        let (target, at, is_moving) = (wire.owner.target, wire.owner.link, link.place.is_trying());
        if let Some(fault) = fault {
            link.fault = Some(fault.clone());
            if let Some(site) = self.common.sites.get(target) {
                site.look_up_again();
            }
        }
        // A return to its own host may take long, so the round goes on beside it.
        if is_moving {
            let fault = Fault::new(Reason::Connect, "no address".to_owned());
            self.try_next(target, at, fault, now_ns);
        }
    }

    /// The connection is gone: its requests fail, and its link is opened again.
    pub(super) fn lose(&mut self, key: usize, fault: Fault, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
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
        if was_attempt
            && let Some(link) = self.link_mut(target, at)
            && link.place.failed(key)
        {
            match link.place.wire {
                None => self.try_next(target, at, fault.clone(), now_ns),
                Some(_) => self.try_return(target, at, now_ns),
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
        let is_idempotent = match self.prepared.get(flight.step) {
            Some(Prepared::Http(request)) => request.is_idempotent(),
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
        self.net.remove(key);
    }

    /// Gives up the attempts that take too long, and tries the next way beside those that take long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        let limit_ns = |_, wire: &Wire| {
            let site = self.common.sites.get(wire.owner.target);
            site.map_or(u64::MAX, |site| site.connect_timeout_ns)
        };
        let latest = |owner: &WireOwner| {
            let pool = self.pools.get(owner.target)?;
            pool.links.get(owner.link)?.place.attempt()
        };
        let (overdue, slow) = self.net.late(now_ns, limit_ns, latest);
        for key in overdue {
            if let Some(fault) = self.net.wires.get(key).map(not_in_time) {
                self.lose(key, fault, now_ns);
            }
        }
        for key in slow {
            let Some(wire) = self.net.wires.get(key) else {
                continue;
            };
            let (target, at) = (wire.owner.target, wire.owner.link);
            let fault = not_in_time(wire);
            match self.link_mut(target, at).map(|link| link.place.wire) {
                Some(None) => self.try_next(target, at, fault, now_ns),
                Some(Some(_)) => self.try_return(target, at, now_ns),
                None => {}
            }
        }
    }

    pub(super) fn link_mut(&mut self, target: usize, at: usize) -> Option<&mut Link> {
        self.pools.get_mut(target)?.links.get_mut(at)
    }
}

/// A link's way after so many others: its own host's addresses come first. With the host that it leads to.
fn way(site: &Site, number: u32, tried: usize) -> Option<(usize, Arc<Route>)> {
    let (own, mut skipped) = (site.own_host(number), tried);
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

/// What opens a link's connection.
fn open(
    site: &Site,
    target: usize,
    link: usize,
    (host, route): (usize, Arc<Route>),
) -> Way<'_, Http, WireOwner> {
    Way {
        route,
        tls: site.hosts.get(host).and_then(|host| host.tls.as_ref()),
        http: site.http(),
        owner: WireOwner {
            target,
            host,
            link,
            has_answered: false,
        },
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
