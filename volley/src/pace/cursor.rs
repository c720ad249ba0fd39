//! One thread's share of a schedule, walked from call to call without a division.

use super::{SECOND_NS, Schedule};

/// A call to be sent: its number in the whole run (from 0), and when, in nanoseconds after the
/// schedule's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub number: u64,
    pub intended_ns: u64,
}

/// Walks the calls `first`, `first + every`, … of a schedule in order. [`Schedule::cursor`] makes
/// one.
///
/// The cursors of all threads together give each call of the schedule exactly once, at the same
/// nanosecond as [`Schedule::intended_ns`]. An advance within one step of the schedule is three
/// additions and a comparison.
#[derive(Clone, Debug)]
pub struct Cursor {
    schedule: Schedule,
    every: u64,
    next: Option<Planned>,
    /// The moment up to which the rate stays what `whole_ns` and `part` were made for.
    run_until_ns: u64,
    rate: u64,
    /// The moment of `next` beyond its whole nanosecond, in 1/rate ns.
    rest: u64,
    /// The distance of two calls of this cursor: nanoseconds, and what is left over in 1/rate ns.
    whole_ns: u64,
    part: u64,
}

impl Cursor {
    pub(super) fn new(schedule: Schedule, first: u64, every: u64) -> Self {
        let mut cursor = Self {
            schedule,
            every: every.max(1),
            next: None,
            run_until_ns: 0,
            rate: 1,
            rest: 0,
            whole_ns: 0,
            part: 0,
        };
        cursor.jump(first);
        cursor
    }

    /// When the next call is to be sent, in nanoseconds after the schedule's start.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.next.map(|next| next.intended_ns)
    }

    /// How many calls of this cursor are still due before that moment.
    pub fn count_until(&self, ns: u64) -> u64 {
        let due = self.schedule.count_until(ns);
        self.next.map_or(0, |next| {
            due.saturating_sub(next.number).div_ceil(self.every)
        })
    }

    /// Finds a call anew, with divisions.
    #[cold]
    fn jump(&mut self, number: u64) {
        self.next = self
            .schedule
            .intended_ns(number)
            .map(|intended_ns| Planned {
                number,
                intended_ns,
            });
        let Some(run) = self.schedule.run_at(number) else {
            return;
        };
        let calls = u128::from(number) * u128::from(SECOND_NS);
        let rate = u128::from(run.value);
        let distance = u128::from(self.every) * u128::from(SECOND_NS);
        self.rate = u64::from(run.value);
        self.run_until_ns = run.until_ns;
        self.rest = ((calls - run.area) % rate) as u64;
        self.part = (distance % rate) as u64;
        // Beyond 64 bits: past every run's end, so that the next advance jumps again.
        self.whole_ns = u64::try_from(distance / rate).unwrap_or(u64::MAX);
    }
}

impl Iterator for Cursor {
    type Item = Planned;

    #[inline]
    fn next(&mut self) -> Option<Planned> {
        let taken = self.next?;
        let Some(number) = taken.number.checked_add(self.every) else {
            self.next = None;
            return Some(taken);
        };
        let mut rest = self.rest + self.part;
        let carry = u64::from(rest >= self.rate);
        rest -= carry * self.rate;
        let intended_ns = taken
            .intended_ns
            .saturating_add(self.whole_ns)
            .saturating_add(carry);
        if intended_ns < self.run_until_ns {
            self.rest = rest;
            self.next = Some(Planned {
                number,
                intended_ns,
            });
        } else {
            self.jump(number);
        }
        Some(taken)
    }
}
