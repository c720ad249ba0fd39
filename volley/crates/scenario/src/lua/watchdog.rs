//! Ends the process if a script does not come back. A hook ends scripts between two instructions only, and a function of
//! C, such as a search for a pattern, may take years for one.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use super::limits::MOST_MS;
use volley_report::measure::process;
use volley_report::report::visible;

/// All states are looked at so often.
const TICK: Duration = Duration::from_millis(250);

/// The CPU time that a call may take after it was first seen, in seconds. A hook ends whatever it can long before.
const PATIENCE_S: f64 = 5.0;

/// The exit status: that of a script that took too long.
const STATUS: i32 = 1;

/// What the watchdog sees of a state.
#[derive(Debug)]
pub struct Pulse {
    /// The thread that the state is of.
    thread: i32,
    /// How often calls have begun and ended: an odd number while one goes on.
    beats: AtomicU64,
    /// What the calls can be about, in words, and what they are about.
    names: Vec<String>,
    about: AtomicUsize,
}

/// A state that the watchdog looks at.
struct Seen {
    pulse: Weak<Pulse>,
    beats: u64,
    /// The CPU time of its thread when this call was first seen.
    cpu_s: Option<f64>,
}

/// All states, once there is a watchdog.
static SEEN: Mutex<Option<Vec<Seen>>> = Mutex::new(None);

impl Pulse {
    /// The pulse of a state that belongs to this thread. The first one starts the watchdog.
    ///
    /// # Errors
    ///
    /// The host has no thread for it.
    pub fn new(names: Vec<String>) -> io::Result<Arc<Self>> {
        let pulse = Arc::new(Self {
            thread: rustix::thread::gettid().as_raw_nonzero().get(),
            beats: AtomicU64::new(0),
            names,
            about: AtomicUsize::new(0),
        });
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_none() {
            let watchdog = thread::Builder::new().name("lua-watchdog".to_owned());
            watchdog.spawn(watch)?;
        }
        seen.get_or_insert_default().push(Seen {
            pulse: Arc::downgrade(&pulse),
            beats: 0,
            cpu_s: None,
        });
        Ok(pulse)
    }

    /// What the next calls are about, by the number of its name.
    pub fn about(&self, name: usize) {
        self.about.store(name, Ordering::Relaxed);
    }

    /// A call begins, or is over.
    pub fn beat(&self) {
        // Nobody else writes it.
        let beats = self.beats.load(Ordering::Relaxed);
        self.beats.store(beats + 1, Ordering::Relaxed);
    }

    /// Ends the process. The counters of the run belong to its threads, one of which never gives them back.
    fn end_process(&self) -> ! {
        let name = self.names.get(self.about.load(Ordering::Relaxed));
        let name = name.map_or("Lua", String::as_str);
        let words = format!(
            "{name}: the script ran longer than {MOST_MS} ms, in one function that could only be ended with volley: there is no report"
        );
        let _ = writeln!(io::stderr(), "error: {}", visible(&words));
        std::process::exit(STATUS);
    }
}

impl Seen {
    /// Whether the state's call has taken too long. `beats`: those of the state.
    fn is_lost(&mut self, beats: u64, thread_s: impl FnOnce() -> Option<f64>) -> bool {
        if beats != self.beats || beats.is_multiple_of(2) {
            (self.beats, self.cpu_s) = (beats, None);
            return false;
        }
        let Some(cpu_s) = thread_s() else {
            return false;
        };
        cpu_s - *self.cpu_s.get_or_insert(cpu_s) >= PATIENCE_S
    }
}

fn watch() {
    loop {
        thread::sleep(TICK);
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get_or_insert_default().retain_mut(|seen| {
            let Some(pulse) = seen.pulse.upgrade() else {
                return false;
            };
            let thread_s = || process::cpu_of_thread_s(pulse.thread);
            if seen.is_lost(pulse.beats.load(Ordering::Relaxed), thread_s) {
                pulse.end_process();
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_lost_when_it_has_worked_for_too_long() {
        let mut seen = Seen {
            pulse: Weak::new(),
            beats: 0,
            cpu_s: None,
        };
        // Beats and CPU seconds, from tick to tick.
        for (beats, cpu_s, is_lost) in [
            (0, 0.0, false),
            (1, 0.1, false),
            (1, 0.2, false),
            (1, 5.1, false),
            (2, 9.0, false),
            (3, 9.1, false),
            (3, 9.2, false),
            (3, 14.3, true),
        ] {
            assert_eq!(
                seen.is_lost(beats, || Some(cpu_s)),
                is_lost,
                "{beats} {cpu_s}"
            );
        }
    }

    #[test]
    fn a_thread_that_waits_is_not_lost() {
        let mut seen = Seen {
            pulse: Weak::new(),
            beats: 1,
            cpu_s: None,
        };
        for _ in 0..100 {
            assert!(!seen.is_lost(1, || Some(1.0)) && !seen.is_lost(1, || None));
        }
    }
}
