//! Where a run can be watched: a TCP address or a Unix socket.

use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket, written as `unix:/path`.
    Unix(PathBuf),
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error("an address is `127.0.0.1:9090`, `:9090` for localhost, or `unix:/path/to/socket`")]
    Form,
    #[error("`{0}` has no address")]
    Name(String),
}

impl Address {
    /// Whether only this host can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(AddressError::Form),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressError::Form)?;
        let port: u16 = port.parse().map_err(|_| AddressError::Form)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = if host.is_empty() { "127.0.0.1" } else { host };
        // Of a URL, or with two ports: there is nothing to look up.
        if host.contains('/') || (host.contains(':') && host.parse::<IpAddr>().is_err()) {
            return Err(AddressError::Form);
        }
        let found = (host, port).to_socket_addrs();
        let first = found.ok().and_then(|mut found| found.next());
        first
            .map(Self::Tcp)
            .ok_or_else(|| AddressError::Name(host.to_owned()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "http://{address}"),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

/// A server that ends with the program.
pub struct Server {
    /// Where it listens. A socket is removed at the end.
    pub address: Address,
    /// Waits for the answers that are on their way.
    pub(crate) farewell: Option<Box<dyn FnOnce() + Send>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(farewell) = self.farewell.take() {
            farewell();
        }
        if let Address::Unix(path) = &self.address {
            // Somebody may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the socket of a program that is gone: nobody listens on it.
pub(crate) fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    match is_socket.then(|| UnixStream::connect(path)) {
        Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_local_unless_told_otherwise() {
        for text in [
            ":0",
            "127.0.0.1:9090",
            "[::1]:1",
            "localhost:80",
            "unix:/run/v.sock",
        ] {
            assert!(text.parse::<Address>().unwrap().is_local(), "{text}");
        }
        assert!(!"0.0.0.0:80".parse::<Address>().unwrap().is_local());
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "9090", "host:", "host:x", "host:70000", "unix:"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError::Form), "{text}");
        }
    }
}
