//! The window's opening when a line on stdin decides it.

use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// The part of a line that is read; the rest has no meaning.
const MOST_BYTES: u64 = 4096;

/// The moment when the window opens, which all threads share: decided once, before it comes.
///
/// A thread looks at the time first and at this second. So it counts what it reads from this moment on, and nothing
/// before.
#[derive(Debug)]
pub struct Opening {
    at_ns: AtomicU64,
}

impl Opening {
    /// A window that opens at a moment; `u64::MAX`: not decided yet.
    pub fn at(at_ns: u64) -> Self {
        Self {
            at_ns: AtomicU64::new(at_ns),
        }
    }

    /// Decides it. The moment must not have come when this returns.
    pub fn decide(&self, at_ns: u64) {
        self.at_ns.store(at_ns, Ordering::SeqCst);
    }

    /// The moment.
    #[inline]
    pub fn at_ns(&self) -> u64 {
        self.at_ns.load(Ordering::SeqCst)
    }
}

/// Waits for a line on stdin, in a thread that nobody waits for. Sends whether one came before stdin's end.
pub fn line_on_stdin() -> Receiver<bool> {
    let (sender, line) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(MOST_BYTES);
        let came = stdin.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0);
        // Fails only if the run is over.
        let _ = sender.send(came);
    });
    line
}
