//! One connection: a socket, HTTP on it, and its phase.

use std::io;
use std::sync::Arc;

use super::flight::{Fault, FlightKey};
use super::pool::LONGEST_WAIT_NS;
use super::site::Site;
use crate::http1::{self, Violation};
use crate::http2::{self, ErrorCode, Handler};
use crate::net::names::Route;
use crate::net::transport::{self, TlsClient, Transport, tls_words};
use crate::scenario::tally::Reason;

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

/// What remedies are called.
pub struct Remedies {
    /// Those against errors of TLS.
    pub tls: transport::Remedies,
    /// What to write if the server speaks HTTP/1.1.
    pub http1: &'static str,
    /// What to write if it speaks TLS.
    pub https: &'static str,
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
    /// It has brought the head of a response.
    pub has_answered: bool,
    /// It is among those to be flushed at the end of the turn.
    pub is_touched: bool,
    /// The socket took less than was offered; a writable event will follow.
    blocked: bool,
    /// Why nothing can be written any more. What the server sent before may still be read.
    mute: Option<String>,
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

    /// Takes bytes of the server. `remedies`: what helps if it speaks another protocol.
    ///
    /// # Errors
    ///
    /// The rule that it broke.
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        remedies: &Remedies,
        handler: &mut impl Handler<FlightKey>,
    ) -> Result<(), Fault> {
        let Remedies { http1, https, .. } = remedies;
        let taken = match self {
            Self::One(http) => http.receive(bytes, handler).map_err(|error| match error {
                Violation::NotHttp1 => {
                    format!("{error} (check the port; if the server speaks TLS, write {https})")
                }
                _ => error.to_string(),
            }),
            Self::Two(http) => http.receive(bytes, handler).map_err(|error| match error {
                http2::Violation::NotHttp2 => {
                    format!("{error} (check the port; if the server speaks TLS, write {https})")
                }
                http2::Violation::Http1 => {
                    format!("{error} (check the port; if no gRPC calls go there, write {http1})")
                }
                _ => error.to_string(),
            }),
        };
        taken.map_err(|rule| Fault::new(Reason::Protocol, rule))
    }

    /// The server has closed the connection.
    ///
    /// # Errors
    ///
    /// It closed before the end of a response.
    pub fn end(&mut self, handler: &mut impl Handler<FlightKey>) -> Result<(), Fault> {
        match self {
            Self::One(http) => http.end_of_stream(handler).map_err(|violation| {
                let is_end = matches!(
                    violation,
                    Violation::ClosedBefore | Violation::ClosedInHead | Violation::ClosedInBody
                );
                let reason = if is_end {
                    Reason::Closed
                } else {
                    Reason::Protocol
                };
                Fault::new(reason, violation.to_string())
            }),
            Self::Two(http) => Err(match http.go_away() {
                Some(go_away) => Fault::new(
                    Reason::GoAway,
                    format!("the server sent {go_away} and closed it"),
                ),
                None => Fault::new(Reason::Closed, "the server closed it".to_owned()),
            }),
        }
    }

    /// The bytes of HTTP that wait to be sent, those of a request that flow control holds back included.
    #[inline]
    pub fn unsent(&self, stream: u32) -> usize {
        match self {
            Self::One(http) => http.output().len(),
            Self::Two(http) => http.output().len() + http.queued(stream),
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
            has_answered: false,
            is_touched: false,
            blocked: false,
            mute: None,
        })
    }

    /// Whether it is neither ready nor retired.
    pub fn is_attempt(&self) -> bool {
        !matches!(self.phase, Phase::Ready | Phase::Retiring)
    }

    /// Whether it brought something, or lasted.
    pub fn was_of_use(&self, now_ns: u64) -> bool {
        self.has_answered || now_ns.saturating_sub(self.began_ns) >= LONGEST_WAIT_NS
    }

    /// Why it is not ready in time.
    pub fn late(&self) -> Fault {
        let is_tls = self.phase == Phase::Greeting && !self.transport.is_open();
        let reason = if is_tls { Reason::Tls } else { Reason::Connect };
        let what = self.transport.wait_words();
        Fault::new(reason, format!("{what} in time (`http.connect_timeout`)"))
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

    /// Whether the socket is connected by now. Then its next phase has begun.
    ///
    /// # Errors
    ///
    /// It could not be connected.
    pub fn connected(&mut self) -> io::Result<bool> {
        let is_connected = self.transport.connected()?;
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

    /// Takes bytes that the socket has brought. `site`: what was connected; `remedies`: what helps against errors.
    ///
    /// # Errors
    ///
    /// The connection is of no use.
    #[inline]
    pub fn take<'s>(
        &mut self,
        bytes: &[u8],
        site: impl FnOnce() -> Option<&'s Site>,
        remedies: &Remedies,
        handler: &mut impl Handler<FlightKey>,
    ) -> Result<(), Fault> {
        if self.phase != Phase::Ready && self.phase != Phase::Retiring {
            return self.greet(bytes, site(), remedies, handler);
        }
        let http = &mut self.http;
        self.transport
            .decipher(bytes, |plain| http.receive(plain, remedies, handler))
            .unwrap_or_else(|error| Err(Fault::new(Reason::Tls, error.to_string())))
    }

    /// Takes bytes of a connection that is not ready: of a proxy, of the TLS handshake, or the server's SETTINGS.
    #[cold]
    fn greet(
        &mut self,
        mut bytes: &[u8],
        site: Option<&Site>,
        remedies: &Remedies,
        handler: &mut impl Handler<FlightKey>,
    ) -> Result<(), Fault> {
        if self.phase == Phase::Tunnelling {
            let heard = self.transport.hear_proxy(bytes);
            let heard = heard.map_err(|words| Fault::new(Reason::Connect, words))?;
            let Some(taken) = heard else {
                return Ok(());
            };
            self.phase = Phase::Greeting;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        let was_open = self.transport.is_open();
        let mut plain = Vec::new();
        self.transport
            .decipher(bytes, |bytes| {
                plain.extend_from_slice(bytes);
                Ok::<_, Fault>(())
            })
            .map_err(|error| Fault::new(Reason::Tls, tls_words(&error, &remedies.tls)))??;
        if !was_open
            && self.transport.is_open()
            && let Some(http) = site
                .map_or(Ok(None), |site| site.agreed(self.transport.alpn()))
                .map_err(|words| Fault::new(Reason::Tls, words))?
        {
            self.http = http;
        }
        self.http.receive(&plain, remedies, handler)
    }

    /// The server has closed its half of the connection, or all of it: what it sent before is still to be read, but no
    /// request would be answered any more.
    #[cold]
    pub fn expect_end(&mut self) {
        if self.is_attempt() {
            return;
        }
        match &mut self.http {
            Http::One(http) => http.expect_end(),
            Http::Two(http) => http.expect_end(),
        }
    }

    /// Nothing can be written any more, but perhaps the server has answered: until all that it sent is read, the
    /// connection is not lost. Returns whether that can be.
    #[cold]
    pub fn silence(&mut self, error: &io::Error) -> bool {
        let may_be_answered = !self.is_attempt();
        if may_be_answered {
            self.mute = Some(error.to_string());
            self.expect_end();
        }
        may_be_answered
    }

    /// Why a connection is lost that could not be read from; `None`: it is not.
    pub fn unreadable(&self, error: &io::Error) -> Option<Fault> {
        if self.mute.is_none() && error.kind() == io::ErrorKind::WouldBlock {
            return None;
        }
        Some(Fault::new(Reason::Closed, error.to_string()))
    }

    /// The server has closed the connection, or reset it because it had enough of what is sent: whatever it was, it ends a
    /// body without a length. Any other error than that is `lost`.
    ///
    /// # Errors
    ///
    /// Why no response is complete by that.
    pub fn end(
        &mut self,
        lost: Option<Fault>,
        handler: &mut impl Handler<FlightKey>,
    ) -> Result<(), Fault> {
        match (self.mute.take(), lost) {
            (None, Some(lost)) => Err(lost),
            (None, None) => self.http.end(handler),
            (Some(words), _) => self
                .http
                .end(handler)
                .map_err(|_| Fault::new(Reason::Closed, words)),
        }
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
