//! Reading: bytes come in, calls end, and the next ones start; one connection after another.

use std::io::ErrorKind;

use mio::Events;

use super::{ALARM, Book, Driver, ORDERS, READ_BYTES, Script, Stage};
use crate::engine::call::Call;
use crate::engine::sink::Sink;
use crate::engine::words::words;
use crate::http2::Closed;
use crate::net::{Lost, Phase};

/// Reads from one connection before the others get their turn.
const READS_AT_ONCE: usize = 8;

impl<B: Book, S: Script> Driver<'_, B, S> {
    /// Handles the sockets that are ready.
    pub(super) fn take_events(&mut self, events: &Events) {
        for (key, to_end) in std::mem::take(&mut self.unread) {
            self.read(key, to_end);
        }
        for event in events {
            if event.token() == ALARM {
                self.alarm.rang();
                continue;
            }
            if event.token() == ORDERS {
                self.next_glance_ns = 0;
                continue;
            }
            let key = event.token().0;
            if event.is_writable() {
                self.writable(key);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.read(key, event.is_read_closed() || event.is_error());
            }
            if self.stage == Stage::Over {
                break;
            }
        }
    }

    fn writable(&mut self, key: usize) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        // An edge reports reading and writing together; most connections have nothing waiting to be written.
        let connecting = wire.phase == Phase::Connecting;
        if !connecting && !wire.unblock() {
            return;
        }
        let now_ns = self.clock.now_ns();
        if connecting {
            self.connected(key, now_ns);
        } else {
            self.flush(key, now_ns);
            self.go_on(key, now_ns);
        }
    }

    /// Reads from a connection, up to a limit. `to_end`: its end is known to have come.
    fn read(&mut self, key: usize, to_end: bool) {
        for _ in 0..READS_AT_ONCE {
            let Some(wire) = self.wires.get_mut(key) else {
                return;
            };
            if wire.phase == Phase::Connecting {
                return;
            }
            let filled = wire.transport.fill(&mut self.buffer);
            let now_ns = self.clock.now_ns();
            if now_ns >= self.next_edge_ns() {
                self.advance(now_ns);
                if self.stage == Stage::Over {
                    return;
                }
            }
            let length = match filled {
                Ok(0) => return self.ended(key, None, now_ns),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let wire = self.wires.get(key);
                    let lost = wire.and_then(|wire| wire.unreadable(error));
                    if lost.is_some() {
                        self.ended(key, lost, now_ns);
                    }
                    return;
                }
            };
            self.receive(key, length, now_ns);
            // The socket is drained: more bytes will raise a new event.
            if length < READ_BYTES && !to_end {
                return;
            }
        }
        self.unread.push((key, to_end));
    }

    /// Handles the bytes of one read, then lets the link's free workers continue.
    #[inline]
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) {
        let Self {
            wires,
            links,
            desk,
            buffer,
            plan,
            ..
        } = self;
        let (Some(wire), Some(bytes)) = (wires.get_mut(key), buffer.get(..length)) else {
            return;
        };
        let at = wire.owner.link;
        let Some(link) = links.get_mut(at) else {
            return;
        };
        wire.owner.heard_ns = now_ns;
        let mut sink = Sink::new(now_ns, link, desk, &plan.budget);
        let was_attempt = wire.is_attempt();
        let taken = wire.take(bytes, |_, _| Ok(()), &mut sink);
        sink.settle();
        if let Err(lost) = taken {
            self.lose(key, &words(&lost), now_ns);
            return;
        }
        if wire.transport.is_over() {
            self.ended(key, None, now_ns);
            return;
        }
        if was_attempt || wire.http.is_draining() || wire.phase == Phase::Retiring {
            self.flush(key, now_ns);
            self.look_at_phase(key, now_ns);
        }
        self.go_on(key, now_ns);
        self.list(at);
        self.fill(at, now_ns);
        self.flush(key, now_ns);
        // Workers that a retiring connection set free use its successor.
        if let Some(current) = self.links.get(at).and_then(|link| link.wire)
            && current != key
        {
            self.flush(current, now_ns);
        }
    }

    /// The server has closed a connection, or it is `lost`.
    #[cold]
    fn ended(&mut self, key: usize, lost: Option<Lost>, now_ns: u64) {
        if let Some(wire) = self.wires.get_mut(key) {
            let lost = wire.ended(lost);
            self.lose(key, &words(&lost), now_ns);
        }
    }

    /// Counts a call that the client ended itself, and sets its worker free.
    pub(super) fn end_call(&mut self, at: usize, mut call: Call<S::Mark>, now_ns: u64) {
        if let Some(mut sink) = self.sink(at, now_ns) {
            sink.end(&mut call, Closed::Cancelled);
        }
    }

    /// The sink that receives the events of a link's calls.
    pub(super) fn sink(&mut self, at: usize, now_ns: u64) -> Option<Sink<'_, B, S>> {
        self.list(at);
        let link = self.links.get_mut(at)?;
        Some(Sink::new(now_ns, link, &mut self.desk, &self.plan.budget))
    }
}
