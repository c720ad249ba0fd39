//! A thread that owns connections and counts what happens on them.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustls::ServerConfig;
use slab::Slab;
use volley_net::Alarm;

use super::config::Rules;
use super::counts::Counts;
use super::faults::FreezeClock;
use super::peer::{Next, Peer};
use super::protocol::Connection;
use super::socket::Socket;

/// The tokens of the worker's own waker and of its alarm; all others are clients.
pub(super) const WAKE: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
/// The size of one read.
const READ_LEN: usize = 64 << 10;
/// The number of events of one poll.
const EVENTS: usize = 256;

/// A command for a worker; a wake follows it.
pub(super) enum Command {
    /// A client has been accepted.
    Adopt(socket2::Socket),
    /// Report the counts: they include everything written before.
    Count(Sender<Counts>),
    Stop,
}

/// What all threads of a server share. It is not written to while bytes move, except to number calls for faults.
pub(super) struct Shared {
    pub(super) rules: Arc<Rules>,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) freeze: FreezeClock,
    /// When all threads' clocks show 0.
    pub(super) epoch: Instant,
}

/// The worker was told to stop; ends its loop.
struct Stopped;

pub(super) struct Worker {
    poll: Poll,
    /// Rings when a delay is over: a poll waits for whole milliseconds.
    alarm: Alarm,
    commands: Receiver<Command>,
    shared: Arc<Shared>,
    peers: Slab<Peer>,
    /// Clients that can continue without an event.
    hot: Vec<usize>,
    counts: Counts,
    buffer: Box<[u8]>,
}

impl Worker {
    pub(super) fn new(
        poll: Poll,
        commands: Receiver<Command>,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        Ok(Self {
            alarm: Alarm::new(poll.registry(), ALARM)?,
            poll,
            commands,
            shared,
            peers: Slab::new(),
            hot: Vec::new(),
            counts: Counts::default(),
            buffer: vec![0; READ_LEN].into_boxed_slice(),
        })
    }

    /// Serves until it is told to stop; returns what it counted.
    pub(super) fn run(mut self) -> Counts {
        let mut events = Events::with_capacity(EVENTS);
        while self.round(&mut events).is_ok() {}
        self.counts
    }

    fn round(&mut self, events: &mut Events) -> Result<(), Stopped> {
        let patience = self.patience().map_err(|_| Stopped)?;
        if let Err(error) = self.poll.poll(events, patience)
            && error.kind() != io::ErrorKind::Interrupted
        {
            return Err(Stopped);
        }
        let now_ns = self.now_ns();
        for event in events.iter() {
            let Token(index) = event.token();
            if event.token() == ALARM {
                self.alarm.rang();
            } else if let Some(peer) = self.peers.get_mut(index) {
                peer.note(event);
                self.turn(index, now_ns)?;
            }
        }
        for index in std::mem::take(&mut self.hot) {
            if let Some(peer) = self.peers.get_mut(index) {
                peer.hot = false;
                self.turn(index, now_ns)?;
            }
        }
        if self.shared.rules.has_waits() {
            let due = |peer: &Peer| peer.connection.next_due().is_some_and(|due| due <= now_ns);
            let late: Vec<usize> = self
                .peers
                .iter()
                .filter(|(_, peer)| due(peer))
                .map(|(i, _)| i)
                .collect();
            for index in late {
                self.turn(index, now_ns)?;
            }
        }
        while let Ok(command) = self.commands.try_recv() {
            self.obey(command)?;
        }
        Ok(())
    }

    /// One client's turn.
    fn turn(&mut self, index: usize, now_ns: u64) -> Result<(), Stopped> {
        self.sit_out_the_freeze()?;
        let Some(peer) = self.peers.get_mut(index) else {
            return Ok(());
        };
        match peer.turn(&mut self.buffer, now_ns, &mut self.counts) {
            Next::Wait => {}
            Next::Again if peer.hot => {}
            Next::Again => {
                peer.hot = true;
                self.hot.push(index);
            }
            Next::Drop => self.peers.remove(index).connection.lost(&mut self.counts),
        }
        if self.counts.calls_started > 0 && self.shared.freeze.is_planned() {
            self.shared.freeze.on_call(Instant::now());
        }
        Ok(())
    }

    /// How long to wait for events: not at all, or until the alarm rings at the latest.
    fn patience(&mut self) -> io::Result<Option<Duration>> {
        if !self.hot.is_empty() {
            return Ok(Some(Duration::ZERO));
        }
        if !self.shared.rules.has_waits() {
            return Ok(None);
        }
        let peers = self.peers.iter();
        let due = peers.filter_map(|(_, peer)| peer.connection.next_due());
        let Some(due_ns) = due.min() else {
            return Ok(None);
        };
        self.alarm.set(due_ns, self.now_ns()).map(|()| None)
    }

    /// Stands still as long as the server must: nothing is read or written, but commands are handled.
    fn sit_out_the_freeze(&mut self) -> Result<(), Stopped> {
        if !self.shared.freeze.is_planned() {
            return Ok(());
        }
        while let Some(left) = self.shared.freeze.left(Instant::now()) {
            match self.commands.recv_timeout(left) {
                Ok(command) => self.obey(command)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Stopped),
            }
        }
        Ok(())
    }

    fn obey(&mut self, command: Command) -> Result<(), Stopped> {
        match command {
            // A client that is gone before it is registered is ignored.
            Command::Adopt(client) => drop(self.adopt(client)),
            // Nobody waits for the answer any more: nothing is lost.
            Command::Count(answer) => drop(answer.send(self.counts)),
            Command::Stop => return Err(Stopped),
        }
        Ok(())
    }

    fn adopt(&mut self, client: socket2::Socket) -> io::Result<()> {
        self.counts.connections += 1;
        let connection = Connection::new(Arc::clone(&self.shared.rules));
        let peer = Peer::new(Socket::new(client, self.shared.tls.as_ref())?, connection);
        let entry = self.peers.vacant_entry();
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(
            &mut SourceFd(&peer.socket.descriptor()),
            Token(entry.key()),
            interest,
        )?;
        entry.insert(peer);
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.shared.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
