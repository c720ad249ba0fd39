//! The byte stream to the server: TCP or a Unix socket, plaintext or with TLS, perhaps through a proxy.

use std::io::{self, BufRead, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustls::ClientConnection;
use socket2::{Socket, Type};

use super::lost::Lost;
use super::names::Route;
use super::proxy::Handshake;
use super::tls_config::TlsClient;

/// One non-blocking socket.
pub struct Transport {
    socket: Socket,
    is_tcp: bool,
    /// What is said to a proxy, until it has connected the target.
    handshake: Option<Box<Handshake>>,
    tls: Option<Box<ClientConnection>>,
    is_over: bool,
}

impl Transport {
    /// Starts to connect. A writable event reports the end, successful or not.
    pub fn connect(route: &Route, tls: Option<&TlsClient>) -> io::Result<Self> {
        let socket = Socket::new(route.address.domain(), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        match socket.connect(&route.address) {
            Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => {}
            done => done?,
        }
        let tls = match tls {
            None => None,
            Some(client) => {
                let name = client.server_name.clone();
                let mut session = ClientConnection::new(Arc::clone(&client.config), name)
                    .map_err(io::Error::other)?;
                session.set_buffer_limit(None);
                Some(Box::new(session))
            }
        };
        Ok(Self {
            socket,
            is_tcp: route.is_tcp(),
            handshake: route.handshake().map(Box::new),
            tls,
            is_over: false,
        })
    }

    /// The socket's descriptor, for registration with a poll.
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Whether the connect is done; its error if it failed.
    pub fn connected(&self) -> io::Result<bool> {
        if let Some(error) = self.socket.take_error()? {
            return Err(error);
        }
        match self.socket.peer_addr() {
            Ok(_) => {
                if self.is_tcp {
                    self.socket.set_tcp_nodelay(true)?;
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a proxy has to connect the target first.
    pub fn needs_proxy(&self) -> bool {
        self.handshake.is_some()
    }

    /// Asks the proxy for the target, as far as the socket takes the words.
    pub fn ask_proxy(&mut self) -> io::Result<()> {
        if let Some(handshake) = &mut self.handshake {
            while !handshake.output().is_empty() {
                let sent = self.socket.write(handshake.output())?;
                handshake.sent(sent);
            }
        }
        Ok(())
    }

    /// Takes bytes of the proxy. `Some`: the target is connected, and so many of these bytes belonged to the answer.
    pub fn hear_proxy(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let Some(handshake) = &mut self.handshake else {
            return Ok(Some(0));
        };
        let taken = handshake.receive(bytes)?;
        if taken.is_some() {
            self.handshake = None;
        }
        Ok(taken)
    }

    /// Whether HTTP/2 bytes can go both ways: at once without TLS, after the handshake with it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| !tls.is_handshaking())
    }

    /// Whether the peer has ended TLS. It sends nothing more, even if it leaves the socket open.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The protocol that ALPN chose: `None` without TLS, or if the server chose nothing.
    #[must_use]
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.as_ref().and_then(|tls| tls.alpn_protocol())
    }

    /// What it still waits for, if it is not ready.
    pub fn wait_words(&self) -> &'static str {
        if !matches!(self.connected(), Ok(true)) {
            "nothing answered"
        } else if self.needs_proxy() {
            "the proxy (`HTTPS_PROXY`) did not answer"
        } else if self.is_open() {
            "the server sent no HTTP/2 SETTINGS"
        } else {
            "the TLS handshake was not finished"
        }
    }

    /// Whether the connection uses TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Reads what the socket has, as it came over the wire; 0 means its end, `WouldBlock` no more for now.
    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read(buffer)
    }

    /// Passes the bytes of a `fill` to `take`, decrypted, in one or several pieces.
    ///
    /// A TLS error is `InvalidData`; its alert must still be flushed.
    #[inline]
    pub fn decipher<E>(
        &mut self,
        wire: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        let Some(tls) = &mut self.tls else {
            return Ok(take(wire));
        };
        decipher(tls, &mut self.is_over, wire, take)
    }

    /// Writes as much as the socket takes; returns how many bytes of `plain` are done.
    ///
    /// `Ok(n)` below `plain.len()`, or `WouldBlock`, means that a writable event will follow.
    #[inline]
    pub fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None if plain.is_empty() => Ok(0),
            None => self.socket.write(plain),
            Some(tls) => {
                flush(tls, &mut self.socket)?;
                let taken = tls.writer().write(plain)?;
                match flush(tls, &mut self.socket) {
                    // Accepted: it waits inside the session.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(taken),
                    other => other.map(|()| taken),
                }
            }
        }
    }

    /// Ends TLS with close_notify; without TLS, closing the socket is enough.
    pub fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // Best effort: the peer may be gone, and nothing depends on it.
            let _ = flush(tls, &mut self.socket);
        }
    }
}

fn flush(tls: &mut ClientConnection, socket: &mut Socket) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(socket)?;
    }
    Ok(())
}

/// Passes what these bytes of a connection are, decrypted, to `take`. `is_over`: the peer will send no more.
fn decipher<E>(
    tls: &mut ClientConnection,
    is_over: &mut bool,
    mut wire: &[u8],
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> io::Result<Result<(), E>> {
    while !wire.is_empty() {
        if tls.read_tls(&mut wire)? == 0 {
            break; // nothing that comes after a close_notify is taken (RFC 8446 §6.1)
        }
        let state = tls
            .process_new_packets()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        *is_over |= state.peer_has_closed();
        loop {
            let mut plain = tls.reader();
            let chunk = match plain.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let length = chunk.len();
            if length == 0 {
                break; // close_notify
            }
            if let Err(stop) = take(chunk) {
                return Ok(Err(stop));
            }
            plain.consume(length);
        }
    }
    Ok(Ok(()))
}

/// What ALPN has agreed on. Servers without ALPN are taken to speak HTTP/2, as grpc-go took them to before 1.67.
///
/// # Errors
///
/// The server chose another protocol.
pub fn agreed(alpn: Option<&[u8]>) -> Result<bool, Lost> {
    match alpn {
        None => Ok(false),
        Some(b"h2") => Ok(true),
        Some(other) => Err(Lost::Alpn(other.to_vec())),
    }
}
