//! What a run needs of its host: the time, room for open files, and signals.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{process, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::NetError;

/// Nanoseconds since the run's epoch, on CLOCK_MONOTONIC. Copies share the epoch, so all threads agree on the time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// A clock that starts at 0 now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            epoch_ns: monotonic_ns(),
        }
    }

    /// Nanoseconds since the epoch. Reading the clock takes about 25 ns: do it once per read, not once per message.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        monotonic_ns() - self.epoch_ns
    }

    /// When CLOCK_MONOTONIC shows this, in nanoseconds since the epoch; `None` if that was before the epoch.
    #[must_use]
    pub fn when(&self, monotonic_ns: u64) -> Option<u64> {
        monotonic_ns.checked_sub(self.epoch_ns)
    }

    /// What CLOCK_MONOTONIC shows so many nanoseconds after the epoch.
    #[must_use]
    pub fn shown_at(&self, ns: u64) -> u64 {
        self.epoch_ns.saturating_add(ns)
    }
}

#[inline]
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Files other than connections: the standard streams, polls, timers, the report.
const OTHER_FILES: u64 = 64;

/// Raises the limit of open files, as far as this process may, so that all connections fit.
///
/// If that is not enough, the connection that does not fit reports it.
pub fn allow_sockets(connections: u32) {
    let wanted = u64::from(connections) + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else {
        return;
    };
    if current >= wanted {
        return;
    }
    let raised = limit.maximum.map_or(wanted, |most| most.min(wanted));
    // Refused only if another thread lowered the hard limit in the meantime; then as above.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        },
    );
}

/// All CPUs that this process is confined to, or else half of the host's, because the server needs the rest.
pub fn spare_cpus() -> u32 {
    let allowed = thread::available_parallelism().map_or(1, usize::from);
    let online = fs::read_to_string("/proc/cpuinfo").map_or(allowed, |text| {
        let lines = text.lines();
        lines.filter(|line| line.starts_with("processor")).count()
    });
    let spare = if allowed < online {
        allowed
    } else {
        allowed / 2
    };
    u32::try_from(spare).unwrap_or(1)
}

/// Removes the socket of a program that is gone: nobody listens on it.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    match is_socket.then(|| UnixStream::connect(path)) {
        Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

/// A flag that SIGINT and SIGTERM set, and SIGHUP, unless it is ignored (nohup).
///
/// # Errors
///
/// If the host does not allow signal handlers.
pub fn watch() -> Result<Arc<AtomicBool>, NetError> {
    registered().map_err(NetError::host("watch for signals"))
}

fn registered() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // Registered first, so that it sees the flag as the previous signal left it.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// The same for a run that ends in two steps: the first signal sets the flag, and the second one calls `cut`. If that is
/// `false`, or at one more signal, the program ends.
///
/// # Errors
///
/// If the host does not allow signal handlers.
pub fn watch_twice(
    stop: &Arc<AtomicBool>,
    cut: impl Fn() -> bool + Send + 'static,
) -> Result<(), NetError> {
    let mut heard = Signals::new(signals()).map_err(NetError::host("watch for signals"))?;
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let mut is_cut = false;
        for signal in heard.forever() {
            if !stop.swap(true, Ordering::Relaxed) {
                continue;
            }
            if is_cut || !cut() {
                process::exit(128 + signal);
            }
            is_cut = true;
        }
    });
    Ok(())
}

/// The signals that end a run.
fn signals() -> impl Iterator<Item = i32> {
    let ignores_hangup = ignored_signals() & 1 << (SIGHUP - 1) != 0;
    let hangup = (!ignores_hangup).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup)
}

/// A bit for each signal that this process ignores, the lowest one for signal 1; none if the host does not say so.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
