//! Sending requests: a connection for each, its bytes, and its time limit.

use super::iterate::no_response;
use super::{Core, Driver, Prepared};
use crate::engine::flight::Fault;
use crate::engine::flight::{FlightKey, OpenOn, is_open};
use crate::engine::iteration::{Bond, Course};
use crate::engine::pool::Pool;
use crate::engine::prepared_call::Unsent;
use crate::engine::prepared_request::Aim;
use crate::engine::record;
use crate::plan::Url;
use crate::record::Records;
use crate::secrets::masked;
use crate::tally::Reason;
use crate::text::{Unrendered, breaks_url};
use volley_http::http::HttpUrl;

impl Driver<'_> {
    /// Sends a request on the connection that its iteration used last, or on the next one with room. Without one, it
    /// waits.
    pub(super) fn send(&mut self, key: u32, now_ns: u64) {
        let Some(flight) = self.core.flights.get(key as usize) else {
            return;
        };
        let (step, serial) = (flight.step, flight.serial);
        let Some(iteration) = self.core.iterations.get(flight.iteration) else {
            return;
        };
        let bond = iteration.bond;
        let target = match self.core.aim(key as usize, &mut self.scratch.path) {
            Ok(target) => target,
            Err(failure) => {
                self.core.finish(key as usize, Err(failure), now_ns);
                return;
            }
        };
        let Some(wire) = self.wire_for(target, bond) else {
            while self.pools.len() <= target {
                self.pools.push(Pool::default());
            }
            if let (Some(pool), Some(flight)) = (
                self.pools.get_mut(target),
                self.core.flights.get_mut(key as usize),
            ) {
                flight.target = target;
                let flights = &self.core.flights;
                let is_open = |(key, serial): &_| is_open(flights, *key, *serial);
                pool.waiting(bond).push((key, serial), is_open);
                self.links_changed |= pool.links.is_empty();
            }
            return;
        };
        self.write(key, step, target, wire, now_ns);
    }

    /// A connection with room: the one that was used last, if it is of this target.
    #[inline]
    fn wire_for(&mut self, target: usize, bond: Bond) -> Option<usize> {
        let most = self.common.sites.get(target)?.streams;
        match bond {
            Bond::Last(key) => {
                if let Some(wire) = self.net.wires.get(key)
                    && wire.owner.target == target
                    && wire.room(most) > 0
                {
                    return Some(key);
                }
            }
            Bond::Kept(link) => {
                let key = self.pools.get(target)?.kept(link)?.place.wire?;
                let has_room = self
                    .net
                    .wires
                    .get(key)
                    .is_some_and(|wire| wire.room(most) > 0);
                return has_room.then_some(key);
            }
            Bond::Free => {}
        }
        let pool = self.pools.get_mut(target)?;
        while let Some(at) = pool.next() {
            let Some(key) = pool.links.get(at).and_then(|link| link.place.wire) else {
                continue;
            };
            let room = self.net.wires.get(key).map_or(0, |wire| wire.room(most));
            if room > 1 {
                pool.list(at);
            }
            if room > 0 {
                return Some(key);
            }
        }
        None
    }

    fn write(&mut self, key: u32, step: usize, target: usize, at: usize, now_ns: u64) {
        let Self {
            core,
            net,
            prepared,
            scratch,
            common,
            ..
        } = self;
        let (Some(wire), Some(prepared), Some(site)) = (
            net.wires.get_mut(at),
            prepared.get_mut(step),
            common.sites.get(target),
        ) else {
            return;
        };
        let Some(flight) = core.flights.get_mut(key as usize) else {
            return;
        };
        let Some(iteration) = core.iterations.get_mut(flight.iteration) else {
            return;
        };
        (flight.target, flight.host) = (target, wire.owner.host);
        flight.path.clear();
        flight.path.extend_from_slice(&scratch.path);
        scratch.cookies.clear();
        if matches!(prepared, Prepared::Http(_))
            && !iteration.jar.is_empty()
            && let Some(host) = site.hosts.get(wire.owner.host)
        {
            iteration
                .jar
                .write(&host.url(&scratch.path), &mut scratch.cookies);
        }
        let aim = Aim {
            target,
            host: wire.owner.host,
            site,
            moved: flight.moved.as_deref(),
            rewritten: flight.rewritten.as_deref(),
        };
        let (http, values) = (&mut wire.http, &iteration.values);
        let before = http.unsent(0);
        let written = match prepared {
            Prepared::Http(request) => request
                .write(http, FlightKey(key), aim, values, scratch)
                .map_err(Unsent::from),
            Prepared::Grpc(call) => {
                call.write(http, FlightKey(key), aim, values, scratch)
                    .map(|(stream, expected)| {
                        (flight.expected, flight.keeps_reply) = (Some(expected), call.keeps_reply);
                        stream
                    })
            }
        };
        match written {
            Ok(stream) => {
                let is_once = matches!(iteration.course, Course::Setup | Course::Teardown);
                if (is_once || core.records.is_some_and(Records::keeps_contents))
                    && let Some(step) = core.plan.steps.get(step)
                {
                    let (plan, path, cookies) = (core.plan, &scratch.path, &scratch.cookies);
                    let request = record::request(plan, step, aim, path, cookies, values);
                    flight.exchange = Some(Box::new(request));
                    // Every reply is looked at, so that the last one is known.
                    flight.keeps_reply = true;
                }
                flight.place = Some(OpenOn { wire: at, stream });
                if !matches!(iteration.bond, Bond::Kept(_)) {
                    iteration.bond = Bond::Last(at);
                }
                // A redirect, or a request that was refused, is no other request.
                let length = http.unsent(stream).saturating_sub(before) as u64;
                if std::mem::replace(&mut flight.was_sent, true) {
                    core.tally.sent_again(step, flight.sent_ns, length);
                } else {
                    flight.sent_ns = now_ns;
                    core.tally.sent(step, now_ns, length);
                }
                net.touch(at);
            }
            Err(unsent) => {
                let failure = core.unsent(unsent);
                core.finish(key as usize, Err(failure), now_ns);
                self.stays_free(target, at);
            }
        }
    }

    /// Nothing was sent: a connection is as free as before.
    fn stays_free(&mut self, target: usize, wire: usize) {
        if let (Some(pool), Some(wire)) = (self.pools.get_mut(target), self.net.wires.get(wire)) {
            pool.list(wire.owner.link);
        }
    }

    /// Sends what waits for a target, as far as there is room. Those that only this link may take come first.
    pub(super) fn send_waiting(&mut self, target: usize, link: usize, now_ns: u64) {
        self.send_next(target, Bond::Kept(link), now_ns);
        self.send_next(target, Bond::Free, now_ns);
    }

    fn send_next(&mut self, target: usize, bond: Bond, now_ns: u64) {
        while let Some(pool) = self.pools.get_mut(target)
            && let Some((key, serial)) = pool.waiting(bond).front().copied()
        {
            let flight = self.core.flights.get(key as usize);
            let Some((step, has_waited)) = flight
                .filter(|flight| flight.serial == serial)
                // In the same turn, a connection became free for it.
                .map(|flight| (flight.step, !flight.was_sent && flight.sent_ns < now_ns))
            else {
                pool.waiting(bond).pop_front();
                continue;
            };
            let Some(wire) = self.wire_for(target, bond) else {
                return;
            };
            if let Some(pool) = self.pools.get_mut(target) {
                pool.waiting(bond).pop_front();
            }
            let aimed = self.core.aim(key as usize, &mut self.scratch.path);
            if aimed == Ok(target) {
                if has_waited {
                    self.core.tally.waited(step);
                }
                self.write(key, step, target, wire, now_ns);
                continue;
            }
            self.stays_free(target, wire);
            match aimed {
                // Its value has changed while it waited.
                Ok(_) => self.send(key, now_ns),
                Err(fault) => self.core.finish(key as usize, Err(fault), now_ns),
            }
        }
    }

    /// No host of a target answers a link: what waits for it fails, and if no link is left, what waits for any.
    pub(super) fn refuse_waiting(&mut self, target: usize, link: usize, now_ns: u64) {
        for bond in [Bond::Kept(link), Bond::Free] {
            let Some(pool) = self.pools.get_mut(target) else {
                return;
            };
            let Some(fault) = pool.is_dead(bond).cloned() else {
                return;
            };
            while let Some(waiting) = pool.waiting(bond).pop_front() {
                self.core.refuse(waiting, fault.clone(), now_ns);
            }
        }
    }

    /// Ends the requests whose time is over.
    pub(super) fn end_late(&mut self, now_ns: u64) {
        while let Some((key, serial)) = self.deadlines.pop(now_ns) {
            if !is_open(&self.core.flights, key, serial) {
                continue;
            }
            let flight = self.core.flights.get(key as usize);
            if let Some(place) = flight.and_then(|flight| flight.place)
                && let Some(wire) = self.net.wires.get_mut(place.wire)
            {
                wire.http.cancel(place.stream);
                self.core.freed.push((wire.owner.target, wire.owner.link));
                self.net.touch(place.wire);
                let sent_ns = flight.map_or(now_ns, |flight| flight.sent_ns);
                self.net.overdue(place.wire, sent_ns, now_ns);
                self.look_at_phase(place.wire, now_ns);
            }
            let failure = self.late(key);
            self.core.finish(key as usize, Err(failure), now_ns);
        }
    }

    /// Why a request has no response in time.
    #[cold]
    fn late(&self, key: u32) -> Fault {
        let late = |words: &str| Fault::new(Reason::Timeout, words.to_owned());
        let flight = self.core.flights.get(key as usize);
        let Some(flight) = flight.filter(|flight| flight.place.is_none()) else {
            let step = flight.and_then(|flight| self.core.plan.steps.get(flight.step));
            return no_response(step.and_then(|step| step.timeout_ns).unwrap_or_default());
        };
        let iteration = self.core.iterations.get(flight.iteration);
        let bond = iteration.map_or(Bond::Free, |iteration| iteration.bond);
        let pool = self.pools.get(flight.target);
        match pool.and_then(|pool| pool.is_dead(bond)) {
            Some(fault) => fault.clone(),
            None if self.common.sites.get(flight.target).is_none() => {
                late("the name of its host was not looked up in time")
            }
            None => late("no connection had room for it in time"),
        }
    }
}

impl Core<'_> {
    /// Where a request goes: its target; its path in `path`, if that varies.
    #[inline]
    pub(super) fn aim(&self, key: usize, path: &mut Vec<u8>) -> Result<usize, Fault> {
        let lost = || Fault::new(Reason::Unrendered, String::new());
        let flight = self.flights.get(key).ok_or_else(lost)?;
        let iteration = self.iterations.get(flight.iteration).ok_or_else(lost)?;
        let step = self.plan.steps.get(flight.step).ok_or_else(lost)?;
        path.clear();
        if let Some(moved) = &flight.moved {
            path.extend_from_slice(&moved.path);
            return Ok(moved.target);
        }
        if let Some(rewritten) = &flight.rewritten
            && let Some(url) = rewritten.url()
        {
            return self.resolve(url, rewritten.target, path);
        }
        match &step.url {
            Url::Target { target, path: text } => {
                text.render(&iteration.values, path)
                    .map_err(|error| self.unrendered(error))?;
                Ok(*target)
            }
            Url::Value {
                slot,
                relative_to,
                then,
            } => {
                let url = iteration
                    .values
                    .get(*slot)
                    .ok_or_else(|| self.unrendered(Unrendered::Empty(*slot)))?;
                let origin = iteration.values.elsewhere(*slot);
                let target = self.resolve(url, origin.unwrap_or(*relative_to), path)?;
                then.render(&iteration.values, path)
                    .map_err(|error| self.unrendered(error))?;
                Ok(target)
            }
        }
    }

    /// A whole URL, or a path.
    fn resolve(&self, url: &[u8], relative_to: usize, path: &mut Vec<u8>) -> Result<usize, Fault> {
        let bad = |why: &str| {
            let words = format!("`{}` {why}", masked(&String::from_utf8_lossy(url)));
            Fault::new(Reason::Unrendered, words)
        };
        if breaks_url(url) {
            return Err(bad("has blanks or control characters, so it is no URL"));
        }
        if url.first() == Some(&b'/') && url.get(1) != Some(&b'/') {
            // What follows `#` is never sent.
            let end = memchr::memchr(b'#', url).unwrap_or(url.len());
            path.extend_from_slice(url.get(..end).unwrap_or(url));
            return Ok(relative_to);
        }
        let parsed = HttpUrl::parse(url).map_err(|error| bad(&format!("is no URL: {error}")))?;
        let target = self.sites.of(&parsed, relative_to);
        let target = target.map_err(|why| bad(&why))?;
        match parsed.target.first() {
            Some(b'/') => {}
            _ => path.push(b'/'),
        }
        path.extend_from_slice(parsed.target);
        Ok(target)
    }

    #[cold]
    fn unsent(&self, why: Unsent) -> Fault {
        let words = match why {
            Unsent::Unrendered(why) => return self.unrendered(why),
            Unsent::Message(error) => error.to_string(),
            Unsent::NoHttp2 => "gRPC needs HTTP/2 (`http.version`)".to_owned(),
        };
        Fault::new(Reason::Unrendered, words)
    }

    #[cold]
    fn unrendered(&self, why: Unrendered) -> Fault {
        let (slot, what) = match why {
            Unrendered::Empty(slot) => (slot, "has no value"),
            Unrendered::Control(slot) => (
                slot,
                "has a character that cannot stand there: a line break, NUL, or a blank in a URL",
            ),
        };
        let name = self
            .plan
            .slots
            .get(usize::from(slot.0))
            .map_or("", String::as_str);
        Fault::new(Reason::Unrendered, format!("`${{{name}}}` {what}"))
    }

    /// A request that waits, with its serial, can never be sent.
    pub(super) fn refuse(&mut self, (key, serial): (u32, u64), fault: Fault, now_ns: u64) {
        if is_open(&self.flights, key, serial) {
            self.finish(key as usize, Err(fault), now_ns);
        }
    }

    /// A request failed.
    #[cold]
    pub(super) fn fail(&mut self, key: FlightKey, failure: Fault, now_ns: u64) {
        self.finish(key.0 as usize, Err(failure), now_ns);
    }
}
