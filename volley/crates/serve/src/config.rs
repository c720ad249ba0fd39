//! The server's settings, and what all its connections share.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::faults::{Fault, Faults, Hit, Numbers};
use super::items::Store;
use super::station::{Service, Station};
use volley_base::budget::Budget;
use volley_base::defaults;
use volley_http::http2::window::{DEFAULT_WINDOW, MAX_WINDOW};
use volley_load::pace::whole_ns;

defaults! {
    /// All settings of a server. The default listens on a free port of 127.0.0.1 in plaintext, without faults.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// Where to listen; port 0 takes a free one.
        pub address: SocketAddr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        /// Listen on this Unix socket instead. An abstract name begins with a NUL.
        pub unix: Option<PathBuf> = None,
        /// Threads that own connections; `None`: one per CPU the process may use.
        pub threads: Option<NonZeroUsize> = None,
        /// Use TLS; `None`: plaintext (h2c with prior knowledge).
        pub tls: Option<Identity> = None,
        /// The protocols that TLS offers (ALPN); none: TLS without ALPN.
        pub alpn: Vec<String> = ["h2", "http/1.1"].map(str::to_owned).into(),
        /// `SETTINGS_MAX_CONCURRENT_STREAMS`; `None`: no limit, as in grpc-go.
        pub max_concurrent_streams: Option<u32> = None,
        /// The window of a client on each stream, in bytes, at most 2³¹ − 1. That of a connection is 16 times as large,
        /// and at least the 65,535 of RFC 9113 §6.9.2.
        pub window: u32 = 1 << 20,
        /// How long a token of `/oauth/token` is valid, as its answer says, in whole seconds. No request needs one.
        pub token_life: Duration = Duration::from_secs(3600),
        /// Calls queue, and are served for random times; `None`: each is answered at once.
        pub service: Option<Service> = None,
        /// The faults to make.
        pub faults: Faults = Faults::default(),
    }
}

/// The server's certificate chain and its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Identity {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) faults: Faults,
    delay_ns: u64,
    station: Option<Mutex<Station>>,
    pub(super) window: u32,
    pub(super) max_streams: Option<u32>,
    pub(super) store: Arc<Store>,
    /// For requests that have not come whole.
    pub(super) budget: Arc<Budget>,
    /// The numbers of calls of the whole server; used only if a fault needs them.
    needs_numbers: bool,
    calls: AtomicU64,
    items: AtomicU64,
    creates: AtomicU64,
}

impl Fate {
    /// Nothing but the delay.
    pub(super) const NONE: Self = Self {
        fault: None,
        is_late: true,
    };
}

/// What happens to a call on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) fault: Option<Fault>,
    /// Its answer waits for the server's delay, if it has one.
    pub(super) is_late: bool,
}

impl Rules {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            faults: config.faults.clone(),
            delay_ns: whole_ns(config.faults.delay),
            station: config.service.as_ref().map(Station::new).map(Mutex::new),
            window: config.window,
            max_streams: config.max_concurrent_streams,
            store: Arc::new(Store::new(config.token_life.as_secs())),
            budget: Arc::default(),
            needs_numbers: config.faults.needs_numbers(),
            calls: AtomicU64::new(0),
            items: AtomicU64::new(0),
            creates: AtomicU64::new(0),
        }
    }

    /// Numbers a call, and returns what happens to it.
    pub(super) fn draw_fate(&self, hit: Hit) -> Fate {
        if !self.needs_numbers {
            return Fate::NONE;
        }
        // Relaxed: the numbers only have to be different.
        let next = |counter: &AtomicU64, is_counted| match is_counted {
            true => counter.fetch_add(1, Ordering::Relaxed) + 1,
            false => 0,
        };
        let numbers = Numbers {
            call: next(&self.calls, true),
            item: next(&self.items, matches!(hit, Hit::Item | Hit::Create)),
            create: next(&self.creates, hit == Hit::Create),
        };
        Fate {
            fault: self.faults.draw(hit, numbers),
            is_late: self.faults.delays(numbers),
        }
    }

    /// Whether answers may have to wait.
    pub(super) fn has_waits(&self) -> bool {
        self.delay_ns > 0 || self.station.is_some()
    }

    /// When a call that comes now is answered: once it has been served, and after the server's delay, if it is late. `None`:
    /// at once.
    pub(super) fn answered_ns(&self, is_late: bool, now_ns: u64) -> Option<u64> {
        let delay_ns = if is_late { self.delay_ns } else { 0 };
        let Some(station) = &self.station else {
            return (delay_ns > 0).then(|| now_ns.saturating_add(delay_ns));
        };
        // A thread that panicked has left whole numbers.
        let mut station = station.lock().unwrap_or_else(PoisonError::into_inner);
        Some(station.take(now_ns).saturating_add(delay_ns))
    }

    /// The window of a whole connection, in bytes.
    pub(super) fn connection_window(&self) -> u32 {
        self.window
            .saturating_mul(16)
            .clamp(DEFAULT_WINDOW, MAX_WINDOW)
    }
}
