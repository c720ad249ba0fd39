//! One connection: a socket, HTTP on it, and its phase.

use std::io;
use std::sync::Arc;

use super::flight::FlightKey;
use crate::engine::names::Route;
use crate::engine::transport::{TlsClient, Transport};
use crate::http1;
use crate::http2::{self, ErrorCode, Handler};

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The socket is being connected.
    Connecting,
    /// A proxy is connecting the host.
    Tunnelling,
    /// The TLS handshake, or the wait for the server's SETTINGS.
    Greeting,
    /// Requests can be opened.
    Ready,
    /// No new requests start; those that are open may finish.
    Retiring,
}

/// HTTP on a connection.
pub enum Http {
    One(Box<http1::Connection<FlightKey>>),
    Two(Box<http2::Connection<FlightKey>>),
}

/// A connection, and the link that it serves.
pub struct Wire {
    pub transport: Transport,
    pub http: Http,
    pub phase: Phase,
    /// Index into the plan's targets, and which of its hosts.
    pub target: usize,
    pub host: usize,
    /// The link of the target's pool.
    pub link: usize,
    /// When its connecting began.
    pub began_ns: u64,
    /// It is among those to be flushed at the end of the turn.
    pub is_touched: bool,
    /// The socket took less than was offered; a writable event will follow.
    blocked: bool,
}

impl Http {
    /// How many requests may be opened now.
    pub fn capacity(&self) -> usize {
        match self {
            Self::One(http) => http.capacity(),
            Self::Two(http) => http.capacity(),
        }
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        match self {
            Self::One(http) => usize::from(http.is_busy()),
            Self::Two(http) => http.open_streams(),
        }
    }

    /// No request can ever be opened again.
    pub fn is_draining(&self) -> bool {
        match self {
            Self::One(http) => !http.is_reusable(),
            Self::Two(http) => http.is_draining(),
        }
    }

    /// Whether the server has agreed to take requests.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::One(_) => true,
            Self::Two(http) => http.is_ready(),
        }
    }

    /// Whether any request was opened, and none is left that the server refused.
    pub fn was_used(&self) -> bool {
        match self {
            Self::One(http) => http.opened() > 0,
            Self::Two(http) => http.was_used(),
        }
    }

    /// Whether the server may have closed the connection because it was idle, before it saw the open request.
    pub fn was_idle(&self) -> bool {
        match self {
            Self::One(http) => http.opened() > 1 && !http.has_begun(),
            Self::Two(_) => false,
        }
    }

    /// Removes all open requests: the socket is gone.
    pub fn take(&mut self) -> Vec<FlightKey> {
        match self {
            Self::One(http) => http.take_call().into_iter().collect(),
            Self::Two(http) => http.take_calls(),
        }
    }

    /// Gives a request up.
    pub fn cancel(&mut self, stream: u32) {
        match self {
            // What follows could not be told apart from the next response: the connection is of no more use.
            Self::One(http) => drop(http.take_call()),
            Self::Two(http) => drop(http.cancel(stream, ErrorCode::Cancel)),
        }
    }

    /// Takes bytes of the server.
    ///
    /// # Errors
    ///
    /// The rule that it broke.
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        handler: &mut impl Handler<FlightKey>,
    ) -> Result<(), String> {
        match self {
            Self::One(http) => http
                .receive(bytes, handler)
                .map_err(|error| error.to_string()),
            Self::Two(http) => http
                .receive(bytes, handler)
                .map_err(|error| error.to_string()),
        }
    }

    /// The server has closed the connection.
    ///
    /// # Errors
    ///
    /// It closed before the end of a response.
    pub fn end(&mut self, handler: &mut impl Handler<FlightKey>) -> Result<(), String> {
        match self {
            Self::One(http) => http
                .end_of_stream(handler)
                .map_err(|error| error.to_string()),
            Self::Two(_) => Err("the server closed the connection".to_owned()),
        }
    }

    fn output(&self) -> &[u8] {
        match self {
            Self::One(http) => http.output(),
            Self::Two(http) => http.output(),
        }
    }

    fn consume_output(&mut self, n: usize) {
        match self {
            Self::One(http) => http.consume_output(n),
            Self::Two(http) => http.consume_output(n),
        }
    }
}

impl Wire {
    /// Starts to connect.
    ///
    /// # Errors
    ///
    /// What the host's system said at once.
    pub fn open(
        route: &Arc<Route>,
        tls: Option<&TlsClient>,
        http: Http,
        (target, host, link): (usize, usize, usize),
        now_ns: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            transport: Transport::connect(route, tls)?,
            http,
            phase: Phase::Connecting,
            target,
            host,
            link,
            began_ns: now_ns,
            is_touched: false,
            blocked: false,
        })
    }

    /// Whether it is neither ready nor retired.
    pub fn is_attempt(&self) -> bool {
        !matches!(self.phase, Phase::Ready | Phase::Retiring)
    }

    /// How many requests may be opened now, of `most` at a time.
    #[inline]
    pub fn room(&self, most: usize) -> usize {
        match self.phase {
            Phase::Ready => self
                .http
                .capacity()
                .min(most.saturating_sub(self.http.open())),
            _ => 0,
        }
    }

    /// The socket is writable again. Returns whether bytes wait for that.
    pub fn unblock(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Writes what is to be sent, as far as the socket takes it.
    ///
    /// # Errors
    ///
    /// The socket's.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.blocked || self.phase == Phase::Connecting {
            return Ok(());
        }
        let done = match self.phase {
            Phase::Tunnelling => self.transport.ask_proxy(),
            _ => self.write(),
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.blocked = true;
                Ok(())
            }
            done => done,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        loop {
            let plain = match self.transport.is_open() {
                true => self.http.output(),
                false => &[],
            };
            match self.transport.write(plain) {
                Ok(0) => return Ok(()),
                Ok(written) => self.http.consume_output(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends the last bytes, GOAWAY and TLS's close_notify among them. Dropping this closes the socket.
    pub fn close(&mut self) {
        if let Http::Two(http) = &mut self.http {
            http.shut_down(ErrorCode::NoError);
        }
        // Best effort: the server may be gone, and the run does not depend on it.
        let _ = self.flush();
        self.transport.close();
    }
}
