//! A blocking connection to the target, for single calls before or beside a load.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use socket2::{Socket, Type};

use super::names::{Names, Route, system};
use super::proxy::Proxies;
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
    dial_by(spec, Proxies::of_process())
}

fn dial_by(spec: &TargetSpec, proxies: Proxies) -> Result<Dialed, EngineError> {
    let target = spec.target().map_err(SpecError::from)?;
    let tls = tls::client(spec, &target)?;
    let shown = target.to_string();
    let names = Names::new(
        target,
        proxies,
        spec.lb_strategy,
        Duration::ZERO,
        Box::new(system),
    )?;
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::thread;

    use super::*;
    use crate::http2::frame::{FrameHeader, HEADER_LEN, Kind, PREFACE, write_settings};
    use crate::serve::{Config, Identity, Reference};

    fn target(host: impl ToString) -> TargetSpec {
        TargetSpec {
            host: host.to_string(),
            insecure: true,
            ..TargetSpec::default()
        }
    }

    /// Whether a server speaks HTTP/2 at the other end.
    fn speaks(dialed: Result<Dialed, EngineError>) -> bool {
        let mut dialed = dialed.unwrap();
        let mut hello = PREFACE.to_vec();
        write_settings(&mut hello, &[]);
        dialed.write_all(&hello).unwrap();
        dialed.flush().unwrap();
        let mut header = [0; HEADER_LEN];
        dialed.read_exact(&mut header).unwrap();
        FrameHeader::parse(&header).kind == Kind::Settings
    }

    /// The files of a certificate for localhost.
    fn identity(test: &str) -> (Identity, PathBuf) {
        let name = format!("volley-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let keys = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        fs::write(&cert, params.self_signed(&keys).unwrap().pem()).unwrap();
        fs::write(&key, keys.serialize_pem()).unwrap();
        (Identity { cert, key }, folder)
    }

    #[test]
    fn a_socket_leads_to_the_first_address_that_works() {
        let server = Reference::start(Config::default()).unwrap();
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        assert!(speaks(dial(&target(format!(
            "{closed},{}",
            server.address()
        )))));
        let error = dial(&target(closed)).err().unwrap().to_string();
        assert!(
            error.starts_with(&format!("cannot connect to {closed}: ")),
            "{error}"
        );
    }

    #[test]
    fn an_address_that_is_silent_has_only_its_share_of_the_time() {
        let (identity, folder) = identity("silent");
        let server = Reference::start(Config {
            tls: Some(identity.clone()),
            ..Config::default()
        })
        .unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut spec = target(format!(
            "{},{}",
            silent.local_addr().unwrap(),
            server.address()
        ));
        spec.insecure = false;
        spec.tls.cacert = Some(identity.cert);
        spec.tls.cname = Some("localhost".to_owned());
        spec.connect_timeout = Duration::from_secs(4);
        assert!(speaks(dial(&spec)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_unix_socket_is_dialed_under_tls_as_localhost() {
        let (identity, folder) = identity("unix");
        let server = Reference::start(Config {
            unix: Some(format!("\0volley-dial-{}", std::process::id()).into()),
            tls: Some(identity.clone()),
            ..Config::default()
        })
        .unwrap();
        let mut spec = target(server.target());
        spec.insecure = false;
        spec.tls.cacert = Some(identity.cert);
        assert!(speaks(dial(&spec)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_server_says_first_is_not_lost_behind_a_proxy() {
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap();
        let asked = thread::spawn(move || {
            let (mut socket, _) = proxy.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                socket.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
            write_settings(&mut answer, &[]);
            socket.write_all(&answer).unwrap();
            // The client must hang up.
            io::copy(&mut socket, &mut io::sink()).unwrap();
            String::from_utf8(head).unwrap()
        });
        let proxies = Proxies::new(|name| (name == "https_proxy").then(|| address.to_string()));
        assert!(speaks(dial_by(&target("a.test:80"), proxies)));
        assert!(
            asked
                .join()
                .unwrap()
                .starts_with("CONNECT a.test:80 HTTP/1.1\r\n")
        );
    }
}
