//! One connection to the server: a socket, HTTP/2 on it, and how far it has got.

use std::io;
use std::net::SocketAddr;

use super::call::Call;
use super::transport::{TlsClient, Transport};
use crate::http2::{self, Connection};

/// How far a connection has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// TCP's handshake is under way.
    Connecting,
    /// TLS's handshake, or the wait for the server's SETTINGS.
    Greeting,
    /// Calls can be opened.
    Ready,
    /// GOAWAY came: open calls are finished, none are opened.
    Retiring,
}

/// A connection and the link it serves.
pub struct Wire {
    /// The socket.
    pub transport: Transport,
    /// HTTP/2 on it.
    pub http: Connection<Call>,
    /// How far it has got.
    pub phase: Phase,
    /// The link whose workers' calls it carries.
    pub link: usize,
    /// Its number among all connections of its thread.
    pub serial: u64,
    /// When a byte last came.
    pub heard_ns: u64,
    /// When a PING was sent that is not answered yet.
    pub pinged_ns: Option<u64>,
    /// The socket took less than it was given; a writable event will come.
    blocked: bool,
}

impl Wire {
    /// Begin to connect.
    pub fn open(
        address: SocketAddr,
        tls: Option<&TlsClient>,
        config: &http2::Config,
        link: usize,
        serial: u64,
        now_ns: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            transport: Transport::connect(address, tls)?,
            http: Connection::new(config),
            phase: Phase::Connecting,
            link,
            serial,
            heard_ns: now_ns,
            pinged_ns: None,
            blocked: false,
        })
    }

    /// The socket can take bytes again; whether any wait for that.
    pub fn unblock(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Write what is to be sent, as far as the socket takes it.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.blocked || self.phase == Phase::Connecting {
            return Ok(());
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

    /// Send the last bytes, GOAWAY among them, and TLS's goodbye; the socket is closed when this is dropped.
    pub fn close(&mut self) {
        // Best effort: the server may be gone, and the run does not depend on it.
        let _ = self.flush();
        self.transport.close();
    }
}
