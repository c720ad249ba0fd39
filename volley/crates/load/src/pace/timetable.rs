//! What an agenda needs to know of a schedule, whatever its form.

/// When each call of a run is due.
pub trait Timetable: Clone {
    /// When call `n` (from 0) is due, in nanoseconds after the start, rounded down; `None` if there is no such call.
    /// Never earlier than the previous call.
    fn intended_ns(&self, n: u64) -> Option<u64>;

    /// How many calls are due before that moment.
    fn count_until(&self, ns: u64) -> u64;

    /// The rate at which call `n` is due, if it stays the same for a while.
    fn even(&self, n: u64) -> Option<Even>;
}

/// A time of one rate, seen from one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Even {
    /// How much is done each nanosecond, in any unit. Below 2^63, and never 0.
    pub rate: u64,
    /// How much a call is, in the same unit.
    pub call: u64,
    /// What the call's moment lies after its whole nanosecond, in 1/rate ns; less than `rate`.
    pub rest: u64,
    /// When it ends, in nanoseconds after the start.
    pub until_ns: u64,
}
