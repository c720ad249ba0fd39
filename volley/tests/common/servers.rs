//! Servers to run against: the reference server, and sockets that misbehave.

use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use volley::serve::{Config, Counts, Faults, Freeze, Reference};

use super::awaited;

/// How long a connection may take before it counts as one that nobody accepts.
const PATIENCE: Duration = Duration::from_millis(200);

/// A reference server on a free port, with these faults.
pub fn reference(faults: Faults) -> Reference {
    Reference::start(Config {
        faults,
        ..Config::default()
    })
    .unwrap()
}

/// Every n-th.
pub fn one(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

/// A stall of the server, in milliseconds after its first call.
pub fn freeze_of(at_ms: u64, length_ms: u64) -> Option<Freeze> {
    Some(Freeze {
        at: Duration::from_millis(at_ms),
        length: Duration::from_millis(length_ms),
    })
}

/// Waits until the server's counts are as expected; panics if they never are.
pub fn until(server: &Reference, wanted: impl Fn(&Counts) -> bool) -> Counts {
    awaited(|| server.counts(), wanted)
}

/// The server's counts once it has seen the end of every call.
pub fn settled(server: &Reference) -> Counts {
    until(server, |counts| counts.calls_open() == 0)
}

/// An address for a server of the program: nobody else has this host, so its port stays free.
pub fn own_address() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let host = [
        127,
        64 | high & 63,
        low,
        NEXT.fetch_add(1, Ordering::Relaxed),
    ];
    let listener = TcpListener::bind(SocketAddr::from((host, 0))).unwrap();
    listener.local_addr().unwrap()
}

/// A port where the host accepts connections but nothing is ever sent.
pub fn quiet_listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// An address that does not answer: its queue of connections is full as long as this lives.
pub struct BlackHole {
    listener: Socket,
    _waiting: Vec<Socket>,
}

impl BlackHole {
    pub fn new() -> Self {
        let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let listener = socket();
        listener
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let waits = || Some(socket()).filter(|one| one.connect_timeout(&address, PATIENCE).is_ok());
        Self {
            _waiting: std::iter::from_fn(waits).collect(),
            listener,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap().as_socket().unwrap()
    }
}

/// A port whose connections are closed immediately.
pub fn closing() -> SocketAddr {
    let listener = quiet_listener();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            drop(socket);
        }
    });
    address
}
