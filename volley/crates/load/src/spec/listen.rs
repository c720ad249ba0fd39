//! Where to listen: a TCP address or a Unix socket.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address and a port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket, written as `unix:/path`.
    Unix(PathBuf),
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListenError {
    #[error("an address is `127.0.0.1:9090`, `:9090` for localhost, or `unix:/path/to/socket`")]
    Form,
    #[error("`{0}` has no address")]
    Name(String),
}

impl ListenAddress {
    /// Whether only this host can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for ListenAddress {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(ListenError::Form),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let (host, port) = text.rsplit_once(':').ok_or(ListenError::Form)?;
        let port: u16 = port.parse().map_err(|_| ListenError::Form)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = if host.is_empty() { "127.0.0.1" } else { host };
        // Of a URL, or with two ports: there is nothing to look up.
        if host.contains('/') || (host.contains(':') && host.parse::<IpAddr>().is_err()) {
            return Err(ListenError::Form);
        }
        let found = (host, port).to_socket_addrs();
        match found.ok().and_then(|mut found| found.next()) {
            Some(first) => Ok(Self::Tcp(first)),
            None => Err(ListenError::Name(host.to_owned())),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "http://{address}"),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_local_unless_told_otherwise() {
        let local = ":0|127.0.0.1:9090|[::1]:1|localhost:80|unix:/run/v.sock";
        for text in local.split('|') {
            assert!(text.parse::<ListenAddress>().unwrap().is_local(), "{text}");
        }
        assert!(!"0.0.0.0:80".parse::<ListenAddress>().unwrap().is_local());
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "9090", "host:", "host:x", "host:70000", "unix:"] {
            let parsed = text.parse::<ListenAddress>();
            assert_eq!(parsed, Err(ListenError::Form), "{text}");
        }
    }
}
