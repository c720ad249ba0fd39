//! A blocking connection to the target, for single calls before or beside a load.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use socket2::{Socket, Type};

use super::names::{Names, Route, system};
use super::transport::{TlsClient, agreed};
use super::{EngineError, tls};
use crate::spec::{SpecError, TargetSpec};

/// A connection on which HTTP/2 may begin. Each read and each write has the time limit that connecting had.
pub enum Dialed {
    /// Plaintext.
    Plain(Socket),
    /// TLS.
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
}

/// Connects to a target by the first of its addresses that works, through a proxy if the environment names one, and
/// under TLS unless the target is in plaintext.
///
/// # Errors
///
/// The target makes no sense, or no address works within its `connect_timeout`.
pub fn dial(spec: &TargetSpec) -> Result<Dialed, EngineError> {
    let target = spec.target().map_err(SpecError::from)?;
    let tls = tls::client(spec, &target)?;
    let shown = target.to_string();
    let names = Names::new(target, spec.lb_strategy, Duration::ZERO, Box::new(system))?;
    let deadline = Instant::now() + spec.connect_timeout;
    let routes = names.routes();
    let mut reason = String::new();
    for (index, route) in routes.iter().enumerate() {
        // Each address has its share of the time that is left.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(routes.len() - index).unwrap_or(u32::MAX);
        match open(route, tls.as_ref(), share, spec.connect_timeout) {
            Ok(dialed) => return Ok(dialed),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(EngineError::Connect {
        target: shown,
        reason,
    })
}

fn open(
    route: &Route,
    tls: Option<&TlsClient>,
    share: Duration,
    limit: Duration,
) -> io::Result<Dialed> {
    if share.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut socket = Socket::new(route.address.domain(), Type::STREAM, None)?;
    socket.set_read_timeout(Some(share))?;
    socket.set_write_timeout(Some(share))?;
    if route.is_tcp() {
        socket.connect_timeout(&route.address, share)?;
        socket.set_tcp_nodelay(true)?;
    } else {
        socket.connect(&route.address)?;
    }
    if let Some(mut handshake) = route.handshake() {
        socket.write_all(handshake.output())?;
        // Byte by byte: what follows the answer belongs to the target.
        let mut byte = [0];
        loop {
            socket.read_exact(&mut byte)?;
            if handshake
                .receive(&byte)
                .map_err(io::Error::other)?
                .is_some()
            {
                break;
            }
        }
    }
    let dialed = match tls {
        None => Dialed::Plain(socket),
        Some(client) => {
            let mut session =
                ClientConnection::new(Arc::clone(&client.config), client.server_name.clone())
                    .map_err(io::Error::other)?;
            while session.is_handshaking() {
                session.complete_io(&mut socket)?;
            }
            agreed(session.alpn_protocol()).map_err(io::Error::other)?;
            Dialed::Tls(Box::new(StreamOwned::new(session, socket)))
        }
    };
    dialed.socket().set_read_timeout(Some(limit))?;
    dialed.socket().set_write_timeout(Some(limit))?;
    Ok(dialed)
}

impl Dialed {
    /// The socket, to set its time limits.
    pub fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Dialed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Dialed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
