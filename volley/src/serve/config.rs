//! The server's settings, and what all its connections share.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::faults::{Fault, Faults};
use crate::http2::window::{DEFAULT_WINDOW, MAX_WINDOW};
use crate::pace::whole_ns;

/// All settings of a server. The default listens on a free port of 127.0.0.1 in plaintext, without faults.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Listen on this Unix socket instead. An abstract name begins with a NUL.
    pub unix: Option<PathBuf>,
    /// Threads that own connections; `None`: one per CPU the process may use.
    pub threads: Option<NonZeroUsize>,
    /// Use TLS; `None`: plaintext (h2c with prior knowledge).
    pub tls: Option<Identity>,
    /// The protocols that TLS offers (ALPN); none: TLS without ALPN.
    pub alpn: Vec<String>,
    /// `SETTINGS_MAX_CONCURRENT_STREAMS`; `None`: no limit, as in grpc-go.
    pub max_concurrent_streams: Option<u32>,
    /// The window of a client on each stream, in bytes, at most 2³¹ − 1. That of a connection is 16 times as large, and
    /// at least the 65,535 of RFC 9113 §6.9.2.
    pub window: u32,
    /// The faults to make.
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
            unix: None,
            threads: None,
            tls: None,
            alpn: vec!["h2".to_owned()],
            max_concurrent_streams: None,
            window: 1 << 20,
            faults: Faults::default(),
        }
    }
}

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) faults: Faults,
    pub(super) delay_ns: u64,
    pub(super) window: u32,
    pub(super) max_streams: Option<u32>,
    /// The number of calls of the whole server; used only if a fault needs it.
    calls: AtomicU64,
}

impl Rules {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            faults: config.faults.clone(),
            delay_ns: whole_ns(config.faults.delay),
            window: config.window,
            max_streams: config.max_concurrent_streams,
            calls: AtomicU64::new(0),
        }
    }

    /// Numbers a call, and returns its fault.
    pub(super) fn draw_fault(&self) -> Option<Fault> {
        if !self.faults.needs_numbers() {
            return None;
        }
        // Relaxed: the numbers only have to be different.
        self.faults
            .draw(self.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The window of a whole connection, in bytes.
    pub(super) fn connection_window(&self) -> u32 {
        self.window
            .saturating_mul(16)
            .clamp(DEFAULT_WINDOW, MAX_WINDOW)
    }
}
