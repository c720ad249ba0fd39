//! Opening connections, again after a loss too, and everything that must happen before they can carry calls.
//!
//! A link tries the target's addresses in rounds: see [`Place`].

use std::io;
use std::sync::Arc;

use super::{Driver, LoadError, Recorder, Script, Stage};
use crate::link::Link;
use crate::lost::{not_in_time, words};
use crate::wire::{Wire, WireOwner};
use volley_http::http2::Connection;
use volley_net::names::Route;
use volley_net::transport::agreed;
use volley_net::{NetError, Phase, Place, Way, connect_words};

/// A server whose queue of connections is full is tried again after this time.
const BUSY_NS: u64 = 10_000_000;

/// The time between two attempts of a link to move to its own address.
const MOVE_AGAIN_NS: u64 = 1_000_000_000;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Retries the links that lost their connection; ends a run that has no connection left.
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        if !self.broken {
            return;
        }
        for key in std::mem::take(&mut self.spent) {
            self.look_at_phase(key, now_ns);
        }
        let mut any = false;
        for at in 0..self.links.len() {
            let Some(link) = self.links.get(at).filter(|link| self.is_needed(link)) else {
                continue;
            };
            any = true;
            if link.place.is_due(now_ns) {
                self.try_all(at, now_ns);
            }
        }
        if any {
            self.give_up_if_gone(now_ns);
        }
        self.broken = self.links.iter().any(|link| link.place.is_empty());
    }

    /// Whether calls may still start on a link; after the window, only those that are sent again.
    fn is_needed(&self, link: &Link) -> bool {
        self.stage.sends() || (self.stage == Stage::Drain && !link.again.is_empty())
    }

    /// When the next lost link is retried.
    pub(super) fn next_retry_ns(&self) -> u64 {
        if !self.broken {
            return u64::MAX;
        }
        let needed = self.links.iter().filter(|link| self.is_needed(link));
        let empty = needed.filter(|link| link.place.is_empty());
        let retries = empty.map(|link| link.place.retry_at_ns);
        retries.min().unwrap_or(u64::MAX)
    }

    /// Opens every connection of this thread and finishes all handshakes. No call is sent yet.
    pub fn connect(&mut self) -> Result<(), LoadError> {
        let deadline_ns = self.begin_to_connect();
        loop {
            self.expect_greetings(self.clock.now_ns());
            if let Some(reason) = self.out_of_addresses() {
                return Err(self.unreachable(reason));
            }
            if self.links.iter().all(|link| link.place.wire.is_some()) {
                return Ok(());
            }
            if self.is_interrupted() {
                return Err(NetError::Interrupted.into());
            }
            if self.clock.now_ns() >= deadline_ns {
                let mut wires = self.net.wires.iter().map(|(_, wire)| wire);
                let waiting = wires.find(|wire| wire.is_attempt());
                return Err(self.unreachable(self.unanswered(waiting)));
            }
            let places = self.links.iter().map(|link| &link.place);
            let empty = places.filter(|place| place.is_empty());
            let again_ns = empty.map(|place| place.retry_at_ns).min();
            self.turn(deadline_ns.min(again_ns.unwrap_or(u64::MAX)))?;
        }
    }

    /// Starts connecting all links that have no connection. Returns the deadline.
    pub(super) fn begin_to_connect(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.adopt_routes();
        for at in 0..self.links.len() {
            if let Some(link) = self.links.get_mut(at)
                && link.place.is_empty()
            {
                link.down = None;
                self.try_all(at, now_ns);
            }
        }
        now_ns.saturating_add(self.plan.connect_timeout_ns)
    }

    /// The reason why a link has no connection, once all addresses have failed. A server that was only busy is tried
    /// again.
    pub(super) fn out_of_addresses(&mut self) -> Option<String> {
        let now_ns = self.clock.now_ns();
        let mut failed = None;
        for at in 0..self.links.len() {
            let Some(link) = self.links.get(at) else {
                continue;
            };
            match &link.down {
                Some(down) if !down.is_busy => {
                    failed.get_or_insert_with(|| down.reason.clone());
                }
                Some(_) if link.place.is_due(now_ns) => self.try_all(at, now_ns),
                _ => {}
            }
        }
        failed
    }

    /// A link has lost its connection while it was to move. That may take long, so the round goes on beside it.
    pub(super) fn try_beside(&mut self, at: usize, now_ns: u64) {
        let place = self.links.get(at).map(|link| &link.place);
        if place.is_some_and(|place| place.is_trying()) {
            self.try_next(at, None, now_ns);
        }
    }

    /// Begins a round of the target's addresses for a link that has no connection.
    pub(super) fn try_all(&mut self, at: usize, now_ns: u64) {
        if let Some(link) = self.links.get_mut(at) {
            link.place.tried = 0;
        }
        self.try_next(at, None, now_ns);
    }

    /// Tries the round's next address that can be tried at all. If there is none, the link is down until its next round,
    /// unless an earlier attempt still goes on. `reason`: why the last one failed.
    fn try_next(&mut self, at: usize, reason: Option<String>, now_ns: u64) {
        let Err(failure) = self.open_next(at, None, now_ns) else {
            return;
        };
        if failure.is_some() || reason.is_some() {
            self.plan.names.ask();
        }
        let link = self.links.get_mut(at);
        let Some(link) = link.filter(|link| !link.place.is_trying()) else {
            return;
        };
        let words = failure.as_ref().map(connect_words);
        link.broke(words.or(reason).unwrap_or_default(), now_ns);
        if failure.is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            && let Some(down) = &mut link.down
        {
            down.is_busy = true;
            link.place.retry_at_ns = now_ns.saturating_add(BUSY_NS);
        }
        self.broken = true;
    }

    /// Starts an attempt to connect a link to the next address of its round, up to that of its `present` connection.
    fn open_next(
        &mut self,
        at: usize,
        present: Option<&Arc<Route>>,
        now_ns: u64,
    ) -> Result<(), Option<io::Error>> {
        let Self {
            net,
            links,
            routes,
            plan,
            serial,
            ..
        } = self;
        let Some(link) = links.get_mut(at) else {
            return Err(None);
        };
        let turn = if plan.in_turn { link.number } else { 0 };
        let way = |tried| {
            let place = place_of(turn as usize, tried, routes.len())?;
            let route = routes.get(place).filter(|route| Some(*route) != present)?;
            *serial += 1;
            Some(Way {
                route: Arc::clone(route),
                tls: plan.tls.as_ref(),
                http: Connection::new(&plan.http2),
                owner: WireOwner {
                    link: at,
                    uncounted: 0,
                    unanswered: 0,
                    serial: *serial,
                },
            })
        };
        net.try_next(&mut link.place, now_ns, way)
    }

    /// Takes over what the names have come to mean.
    pub(super) fn adopt_routes(&mut self) {
        let version = self.plan.names.version();
        if self.routes.is_empty() || version != self.routes_version {
            (self.routes, self.routes_version) = (self.plan.names.routes(), version);
            self.most_routes = self.most_routes.max(self.routes.len());
            for link in &mut self.links {
                link.moves_at_ns = 0;
            }
        }
    }

    /// Moves links to the addresses that they should have: to those that are new, from those that are gone, and back to
    /// those that work again. A link keeps its connection until the new one is ready.
    pub(super) fn balance(&mut self, now_ns: u64) {
        self.adopt_routes();
        if !self.plan.in_turn && self.routes_version == 0 || !self.stage.sends() {
            return;
        }
        for at in 0..self.links.len() {
            let Some(link) = self.links.get(at) else {
                continue;
            };
            let Some(present) = link.place.wire else {
                continue;
            };
            if link.place.is_trying() || link.moves_at_ns > now_ns {
                continue;
            }
            let own = place_of(link.number as usize, 0, self.routes.len());
            let route = self.net.wires.get(present).map(|wire| &wire.route);
            let is_at = |own: &Arc<Route>| Some(own) == route;
            let is_right = match own.and_then(|own| self.routes.get(own)) {
                Some(own) if self.plan.in_turn => is_at(own),
                _ => self.routes.iter().any(is_at),
            };
            if !is_right {
                self.try_to_move(at, now_ns);
            }
        }
    }

    fn try_to_move(&mut self, at: usize, now_ns: u64) {
        let Some(link) = self.links.get_mut(at) else {
            return;
        };
        link.moves_at_ns = now_ns.saturating_add(MOVE_AGAIN_NS);
        (link.place.tried, link.is_planned) = (0, true);
        self.move_on(at, now_ns);
    }

    /// Tries the next address that is better than a link's present one.
    fn move_on(&mut self, at: usize, now_ns: u64) {
        let present = self.links.get(at).and_then(|link| link.place.wire);
        let present = present.and_then(|key| self.net.wires.get(key));
        let present = present.map(|wire| Arc::clone(&wire.route));
        // Any address will do that is not the present one, and nothing comes after that.
        let _ = self.open_next(at, present.as_ref(), now_ns);
    }

    fn unreachable(&self, reason: String) -> LoadError {
        let target = self.plan.names.words();
        NetError::Connect { target, reason }.into()
    }

    /// What a connection that is not ready was waiting for.
    fn unanswered(&self, wire: Option<&Wire<S::Mark>>) -> String {
        let what = wire.map_or("nothing answered", |wire| wire.transport.wait_words());
        not_in_time(what, self.plan.connect_timeout_ns as f64 / 1e9)
    }

    /// An attempt failed. Unless another one has taken its place, the link's next address is tried.
    pub(super) fn attempt_failed(&mut self, at: usize, key: usize, reason: String, now_ns: u64) {
        let Some(link) = self.links.get_mut(at) else {
            return;
        };
        match (link.place.failed(key), link.place.wire) {
            (false, _) => {}
            (true, None) => self.try_next(at, Some(reason), now_ns),
            (true, Some(_)) => self.move_on(at, now_ns),
        }
    }

    /// The server has sent its SETTINGS: the link uses this connection from here on.
    pub(super) fn greeted(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        if wire.transport.is_tls() {
            match agreed(wire.transport.alpn()) {
                Ok(agreed) => self.without_alpn |= !agreed,
                Err(lost) => {
                    self.lose(key, &words(&lost), now_ns);
                    return;
                }
            }
        }
        wire.phase = Phase::Ready;
        let at = wire.owner.link;
        let route = Arc::clone(&wire.route);
        self.ready += 1;
        self.turn_gone(false);
        self.use_of(&route).connections += 1;
        let Some(link) = self.links.get_mut(at) else {
            return;
        };
        if self.stage != Stage::Setup {
            let counter = match link.is_planned {
                true => &mut self.planned_reconnects,
                false => &mut self.reconnects,
            };
            *counter += 1;
        }
        let (before, slower) = link.place.won(key);
        (link.down, link.is_planned) = (None, false);
        if let Some(before) = before {
            self.retire(before);
            self.look_at_phase(before, now_ns);
        }
        for key in slower {
            self.drop_wire(key);
        }
        self.stirred = true;
        self.list(at);
    }

    /// Gives up attempts that did not become ready in time, and tries the next address beside those that take long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        if !self.links.iter().any(|link| link.place.is_trying()) {
            return;
        }
        let patience_ns = self.patience_ns();
        let limit_ns = |key, wire: &Wire<S::Mark>| {
            let link = self.links.get(wire.owner.link);
            let place = link.map(|link| &link.place);
            let is_last =
                |place: &Place| place.attempt() == Some(key) && place.tried >= self.routes.len();
            match place.is_some_and(is_last) {
                true => self.plan.connect_timeout_ns,
                false => patience_ns,
            }
        };
        let latest = |owner: &WireOwner| self.links.get(owner.link)?.place.attempt();
        let (overdue, slow) = self.net.late(now_ns, limit_ns, latest);
        for key in overdue {
            let reason = self.unanswered(self.net.wires.get(key));
            self.lose(key, &reason, now_ns);
        }
        for key in slow {
            let wire = self.net.wires.get(key);
            let at = wire.map_or(usize::MAX, |wire| wire.owner.link);
            let link = self.links.get(at);
            // A move is not worth a second attempt.
            if link.is_some_and(|link| link.place.wire.is_none()) {
                self.try_next(at, None, now_ns);
            }
        }
    }

    /// Gives up all attempts: links without a connection are down.
    pub(super) fn end_attempts(&mut self, now_ns: u64) {
        let attempts = self.net.wires.iter().filter(|(_, wire)| wire.is_attempt());
        let attempts: Vec<_> = attempts.map(|(key, wire)| (key, wire.owner.link)).collect();
        for (key, at) in attempts {
            let reason = self.unanswered(self.net.wires.get(key));
            self.drop_wire(key);
            if let Some(link) = self.links.get_mut(at) {
                link.place.failed(key);
                if link.place.is_empty() {
                    link.broke(reason, now_ns);
                }
            }
        }
    }

    /// How long an address may take: all of them together have the time that connecting may take.
    fn patience_ns(&self) -> u64 {
        self.plan.connect_timeout_ns / self.routes.len().max(1) as u64
    }
}

/// Which of `count` addresses a link tries after so many others. Links with the same first choice differ in the second,
/// so that a dead address leaves its share to all others.
fn place_of(turn: usize, tried: usize, count: usize) -> Option<usize> {
    let first = turn.checked_rem(count)?;
    match tried {
        0 => Some(first),
        _ if tried >= count => None,
        _ => Some((first + 1 + (turn / count + tried - 1) % (count - 1)) % count),
    }
}

#[cfg(test)]
mod tests;
