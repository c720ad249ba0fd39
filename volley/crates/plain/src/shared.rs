//! What the threads of a run share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mio::Waker;

/// The maximum number of calls that wait for another thread. More are left to their own.
const MOST_ADRIFT: usize = 65_536;

/// What the threads of a run share. On the hot path nobody writes to it.
#[derive(Debug)]
pub struct Shared {
    /// The run is to end.
    pub signal: Arc<AtomicBool>,
    /// Somebody looks at the figures of each second while the run goes on.
    pub is_watched: bool,
    /// Calls that other threads may send.
    pub adrift: Adrift,
    /// Threads that can send no calls: without a server, or over.
    gone: AtomicU32,
    /// Threads that have nothing of their own left to send.
    spent: AtomicU32,
    wakers: OnceLock<Vec<Arc<Waker>>>,
}

/// Calls that were due while their thread had no connection. Any thread that has one sends them.
#[derive(Debug, Default)]
pub struct Adrift {
    count: AtomicUsize,
    calls: Mutex<VecDeque<DueCall>>,
}

/// A call of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueCall {
    /// When it was due.
    pub intended_ns: u64,
    /// Its number.
    pub number: u64,
}

impl Shared {
    /// For a run that ends when `signal` is set, and that nobody watches.
    pub fn new(signal: Arc<AtomicBool>) -> Self {
        Self {
            signal,
            is_watched: false,
            adrift: Adrift::default(),
            gone: AtomicU32::new(0),
            spent: AtomicU32::new(0),
            wakers: OnceLock::new(),
        }
    }

    /// Ends the run soon.
    pub fn stop(&self) {
        self.signal.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to end.
    pub fn is_stopped(&self) -> bool {
        self.signal.load(Ordering::Relaxed)
    }

    /// How to wake all threads.
    pub fn set_wakers(&self, wakers: Vec<Arc<Waker>>) {
        // Only once: each run has threads of its own.
        let _ = self.wakers.set(wakers);
    }

    /// Wakes all threads.
    pub fn wake(&self) {
        for waker in self.wakers.get().into_iter().flatten() {
            // One that cannot be woken looks around at its next glance.
            let _ = waker.wake();
        }
    }

    /// A thread can send no calls any more, or can again.
    pub fn turn_gone(&self, is_gone: bool) {
        if is_gone {
            self.gone.fetch_add(1, Ordering::Relaxed);
        } else {
            self.gone.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A thread has nothing of its own left to send, or has something again. The last one wakes the others.
    pub fn turn_spent(&self, is_spent: bool) {
        if !is_spent {
            self.spent.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        // Whoever sees this sees the calls that the thread left to others before.
        self.spent.fetch_add(1, Ordering::Release);
        if self.all_spent() {
            self.wake();
        }
    }

    /// Whether no thread has anything of its own left to send.
    pub fn all_spent(&self) -> bool {
        let threads = self.wakers.get().map_or(0, Vec::len);
        self.spent.load(Ordering::Acquire) as usize >= threads
    }

    /// How many threads can send no calls.
    pub fn gone(&self) -> u32 {
        self.gone.load(Ordering::Relaxed)
    }
}

impl Adrift {
    /// Whether there are any.
    #[inline]
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Adds one.
    pub fn push(&self, due: DueCall) {
        self.calls().push_back(due);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether more may be added.
    pub fn has_room(&self) -> bool {
        self.count.load(Ordering::Relaxed) < MOST_ADRIFT
    }

    /// Takes the first one that was due at that moment or later. Those before it, of the warm-up, are dropped.
    pub fn pop(&self, from_ns: u64) -> Option<DueCall> {
        let mut calls = self.calls();
        loop {
            let due = calls.pop_front()?;
            self.count.fetch_sub(1, Ordering::Relaxed);
            if due.intended_ns >= from_ns {
                return Some(due);
            }
        }
    }

    /// Looks at each one that was due at that moment or later.
    pub fn for_each(&self, from_ns: u64, f: impl FnMut(&DueCall)) {
        let calls = self.calls();
        let due = calls.iter().filter(|due| due.intended_ns >= from_ns);
        due.for_each(f);
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, VecDeque<DueCall>> {
        // The list is always whole.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
