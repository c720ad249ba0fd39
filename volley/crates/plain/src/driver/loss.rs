//! Connections that become ready, retire (after a GOAWAY, for instance), are silent or lost, and what becomes of their calls.

use std::sync::Arc;

use super::{Driver, Recorder, Script};
use crate::wire::Wire;
use volley_http::grpc::Code;
use volley_net::Phase;
use volley_net::names::Route;
use volley_report::measure::{Cause, EndedBy, Use, Warning};

/// The time for an answer to a keepalive's PING: gRPC's own default.
const PONG_NS: u64 = 20_000_000_000;

/// The calls of all further addresses are counted together.
const MOST_USES: usize = 1000;

/// Their name.
const OTHERS: &str = "others";

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Checks whether a connection has become ready, must retire (after a GOAWAY, for instance), or has retired.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
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
        let is_planned = wire.http.go_away().is_none();
        // One that the server has closed is lost once all is read.
        let is_lost = wire.is_ending && is_planned;
        if wire.phase == Phase::Ready && wire.http.is_draining() && !is_lost {
            let (at, was_used) = (wire.owner.link, wire.http.was_used());
            self.retire(key);
            if let Some(link) = self.links.get_mut(at)
                && link.place.wire == Some(key)
            {
                let reason = match (was_used, is_planned) {
                    (false, _) => "the server sent GOAWAY immediately",
                    (true, false) => "the server sent GOAWAY",
                    (true, true) => "it was closed to be opened again",
                };
                if was_used {
                    link.place.answered(now_ns);
                }
                link.parted(was_used, reason.to_owned(), now_ns, now_ns);
                link.is_planned = was_used && is_planned;
                self.broken = true;
                self.try_beside(at, now_ns);
            }
        }
        let wire = self.net.wires.get_mut(key);
        if let Some(wire) = wire.filter(|wire| wire.phase == Phase::Retiring)
            && wire.http.open_streams() == 0
        {
            wire.close();
            self.drop_wire(key);
        }
    }

    /// A connection takes no more calls; those that are open may finish.
    pub(super) fn retire(&mut self, key: usize) {
        if let Some(wire) = self.net.wires.get_mut(key) {
            self.ready -= usize::from(wire.phase == Phase::Ready);
            wire.phase = Phase::Retiring;
        }
    }

    /// Ends the run if all connections of all threads are gone.
    pub(super) fn give_up_if_gone(&mut self, now_ns: u64) {
        let is_gone = self.links.iter().all(|link| {
            link.down.as_ref().is_some_and(|down| {
                now_ns.saturating_sub(down.since_ns) >= self.plan.connect_timeout_ns
            })
        });
        self.turn_gone(is_gone);
        if is_gone {
            let down = self.links.iter().find_map(|link| link.down.as_ref());
            let reason = down.map_or_else(String::new, |down| down.reason.clone());
            self.give_up(Warning::ServerGone { reason }, now_ns);
        }
    }

    /// Notes whether this thread can send calls: not if no connection has taken any for as long as connecting may take.
    pub(super) fn turn_gone(&mut self, is_gone: bool) {
        if std::mem::replace(&mut self.is_gone, is_gone) != is_gone {
            self.shared.turn_gone(is_gone);
        }
    }

    /// Ends the run if no thread can send calls any more.
    fn give_up(&mut self, why: Warning, now_ns: u64) {
        if self.shared.gone() == self.plan.threads {
            self.gave_up = Some(why);
            self.finish(now_ns, EndedBy::Window);
        }
    }

    /// Sends what retiring connections still have to say. Closes those on which the client itself
    /// ended the last call: their servers may send nothing more that would trigger it.
    pub(super) fn close_retired(&mut self, now_ns: u64) {
        let retiring = self.net.wires.iter();
        let retiring = retiring.filter(|(_, wire)| wire.phase == Phase::Retiring);
        let retiring: Vec<usize> = retiring.map(|(key, _)| key).collect();
        for key in retiring {
            self.net.flush(key);
            self.look_at_phase(key, now_ns);
        }
    }

    /// The connection is gone: its calls fail, and its link is reopened. If it was only an attempt, the next one follows.
    pub(super) fn lose(&mut self, key: usize, reason: &str, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let at = wire.owner.link;
        if wire.is_attempt() {
            // Its last bytes: a TLS alert.
            let _ = wire.flush();
            let reason = match wire.http.go_away() {
                Some(go_away) if !reason.contains("GOAWAY") => format!("{reason} after {go_away}"),
                _ => reason.to_owned(),
            };
            self.drop_wire(key);
            self.stirred = true;
            self.attempt_failed(at, key, reason, now_ns);
            return;
        }
        let was_ready = wire.phase == Phase::Ready;
        let ended = wire.http.opened() as usize - wire.http.open_streams();
        let has_answered = ended > wire.owner.unanswered as usize;
        let was_of_use = has_answered || wire.has_lasted(now_ns);
        let since_ns = wire.began_ns;
        self.ready -= usize::from(was_ready);
        let route = Arc::clone(&wire.route);
        let reason = match wire.http.go_away() {
            Some(go_away) => format!("{reason} after {go_away}"),
            None => reason.to_owned(),
        };
        let calls = wire.http.take_calls();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = wire.flush();
        let counted_from_ns = self.context.counted_from_ns;
        let lost = calls
            .iter()
            .filter(|call| call.ticket.intended_ns >= counted_from_ns);
        let lost = lost.count() as u64;
        let used = self.use_of(&route);
        used.lost_calls += lost;
        used.lost_connections += u64::from(was_ready);
        for mut call in calls {
            call.blame_for(
                Cause::Lost,
                Code::Unavailable,
                format!("the connection was lost: {reason}"),
            );
            self.end_call(at, call, now_ns);
        }
        self.drop_wire(key);
        // The workers that this frees may continue on the link's next connection.
        self.stirred = true;
        self.broken = true;
        if let Some(link) = self.links.get_mut(at)
            && link.place.wire == Some(key)
        {
            if has_answered {
                link.place.answered(now_ns);
            }
            link.parted(was_of_use, reason, since_ns, now_ns);
            self.plan.names.ask();
            self.try_beside(at, now_ns);
        }
    }

    pub(super) fn drop_wire(&mut self, key: usize) {
        if let Some(wire) = self.net.remove(key) {
            let calls = wire.http.opened() - wire.owner.uncounted;
            if calls > 0 {
                self.use_of(&wire.route).calls += u64::from(calls);
            }
        }
    }

    /// What was counted for an address.
    pub(super) fn use_of(&mut self, route: &Route) -> &mut Use {
        let is_known = self.uses.contains_key(&route.label) || self.uses.len() < MOST_USES;
        let label = if is_known { &route.label } else { OTHERS };
        self.uses.entry(label.to_owned()).or_default()
    }

    /// From here on, calls count for their addresses.
    pub(super) fn count_uses(&mut self) {
        self.uses.clear();
        if self.plan.in_turn {
            for route in Arc::clone(&self.routes).iter() {
                self.use_of(route);
            }
        }
        let mut connected = Vec::new();
        for (_, wire) in &mut self.net.wires {
            wire.owner.uncounted = wire.http.opened();
            if wire.phase == Phase::Ready {
                connected.push(Arc::clone(&wire.route));
            }
        }
        for route in connected {
            self.use_of(&route).connections += 1;
        }
    }

    /// Ends a run whose server allows no streams: nothing else would end it.
    pub(super) fn expect_room(&mut self, now_ns: u64) {
        let mut wires = self.net.wires.iter();
        let has_room =
            wires.any(|(_, wire)| wire.phase == Phase::Ready && wire.http.capacity() > 0);
        if has_room || (self.open_calls() > 0 && !self.broken) {
            self.stuck_since_ns = None;
            self.turn_gone(false);
            return;
        }
        let is_due = self.next_call_ns().is_none_or(|due_ns| due_ns <= now_ns) && !self.all_sent();
        // A thread that is stuck leaves its calls to others, so that none is due here.
        if !(is_due || self.is_gone) || !self.stage.sends() || self.broken || self.ready == 0 {
            self.stuck_since_ns = None;
            return;
        }
        let since_ns = *self.stuck_since_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since_ns) >= self.plan.connect_timeout_ns {
            self.turn_gone(true);
            self.give_up(Warning::NoStreams, now_ns);
        }
    }

    /// Asks silent connections for a sign of life.
    pub(super) fn keep_alive(&mut self, now_ns: u64) {
        let Some(every_ns) = self.plan.keepalive_ns else {
            return;
        };
        let is_silent = |wire: &Wire<S::Mark>| {
            !wire.is_doubted && now_ns.saturating_sub(wire.heard_ns) >= every_ns
        };
        let silent = self.net.wires.iter().filter(|(_, wire)| is_silent(wire));
        let silent: Vec<_> = silent.map(|(key, _)| key).collect();
        for key in silent {
            self.net.ask(key, now_ns, now_ns.saturating_add(PONG_NS));
        }
    }
}
