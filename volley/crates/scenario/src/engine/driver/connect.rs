//! Opening connections, and opening them again.
//!
//! A link tries its own host's addresses first, and then those of the target's other hosts, in turn.

use std::sync::Arc;

use super::{Driver, NetError};
use crate::engine::flight::Fault;
use crate::engine::iteration::Bond;
use crate::engine::pool::Link;
use crate::engine::site::Site;
use crate::engine::wire::{Http, Wire, WireOwner, not_in_time};
use crate::tally::Reason;
use volley_net::names::Route;
use volley_net::{Way, connect_words};

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
    pub(super) fn try_next(&mut self, target: usize, at: usize, mut fault: Fault, now_ns: u64) {
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
    pub(super) fn try_return(&mut self, target: usize, at: usize, now_ns: u64) {
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
