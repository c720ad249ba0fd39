//! Opening connections, and everything that must happen before they can carry calls.
//!
//! A link tries the target's addresses in rounds. One that fails leaves its turn to the next at once, and one that has
//! not answered after a while shares its time with the next, as in RFC 8305. The first that is ready is used.

use std::io;
use std::sync::Arc;

use mio::{Events, Token};

use super::{Book, Driver, EngineError, Script, Stage};
use crate::engine::wire::{Service, Wire};
use crate::engine::words::words;
use crate::http2::Connection;
use crate::net::names::Route;
use crate::net::transport::agreed;
use crate::net::{NetError, Phase, connect_words};

/// After this time without a connection, the next address is tried too (RFC 8305 section 8).
const NEXT_AFTER_NS: u64 = 250_000_000;

/// A server whose queue of connections is full is tried again after this time.
const BUSY_NS: u64 = 10_000_000;

/// The time between two attempts of a link to move to its own address.
const MOVE_AGAIN_NS: u64 = 1_000_000_000;

impl<B: Book, S: Script> Driver<'_, B, S> {
    /// Opens every connection of this thread and finishes all handshakes. No call is sent yet.
    pub fn connect(&mut self) -> Result<(), EngineError> {
        let mut events = Events::with_capacity(1024);
        let deadline_ns = self.begin_to_connect();
        loop {
            self.expect_greetings(self.clock.now_ns());
            if let Some(reason) = self.out_of_addresses() {
                return Err(self.unreachable(reason));
            }
            if self.links.iter().all(|link| self.is_ready(link.wire)) {
                return Ok(());
            }
            if self.is_interrupted() {
                return Err(NetError::Interrupted.into());
            }
            if self.clock.now_ns() >= deadline_ns {
                let mut wires = self.wires.iter().map(|(_, wire)| wire);
                let waiting = wires.find(|wire| wire.is_attempt());
                return Err(self.unreachable(self.unanswered(waiting)));
            }
            let idle = self.links.iter().filter(|link| link.wire.is_none());
            let again_ns = idle.filter_map(|link| Some(link.down.as_ref()?.retry_at_ns));
            let again_ns = again_ns.min();
            self.turn(&mut events, deadline_ns.min(again_ns.unwrap_or(u64::MAX)))?;
        }
    }

    /// Starts connecting all links that have no connection. Returns the deadline.
    pub(super) fn begin_to_connect(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.adopt_routes();
        for at in 0..self.links.len() {
            if let Some(link) = self.links.get_mut(at)
                && link.wire.is_none()
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
            let Some(down) = self.links.get(at).and_then(|link| link.down.as_ref()) else {
                continue;
            };
            if !down.is_busy {
                failed.get_or_insert_with(|| down.reason.clone());
            } else if down.retry_at_ns <= now_ns
                && self.links.get(at).is_some_and(|link| link.wire.is_none())
            {
                self.try_all(at, now_ns);
            }
        }
        failed
    }

    /// Begins a round of the target's addresses for a link that has no connection.
    pub(super) fn try_all(&mut self, at: usize, now_ns: u64) {
        if let Some(link) = self.links.get_mut(at) {
            link.tried = 0;
        }
        self.try_next(at, now_ns);
    }

    /// Tries the round's next address that can be tried at all. If there is none, the link is down until its next round.
    fn try_next(&mut self, at: usize, now_ns: u64) {
        let mut failure = None;
        while let Some(route) = self.next_route(at) {
            match self.open_wire(at, &route, now_ns) {
                Ok(key) => {
                    if let Some(link) = self.links.get_mut(at) {
                        link.wire = Some(key);
                    }
                    return;
                }
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            self.give_up_round(at, connect_words(&error), now_ns);
            if error.kind() == io::ErrorKind::WouldBlock
                && let Some(down) = self.links.get_mut(at).and_then(|link| link.down.as_mut())
            {
                (down.is_busy, down.retry_at_ns) = (true, now_ns.saturating_add(BUSY_NS));
            }
        }
    }

    /// No address is left to try: unless an earlier attempt still goes on, the link is down.
    fn give_up_round(&mut self, at: usize, reason: String, now_ns: u64) {
        let mut wires = self.wires.iter();
        let going_on = wires.find(|(_, wire)| wire.owner.link == at && wire.is_attempt());
        let going_on = going_on.map(|(key, _)| key);
        if let Some(link) = self.links.get_mut(at) {
            match going_on {
                Some(key) => link.wire = Some(key),
                None => link.broke(reason, now_ns),
            }
        }
        self.broken = true;
        self.plan.names.ask();
    }

    /// The next address of a link's round.
    fn next_route(&mut self, at: usize) -> Option<Arc<Route>> {
        let link = self.links.get_mut(at)?;
        let turn = if self.plan.in_turn { link.number } else { 0 };
        let place = place_of(turn as usize, link.tried, self.routes.len())?;
        link.tried += 1;
        self.routes.get(place).map(Arc::clone)
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
            if link.attempts > 0 || link.moves_at_ns > now_ns || !self.is_ready(link.wire) {
                continue;
            }
            let own = place_of(link.number as usize, 0, self.routes.len());
            let route = link
                .wire
                .and_then(|key| self.wires.get(key))
                .map(|wire| &wire.route);
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
        (link.tried, link.is_planned) = (0, true);
        self.move_on(at, now_ns);
    }

    /// Tries the next address that is better than a link's present one.
    fn move_on(&mut self, at: usize, now_ns: u64) {
        let present = self.links.get(at).and_then(|link| link.wire);
        let present = present.and_then(|key| self.wires.get(key));
        let present = present.map(|wire| Arc::clone(&wire.route));
        while let Some(route) = self.next_route(at) {
            // Any address will do that is not the present one, and nothing comes after that.
            if Some(&route) == present.as_ref() || self.open_wire(at, &route, now_ns).is_ok() {
                return;
            }
        }
    }

    fn unreachable(&self, reason: String) -> EngineError {
        let target = self.plan.names.words();
        NetError::Connect { target, reason }.into()
    }

    /// What a connection that is not ready was waiting for.
    fn unanswered(&self, wire: Option<&Wire<S::Mark>>) -> String {
        let what = wire.map_or("nothing answered", |wire| wire.transport.wait_words());
        let seconds = self.plan.connect_timeout_ns as f64 / 1e9;
        format!("{what} within {seconds} s (`--connect-timeout`)")
    }

    pub(super) fn is_ready(&self, key: Option<usize>) -> bool {
        key.and_then(|key| self.wires.get(key))
            .is_some_and(|wire| wire.phase == Phase::Ready)
    }

    /// Starts an attempt to connect a link.
    fn open_wire(&mut self, at: usize, route: &Arc<Route>, now_ns: u64) -> io::Result<usize> {
        let plan = self.plan;
        let Some(link) = self.links.get_mut(at) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        self.serial += 1;
        let service = Service {
            link: at,
            uncounted: 0,
            serial: self.serial,
            heard_ns: now_ns,
            pinged_ns: None,
        };
        let http = Connection::new(&plan.http2);
        let wire = Wire::open(route, plan.tls.as_ref(), http, service, now_ns)?;
        let entry = self.wires.vacant_entry();
        let key = entry.key();
        wire.join(self.poll.registry(), Token(key))?;
        entry.insert(wire);
        link.attempts += 1;
        Ok(key)
    }

    /// An attempt failed. Unless another one has taken its place, the link's next address is tried.
    pub(super) fn attempt_failed(&mut self, at: usize, key: usize, reason: String, now_ns: u64) {
        let Some(link) = self.links.get_mut(at) else {
            return;
        };
        link.attempts = link.attempts.saturating_sub(1);
        if link.wire == Some(key) {
            link.wire = None;
            if link.tried < self.routes.len() {
                self.try_next(at, now_ns);
            } else {
                self.give_up_round(at, reason, now_ns);
            }
        } else if self.is_ready(self.links.get(at).and_then(|link| link.wire)) {
            self.move_on(at, now_ns);
        }
    }

    /// A connecting socket became writable: it is connected, or it failed.
    pub(super) fn connected(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        match wire.connected() {
            Ok(false) => {}
            Ok(true) => self.flush(key, now_ns),
            Err(lost) => self.lose(key, &words(&lost), now_ns),
        }
    }

    /// Checks whether a connection has become ready, must retire, or has retired.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        if wire.phase == Phase::Greeting {
            if wire.http.is_draining() {
                self.lose(key, "the server sent GOAWAY immediately", now_ns);
            } else if wire.transport.is_open() && wire.http.is_ready() {
                self.greeted(key, now_ns);
            }
            return;
        }
        if wire.phase == Phase::Ready && wire.http.is_draining() {
            let (at, was_used) = (wire.owner.link, wire.http.was_used());
            let is_planned = wire.http.go_away().is_none();
            self.retire(key);
            if let Some(link) = self.links.get_mut(at)
                && link.wire == Some(key)
            {
                link.retired(was_used, is_planned, now_ns);
                self.broken = true;
            }
        }
        let wire = self.wires.get_mut(key);
        if let Some(wire) = wire.filter(|wire| wire.phase == Phase::Retiring)
            && wire.http.open_streams() == 0
        {
            wire.close();
            self.drop_wire(key);
        }
    }

    /// A connection takes no more calls; those that are open may finish.
    fn retire(&mut self, key: usize) {
        if let Some(wire) = self.wires.get_mut(key) {
            self.ready -= usize::from(wire.phase == Phase::Ready);
            wire.phase = Phase::Retiring;
        }
    }

    /// The server has sent its SETTINGS: the link uses this connection from here on.
    fn greeted(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
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
        let before = link.wire.replace(key).filter(|before| *before != key);
        link.attempts = link.attempts.saturating_sub(1);
        (link.down, link.is_planned) = (None, false);
        let others = std::mem::take(&mut link.attempts) > 0;
        if let Some(before) = before.filter(|before| self.is_ready(Some(*before))) {
            self.retire(before);
            self.look_at_phase(before, now_ns);
        }
        if others {
            let wires = self.wires.iter();
            let slower = wires.filter(|(_, wire)| wire.owner.link == at && wire.is_attempt());
            for key in slower.map(|(key, _)| key).collect::<Vec<_>>() {
                self.drop_wire(key);
            }
        }
        self.stirred = true;
        self.list(at);
    }

    /// Gives up attempts that did not become ready in time, and tries the next address beside those that take long.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        if self.links.iter().all(|link| link.attempts == 0) {
            return;
        }
        let patience_ns = self.patience_ns();
        let (mut overdue, mut slow) = (Vec::new(), Vec::new());
        for (key, wire) in self.wires.iter().filter(|(_, wire)| wire.is_attempt()) {
            let silent_ns = now_ns.saturating_sub(wire.owner.heard_ns);
            let link = self.links.get(wire.owner.link);
            let is_last =
                link.is_some_and(|link| link.wire == Some(key) && link.tried >= self.routes.len());
            let limit_ns = if is_last {
                self.plan.connect_timeout_ns
            } else {
                patience_ns
            };
            if silent_ns >= limit_ns {
                overdue.push(key);
            } else if silent_ns >= NEXT_AFTER_NS
                && wire.phase == Phase::Connecting
                && link.is_some_and(|link| link.wire == Some(key))
            {
                slow.push(wire.owner.link);
            }
        }
        for key in overdue {
            let reason = self.unanswered(self.wires.get(key));
            self.lose(key, &reason, now_ns);
        }
        for at in slow {
            self.try_next(at, now_ns);
        }
    }

    /// Gives up all attempts: links without a connection are down.
    pub(super) fn end_attempts(&mut self, now_ns: u64) {
        let attempts = self.wires.iter().filter(|(_, wire)| wire.is_attempt());
        let attempts: Vec<_> = attempts.map(|(key, wire)| (key, wire.owner.link)).collect();
        for (key, at) in attempts {
            let reason = self.unanswered(self.wires.get(key));
            self.drop_wire(key);
            if let Some(link) = self.links.get_mut(at) {
                link.attempts = 0;
                if link.wire == Some(key) {
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
