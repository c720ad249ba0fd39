//! The number of workers at each moment.

use super::curve::Curve;
use super::stairs::Stairs;
use super::{PaceError, ScheduleKind, WorkersSpec};

/// Workers over time. A worker has one call open at a time.
///
/// A descent without an end stops at one worker, not at zero: without a worker, a run with `-n`
/// would never end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    number: Stairs,
}

impl Workers {
    /// Compiles the flags.
    ///
    /// # Errors
    ///
    /// A step or line schedule that never changes, moves away from its end, or has no step
    /// duration; no workers at all.
    pub fn new(spec: &WorkersSpec) -> Result<Self, PaceError> {
        if spec.schedule == ScheduleKind::Const {
            return match spec.workers {
                0 => Err(PaceError::NoWorkers),
                workers => Ok(Self {
                    number: Stairs::constant(workers),
                }),
            };
        }
        let number = Curve::from(spec).stairs()?;
        Ok(Self { number })
    }

    /// Workers at that moment, in nanoseconds after the start.
    pub fn active_at(&self, ns: u64) -> u32 {
        self.number.value_at(ns)
    }

    /// The maximum number of workers: `u32::MAX` for a rise that neither an end nor a maximum time
    /// limits.
    pub fn most(&self) -> u32 {
        let number = &self.number;
        number.most_before(number.flat_from_ns()).max(number.flat())
    }

    /// The maximum number of workers before that moment.
    pub fn most_before(&self, ns: u64) -> u32 {
        self.number.most_before(ns)
    }

    /// The next moment after `ns` at which the number changes; `None` if it stays the same.
    pub fn next_change_after(&self, ns: u64) -> Option<u64> {
        self.number.next_change_after(ns)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn step(start: u32, step: i32, end: Option<u32>, max_s: u64) -> WorkersSpec {
        WorkersSpec {
            schedule: ScheduleKind::Step,
            workers: 0,
            start,
            step,
            end,
            step_duration: Duration::from_secs(5),
            max_duration: Duration::from_secs(max_s),
        }
    }

    fn workers(spec: &WorkersSpec) -> Workers {
        Workers::new(spec).unwrap()
    }

    #[test]
    fn a_constant_number_never_changes() {
        let fifty = workers(&WorkersSpec {
            workers: 50,
            ..WorkersSpec::default()
        });
        let numbers = [fifty.active_at(0), fifty.active_at(u64::MAX), fifty.most()];
        assert_eq!(numbers, [50; 3]);
        assert_eq!(fifty.next_change_after(0), None);
    }

    #[test]
    fn the_manuals_step_up_adds_five_workers_every_five_seconds_up_to_fifty() {
        let up = workers(&step(5, 5, Some(50), 0));
        let seen = [0, 5, 44, 45, 99].map(|second| up.active_at(second * S));
        assert_eq!(seen, [5, 10, 45, 50, 50]);
        assert_eq!(up.most(), 50);
    }

    #[test]
    fn the_manuals_step_down_keeps_the_workers_left_after_thirty_seconds() {
        let down = workers(&step(50, -5, None, 30));
        let seen = [0, 29, 30, 99].map(|second| down.active_at(second * S));
        assert_eq!(seen, [50, 25, 20, 20]);
        assert_eq!(down.most(), 50);
    }

    #[test]
    fn changes_are_announced_one_after_another_until_the_last() {
        let up = workers(&step(5, 5, Some(15), 0));
        assert_eq!(up.next_change_after(0), Some(5 * S));
        assert_eq!(up.next_change_after(5 * S - 1), Some(5 * S));
        assert_eq!(up.next_change_after(5 * S), Some(10 * S));
        assert_eq!(up.next_change_after(10 * S), None);
    }

    #[test]
    fn a_descent_keeps_one_worker_whatever_its_end() {
        for end in [None, Some(0), Some(1)] {
            let down = workers(&step(7, -3, end, 0));
            let seen = [0, 5, 10, 99].map(|second| down.active_at(second * S));
            assert_eq!(seen, [7, 4, 1, 1]);
        }
    }

    #[test]
    fn an_ascent_without_bound_is_bounded_by_the_run() {
        let up = workers(&step(5, 5, None, 0));
        assert_eq!(up.most(), u32::MAX);
        assert_eq!(up.most_before(10 * S), 10);
        assert_eq!(up.most_before(10 * S + 1), 15);
    }

    #[test]
    fn no_workers_are_refused() {
        let nobody = WorkersSpec {
            workers: 0,
            ..WorkersSpec::default()
        };
        let refusal = Workers::new(&nobody).unwrap_err().to_string();
        let line = "`--concurrency` is 0, so no call could be sent: give at least 1";
        assert_eq!(refusal, line);
    }
}
