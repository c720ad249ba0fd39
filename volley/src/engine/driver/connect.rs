//! Opening connections, before the window and again in mid-run; losing and retiring them.

use mio::{Events, Interest, Token};
use rustix::io::Errno;

use super::{Driver, EngineError, Stage};
use crate::engine::call::Call;
use crate::engine::link::Link;
use crate::engine::sink::Sink;
use crate::engine::wire::{Phase, Wire};
use crate::grpc::Code;
use crate::http2::Closed;
use crate::report::{EndedBy, Warning};

impl Driver<'_> {
    /// Open every connection of this thread and finish all handshakes; nothing is sent yet.
    pub fn connect(&mut self) -> Result<(), EngineError> {
        let began_ns = self.clock.now_ns();
        let deadline_ns = began_ns.saturating_add(self.plan.connect_timeout_ns);
        for link in 0..self.links.len() {
            self.open_wire(link, began_ns);
        }
        let mut events = Events::with_capacity(1024);
        loop {
            self.next_address()?;
            if self.links.iter().all(|link| self.is_ready(link.wire)) {
                return Ok(());
            }
            if self.signal.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(EngineError::Interrupted);
            }
            let now_ns = self.clock.now_ns();
            if now_ns >= deadline_ns {
                return Err(self.unreachable(self.unanswered()));
            }
            self.next_glance_ns = (now_ns + super::GLANCE_NS).min(deadline_ns);
            self.wait(&mut events)?;
            self.take_events(&events)?;
        }
    }

    /// Try the target's next address for links that one refused; an error once none is left.
    fn next_address(&mut self) -> Result<(), EngineError> {
        let now_ns = self.clock.now_ns();
        for at in 0..self.links.len() {
            let addresses = self.plan.addresses.len();
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            let Some(down) = link.down.take() else {
                continue;
            };
            link.address += 1;
            if link.address >= addresses {
                return Err(self.unreachable(down.reason));
            }
            self.open_wire(at, now_ns);
        }
        Ok(())
    }

    fn unreachable(&self, reason: String) -> EngineError {
        EngineError::Connect {
            target: self.plan.target.clone(),
            reason,
        }
    }

    /// What the connections that are not ready were waiting for.
    fn unanswered(&self) -> String {
        let waiting = self
            .wires
            .iter()
            .find(|(_, wire)| wire.phase != Phase::Ready);
        let what = match waiting.map(|(_, wire)| (wire.phase, wire.transport.is_open())) {
            Some((Phase::Greeting, false)) => "the TLS handshake was not finished",
            Some((Phase::Greeting, true)) => "the server sent no HTTP/2 SETTINGS",
            _ => "nothing answered",
        };
        let seconds = self.plan.connect_timeout_ns as f64 / 1e9;
        format!("{what} within {seconds} s (`--connect-timeout`)")
    }

    fn is_ready(&self, key: Option<usize>) -> bool {
        key.and_then(|key| self.wires.get(key))
            .is_some_and(|wire| wire.phase == Phase::Ready)
    }

    /// Begin to connect a link; whatever goes wrong is noted on it.
    fn open_wire(&mut self, at: usize, now_ns: u64) {
        let plan = self.plan;
        let Some(link) = self.links.get_mut(at) else {
            return;
        };
        let Some(address) = plan
            .addresses
            .get(link.address % plan.addresses.len().max(1))
        else {
            return;
        };
        self.serial += 1;
        let opened = Wire::open(
            *address,
            plan.tls.as_ref(),
            &plan.http2,
            at,
            self.serial,
            now_ns,
        );
        let entry = self.wires.vacant_entry();
        let key = entry.key();
        let registered = opened.and_then(|mut wire| {
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(wire.transport.source(), Token(key), interest)?;
            Ok(wire)
        });
        match registered {
            Ok(wire) => {
                entry.insert(wire);
                link.wire = Some(key);
            }
            Err(error) => {
                link.broke(connect_words(&error), now_ns);
                self.broken = true;
            }
        }
    }

    /// Try the links again whose connection was lost; a run without any connection ends.
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        if !self.broken {
            return;
        }
        let mut any = false;
        for at in 0..self.links.len() {
            let Some(link) = self.links.get(at).filter(|link| self.is_needed(link)) else {
                continue;
            };
            any = true;
            let due = link
                .down
                .as_ref()
                .is_none_or(|down| down.retry_at_ns <= now_ns);
            if link.wire.is_none() && due {
                self.open_wire(at, now_ns);
            }
        }
        if any {
            self.give_up_if_gone(now_ns);
        }
        self.broken = self.links.iter().any(|link| link.wire.is_none());
    }

    /// Whether calls are still to be begun on a link: after the window those that are sent again.
    fn is_needed(&self, link: &Link) -> bool {
        self.stage.sends() || (self.stage == Stage::Drain && !link.again.is_empty())
    }

    fn give_up_if_gone(&mut self, now_ns: u64) {
        let gone = self.links.iter().all(|link| {
            link.down.as_ref().is_some_and(|down| {
                now_ns.saturating_sub(down.since_ns) >= self.plan.connect_timeout_ns
            })
        });
        if gone {
            let down = self.links.iter().find_map(|link| link.down.as_ref());
            self.gave_up = down.map(|down| Warning::ServerGone {
                reason: down.reason.clone(),
            });
            self.finish(now_ns, EndedBy::Window);
        }
    }

    /// When the first lost link is to be tried again.
    pub(super) fn next_retry_ns(&self) -> u64 {
        if !self.broken {
            return u64::MAX;
        }
        let needed = self.links.iter().filter(|link| self.is_needed(link));
        let retries = needed.filter_map(|link| match link.wire {
            None => link.down.as_ref().map(|down| down.retry_at_ns),
            Some(_) => None,
        });
        retries.min().unwrap_or(u64::MAX)
    }

    /// A connecting socket became writable: it is connected, or it failed.
    pub(super) fn connected(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        match wire.transport.connected() {
            Ok(false) => {}
            Ok(true) => {
                wire.phase = Phase::Greeting;
                self.flush(key, now_ns);
            }
            Err(error) => self.lose(key, &connect_words(&error), now_ns),
        }
    }

    /// See whether a connection has become ready, or is to retire.
    pub(super) fn look_at_phase(&mut self, key: usize, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let is_greeted = wire.transport.is_open() && wire.http.is_ready();
        if wire.phase == Phase::Greeting && is_greeted && !wire.http.is_draining() {
            if wire.transport.is_tls() && wire.transport.alpn() != Some(b"h2") {
                self.lose(key, "the server did not agree to HTTP/2 (ALPN h2)", now_ns);
                return;
            }
            wire.phase = Phase::Ready;
            let at = wire.link;
            if let Some(link) = self.links.get_mut(at) {
                link.down = None;
            }
            self.reconnects += u64::from(self.stage != Stage::Setup);
            self.stirred = true;
            return;
        }
        if !wire.http.is_draining() {
            return;
        }
        if matches!(wire.phase, Phase::Ready | Phase::Greeting) {
            let early = wire.phase == Phase::Greeting;
            wire.phase = Phase::Retiring;
            self.broken = true;
            let at = wire.link;
            if let Some(link) = self.links.get_mut(at) {
                if early {
                    link.broke("the server sent GOAWAY at once".to_owned(), now_ns);
                } else {
                    link.retired(now_ns);
                }
            }
        }
        if self
            .wires
            .get(key)
            .is_some_and(|wire| wire.http.open_streams() == 0)
        {
            self.drop_wire(key);
        }
    }

    /// Send what retiring connections still have to say, and close those whose last call the client
    /// itself has ended: their servers may have nothing more to say that would bring this about.
    pub(super) fn close_retired(&mut self, now_ns: u64) {
        let retiring = self.wires.iter();
        let retiring = retiring.filter(|(_, wire)| wire.phase == Phase::Retiring);
        let retiring: Vec<usize> = retiring.map(|(key, _)| key).collect();
        for key in retiring {
            self.flush(key, now_ns);
            self.look_at_phase(key, now_ns);
        }
    }

    /// The connection is gone: its calls fail, and its link is to be opened anew.
    pub(super) fn lose(&mut self, key: usize, reason: &str, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let at = wire.link;
        let reason = match wire.http.go_away() {
            Some(go_away) => format!("{reason} after {go_away}"),
            None => reason.to_owned(),
        };
        let calls = wire.http.take_calls();
        // Its last words: a GOAWAY, or TLS's alert.
        let _ = wire.flush();
        for mut call in calls {
            call.blame(
                Code::Unavailable,
                format!("the connection was lost: {reason}"),
            );
            self.end_call(at, call, now_ns);
        }
        self.drop_wire(key);
        // The workers it sets free may go on over the link's next connection.
        self.stirred = true;
        self.broken = true;
        if let Some(link) = self.links.get_mut(at)
            && link.wire == Some(key)
        {
            link.broke(reason, now_ns);
        }
    }

    fn drop_wire(&mut self, key: usize) {
        if let Some(mut wire) = self.wires.try_remove(key) {
            // It is closed when dropped; a failure to deregister changes nothing.
            let _ = self.poll.registry().deregister(wire.transport.source());
        }
    }

    /// Give up connections that were begun in mid-run and do not come about.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        let overdue = self.wires.iter().filter(|(_, wire)| {
            matches!(wire.phase, Phase::Connecting | Phase::Greeting)
                && now_ns.saturating_sub(wire.heard_ns) >= self.plan.connect_timeout_ns
        });
        let overdue: Vec<usize> = overdue.map(|(key, _)| key).collect();
        for key in overdue {
            let reason = self.unanswered();
            self.lose(key, &reason, now_ns);
        }
    }

    /// End a run whose server lets no stream be opened: nothing else would.
    pub(super) fn expect_room(&mut self, now_ns: u64) {
        let is_due = self.next_call_ns().is_none_or(|due_ns| due_ns <= now_ns) && !self.all_sent();
        // A schedule may have given this thread's workers nothing to do yet.
        let active = self.active_workers(now_ns);
        let may_call = is_due && (0..self.links.len()).any(|at| self.has_worker(at, active));
        if !may_call || !self.stage.sends() || self.broken || self.open_calls() > 0 {
            self.stuck_since_ns = None;
            return;
        }
        let since_ns = *self.stuck_since_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since_ns) >= self.plan.connect_timeout_ns {
            self.gave_up = Some(Warning::NoStreams);
            self.finish(now_ns, EndedBy::Window);
        }
    }

    /// Ask a silent connection whether it still lives; lose it if it does not answer.
    pub(super) fn keep_alive(&mut self, now_ns: u64) {
        let Some(every_ns) = self.plan.keepalive_ns else {
            return;
        };
        let mut dead = Vec::new();
        for (key, wire) in &mut self.wires {
            match wire.pinged_ns {
                Some(_) if wire.http.pongs() > 0 && wire.heard_ns > wire.pinged_ns.unwrap_or(0) => {
                    wire.pinged_ns = None;
                }
                // gRPC's own default for the answer to a keepalive: 20 s.
                Some(sent_ns) if now_ns.saturating_sub(sent_ns) > 20_000_000_000 => dead.push(key),
                Some(_) => {}
                None if now_ns.saturating_sub(wire.heard_ns) >= every_ns => {
                    wire.http.ping(now_ns.to_be_bytes());
                    wire.pinged_ns = Some(now_ns);
                }
                None => {}
            }
        }
        for key in dead {
            self.lose(key, "no answer to a keepalive PING", now_ns);
        }
    }

    /// Count a call that the client ended itself, and set its worker free.
    pub(super) fn end_call(&mut self, at: usize, call: Call, now_ns: u64) {
        if let Some(mut sink) = self.sink(at, now_ns) {
            sink.end(call, Closed::Cancelled);
        }
    }

    /// Takes what becomes of a link's calls.
    pub(super) fn sink(&mut self, at: usize, now_ns: u64) -> Option<Sink<'_>> {
        let Self {
            links,
            tally,
            counted_from_ns,
            inflated,
            plan,
            ..
        } = self;
        let link = links.get_mut(at)?;
        Some(Sink {
            now_ns,
            tally,
            idle: &mut link.idle,
            again: &mut link.again,
            rules: plan.rules,
            counted_from_ns: *counted_from_ns,
            inflated,
            came: 0,
            together: 0,
        })
    }

    /// Write what a connection has to send; lose it if that fails.
    #[inline]
    pub(super) fn flush(&mut self, key: usize, now_ns: u64) {
        if let Some(wire) = self.wires.get_mut(key)
            && let Err(error) = wire.flush()
        {
            self.lose(key, &error.to_string(), now_ns);
        }
    }
}

/// Say why a connect failed, with what may help.
fn connect_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => {
            "connection refused (is the server running there?)".to_owned()
        }
        _ if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            "too many open files (raise `ulimit -n`, or lower `--connections`)".to_owned()
        }
        _ => error.to_string(),
    }
}
