//! One connection to the server: a socket, HTTP/2 on it, and its phase.

use std::io;
use std::sync::Arc;

use super::call::Call;
use crate::http2::{self, Connection, ErrorCode};
use crate::net::names::Route;
use crate::net::transport::{TlsClient, Transport};

/// Bytes of paced streams that may wait for a socket.
const MOST_WAITING: usize = 64 * 1024;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The socket is being connected.
    Connecting,
    /// A proxy is connecting the target.
    Tunnelling,
    /// The TLS handshake, or the wait for the server's SETTINGS.
    Greeting,
    /// Calls can be opened.
    Ready,
    /// GOAWAY came, or the client needs it no more: open calls may finish, no new ones start.
    Retiring,
}

/// A connection, and the link that it serves.
pub struct Wire<M> {
    /// The socket.
    pub transport: Transport,
    /// HTTP/2 on it.
    pub http: Connection<Call<M>>,
    /// Its phase.
    pub phase: Phase,
    /// Where it leads.
    pub route: Arc<Route>,
    /// The link whose workers' calls it carries.
    pub link: usize,
    /// How many of its streams were opened before the window.
    pub uncounted: u32,
    /// Its serial number among all connections of its thread.
    pub serial: u64,
    /// When the last byte came.
    pub heard_ns: u64,
    /// When a PING was sent that is not answered yet.
    pub pinged_ns: Option<u64>,
    /// The socket took less than was offered; a writable event will follow.
    blocked: bool,
    /// Why nothing can be written any more. What the server sent before may still be read.
    pub mute: Option<String>,
}

impl<M> Wire<M> {
    /// Starts to connect.
    pub fn open(
        route: &Arc<Route>,
        tls: Option<&TlsClient>,
        config: &http2::Config,
        link: usize,
        serial: u64,
        now_ns: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            transport: Transport::connect(route, tls)?,
            http: Connection::new(config),
            phase: Phase::Connecting,
            route: Arc::clone(route),
            link,
            uncounted: 0,
            serial,
            heard_ns: now_ns,
            pinged_ns: None,
            blocked: false,
            mute: None,
        })
    }

    /// Whether it is neither ready nor retired.
    pub fn is_attempt(&self) -> bool {
        matches!(
            self.phase,
            Phase::Connecting | Phase::Tunnelling | Phase::Greeting
        )
    }

    /// Whether more than a little waits for the socket: what is added now would only take memory.
    pub fn is_congested(&self) -> bool {
        self.blocked && self.http.output().len() > MOST_WAITING
    }

    /// The socket is writable again. Returns whether bytes wait for that.
    pub fn unblock(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Writes what is to be sent, as far as the socket takes it.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.blocked || self.phase == Phase::Connecting || self.mute.is_some() {
            return Ok(());
        }
        if self.phase == Phase::Tunnelling {
            return match self.transport.ask_proxy() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    Ok(())
                }
                done => done,
            };
        }
        loop {
            let plain = if self.transport.is_open() {
                self.http.output()
            } else {
                &[]
            };
            match self.transport.write(plain) {
                Ok(0) => return Ok(()),
                Ok(written) => self.http.consume_output(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends the last bytes, including GOAWAY and TLS's close_notify. Dropping this closes the socket.
    pub fn close(&mut self) {
        self.http.shut_down(ErrorCode::NoError);
        // Best effort: the server may be gone, and the run does not depend on it.
        let _ = self.flush();
        self.transport.close();
    }
}
