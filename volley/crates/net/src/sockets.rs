//! The sockets of a thread. Its loop waits for them, then asks for one event after another, and does with each what it
//! will: nothing here calls it back.

mod doubts;

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mio::event::Event as Readiness;
use mio::{Events, Poll, Token, Waker};
use rustix::thread::set_current_timer_slack;
use slab::Slab;

use super::NetError;
use super::alarm::Alarm;
use super::host::Clock;
use super::lost::Lost;
use super::names::Route;
use super::tls_config::TlsClient;
use super::wire::{Http, Phase, Wire};
use volley_http::http2::Handler;

/// The maximum size of one read: large enough that a busy connection needs few system calls.
const READ_BYTES: usize = 256 * 1024;

/// Reads from one connection before the others get their turn.
const READS_AT_ONCE: u8 = 8;

/// A read that brings only the answer to a PING is shorter, over TLS, too.
const LONGEST_PONG: usize = 64;

/// So long before an edge, what has come is looked at, although wake-ups are bunched.
const BEFORE_EDGE_NS: u64 = 100_000;

/// The most sockets that one wait reports.
const MOST_EVENTS: usize = 1024;

/// The tokens of the alarm and of the mail; connections use the slab's keys.
const ALARM: Token = Token(usize::MAX);
const MAIL: Token = Token(usize::MAX - 1);

/// The key of a connection that was removed.
const GONE: usize = usize::MAX - 2;

/// What came of a connection, or of another thread.
#[derive(Debug)]
pub enum Event {
    /// Another thread has woken this one.
    Mail,
    /// The socket is connected.
    Connected { key: usize, at_ns: u64 },
    /// The socket has taken bytes that had waited for it.
    Unblocked { key: usize, at_ns: u64 },
    /// So many bytes came: [`Sockets::feed`] takes them.
    Bytes {
        key: usize,
        length: usize,
        at_ns: u64,
    },
    /// The server has closed the connection, or it is `lost`.
    Ended {
        key: usize,
        lost: Option<Lost>,
        at_ns: u64,
    },
}

/// What a wait has found of a socket.
#[derive(Clone, Copy)]
struct Ready {
    key: usize,
    is_writable: bool,
    is_readable: bool,
    /// The server has closed its half of the connection, or all of it.
    to_end: bool,
}

/// A connection that is being read.
#[derive(Clone, Copy)]
struct Reading {
    key: usize,
    /// Its end is known to have come, which nothing will report again.
    to_end: bool,
    /// So many reads are left before others have their turn.
    left: u8,
}

/// The sockets of a thread, and what it may wait for beside them.
pub struct Sockets<H, X> {
    pub wires: Slab<Wire<H, X>>,
    clock: Clock,
    /// The thread wakes at most once in this time; 0: as soon as something comes, or is due.
    coalesce_ns: u64,
    /// When the sockets were last looked at, if that is coalesced.
    looked_ns: u64,
    /// The thread waits on its CPU.
    spins: bool,
    /// A moment over which no wake-up is bunched: what comes after it counts otherwise.
    pub edge_ns: u64,
    poll: Poll,
    alarm: Alarm,
    waker: Arc<Waker>,
    events: Events,
    /// What the last wait found, and how much of it has been looked at.
    ready: Vec<Ready>,
    looked_at: usize,
    reading: Option<Reading>,
    /// Connections whose sockets may still hold bytes: those of this turn, and those of the next.
    unread: Vec<Reading>,
    unread_next: Vec<Reading>,
    /// Those that could not be written, and never were ready.
    broken: Vec<(usize, Lost)>,
    /// Those that were asked for a sign of life: when, and until when there must be one.
    doubts: Vec<(usize, u64, u64)>,
    /// Those that something is to be sent on.
    touched: Vec<usize>,
    buffer: Vec<u8>,
}

impl<H: Http, X> Sockets<H, X> {
    /// No sockets yet.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn new(clock: Clock) -> Result<Self, NetError> {
        let poll = Poll::new().map_err(NetError::host("open a poll"))?;
        let alarm = Alarm::new(poll.registry(), ALARM).map_err(NetError::host("open a timer"))?;
        let waker = Waker::new(poll.registry(), MAIL).map_err(NetError::host("open a waker"))?;
        Ok(Self {
            wires: Slab::new(),
            clock,
            coalesce_ns: 0,
            looked_ns: 0,
            spins: false,
            edge_ns: u64::MAX,
            poll,
            alarm,
            waker: Arc::new(waker),
            events: Events::with_capacity(MOST_EVENTS),
            ready: Vec::new(),
            looked_at: 0,
            reading: None,
            unread: Vec::new(),
            unread_next: Vec::new(),
            broken: Vec::new(),
            doubts: Vec::new(),
            touched: Vec::new(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// From here on, this thread, which must be the one that waits, wakes at most once in this time; 0: whenever it should.
    pub fn coalesce(&mut self, every_ns: u64) {
        self.coalesce_ns = every_ns;
        if every_ns > 0 {
            // Otherwise it would sleep up to 50 µs longer. A host that refuses costs no more than that.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
        }
    }

    /// Whether this thread waits on its CPU from here on: it wakes without the delay of its host.
    pub fn spin(&mut self, spins: bool) {
        self.spins = spins;
    }

    /// Wakes this thread from others, which it hears of as [`Event::Mail`].
    pub fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Starts to connect. Returns the connection's key.
    ///
    /// # Errors
    ///
    /// What the host's system said at once.
    pub fn open(
        &mut self,
        route: &Arc<Route>,
        tls: Option<&TlsClient>,
        http: H,
        owner: X,
        now_ns: u64,
    ) -> io::Result<usize> {
        let wire = Wire::open(route, tls, http, owner, now_ns)?;
        let entry = self.wires.vacant_entry();
        let key = entry.key();
        wire.join(self.poll.registry(), Token(key))?;
        entry.insert(wire);
        Ok(key)
    }

    /// Closes a connection at once, and forgets it.
    pub fn remove(&mut self, key: usize) -> Option<Wire<H, X>> {
        let wire = self.wires.try_remove(key)?;
        // The next connection may have the same key.
        self.broken.retain(|(other, _)| *other != key);
        self.doubts.retain(|(other, ..)| *other != key);
        self.reading.take_if(|reading| reading.key == key);
        for unread in [&mut self.unread, &mut self.unread_next] {
            unread.retain(|left| left.key != key);
        }
        let ready = self.ready.iter_mut().skip(self.looked_at);
        for one in ready.filter(|one| one.key == key) {
            one.key = GONE;
        }
        wire.leave(self.poll.registry());
        Some(wire)
    }

    /// Sends the last bytes of every connection.
    pub fn close_all(&mut self) {
        for (_, wire) in &mut self.wires {
            wire.close();
        }
    }

    /// Whether something is left that no socket will report again.
    fn has_more(&self) -> bool {
        !self.unread_next.is_empty() || !self.broken.is_empty()
    }

    /// Sleeps until a moment, unless something comes before; with wake-ups that are bunched, that may wait. `is_busy`: it
    /// only looks whether something has come. All events of the wait before must have been asked for.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn wait(&mut self, until_ns: u64, is_busy: bool) -> Result<(), NetError> {
        (self.looked_at, self.reading) = (0, None);
        self.ready.clear();
        let is_busy = is_busy || self.has_more();
        if self.coalesce_ns > 0 && !is_busy {
            thread::sleep(Duration::from_nanos(self.rest_ns()));
        }
        let now_ns = self.clock.now_ns();
        let timeout = match is_busy || self.spins || until_ns <= now_ns {
            true => Some(Duration::ZERO),
            false => {
                let set = self.alarm.set(until_ns, now_ns);
                set.map_err(NetError::host("set a timer"))?;
                None
            }
        };
        self.take_unread();
        let mut polled = self.poll.poll(&mut self.events, timeout);
        while self.spins
            && !is_busy
            && polled.is_ok()
            && self.events.is_empty()
            && self.clock.now_ns() < until_ns
        {
            polled = self.poll.poll(&mut self.events, timeout);
        }
        if self.coalesce_ns > 0 {
            self.looked_ns = self.clock.now_ns();
        }
        match polled {
            // Its events are those of the time before.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(NetError::host("wait for sockets")(error)),
            Ok(()) => {}
        }
        for event in &self.events {
            match event.token() {
                ALARM => self.alarm.rang(),
                _ => self.ready.push(Ready::from(event)),
            }
        }
        Ok(())
    }

    /// How long the sockets are left alone, whatever they have: until they may be looked at again, but not over an edge.
    fn rest_ns(&self) -> u64 {
        let next_ns = self.looked_ns.saturating_add(self.coalesce_ns);
        let next_ns = next_ns.min(self.edge_ns.saturating_sub(BEFORE_EDGE_NS));
        next_ns.saturating_sub(self.clock.now_ns())
    }

    /// What was left unread has its turn now: each connection once, and with its end if one place knew of it.
    fn take_unread(&mut self) {
        std::mem::swap(&mut self.unread, &mut self.unread_next);
        self.unread_next.clear();
        if self.unread.len() > 1 {
            // The last is read first.
            self.unread
                .sort_unstable_by_key(|one| (std::cmp::Reverse(one.key), !one.to_end));
            self.unread.dedup_by_key(|one| one.key);
        }
    }

    /// The next event since the last wait.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(reading) = self.reading
                && let Some(event) = self.read(reading)
            {
                return Some(event);
            }
            if let Some((key, lost)) = self.broken.pop() {
                return Some(self.ended(key, Some(lost)));
            }
            if let Some(left) = self.unread.pop() {
                self.reading = Some(left);
                continue;
            }
            let Some(ready) = self.ready.get(self.looked_at).copied() else {
                return self.next_mute();
            };
            self.looked_at += 1;
            if ready.key == MAIL.0 {
                return Some(Event::Mail);
            }
            if let Some(event) = self.look_at(ready) {
                return Some(event);
            }
        }
    }

    /// Looks at a socket that is ready. What it has to be read is read next.
    #[inline]
    fn look_at(&mut self, ready: Ready) -> Option<Event> {
        let Ready { key, to_end, .. } = ready;
        let wire = self.wires.get_mut(key)?;
        if to_end {
            wire.expect_end();
        }
        self.reading = ready.is_readable.then_some(Reading {
            key,
            to_end,
            left: READS_AT_ONCE,
        });
        if !ready.is_writable {
            return None;
        }
        // An edge reports reading and writing together; most connections have nothing waiting to be written.
        if wire.phase != Phase::Connecting {
            if !wire.unblock() {
                return None;
            }
            self.flush(key);
            let at_ns = self.clock.now_ns();
            return Some(Event::Unblocked { key, at_ns });
        }
        match wire.connected() {
            Ok(false) => None,
            Ok(true) => {
                self.flush(key);
                let at_ns = self.clock.now_ns();
                Some(Event::Connected { key, at_ns })
            }
            Err(lost) => {
                self.reading = None;
                Some(self.ended(key, Some(lost)))
            }
        }
    }

    #[inline]
    fn read(&mut self, mut reading: Reading) -> Option<Event> {
        self.reading = None;
        let Reading { key, to_end, .. } = reading;
        let wire = self.wires.get_mut(key)?;
        if wire.phase == Phase::Connecting {
            return None;
        }
        let filled = loop {
            match wire.transport.fill(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                filled => break filled,
            }
        };
        let at_ns = self.clock.now_ns();
        let lost = match filled {
            Ok(0) => None,
            Ok(length) => {
                wire.heard_ns = at_ns;
                if length > LONGEST_PONG {
                    wire.pings = 0;
                }
                if to_end {
                    wire.expect_end();
                }
                // A read that does not fill the buffer has drained the socket: more bytes will raise a new event.
                if length == READ_BYTES || to_end {
                    reading.left -= 1;
                    match reading.left {
                        0 => self.leave_unread(key, to_end),
                        _ => self.reading = Some(reading),
                    }
                }
                return Some(Event::Bytes { key, length, at_ns });
            }
            Err(error) => Some(wire.unreadable(error)?),
        };
        Some(Event::Ended { key, lost, at_ns })
    }

    fn ended(&self, key: usize, lost: Option<Lost>) -> Event {
        let at_ns = self.clock.now_ns();
        Event::Ended { key, lost, at_ns }
    }

    fn leave_unread(&mut self, key: usize, to_end: bool) {
        self.unread_next.push(Reading {
            key,
            to_end,
            left: READS_AT_ONCE,
        });
    }

    /// Takes the bytes of the last event, so many of this connection. `agree`: takes over what ALPN has chosen.
    ///
    /// # Errors
    ///
    /// The connection is of no use; `None`: the server has ended TLS.
    #[inline]
    pub fn feed(
        &mut self,
        key: usize,
        length: usize,
        agree: impl FnOnce(&mut H, Option<&[u8]>) -> Result<(), Lost>,
        handler: &mut impl Handler<H::Call>,
    ) -> Result<(), Option<Lost>> {
        let (Some(wire), Some(bytes)) = (self.wires.get_mut(key), self.buffer.get(..length)) else {
            return Ok(());
        };
        wire.take(bytes, agree, handler).map_err(Some)?;
        match wire.transport.is_over() {
            true => Err(None),
            false => Ok(()),
        }
    }

    /// Notes that something is to be sent on a connection: see [`flush_touched`](Self::flush_touched).
    #[inline]
    pub fn touch(&mut self, key: usize) {
        if let Some(wire) = self.wires.get_mut(key)
            && !std::mem::replace(&mut wire.is_touched, true)
        {
            self.touched.push(key);
        }
    }

    /// Writes what this turn has made.
    #[inline]
    pub fn flush_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        for key in touched.drain(..) {
            if let Some(wire) = self.wires.get_mut(key) {
                wire.is_touched = false;
            }
            self.flush(key);
        }
        self.touched = touched;
    }

    /// Writes what a connection has to send. If that fails, what the server has sent is read before it is lost.
    #[inline]
    pub fn flush(&mut self, key: usize) {
        if let Some(wire) = self.wires.get_mut(key)
            && let Err(error) = wire.flush()
        {
            self.silence(key, error);
        }
    }

    #[cold]
    fn silence(&mut self, key: usize, error: io::Error) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        match wire.silence(error) {
            Ok(()) => self.leave_unread(key, true),
            Err(lost) => self.broken.push((key, lost)),
        }
    }
}

impl From<&Readiness> for Ready {
    fn from(event: &Readiness) -> Self {
        let to_end = event.is_read_closed() || event.is_error();
        Self {
            key: event.token().0,
            is_writable: event.is_writable(),
            is_readable: event.is_readable() || to_end,
            to_end,
        }
    }
}

#[cfg(test)]
mod tests;
