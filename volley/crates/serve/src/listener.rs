//! The thread that accepts clients and deals them out to the workers in turn.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};

use socket2::Socket;

use super::worker::{Command, Shared, WAKE};

const LISTENER: Token = Token(0);
/// How long to wait if the host has no more sockets.
const RETRY: Duration = Duration::from_millis(100);

/// The way to a worker.
#[derive(Clone)]
pub(super) struct WorkerLine {
    pub(super) commands: Sender<Command>,
    pub(super) waker: Arc<Waker>,
}

impl WorkerLine {
    /// Sends a worker a command. A worker that is gone gets nothing; joining it shows why it ended.
    pub(super) fn tell(&self, command: Command) {
        if self.commands.send(command).is_ok() {
            // A waker fails only if its poll is gone, and the worker with it.
            let _ = self.waker.wake();
        }
    }
}

pub(super) struct Listener {
    poll: Poll,
    socket: Socket,
    workers: Vec<WorkerLine>,
    next: usize,
    shared: Arc<Shared>,
    /// Its other end is dropped to stop the thread.
    stop: Receiver<()>,
}

impl Listener {
    /// Returns the listener, and the waker to use after its `stop` has been dropped.
    pub(super) fn new(
        socket: Socket,
        workers: Vec<WorkerLine>,
        shared: Arc<Shared>,
        stop: Receiver<()>,
    ) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        poll.registry().register(
            &mut SourceFd(&socket.as_raw_fd()),
            LISTENER,
            Interest::READABLE,
        )?;
        let listener = Self {
            poll,
            socket,
            workers,
            next: 0,
            shared,
            stop,
        };
        Ok((listener, waker))
    }

    /// Accepts clients until it is stopped.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(2);
        let mut patience = None;
        while self.stop.try_recv() != Err(TryRecvError::Disconnected) {
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
                _ => patience = self.accept_all(),
            }
        }
    }

    /// Accepts waiting clients. `Some`: more may be waiting, so try again after that time.
    fn accept_all(&mut self) -> Option<Duration> {
        loop {
            if let Some(left) = self.shared.freeze.left(Instant::now())
                && self.stop.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
            {
                return Some(Duration::ZERO);
            }
            match self.socket.accept() {
                Ok((client, _)) => {
                    let worker = self.workers.get(self.next % self.workers.len().max(1))?;
                    worker.tell(Command::Adopt(client));
                    self.next = self.next.wrapping_add(1);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return None,
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => return Some(RETRY),
                },
            }
        }
    }
}
