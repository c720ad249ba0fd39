//! Opening connections, and everything that must happen before they can carry calls.

use mio::{Events, Interest, Token};
use rustix::io::Errno;

use super::{Book, Driver, EngineError, Script, Stage};
use crate::engine::wire::{Phase, Wire};

impl<B: Book, S: Script> Driver<'_, B, S> {
    /// Opens every connection of this thread and finishes all handshakes. No call is sent yet.
    pub fn connect(&mut self) -> Result<(), EngineError> {
        let mut events = Events::with_capacity(1024);
        let deadline_ns = self.begin_to_connect();
        loop {
            self.expect_greetings(self.clock.now_ns());
            if let Some(reason) = self.next_address() {
                return Err(self.unreachable(reason));
            }
            if self.links.iter().all(|link| self.is_ready(link.wire)) {
                return Ok(());
            }
            if self.is_interrupted() {
                return Err(EngineError::Interrupted);
            }
            if self.clock.now_ns() >= deadline_ns {
                return Err(self.unreachable(self.unanswered()));
            }
            self.turn(&mut events, deadline_ns)?;
        }
    }

    /// Starts connecting all links that have no connection, at the target's first address. Returns the deadline.
    pub(super) fn begin_to_connect(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        for at in 0..self.links.len() {
            if let Some(link) = self.links.get_mut(at)
                && link.wire.is_none()
            {
                (link.address, link.down) = (0, None);
                self.open_wire(at, now_ns);
            }
        }
        now_ns.saturating_add(self.plan.connect_timeout_ns)
    }

    /// Tries the target's next address for links that were refused. A link that has no address left stays down; returns
    /// the reason of its last failure.
    pub(super) fn next_address(&mut self) -> Option<String> {
        let now_ns = self.clock.now_ns();
        let addresses = self.plan.addresses.len();
        let mut failed = None;
        for at in 0..self.links.len() {
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            let Some(down) = &link.down else {
                continue;
            };
            if link.address + 1 >= addresses {
                failed.get_or_insert_with(|| down.reason.clone());
                continue;
            }
            (link.address, link.down) = (link.address + 1, None);
            self.open_wire(at, now_ns);
        }
        failed
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

    pub(super) fn is_ready(&self, key: Option<usize>) -> bool {
        key.and_then(|key| self.wires.get(key))
            .is_some_and(|wire| wire.phase == Phase::Ready)
    }

    /// Starts to connect a link; a failure is noted on it.
    pub(super) fn open_wire(&mut self, at: usize, now_ns: u64) {
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

    /// Checks whether a connection has become ready, or must retire.
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
            self.ready += 1;
            self.turn_gone(false);
            if let Some(link) = self.links.get_mut(at) {
                link.down = None;
            }
            self.reconnects += u64::from(self.stage != Stage::Setup);
            self.stirred = true;
            self.list(at);
            return;
        }
        if !wire.http.is_draining() {
            return;
        }
        if matches!(wire.phase, Phase::Ready | Phase::Greeting) {
            let was_used = wire.http.was_used();
            self.ready -= usize::from(wire.phase == Phase::Ready);
            wire.phase = Phase::Retiring;
            self.broken = true;
            let at = wire.link;
            if let Some(link) = self.links.get_mut(at) {
                link.retired(was_used, now_ns);
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

    /// Gives up connections that did not become ready in time.
    pub(super) fn expect_greetings(&mut self, now_ns: u64) {
        let patience_ns = self.patience_ns();
        let overdue = self.wires.iter().filter(|(_, wire)| {
            matches!(wire.phase, Phase::Connecting | Phase::Greeting)
                && now_ns.saturating_sub(wire.heard_ns) >= patience_ns
        });
        let overdue: Vec<usize> = overdue.map(|(key, _)| key).collect();
        for key in overdue {
            let reason = self.unanswered();
            self.lose(key, &reason, now_ns);
        }
    }

    /// How long an address may take: all of them together have the time that connecting may take.
    fn patience_ns(&self) -> u64 {
        self.plan.connect_timeout_ns / self.plan.addresses.len().max(1) as u64
    }
}

/// The reason why connecting failed, and what may help.
pub(in crate::engine) fn connect_words(error: &std::io::Error) -> String {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use crate::engine::driver::samples::{driver, shared, spec};
    use crate::engine::plan::Plan;
    use crate::serve::{Config, Reference};

    #[test]
    fn an_address_that_never_answers_leaves_time_for_the_next() {
        let server = Reference::start(Config::default()).unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let spec = spec("localhost:1");
        let mut plan = Plan::new(&spec, &shared().signal).unwrap();
        plan.addresses = vec![silent.local_addr().unwrap(), server.address()];
        let shared = shared();
        let mut driver = driver(&spec, &plan, &shared);
        driver.connect().unwrap();
        assert_eq!(driver.links[0].address, 1);
    }
}
