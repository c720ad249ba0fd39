//! Items on their way from the load to a reader, which prints or saves them.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most bytes that wait for the reader.
const MOST_BYTES: usize = 16 << 20;

/// What has come since the last time.
#[derive(Debug)]
pub struct Taken<T> {
    pub items: Vec<T>,
    /// Nothing comes any more.
    pub is_over: bool,
}

/// The place where the load leaves items, and their reader takes them.
#[derive(Debug)]
pub struct Outbox<T> {
    /// All are wanted, so that the load waits for a slow reader. Otherwise it goes on without it.
    waits: bool,
    waiting: Mutex<Waiting<T>>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug)]
struct Waiting<T> {
    items: Vec<T>,
    is_over: bool,
    bytes: usize,
    /// The reader takes no more.
    is_deaf: bool,
    dropped: u64,
    held_up: Duration,
}

impl<T> Outbox<T> {
    /// An empty one. `waits`: all items are wanted.
    #[must_use]
    pub fn new(waits: bool) -> Self {
        let waiting = Waiting {
            items: Vec::new(),
            is_over: false,
            bytes: 0,
            is_deaf: false,
            dropped: 0,
            held_up: Duration::ZERO,
        };
        Self {
            waits,
            waiting: Mutex::new(waiting),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    /// Whether all items are wanted.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Waits for items, and takes them all.
    pub fn take(&self) -> Taken<T> {
        let mut waiting = self.lock();
        while waiting.items.is_empty() && !waiting.is_over {
            let woken = self.filled.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes = 0;
        self.emptied.notify_all();
        Taken {
            items: mem::take(&mut waiting.items),
            is_over: waiting.is_over,
        }
    }

    /// The reader takes no more: nobody waits for it.
    pub fn give_up(&self) {
        self.lock().is_deaf = true;
        self.emptied.notify_all();
    }

    /// Nothing comes any more.
    pub fn close(&self) {
        self.lock().is_over = true;
        self.filled.notify_all();
    }

    /// How many items were dropped because the reader was slow, and how long the load waited for it, all threads
    /// together.
    pub fn lost(&self) -> (u64, Duration) {
        let waiting = self.lock();
        (waiting.dropped, waiting.held_up)
    }

    /// Leaves an item of so many bytes to the reader. Waits for room only if all are wanted.
    pub fn push(&self, item: T, bytes: usize) {
        let mut waiting = self.lock();
        let mut began = None;
        while waiting.bytes > 0 && waiting.bytes + bytes > MOST_BYTES && !waiting.is_deaf {
            if !self.waits {
                waiting.dropped += 1;
                return;
            }
            began.get_or_insert_with(Instant::now);
            let woken = self.emptied.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
        waiting.held_up += began.map_or(Duration::ZERO, |began: Instant| began.elapsed());
        if waiting.is_deaf {
            return;
        }
        waiting.bytes += bytes;
        waiting.items.push(item);
        if waiting.items.len() == 1 {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        // It is always whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn without_room_what_is_not_wanted_is_dropped_and_counted() {
        let outbox = Outbox::new(false);
        outbox.push((), MOST_BYTES);
        outbox.push((), 1);
        outbox.push((), 1);
        assert_eq!(outbox.lost(), (2, Duration::ZERO));
        assert_eq!(outbox.take().items.len(), 1);
    }

    #[test]
    fn without_room_what_is_wanted_waits_for_the_reader() {
        let outbox = Outbox::new(true);
        outbox.push((), MOST_BYTES);
        thread::scope(|scope| {
            let second = scope.spawn(|| outbox.push((), 1));
            // The second cannot have been left here before the first is taken.
            assert_eq!(outbox.take().items.len(), 1);
            second.join().unwrap();
            assert_eq!(outbox.take().items.len(), 1);
        });
        assert_eq!(outbox.lost().0, 0);
    }

    #[test]
    fn nobody_waits_for_a_reader_that_gave_up() {
        let outbox = Outbox::new(true);
        outbox.push((), MOST_BYTES);
        outbox.give_up();
        outbox.push((), 1);
        outbox.close();
        assert_eq!(outbox.take().items.len(), 1);
        assert!(outbox.take().is_over);
    }
}
