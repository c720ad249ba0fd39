//! A running server.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use mio::{Poll, Waker};

use socket2::{SockAddr, Socket, Type};

use super::config::{Config, Rules};
use super::counts::Counts;
use super::faults::FreezeClock;
use super::listener::{Listener, WorkerLine};
use super::worker::{Command, Shared, WAKE, Worker};
use super::{ServeError, socket};
use volley_http::http2::window::MAX_WINDOW;
use volley_load::spec::Endpoint;
use volley_net::remove_stale;

/// Clients that may wait to be accepted; the host's own limit may be lower.
const BACKLOG: i32 = 4096;

/// A reference server on its own threads; it stops when it is dropped.
///
/// ```
/// use volley_serve::{Config, Reference};
///
/// let server = Reference::start(Config::default())?;
/// assert_ne!(server.address().port(), 0);
/// assert_eq!(server.counts().messages_sent, 0);
/// # Ok::<(), volley_serve::ServeError>(())
/// ```
pub struct Reference {
    address: SocketAddr,
    unix: Option<PathBuf>,
    lines: Vec<WorkerLine>,
    workers: Vec<JoinHandle<Counts>>,
    listener: Option<ListenerLine>,
}

struct ListenerLine {
    stop: Sender<()>,
    waker: Waker,
    thread: JoinHandle<()>,
}

impl Reference {
    /// Listens, and serves in the background.
    ///
    /// # Errors
    ///
    /// The address is taken, the TLS files are unusable, the window is 0 or over 2³¹ − 1, or the host refuses.
    pub fn start(config: Config) -> Result<Self, ServeError> {
        if !(1..=MAX_WINDOW).contains(&config.window) {
            return Err(ServeError::Window(config.window));
        }
        let tls = config.tls.as_ref();
        let tls = tls
            .map(|tls| socket::load_tls(tls, &config.alpn))
            .transpose()?;
        let (socket, address) = listen(&config)?;
        let shared = Arc::new(Shared {
            rules: Arc::new(Rules::new(&config)),
            tls,
            freeze: FreezeClock::new(config.faults.freeze),
            epoch: Instant::now(),
        });
        let mut server = Self {
            address,
            unix: config.unix,
            lines: Vec::new(),
            workers: Vec::new(),
            listener: None,
        };
        let threads = config.threads.or(thread::available_parallelism().ok());
        for _ in 0..threads.map_or(1, NonZeroUsize::get) {
            server.start_worker(&shared)?;
        }
        server.start_listener(socket, shared)?;
        Ok(server)
    }

    /// The address it listens on; without effect beside a Unix socket.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The counts of all threads. They include every byte that a client could read before this call.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let (sender, counts) = channel();
        for line in &self.lines {
            line.tell(Command::Count(sender.clone()));
        }
        // Only the workers have senders: the sum ends when the last one has answered.
        drop(sender);
        counts.iter().sum()
    }

    /// Stops at once, and returns the counts. Calls that are open stay open in them.
    #[must_use = "dropping the server stops it as well"]
    pub fn stop(mut self) -> Counts {
        self.halt()
    }

    fn start_worker(&mut self, shared: &Arc<Shared>) -> Result<(), ServeError> {
        let poll = Poll::new().map_err(ServeError::host("a poll"))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(ServeError::host("a waker"))?;
        let (sender, commands) = channel();
        let worker =
            Worker::new(poll, commands, Arc::clone(shared)).map_err(ServeError::host("a timer"))?;
        let thread = thread::Builder::new()
            .name("serve".to_owned())
            .spawn(|| worker.run())
            .map_err(ServeError::host("a thread"))?;
        self.workers.push(thread);
        self.lines.push(WorkerLine {
            commands: sender,
            waker: Arc::new(waker),
        });
        Ok(())
    }

    fn start_listener(&mut self, socket: Socket, shared: Arc<Shared>) -> Result<(), ServeError> {
        let (stop, stopped) = channel();
        let (listener, waker) = Listener::new(socket, self.lines.clone(), shared, stopped)
            .map_err(ServeError::host("a poll"))?;
        let thread = thread::Builder::new()
            .name("accept".to_owned())
            .spawn(|| listener.run())
            .map_err(ServeError::host("a thread"))?;
        self.listener = Some(ListenerLine {
            stop,
            waker,
            thread,
        });
        Ok(())
    }

    fn halt(&mut self) -> Counts {
        if let Some(ListenerLine {
            stop,
            waker,
            thread,
        }) = self.listener.take()
        {
            drop(stop);
            // Both fail only if the thread is already gone.
            let _ = waker.wake();
            let _ = thread.join();
        }
        for line in &self.lines {
            line.tell(Command::Stop);
        }
        // A worker that panicked has reported it on stderr; the others' counts are still useful.
        let workers = self.workers.drain(..);
        let counts = workers.filter_map(|thread| thread.join().ok()).sum();
        // Not earlier: dropping a waker cancels its wake.
        self.lines.clear();
        counts
    }
}

/// Where it listens, as a target for clients.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&target(self.unix.as_deref(), self.address))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        self.halt();
        if let Some(path) = &self.unix {
            // An abstract name has no file, and another server may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

fn target(unix: Option<&Path>, address: SocketAddr) -> String {
    match unix {
        Some(path) => Endpoint::Unix(path.to_string_lossy().into_owned()).to_string(),
        None => address.to_string(),
    }
}

/// Opens the socket that clients connect to; returns its TCP address too.
fn listen(config: &Config) -> Result<(Socket, SocketAddr), ServeError> {
    let refused = |reason| ServeError::Listen {
        address: target(config.unix.as_deref(), config.address),
        reason,
    };
    let at = match &config.unix {
        Some(path) => remove_stale(path)
            .and_then(|()| SockAddr::unix(path))
            .map_err(refused)?,
        None => config.address.into(),
    };
    let open = || {
        let socket = Socket::new(at.domain(), Type::STREAM, None)?;
        if at.is_ipv4() || at.is_ipv6() {
            socket.set_reuse_address(true)?;
        }
        socket.bind(&at)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?.as_socket();
        Ok((socket, address.unwrap_or(config.address)))
    };
    open().map_err(refused)
}
