//! What the server is to be.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::faults::Faults;

/// The whole of a server's settings. The default listens on a free port of 127.0.0.1 in clear text, without faults.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Threads that own connections; `None`: one per CPU the process may use.
    pub threads: Option<NonZeroUsize>,
    /// Speak TLS, with ALPN `h2`; `None`: clear text (h2c with prior knowledge).
    pub tls: Option<Identity>,
    /// `SETTINGS_MAX_CONCURRENT_STREAMS`; `None`: no limit, as grpc-go has none.
    pub max_concurrent_streams: Option<u32>,
    /// The window a client gets on each stream, in bytes, at most 2³¹ − 1. A connection's is 16 times that, and at
    /// least the 65,535 of RFC 9113 §6.9.2.
    pub window: u32,
    /// What is to go wrong.
    pub faults: Faults,
}

/// The server's certificate chain and its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Identity {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: None,
            tls: None,
            max_concurrent_streams: None,
            window: 1 << 20,
            faults: Faults::default(),
        }
    }
}
