//! Connections that become ready, retire (after a GOAWAY, for instance) and are lost, and what becomes of their requests.

use super::{Driver, Prepared};
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::wire::{Http, was_of_use};
use crate::tally::Reason;
use volley_net::Phase;

impl Driver<'_> {
    /// Checks whether a connection has become ready, must retire (after a GOAWAY, for instance), or has retired.
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
}
