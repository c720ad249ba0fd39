//! What the conductor asks of its threads, and what it hears from them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use mio::Waker;
use thiserror::Error;

use super::stage::Opening;
use super::thread_result::ThreadResult;
use super::{LoadError, MOST_WORKERS};
use volley_load::pace::{Agenda, Lane, Schedule};
use volley_load::spec::Command;
use volley_net as net;
use volley_report::measure::{Passed, Tally};

/// How long an answer of the conductor may take. It waits for nobody.
const ANSWER: Duration = Duration::from_secs(5);

/// An order to a thread.
#[derive(Clone, Debug)]
pub enum Order {
    /// Start the load.
    Start { at_ns: u64, opening: Arc<Opening> },
    /// Change it.
    Change(Change),
}

/// A change of the load, at a moment that all threads know before it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub at_ns: u64,
    pub command: Command,
}

/// Why a run does not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Nobody paces it.
    #[error("this run has no rate to change: its workers set the pace (start it with `--rps`)")]
    NoRate,
    /// Nothing would be sent.
    #[error(
        "the rate must be from 1 to 4294967295 calls per second; to send nothing, pause the run"
    )]
    Rate,
    /// Its streams live until the end.
    #[error("the streams of this run live until its end, each at its own rate (`--stream-rate`)")]
    PacedStreams,
    /// Calls do not wait for workers.
    #[error("the calls of this run do not wait for workers (`--async`)")]
    NoWorkers,
    /// A thread would send nothing, or too much memory would be needed.
    #[error(
        "the number of workers must be from {least} to {MOST_WORKERS}; to send nothing, pause the run"
    )]
    Workers { least: u32 },
    /// It stands already.
    #[error("the run is paused already")]
    Paused,
    /// It goes on already.
    #[error("the run is not paused")]
    NotPaused,
    /// The report would have no end.
    #[error("the run was changed {0} times, and keeps a list of all changes: no more are accepted")]
    TooMany(usize),
    /// Nothing is sent yet.
    #[error("the load has not started yet")]
    NotStarted,
    /// There is no run any more.
    #[error("the run is over")]
    Over,
}

/// What the conductor hears.
pub enum Note {
    /// A thread has passed a second.
    Passed(u32, Passed),
    /// A thread is done.
    Done(u32, Box<Result<ThreadResult<Tally>, LoadError>>),
    /// A user asks for something.
    Asked(Command, Sender<Result<(), Refusal>>),
}

/// When a run's load starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartAt {
    /// Once all connections are ready.
    #[default]
    Ready,
    /// When CLOCK_MONOTONIC shows so many nanoseconds.
    Monotonic(u64),
    /// The same; the number comes as a line on stdin once all connections are ready.
    Stdin,
}

/// A run that can be asked for changes while it goes on.
pub struct Session {
    pub(super) post: Sender<Note>,
    pub(super) notes: Receiver<Note>,
    pub(super) start_at: StartAt,
    pub(super) is_watched: bool,
    /// The end of the run was asked for.
    pub(super) signal: Arc<AtomicBool>,
    /// Open once the conductor listens.
    pub(super) gate: Arc<Gate>,
}

/// Asks a run for changes, from any thread.
#[derive(Clone)]
pub struct Handle {
    post: Sender<Note>,
    signal: Arc<AtomicBool>,
    gate: Arc<Gate>,
}

/// What stays shut until all connections stand.
#[derive(Default)]
pub struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    /// Whether it opens within that time.
    fn wait(&self, within: Duration) -> bool {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .opened
            .wait_timeout_while(is_open, within, |is_open| !*is_open);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Session {
    /// A run that starts at this moment. From now on, SIGINT and SIGTERM end it. `is_watched`: somebody looks at the figures
    /// of each second; otherwise, they do not have the calls that are open.
    ///
    /// # Errors
    ///
    /// If the host does not allow signal handlers.
    pub fn new(start_at: StartAt, is_watched: bool) -> Result<Self, LoadError> {
        let (post, notes) = channel();
        Ok(Self {
            post,
            notes,
            start_at,
            is_watched,
            signal: net::watch()?,
            gate: Arc::default(),
        })
    }

    /// A way to ask it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            post: self.post.clone(),
            signal: Arc::clone(&self.signal),
            gate: Arc::clone(&self.gate),
        }
    }
}

impl Handle {
    /// Asks for a change. It is in force when this returns, or within a few hundredths of a second.
    ///
    /// # Errors
    ///
    /// Why the run does not do it.
    pub fn ask(&self, command: Command) -> Result<(), Refusal> {
        let patience = match command {
            Command::Stop => Duration::ZERO,
            _ => ANSWER,
        };
        if !self.gate.wait(patience) {
            return self.ask_early(command);
        }
        let (answer, answered) = channel();
        self.post
            .send(Note::Asked(command, answer))
            .map_err(|_| Refusal::Over)?;
        answered.recv_timeout(ANSWER).unwrap_or(Err(Refusal::Over))
    }

    /// Whether a signal has asked for the end of the run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.signal.load(Ordering::Relaxed)
    }

    /// While connections are opened, a run can only be ended.
    fn ask_early(&self, command: Command) -> Result<(), Refusal> {
        if command != Command::Stop {
            return Err(Refusal::NotStarted);
        }
        self.signal.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The way to a thread.
pub(crate) struct Line<O> {
    orders: Sender<O>,
    waker: Arc<Waker>,
}

impl<O> Line<O> {
    pub fn new(orders: Sender<O>, waker: Arc<Waker>) -> Self {
        Self { orders, waker }
    }

    /// Sends an order, and wakes the thread.
    pub fn send(&self, order: O) {
        // A thread that is gone has reported why; one that cannot be woken looks at its orders at the next glance.
        let _ = self.orders.send(order);
        let _ = self.waker.wake();
    }
}

/// The due times of a lane from `start_ns` on, with all changes that are known.
pub fn agenda(schedule: &Schedule, lane: Lane, start_ns: u64, changes: &[Change]) -> Agenda {
    let (before, after): (Vec<&Change>, _) =
        changes.iter().partition(|change| change.at_ns < start_ns);
    let mut schedule = schedule.clone();
    let mut is_paused = false;
    for change in before {
        if let Command::Rate(rps) = change.command {
            schedule = Schedule::constant(rps);
        }
        is_paused = change.command.pauses().unwrap_or(is_paused) || change.command == Command::Stop;
    }
    let mut agenda = Agenda::new(&schedule, lane, start_ns);
    if is_paused {
        agenda.pause(start_ns);
    }
    for change in after {
        alter(&mut agenda, change);
    }
    agenda
}

/// Makes a change known to an agenda.
pub fn alter(agenda: &mut Agenda, change: &Change) {
    match change.command {
        Command::Rate(rps) => agenda.change(change.at_ns, &Schedule::constant(rps)),
        Command::Pause | Command::Stop => agenda.pause(change.at_ns),
        Command::Resume => agenda.resume(change.at_ns),
        Command::Workers(_) => {}
    }
}
