//! The stages of a run, and the moment when its window opens.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use super::LoadError;
use volley_load::pace::whole_ns;
use volley_load::spec::DurationStop;
use volley_net::Clock;

/// The stages of a run, in order. A sweep of blasts has only [`Stage::Setup`] and [`Stage::Blast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened; nothing is sent.
    Setup,
    /// The load runs, uncounted.
    Warmup,
    /// The load runs and is counted.
    Window,
    /// No new calls start; open ones may end.
    Drain,
    /// Calls are prepared and released together (`volley blast`); no others start.
    Blast,
    /// Nothing is counted any more.
    Over,
}

impl Stage {
    /// Whether new calls start.
    pub fn sends(self) -> bool {
        matches!(self, Self::Warmup | Self::Window)
    }

    /// Whether the load loop continues.
    pub fn goes_on(self) -> bool {
        self != Self::Over
    }
}

/// When calls start and when they are counted, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// How long the same load runs, uncounted, before the window opens.
    pub warmup_ns: u64,
    /// The warm-up then goes on until a line comes on stdin, at most for this long in all; `None`:
    /// the window opens by itself.
    pub told_within_ns: Option<u64>,
    /// How long new calls start; `None` if only `total` ends the run.
    pub length_ns: Option<u64>,
    /// How many calls start; `None` if only time ends the run.
    pub total: Option<u64>,
    /// What happens to calls that are open at the window's end.
    pub stop: DurationStop,
    /// The time limit for open calls to end.
    pub drain_ns: u64,
}

impl Window {
    /// Whether the load goes on from the warm-up into the window without a new start.
    pub fn flows_on(&self) -> bool {
        self.told_within_ns.is_some()
    }
}

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

/// Waits for a line on stdin, in a thread that nobody waits for. Sends the line, or `None` at stdin's end.
pub fn line_on_stdin() -> Receiver<Option<String>> {
    let (sender, line) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(MOST_BYTES);
        let came = stdin.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0);
        // Fails only if the run is over.
        let _ = sender.send(came.then(|| String::from_utf8_lossy(&bytes).into_owned()));
    });
    line
}

/// Decides when the window opens: as planned, or soon after a line came on stdin.
pub struct Opener {
    clock: Clock,
    lead: Duration,
    opening: Arc<Opening>,
    /// When the planned warm-up is over.
    warm_ns: u64,
    /// What to wait for; `None`: nothing.
    line: Option<StdinLine>,
}

/// The line that opens the window.
struct StdinLine {
    came: Receiver<Option<String>>,
    within: Duration,
    at_latest_ns: u64,
    has_come: bool,
    is_warm: bool,
}

impl Opener {
    /// For a load that starts at `started_ns`. From a line on stdin to the opening it takes `lead`: long enough that all
    /// threads know of it before.
    pub fn new(window: &Window, clock: Clock, started_ns: u64, lead: Duration) -> Self {
        let warm_ns = started_ns.saturating_add(window.warmup_ns);
        let line = window.told_within_ns.map(|within_ns| StdinLine {
            came: line_on_stdin(),
            within: Duration::from_nanos(within_ns),
            at_latest_ns: started_ns.saturating_add(within_ns),
            has_come: false,
            is_warm: false,
        });
        let at_ns = if line.is_some() { u64::MAX } else { warm_ns };
        Self {
            clock,
            lead,
            opening: Arc::new(Opening::at(at_ns)),
            warm_ns,
            line,
        }
    }

    /// The moment that all threads share.
    pub fn opening(&self) -> Arc<Opening> {
        Arc::clone(&self.opening)
    }

    /// When the window opens, if no line decides that.
    pub fn planned_ns(&self) -> Option<u64> {
        self.line.is_none().then_some(self.warm_ns)
    }

    /// When the window opens, if that is known by now. It never opens before the planned warm-up is over.
    /// Calls `on_warm` once, when the planned warm-up is over and no line has come.
    pub fn look(&mut self, on_warm: impl FnOnce()) -> Result<Option<u64>, LoadError> {
        let Some(line) = &mut self.line else {
            return Ok(Some(self.warm_ns));
        };
        match line.came.try_recv() {
            Ok(Some(_)) => line.has_come = true,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) if line.has_come => {}
            Ok(None) | Err(TryRecvError::Disconnected) => return Err(LoadError::NotOpened),
        }
        let now_ns = self.clock.now_ns();
        if now_ns < self.warm_ns {
            return Ok(None);
        }
        if !std::mem::replace(&mut line.is_warm, true) {
            on_warm();
        }
        if line.has_come {
            return self.open().map(Some);
        }
        if now_ns >= line.at_latest_ns {
            let seconds = line.within.as_secs_f64();
            return Err(LoadError::OpenedTooLate { seconds });
        }
        Ok(None)
    }

    fn open(&self) -> Result<u64, LoadError> {
        let at_ns = self.clock.now_ns().saturating_add(whole_ns(self.lead));
        self.opening.decide(at_ns);
        if self.clock.now_ns() >= at_ns {
            return Err(LoadError::StoodStill);
        }
        Ok(at_ns)
    }
}
