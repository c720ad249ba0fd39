//! The byte stream to the server: TCP or a Unix socket, plaintext or with TLS, perhaps through a proxy.

use std::io::{self, BufRead, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, CertificateError, ClientConnection, Error, OtherError, PeerMisbehaved,
};
use socket2::{Socket, Type};

use super::names::Route;
use super::proxy::Handshake;
use super::trust::{Stranger, Uncheckable};
use crate::http2::Violation;

/// How TLS connections are made; the same for the whole run.
#[derive(Clone, Debug)]
pub struct TlsClient {
    /// Trust, identity and the ALPN list, which offers only h2.
    pub config: Arc<rustls::ClientConfig>,
    /// The name expected in the certificate, sent as SNI.
    pub server_name: ServerName<'static>,
}

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

    /// Why it ended, if the peer closed it; `is_greeting`: before the server's SETTINGS.
    pub fn end_words(&self, is_greeting: bool) -> &'static str {
        match (self.needs_proxy(), is_greeting, self.is_tls()) {
            (true, ..) => "the proxy (`HTTPS_PROXY`) closed the connection",
            (_, false, _) => "the server closed the connection",
            (_, true, false) => {
                "the server closed the connection immediately (if it speaks TLS, drop `--insecure`)"
            }
            (_, true, true) => {
                "the server closed the connection immediately (if it speaks plaintext, use `--insecure`)"
            }
        }
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
    pub fn decipher<E>(
        &mut self,
        mut wire: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        let Some(tls) = &mut self.tls else {
            return Ok(take(wire));
        };
        while !wire.is_empty() {
            if tls.read_tls(&mut wire)? == 0 {
                break; // nothing that comes after a close_notify is taken (RFC 8446 §6.1)
            }
            let state = tls
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            self.is_over |= state.peer_has_closed();
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

/// The reason why connecting failed, and what may help.
pub fn connect_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "connection refused (is the server running there?)".to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such socket (is the server running there?)".to_owned()
        }
        io::ErrorKind::WouldBlock => "the server does not accept more connections".to_owned(),
        _ if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            "too many open files (raise `ulimit -n`, or lower `--connections`)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Why the bytes that came were not taken; `is_greeting`: before the server's SETTINGS.
pub fn problem(taken: io::Result<Result<(), Violation>>, is_greeting: bool) -> Option<String> {
    match taken {
        Ok(Ok(())) => None,
        Ok(Err(violation)) if !is_greeting => Some(violation.to_string()),
        Ok(Err(violation @ Violation::Http1)) => Some(format!(
            "{violation}, which gRPC needs (check the port; a proxy in between must speak HTTP/2, too)"
        )),
        Ok(Err(violation)) => Some(format!(
            "{violation} (check the port; if the server speaks TLS, drop `--insecure`)"
        )),
        Err(error) if !is_greeting => Some(error.to_string()),
        Err(error) if refuses_http2(&error) => {
            Some("the TLS server does not offer HTTP/2 (ALPN h2)".to_owned())
        }
        Err(error) => Some(tls_words(&error, &FLAGS)),
    }
}

/// What remedies of TLS errors are called.
pub struct Remedies {
    /// Names an authority.
    pub authority: &'static str,
    /// Accepts any certificate.
    pub any: &'static str,
    /// The name in the certificate.
    pub name: &'static str,
    pub plaintext: &'static str,
    /// The client's own certificate.
    pub identity: &'static str,
}

pub const FLAGS: Remedies = Remedies {
    authority: "`--cacert`",
    any: "`--skipTLS`",
    name: "`--cname`",
    plaintext: "use `--insecure`",
    identity: "`--cert` and `--key`",
};

/// What a TLS error means, and what helps.
pub fn tls_words(error: &io::Error, with: &Remedies) -> String {
    use CertificateError as Wrong;
    let Remedies {
        authority,
        any,
        name,
        plaintext,
        identity,
    } = with;
    let words = match cause(error) {
        Some(Error::InvalidCertificate(Wrong::UnknownIssuer)) => format!(
            "nobody who is trusted here has signed the server's certificate: name its authority with {authority}, or \
             accept any certificate with {any}"
        ),
        Some(Error::InvalidCertificate(Wrong::Other(OtherError(why))))
            if let Some(Stranger(error)) = why.downcast_ref() =>
        {
            return format!(
                "TLS: none of the certificates in {authority} has signed the server's certificate: name its authority \
                 there, or accept any certificate with {any} ({error})"
            );
        }
        Some(Error::InvalidCertificate(Wrong::Other(OtherError(why))))
            if let Some(words) = why.downcast_ref::<Uncheckable>() =>
        {
            return format!(
                "TLS: {words}, which volley cannot check: give it another, or accept any certificate with {any}"
            );
        }
        Some(Error::InvalidCertificate(Wrong::NotValidForNameContext { presented, .. }))
            if presented.is_empty() =>
        {
            format!(
                "the server's certificate names no host (no subjectAltName; its common name does not count): give it \
                 one, or accept any certificate with {any}"
            )
        }
        Some(Error::InvalidCertificate(
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. },
        )) => format!(
            "the server's certificate is for another name: give one that it has with {name}"
        ),
        Some(Error::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. })) => {
            format!("the server's certificate has expired: renew it, or accept any with {any}")
        }
        Some(Error::InvalidCertificate(_)) => {
            format!("the server's certificate is not valid: mend it, or accept any with {any}")
        }
        Some(Error::InvalidMessage(_)) => {
            format!("the server does not speak TLS: if it speaks plaintext, {plaintext}")
        }
        Some(Error::AlertReceived(AlertDescription::HandshakeFailure)) => format!(
            "the server has no cipher or kind of signature that volley knows; a certificate with SHA-1 needs {any}, and \
             one with a key on P-521 {any} and TLS 1.3"
        ),
        Some(Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateUnknown,
        )) => {
            format!("the server wants a certificate that it trusts: give one with {identity}")
        }
        _ => "the handshake failed".to_owned(),
    };
    format!("TLS: {words} ({error})")
}

fn cause(error: &io::Error) -> Option<&Error> {
    error.get_ref().and_then(|cause| cause.downcast_ref())
}

/// Whether a TLS server has refused HTTP/2, or chose what it was not offered.
fn refuses_http2(error: &io::Error) -> bool {
    matches!(
        cause(error),
        Some(
            Error::AlertReceived(AlertDescription::NoApplicationProtocol)
                | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol)
                | Error::NoApplicationProtocol
        )
    )
}

/// What ALPN has agreed on. Servers without ALPN are taken to speak HTTP/2, as grpc-go took them to before 1.67.
///
/// # Errors
///
/// The server chose another protocol.
pub fn agreed(alpn: Option<&[u8]>) -> Result<bool, String> {
    match alpn {
        None => Ok(false),
        Some(b"h2") => Ok(true),
        Some(other) => Err(format!(
            "the server agreed to `{}` instead of HTTP/2 (ALPN h2)",
            String::from_utf8_lossy(other)
        )),
    }
}
