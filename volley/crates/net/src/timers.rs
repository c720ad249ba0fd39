//! What happens at a given moment: pauses that end, work that may begin, requests that take too long.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::queue::Queue;

/// Moments, and what is due then.
#[derive(Debug)]
pub struct Timers<T> {
    heap: BinaryHeap<Reverse<(u64, u64, T)>>,
    serial: u64,
}

impl<T: Ord> Default for Timers<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            serial: 0,
        }
    }
}

impl<T: Ord> Timers<T> {
    /// Sets one. Those of the same moment go off in the order in which they were set.
    pub fn set(&mut self, at_ns: u64, what: T) {
        self.serial += 1;
        self.heap.push(Reverse((at_ns, self.serial, what)));
    }

    /// The next moment.
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Takes one that is due.
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((.., what))| what)
    }
}

/// Queues that are empty are removed once there are more than so many: a program may have a limit for each request.
const FEW: usize = 64;

/// Time limits of requests. Requests with the same limit end in the order in which they began, so that a queue for each
/// limit is enough, and adding one costs next to nothing.
#[derive(Debug, Default)]
pub struct Deadlines {
    queues: BTreeMap<u64, Late>,
}

/// Moment, flight, serial.
type Late = Queue<(u64, u32, u64)>;

impl Deadlines {
    /// Notes that a flight ends `limit_ns` after `now_ns` at the latest. `is_open` says which flights are not over.
    #[inline]
    pub fn add(
        &mut self,
        limit_ns: u64,
        now_ns: u64,
        flight: u32,
        serial: u64,
        is_open: impl Fn(u32, u64) -> bool,
    ) {
        let at_ns = now_ns.saturating_add(limit_ns);
        let is_open = |(_, flight, serial): &_| is_open(*flight, *serial);
        let queue = self.queues.entry(limit_ns).or_default();
        queue.push((at_ns, flight, serial), is_open);
    }

    /// The next moment at which an open one is too late.
    pub fn next_ns(&mut self, is_open: impl Fn(u32, u64) -> bool) -> Option<u64> {
        let first = |queue: &mut Late| {
            while let Some((at_ns, flight, serial)) = queue.front().copied() {
                if is_open(flight, serial) {
                    return Some(at_ns);
                }
                queue.pop_front();
            }
            None
        };
        let next_ns = self.queues.values_mut().filter_map(first).min();
        if self.queues.len() > FEW {
            self.queues.retain(|_, queue| !queue.is_empty());
        }
        next_ns
    }

    /// Takes one whose time is over: flight and serial. It may have ended before.
    pub fn pop(&mut self, now_ns: u64) -> Option<(u32, u64)> {
        let is_due = |queue: &&mut Late| {
            let first = queue.front();
            first.is_some_and(|(at_ns, ..)| *at_ns <= now_ns)
        };
        let queue = self.queues.values_mut().find(is_due)?;
        let (_, flight, serial) = queue.pop_front()?;
        Some((flight, serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_go_off_in_the_order_of_their_moments() {
        let mut timers = Timers::default();
        for (at_ns, what) in [(5, 'b'), (3, 'a'), (5, 'a')] {
            timers.set(at_ns, what);
        }
        assert_eq!((timers.next_ns(), timers.pop(2)), (Some(3), None));
        let all: String = std::iter::from_fn(|| timers.pop(5)).collect();
        assert_eq!(all, "aba");
    }

    #[test]
    fn each_limit_has_its_own_queue() {
        let mut deadlines = Deadlines::default();
        deadlines.add(100, 0, 1, 10, |_, _| true);
        deadlines.add(10, 5, 2, 11, |_, _| true);
        deadlines.add(100, 1, 3, 12, |_, _| true);
        assert_eq!(deadlines.next_ns(|_, _| true), Some(15));
        assert_eq!(deadlines.pop(14), None);
        let mut all: Vec<_> = std::iter::from_fn(|| deadlines.pop(101)).collect();
        all.sort_unstable();
        assert_eq!(all, [(1, 10), (2, 11), (3, 12)]);
        assert_eq!(deadlines.next_ns(|_, _| true), None);
    }

    #[test]
    fn limits_that_nothing_has_any_more_take_no_memory() {
        let mut deadlines = Deadlines::default();
        for limit_ns in 1..=2 * FEW as u64 {
            deadlines.add(limit_ns, 0, 0, limit_ns, |_, _| true);
        }
        assert_eq!(deadlines.next_ns(|_, serial| serial == 9), Some(9));
        assert_eq!(deadlines.queues.len(), 1);
    }

    #[test]
    fn a_flight_that_is_over_wakes_nobody() {
        let mut deadlines = Deadlines::default();
        for serial in 0..4 {
            deadlines.add(100, serial, 0, serial, |_, _| true);
        }
        assert_eq!(deadlines.next_ns(|_, serial| serial == 2), Some(102));
        assert_eq!(deadlines.next_ns(|_, _| false), None);
    }
}
