//! One thread's share of a schedule; goes from call to call without a division.

use super::{Schedule, Timetable};

/// A call to send: its number in the whole run (from 0), and its due time, in nanoseconds after the
/// schedule's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub number: u64,
    pub intended_ns: u64,
}

/// Visits the calls `first`, `first + every`, … of a schedule in order. Made by
/// [`Schedule::cursor`].
///
/// The cursors of all threads together yield each call of the schedule exactly once, at the same
/// nanosecond as [`Timetable::intended_ns`]. An advance within a time of one rate takes three
/// additions and a comparison.
#[derive(Clone, Debug)]
pub struct Cursor<T = Schedule> {
    schedule: T,
    every: u64,
    next: Option<Planned>,
    /// The end of the period in which the rate, and so `whole_ns` and `part`, stay the same.
    run_until_ns: u64,
    rate: u64,
    /// The part of the due time of `next` below a whole nanosecond, in 1/rate ns.
    rest: u64,
    /// The time between two calls of this cursor: nanoseconds, and the remainder in 1/rate ns.
    whole_ns: u64,
    part: u64,
}

impl<T: Timetable> Cursor<T> {
    pub(super) fn new(schedule: T, first: u64, every: u64) -> Self {
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

    /// When the next call is due, in nanoseconds after the schedule's start.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.next.map(|next| next.intended_ns)
    }

    /// The number of the next call.
    pub fn next_number(&self) -> Option<u64> {
        self.next.map(|next| next.number)
    }

    /// When the call that comes so many calls after the next one is due, with divisions.
    pub fn later_ns(&self, calls: u64) -> Option<u64> {
        let more = calls.checked_mul(self.every)?;
        let number = more.checked_add(self.next?.number)?;
        self.schedule.intended_ns(number)
    }

    /// How many calls of this cursor are still due before that moment.
    pub fn count_until(&self, ns: u64) -> u64 {
        let due = self.schedule.count_until(ns);
        let left = |next: Planned| due.saturating_sub(next.number).div_ceil(self.every);
        self.next.map_or(0, left)
    }

    /// Computes a call's due time from scratch, with divisions.
    #[cold]
    fn jump(&mut self, number: u64) {
        let intended_ns = self.schedule.intended_ns(number);
        self.next = intended_ns.map(|intended_ns| Planned {
            number,
            intended_ns,
        });
        let Some(even) = self.schedule.even(number) else {
            self.run_until_ns = 0;
            return;
        };
        let distance = u128::from(self.every) * u128::from(even.call);
        let rate = u128::from(even.rate);
        self.rate = even.rate;
        self.run_until_ns = even.until_ns;
        self.rest = even.rest;
        self.part = (distance % rate) as u64;
        // Beyond 64 bits: after the end of any run, so that the next advance computes from scratch
        // again.
        self.whole_ns = u64::try_from(distance / rate).unwrap_or(u64::MAX);
    }
}

impl<T: Timetable> Iterator for Cursor<T> {
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
