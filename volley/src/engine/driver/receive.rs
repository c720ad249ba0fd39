//! Reading: bytes in, calls ended, and the next ones begun, one connection after another.

use std::io::ErrorKind;

use mio::Events;

use super::{ALARM, Book, Driver, EngineError, READ_BYTES, Stage};
use crate::engine::call::Call;
use crate::engine::sink::Sink;
use crate::engine::wire::Phase;
use crate::http2::Closed;

/// Reads from one connection before the others have their turn.
const READS_AT_ONCE: usize = 8;

impl<B: Book> Driver<'_, B> {
    /// Do what the sockets are ready for.
    pub(super) fn take_events(&mut self, events: &Events) -> Result<(), EngineError> {
        for (key, to_end) in std::mem::take(&mut self.unread) {
            self.read(key, to_end)?;
        }
        for event in events {
            if event.token() == ALARM {
                self.alarm.rang();
                continue;
            }
            let key = event.token().0;
            if event.is_writable() {
                self.writable(key);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.read(key, event.is_read_closed() || event.is_error())?;
            }
            if self.stage == Stage::Over {
                break;
            }
        }
        Ok(())
    }

    fn writable(&mut self, key: usize) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        // An edge tells of reading and writing together: most have nothing that waited to be written.
        let connecting = wire.phase == Phase::Connecting;
        if !connecting && !wire.unblock() {
            return;
        }
        let now_ns = self.clock.now_ns();
        if connecting {
            self.connected(key, now_ns);
        } else {
            self.flush(key, now_ns);
        }
    }

    /// Read what a connection has, up to a bound; `to_end` when its end is known to have come.
    fn read(&mut self, key: usize, to_end: bool) -> Result<(), EngineError> {
        for _ in 0..READS_AT_ONCE {
            let Some(wire) = self.wires.get_mut(key) else {
                return Ok(());
            };
            if wire.phase == Phase::Connecting {
                return Ok(());
            }
            let filled = wire.transport.fill(&mut self.buffer);
            let now_ns = self.clock.now_ns();
            if now_ns >= self.next_edge_ns() {
                self.advance(now_ns)?;
                if self.stage == Stage::Over {
                    return Ok(());
                }
            }
            let length = match filled {
                Ok(0) => {
                    let reason = self.end_words(key);
                    self.lose(key, reason, now_ns);
                    return Ok(());
                }
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.lose(key, &error.to_string(), now_ns);
                    return Ok(());
                }
            };
            self.receive(key, length, now_ns)?;
            // The socket is drained: the next bytes come with an event of their own.
            if length < READ_BYTES && !to_end {
                return Ok(());
            }
        }
        self.unread.push((key, to_end));
        Ok(())
    }

    /// Take one read's bytes, then let the link's free workers go on.
    #[inline]
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) -> Result<(), EngineError> {
        let Self {
            wires,
            links,
            book,
            counted_from_ns,
            inflated,
            plan,
            buffer,
            ..
        } = self;
        let (Some(wire), Some(bytes)) = (wires.get_mut(key), buffer.get(..length)) else {
            return Ok(());
        };
        let at = wire.link;
        let Some(link) = links.get_mut(at) else {
            return Ok(());
        };
        wire.heard_ns = now_ns;
        let mut sink = Sink::new(now_ns, link, book, inflated, plan.rules, *counted_from_ns);
        let http = &mut wire.http;
        let taken = wire
            .transport
            .decipher(bytes, |plain| http.receive(plain, &mut sink));
        sink.settle();
        let was_greeting = wire.phase == Phase::Greeting;
        let problem = match taken {
            Ok(Ok(())) => None,
            Ok(Err(violation)) if !was_greeting => Some(violation.to_string()),
            Ok(Err(violation)) => Some(format!(
                "{violation} (is this the port of an HTTP/2 server in clear text? with TLS, leave out `--insecure`)"
            )),
            Err(error) if !was_greeting => Some(error.to_string()),
            Err(error) => Some(format!(
                "TLS: {error} (certificate: see `--cacert`, `--skipTLS`; clear text: `--insecure`)"
            )),
        };
        if let Some(reason) = problem {
            self.lose(key, &reason, now_ns);
            return Ok(());
        }
        if was_greeting || wire.http.is_draining() {
            self.flush(key, now_ns);
            self.look_at_phase(key, now_ns);
        }
        self.fill(at, now_ns)?;
        self.flush(key, now_ns);
        // Workers that a retiring connection set free call over its successor.
        if let Some(current) = self.links.get(at).and_then(|link| link.wire)
            && current != key
        {
            self.flush(current, now_ns);
        }
        Ok(())
    }

    fn end_words(&self, key: usize) -> &'static str {
        match self
            .wires
            .get(key)
            .map(|wire| (wire.phase, wire.transport.is_tls()))
        {
            Some((Phase::Greeting, false)) => {
                "the server closed the connection at once (if it speaks TLS, leave out `--insecure`)"
            }
            Some((Phase::Greeting, true)) => {
                "the server closed the connection at once (if it speaks clear text, use `--insecure`)"
            }
            _ => "the server closed it",
        }
    }

    /// Count a call that the client ended itself, and set its worker free.
    pub(super) fn end_call(&mut self, at: usize, call: Call, now_ns: u64) {
        if let Some(mut sink) = self.sink(at, now_ns) {
            sink.end(call, Closed::Cancelled);
        }
    }

    /// Takes what becomes of a link's calls.
    pub(super) fn sink(&mut self, at: usize, now_ns: u64) -> Option<Sink<'_, B>> {
        let Self {
            links,
            book,
            counted_from_ns,
            inflated,
            plan,
            ..
        } = self;
        let link = links.get_mut(at)?;
        Some(Sink::new(
            now_ns,
            link,
            book,
            inflated,
            plan.rules,
            *counted_from_ns,
        ))
    }
}
