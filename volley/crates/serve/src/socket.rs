//! A client's socket, plaintext or with TLS.

use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::sign::SingleCertAndKey;
use rustls::{ServerConfig, ServerConnection};

use super::ServeError;
use super::config::Identity;
use volley_base::input;
use volley_net::pem;

/// How many bytes of plain text become records at a time; see [`super::Counts`].
const TLS_BATCH: usize = 64 << 10;

/// A non-blocking socket.
pub(super) struct Socket {
    socket: socket2::Socket,
    tls: Option<Box<Tls>>,
}

struct Tls {
    session: ServerConnection,
    /// Bytes of plain text whose records are not fully written.
    taken: usize,
}

impl Socket {
    pub(super) fn new(
        socket: socket2::Socket,
        tls: Option<&Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        if socket.local_addr()?.as_socket().is_some() {
            socket.set_tcp_nodelay(true)?;
        }
        let tls = match tls {
            None => None,
            Some(config) => {
                let mut session =
                    ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                session.set_buffer_limit(None);
                Some(Box::new(Tls { session, taken: 0 }))
            }
        };
        Ok(Self { socket, tls })
    }

    /// The socket, for registration with a poll.
    pub(super) fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Whether an empty write is useful: TLS has something to send.
    pub(super) fn wants_write(&self) -> bool {
        self.tls
            .as_ref()
            .is_some_and(|tls| tls.session.wants_write())
    }

    /// Whether a partial write means that the socket is full.
    pub(super) fn is_plain(&self) -> bool {
        self.tls.is_none()
    }

    /// Reads once into `buffer`, and passes the plain text to `take`. Returns the bytes read; 0 is the end.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<usize> {
        let n = self.socket.read(buffer)?;
        let mut wire = buffer.get(..n).unwrap_or_default();
        let Some(tls) = &mut self.tls else {
            take(wire);
            return Ok(n);
        };
        while !wire.is_empty() {
            tls.session.read_tls(&mut wire)?;
            if let Err(error) = tls.session.process_new_packets() {
                // The alert is for the client; the connection ends with or without it.
                let _ = tls.session.write_tls(&mut self.socket);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
            let mut plain = tls.session.reader();
            loop {
                let length = match plain.fill_buf() {
                    // Empty after close_notify; the socket's own end follows.
                    Ok([]) => break,
                    Ok(text) => {
                        take(text);
                        text.len()
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                };
                plain.consume(length);
            }
        }
        Ok(n)
    }

    /// Writes what the socket takes. Returns how many bytes of `plain` were fully sent; under TLS, those whose records
    /// were all written. Offer the others again.
    pub(super) fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return match plain {
                [] => Ok(0),
                _ => self.socket.write(plain),
            };
        };
        tls.flush(&mut self.socket)?;
        if tls.taken == 0 {
            if tls.session.is_handshaking() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let batch = plain.get(..TLS_BATCH).unwrap_or(plain);
            tls.taken = tls.session.writer().write(batch)?;
            tls.flush(&mut self.socket)?;
        }
        Ok(std::mem::take(&mut tls.taken))
    }

    /// Ends our side. `farewell`: with TLS's close_notify.
    pub(super) fn close(&mut self, farewell: bool) -> io::Result<()> {
        if farewell && let Some(tls) = &mut self.tls {
            tls.session.send_close_notify();
            tls.flush(&mut self.socket)?;
        }
        self.socket.shutdown(Shutdown::Write)
    }
}

impl Tls {
    fn flush(&mut self, socket: &mut socket2::Socket) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(socket)?;
        }
        Ok(())
    }
}

/// What all TLS connections share: the identity, no client certificates, and the protocols of ALPN.
pub fn load_tls(identity: &Identity, alpn: &[String]) -> Result<Arc<ServerConfig>, ServeError> {
    let Identity { cert, key } = identity;
    let unfit = |reason| ServeError::Identity {
        cert: cert.clone(),
        key: key.clone(),
        reason,
    };
    let read = |path: &Path| {
        let pem = input::read(path, input::TEXT);
        pem.map_err(|error| broken(path, error.to_string()))
    };
    let chain = pem::certificates(&read(cert)?).map_err(|reason| broken(cert, reason))?;
    let private = pem::private_key(&read(key)?).map_err(|reason| broken(key, reason))?;
    let provider = ring::default_provider();
    let own = pem::identity(chain, private, &provider).map_err(unfit)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unfit(error.to_string()))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(own)));
    config.alpn_protocols = alpn.iter().map(|name| name.clone().into_bytes()).collect();
    Ok(Arc::new(config))
}

fn broken(path: &Path, reason: String) -> ServeError {
    ServeError::Pem {
        path: path.to_owned(),
        reason,
    }
}
