//! Sockets that misbehave, or that nobody else has.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// How long a connection may take before it counts as one that nobody accepts.
const PATIENCE: Duration = Duration::from_millis(200);

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

impl Default for BlackHole {
    fn default() -> Self {
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
}

impl BlackHole {
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
