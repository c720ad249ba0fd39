//! Servers to run against: the reference server, and sockets that misbehave.

use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

use volley::serve::{Config, Counts, Faults, Freeze, Reference};

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
    let began = Instant::now();
    loop {
        let counts = server.counts();
        if wanted(&counts) {
            return counts;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{counts:?}");
        thread::yield_now();
    }
}

/// The server's counts once it has seen the end of every call.
pub fn settled(server: &Reference) -> Counts {
    until(server, |counts| counts.calls_open() == 0)
}

/// A port where the host accepts connections but nothing is ever sent.
pub fn quiet_listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
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
