//! A connection: a socket, HTTP on it, and its phase.

use std::io;
use std::sync::Arc;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use super::lost::{Lost, Rule};
use super::names::Route;
use super::tls_config::TlsClient;
use super::transport::Transport;
use volley_http::http2::Handler;

/// Bytes that may wait for a socket.
const MOST_WAITING: usize = 64 * 1024;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The socket is being connected.
    Connecting,
    /// A proxy is connecting the server.
    Tunnelling,
    /// The TLS handshake, or the wait for the server's SETTINGS.
    Greeting,
    /// Requests can be opened.
    Ready,
    /// No new requests start; those that are open may finish.
    Retiring,
}

/// HTTP on a connection, as far as its socket asks for it.
pub trait Http {
    /// The owner's data of a request.
    type Call;

    /// The bytes to send.
    fn output(&self) -> &[u8];

    /// So many of them were sent.
    fn consume_output(&mut self, n: usize);

    /// Takes bytes of the server.
    ///
    /// # Errors
    ///
    /// The rule that it broke.
    fn receive(&mut self, bytes: &[u8], handler: &mut impl Handler<Self::Call>)
    -> Result<(), Rule>;

    /// Says that no more requests come.
    fn shut_down(&mut self);

    /// Asks the server for a sign of life. Returns whether the protocol has a way to ask.
    fn ping(&mut self, payload: [u8; 8]) -> bool;

    /// No more requests can be opened. What the server sent before is still to be read.
    fn expect_end(&mut self);
}

/// A connection, and what its owner knows about it.
pub struct Wire<H, X> {
    pub transport: Transport,
    pub http: H,
    pub phase: Phase,
    /// Where it leads.
    pub route: Arc<Route>,
    /// When its connecting began.
    pub began_ns: u64,
    /// When the last byte came; before the first, as `began_ns`.
    pub heard_ns: u64,
    pub owner: X,
    /// It is among those to be flushed at the end of the turn.
    pub is_touched: bool,
    /// The server has closed its half, or nothing can be written: its end comes once all is read.
    pub is_ending: bool,
    /// It was asked for a sign of life, and has brought nothing since, as far as is known.
    pub is_doubted: bool,
    /// PINGs sent after timeouts, not by keepalive, since the last read of more than their answers.
    pub pings: u8,
    /// The socket took less than was offered; a writable event will follow.
    blocked: bool,
    /// Why nothing can be written any more. What the server sent before may still be read.
    mute: Option<io::Error>,
}

impl<H: Http, X> Wire<H, X> {
    /// Starts to connect.
    ///
    /// # Errors
    ///
    /// What the host's system said at once.
    pub fn open(
        route: &Arc<Route>,
        tls: Option<&TlsClient>,
        http: H,
        owner: X,
        now_ns: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            transport: Transport::connect(route, tls)?,
            http,
            phase: Phase::Connecting,
            route: Arc::clone(route),
            began_ns: now_ns,
            heard_ns: now_ns,
            owner,
            is_touched: false,
            is_ending: false,
            is_doubted: false,
            pings: 0,
            blocked: false,
            mute: None,
        })
    }

    /// Has events of the socket reported with this token.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn join(&self, registry: &Registry, token: Token) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut SourceFd(&self.transport.descriptor()), token, both)
    }

    /// No more of its events are reported. It is to be dropped, which closes it, so that a failure changes nothing.
    pub fn leave(&self, registry: &Registry) {
        let _ = registry.deregister(&mut SourceFd(&self.transport.descriptor()));
    }

    /// Whether it is neither ready nor retired.
    #[inline]
    pub fn is_attempt(&self) -> bool {
        !matches!(self.phase, Phase::Ready | Phase::Retiring)
    }

    /// Whether more than a little waits for the socket: what is added now would only take memory.
    pub fn is_congested(&self) -> bool {
        self.blocked && self.http.output().len() > MOST_WAITING
    }

    /// Whether the socket is connected by now. Then its next phase has begun.
    ///
    /// # Errors
    ///
    /// It could not be connected.
    pub fn connected(&mut self) -> Result<bool, Lost> {
        let is_connected = self.transport.connected().map_err(Lost::Connect)?;
        if is_connected {
            self.phase = match self.transport.needs_proxy() {
                true => Phase::Tunnelling,
                false => Phase::Greeting,
            };
        }
        Ok(is_connected)
    }

    /// The socket is writable again. Returns whether bytes wait for that.
    pub fn unblock(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Takes bytes that the socket has brought. `agree`: takes over what ALPN has chosen, once the TLS handshake is done.
    ///
    /// # Errors
    ///
    /// The connection is of no use.
    #[inline]
    pub fn take(
        &mut self,
        bytes: &[u8],
        agree: impl FnOnce(&mut H, Option<&[u8]>) -> Result<(), Lost>,
        handler: &mut impl Handler<H::Call>,
    ) -> Result<(), Lost> {
        if self.is_attempt() {
            return self.greet(bytes, agree, handler);
        }
        let http = &mut self.http;
        let taken = self
            .transport
            .decipher(bytes, |plain| http.receive(plain, handler));
        match taken {
            Ok(Ok(())) => Ok(()),
            Ok(Err(rule)) => Err(Lost::Rule {
                rule,
                is_greeting: false,
            }),
            Err(error) => Err(Lost::Tls(error)),
        }
    }

    /// Takes bytes of a connection that is not ready: of a proxy, of the TLS handshake, or the server's SETTINGS.
    #[cold]
    fn greet(
        &mut self,
        mut bytes: &[u8],
        agree: impl FnOnce(&mut H, Option<&[u8]>) -> Result<(), Lost>,
        handler: &mut impl Handler<H::Call>,
    ) -> Result<(), Lost> {
        if self.phase == Phase::Tunnelling {
            let heard = self.transport.hear_proxy(bytes).map_err(Lost::Proxy)?;
            let Some(taken) = heard else {
                return Ok(());
            };
            self.phase = Phase::Greeting;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        let was_open = self.transport.is_open();
        let mut plain = Vec::new();
        let deciphered = self.transport.decipher(bytes, |bytes| {
            plain.extend_from_slice(bytes);
            Ok::<_, Rule>(())
        });
        if !was_open && self.transport.is_open() {
            agree(&mut self.http, self.transport.alpn())?;
        }
        let taken = self.http.receive(&plain, handler);
        taken.map_err(|rule| Lost::Rule {
            rule,
            is_greeting: true,
        })?;
        deciphered.map(|_| ()).map_err(Lost::Handshake)
    }

    /// Nothing can be written any more, but perhaps the server has answered: until all that it sent is read, the
    /// connection is not lost.
    ///
    /// # Errors
    ///
    /// It never was ready, so that it is lost.
    #[cold]
    pub fn silence(&mut self, error: io::Error) -> Result<(), Lost> {
        if self.is_attempt() {
            return Err(Lost::Connect(error));
        }
        self.mute = Some(error);
        self.expect_end();
        Ok(())
    }

    /// What the server sent before is still to be read, but it would not answer new requests any more.
    #[cold]
    pub fn expect_end(&mut self) {
        if !self.is_attempt() {
            self.is_ending = true;
            self.http.expect_end();
        }
    }

    /// Why it is lost after it could not be read; `None`: it is not.
    pub fn unreadable(&self, error: io::Error) -> Option<Lost> {
        let is_pause = self.mute.is_none() && error.kind() == io::ErrorKind::WouldBlock;
        (!is_pause).then_some(Lost::Io(error))
    }

    /// Why it is lost. `lost`: what reading it said; `None`: that the server has closed it.
    #[cold]
    pub fn ended(&mut self, lost: Option<Lost>) -> Lost {
        match (self.mute.take(), lost) {
            (Some(error), None | Some(Lost::Io(_))) => Lost::Io(error),
            (_, Some(lost)) => lost,
            (None, None) if self.is_attempt() => Lost::ClosedEarly {
                by_proxy: self.transport.needs_proxy(),
                is_tls: self.transport.is_tls(),
            },
            (None, None) => Lost::Closed(None),
        }
    }

    /// Whether nothing can be written any more.
    pub fn is_mute(&self) -> bool {
        self.mute.is_some()
    }

    /// Writes what is to be sent, as far as the socket takes it.
    ///
    /// # Errors
    ///
    /// The socket's.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.blocked || self.phase == Phase::Connecting || self.mute.is_some() {
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

    #[inline]
    fn write(&mut self) -> io::Result<()> {
        loop {
            let plain = match self.transport.is_open() {
                true => self.http.output(),
                false => &[],
            };
            match self.transport.write(plain) {
                Ok(0) => return Ok(()),
                Ok(written) => {
                    // Without TLS, nothing waits anywhere else.
                    let is_all = written == plain.len() && !self.transport.is_tls();
                    self.http.consume_output(written);
                    if is_all {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends the last bytes, GOAWAY and TLS's close_notify among them. Dropping this closes the socket.
    pub fn close(&mut self) {
        self.http.shut_down();
        self.blocked = false;
        // Best effort: the server may be gone, and the run does not depend on it.
        let _ = self.flush();
        self.transport.close();
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpListener;

    use super::*;
    use volley_http::http2::{Config, Connection};

    type Plain = Wire<Connection<()>, ()>;

    fn open(listener: &TcpListener) -> Plain {
        let route = Arc::new(Route::from(listener.local_addr().unwrap()));
        Wire::open(&route, None, Connection::new(&Config::default()), (), 0).unwrap()
    }

    #[test]
    fn what_cannot_be_written_is_lost_once_all_that_came_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut wire = open(&listener);
        let broken = || io::Error::from(ErrorKind::BrokenPipe);
        assert!(matches!(wire.silence(broken()), Err(Lost::Connect(_))));

        wire.phase = Phase::Ready;
        let pause = || io::Error::from(ErrorKind::WouldBlock);
        assert!(wire.unreadable(pause()).is_none());
        assert!(wire.silence(broken()).is_ok());
        let waiting = wire.http.output().len();
        assert!(waiting > 0 && wire.flush().is_ok());
        assert_eq!(wire.http.output().len(), waiting);
        let lost = wire.unreadable(pause());
        assert!(lost.is_some());
        let Lost::Io(error) = wire.ended(lost) else {
            panic!("the error of writing says why");
        };
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_server_that_closes_before_it_is_ready_is_not_one_that_closes_later() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut wire = open(&listener);
        wire.phase = Phase::Greeting;
        let early = wire.ended(None);
        wire.phase = Phase::Ready;
        let late = wire.ended(None);
        assert!(matches!(
            early,
            Lost::ClosedEarly {
                by_proxy: false,
                is_tls: false
            }
        ));
        assert!(matches!(late, Lost::Closed(None)));
    }
}
