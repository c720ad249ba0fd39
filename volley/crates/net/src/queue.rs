//! What waits for something, in the order of its arrival.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// A queue is never tidied while it is shorter than this.
const SHORT: usize = 1024;

/// Flights, or what is known of them, in the order in which they came. Some may be over.
#[derive(Debug, Default)]
pub struct Queue<T> {
    waiting: VecDeque<T>,
    /// When it is so long, those that are over are removed.
    most: usize,
}

impl<T> Queue<T> {
    /// Adds one. `is_open` says which are not over.
    #[inline]
    pub fn push(&mut self, one: T, is_open: impl Fn(&T) -> bool) {
        if self.waiting.len() >= self.most.max(SHORT) {
            self.waiting.retain(is_open);
            self.most = 2 * self.waiting.len();
        }
        self.waiting.push_back(one);
    }
}

impl<T> Deref for Queue<T> {
    type Target = VecDeque<T>;

    fn deref(&self) -> &VecDeque<T> {
        &self.waiting
    }
}

impl<T> DerefMut for Queue<T> {
    fn deref_mut(&mut self) -> &mut VecDeque<T> {
        &mut self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_that_are_over_take_no_memory_for_long() {
        let mut queue = Queue::default();
        for serial in 0..100_000 {
            queue.push(serial, |other| other + 10 > serial);
        }
        assert!(queue.len() <= SHORT);
        assert_eq!(queue.back(), Some(&99_999));
    }
}
