//! Opening connections, and all that has to happen before calls can go over them.

use mio::{Events, Interest, Token};
use rustix::io::Errno;

use super::{Driver, EngineError, Stage};
use crate::engine::wire::{Phase, Wire};

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
