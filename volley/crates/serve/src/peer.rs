//! A socket and its connection.

use std::io;

use mio::event::Event;

use super::counts::Counts;
use super::protocol::Connection;
use super::socket::Socket;

/// Reads and writes in a row before other clients get their turn.
const ROUNDS: usize = 4;

/// What happens to a client after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It waits for an event.
    Wait,
    /// It can continue now.
    Again,
    /// It is gone.
    Drop,
}

/// One client.
pub(super) struct Peer {
    pub(super) socket: Socket,
    pub(super) connection: Connection,
    /// Events are edges: a socket is readable, or writable, until it reports otherwise.
    readable: bool,
    writable: bool,
    /// The client has ended its side: no further edge reports what is left to read.
    hung_up: bool,
    /// Our side is closed. The client's bytes are read and dropped; otherwise closing would destroy what we sent.
    closed: bool,
    /// It is in the list of clients that can continue without an event.
    pub(super) hot: bool,
}

impl Peer {
    pub(super) fn new(socket: Socket, connection: Connection) -> Self {
        Self {
            socket,
            connection,
            readable: false,
            writable: false,
            hung_up: false,
            closed: false,
            hot: false,
        }
    }

    /// Notes an event.
    pub(super) fn note(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_read_closed();
        self.writable |= event.is_writable() || event.is_write_closed();
        self.hung_up |= event.is_read_closed();
    }

    /// Reads, answers and writes, for one turn.
    pub(super) fn turn(&mut self, buffer: &mut [u8], now_ns: u64, counts: &mut Counts) -> Next {
        for _ in 0..ROUNDS {
            let went_on = self
                .read(buffer, now_ns, counts)
                .and_then(|()| self.write(now_ns, counts))
                .and_then(|()| self.close_if_finished());
            match went_on {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Next::Drop,
                Ok(()) => {}
            }
            if !self.can_read() && !self.can_write() {
                return Next::Wait;
            }
        }
        Next::Again
    }

    fn can_read(&self) -> bool {
        self.readable && (self.closed || self.connection.wants_input())
    }

    fn can_write(&self) -> bool {
        self.writable && !self.closed && (self.connection.has_output() || self.socket.wants_write())
    }

    /// One read. An error also counts as the client's end.
    fn read(&mut self, buffer: &mut [u8], now_ns: u64, counts: &mut Counts) -> io::Result<()> {
        if !self.can_read() {
            return Ok(());
        }
        let connection = &mut self.connection;
        match self
            .socket
            .read(buffer, |bytes| connection.receive(bytes, now_ns, counts))
        {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                // Less than there was room for: the socket is empty, and the next byte is a new edge (epoll(7)).
                self.readable = n == buffer.len() || self.hung_up;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// One write.
    fn write(&mut self, now_ns: u64, counts: &mut Counts) -> io::Result<()> {
        self.connection.advance(now_ns, counts);
        if !self.can_write() {
            return Ok(());
        }
        self.connection.fill();
        let output = self.connection.output();
        match self.socket.write(output) {
            Ok(n) => {
                self.writable = n == output.len() || !self.socket.is_plain();
                self.connection.consume_output(n, now_ns, counts);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.writable = false;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn close_if_finished(&mut self) -> io::Result<()> {
        if self.closed || !self.connection.is_finished() {
            return Ok(());
        }
        self.closed = true;
        self.socket.close(!self.connection.is_cut())
    }
}
