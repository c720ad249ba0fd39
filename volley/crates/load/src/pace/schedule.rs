//! The plan of an open loop: when each call is due.

use super::curve::Curve;
use super::poisson::Arrivals;
use super::stairs::{Run, Stairs};
use super::timetable::Even;
use super::{Cursor, PaceError, RateSpec, SECOND_NS, ScheduleKind, Timetable};

/// Calls per second over time, and from it the due time of each call.
///
/// Call `n` (from 0) is due when the integral of the rate reaches `n`. So the first call is due as soon as the rate is
/// above 0, and at a constant 1,000 calls per second exactly 5,000 calls are due in the first 5 s: at 0, 1, … 4,999 ms.
/// Calls at random ([`RateSpec::poisson`]) are due when the integral reaches numbers that grow by 1 on average.
/// All arithmetic is exact, in whole nanoseconds rounded down; nothing drifts.
///
/// A descending schedule stops at its end, or at 0, after which no call is due. The rate is capped at `u32::MAX` calls
/// per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    rate: Stairs,
    /// Missing: evenly.
    arrivals: Option<Arrivals>,
}

impl Schedule {
    /// The same rate all the time, in calls per second; at 0 no call is due.
    pub fn constant(rps: u32) -> Self {
        Self {
            rate: Stairs::constant(rps),
            arrivals: None,
        }
    }

    /// Compiles the flags; `None` if they set no rate (a closed loop).
    ///
    /// # Errors
    ///
    /// A step or line schedule that never changes, moves away from its end, or has no step duration.
    pub fn new(spec: &RateSpec) -> Result<Option<Self>, PaceError> {
        let rate = if spec.schedule == ScheduleKind::Const {
            if spec.rps == 0 {
                return Ok(None);
            }
            Stairs::constant(spec.rps)
        } else {
            Curve::from(spec).stairs()?
        };
        let arrivals = spec.poisson.map(Arrivals::new);
        Ok(Some(Self { rate, arrivals }))
    }

    /// The calls of one thread of several: `first`, `first + every`, `first + 2 * every`, … An `every` of 0 counts as
    /// 1.
    pub fn cursor(&self, first: u64, every: u64) -> Cursor {
        Cursor::new(self.clone(), first, every)
    }

    /// The integral of the rate at which call `n` is due.
    fn area(&self, n: u64) -> u128 {
        match &self.arrivals {
            None => area_of_calls(n),
            Some(arrivals) => arrivals.area(n),
        }
    }

    fn run_at(&self, n: u64) -> Option<Run> {
        self.rate.run_at_area(self.area(n))
    }
}

impl Timetable for Schedule {
    fn intended_ns(&self, n: u64) -> Option<u64> {
        let run = self.run_at(n)?;
        let after = (self.area(n) - run.area) / u128::from(run.value);
        // `None` beyond the 584 years that 64 bits can express.
        run.from_ns.checked_add(u64::try_from(after).ok()?)
    }

    fn count_until(&self, ns: u64) -> u64 {
        let area = self.rate.area_until(ns);
        let calls = match &self.arrivals {
            None => area.div_ceil(u128::from(SECOND_NS)),
            Some(arrivals) => arrivals.count_until(area),
        };
        u64::try_from(calls).unwrap_or(u64::MAX)
    }

    fn even(&self, n: u64) -> Option<Even> {
        if self.arrivals.is_some() {
            return None;
        }
        let run = self.run_at(n)?;
        let rest = (area_of_calls(n) - run.area) % u128::from(run.value);
        Some(Even {
            rate: u64::from(run.value),
            call: SECOND_NS,
            rest: rest as u64,
            until_ns: run.until_ns,
        })
    }
}

/// The integral of the rate (calls per second × nanoseconds) at which call `n` is due.
fn area_of_calls(n: u64) -> u128 {
    u128::from(n) * u128::from(SECOND_NS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const S: u64 = SECOND_NS;

    fn constant(rps: u32) -> Schedule {
        Schedule::new(&RateSpec {
            rps,
            ..RateSpec::default()
        })
        .unwrap()
        .unwrap()
    }

    fn step(start: u32, step: i32, end: Option<u32>, step_s: u64, max_s: u64) -> RateSpec {
        RateSpec {
            schedule: ScheduleKind::Step,
            rps: 0,
            start,
            step,
            end,
            step_duration: Duration::from_secs(step_s),
            max_duration: Duration::from_secs(max_s),
            poisson: None,
        }
    }

    /// The calls that are due in the second that starts there. If the rate changes only at whole seconds, that is the
    /// rate.
    fn due_in(spec: &RateSpec, seconds: &[u64]) -> Vec<u64> {
        let schedule = Schedule::new(spec).unwrap().unwrap();
        let due = |second: &u64| {
            schedule.count_until((second + 1) * S) - schedule.count_until(second * S)
        };
        seconds.iter().map(due).collect()
    }

    #[test]
    fn without_a_rate_there_is_no_schedule() {
        assert_eq!(Schedule::new(&RateSpec::default()), Ok(None));
    }

    #[test]
    fn a_thousand_a_second_for_five_seconds_is_five_thousand_calls_from_the_first_moment_on() {
        let schedule = constant(1000);
        assert_eq!(schedule.intended_ns(0), Some(0));
        assert_eq!(schedule.intended_ns(4999), Some(4_999_000_000));
        assert_eq!(schedule.count_until(5 * S), 5000);
    }

    #[test]
    fn a_rate_that_divides_no_second_does_not_drift() {
        let schedule = constant(7);
        assert_eq!(schedule.intended_ns(1), Some(S / 7));
        let year_s = 86_400 * 365;
        assert_eq!(schedule.intended_ns(7 * year_s), Some(year_s * S));
    }

    #[test]
    fn the_manuals_step_up_climbs_to_its_end_and_stays() {
        let due = due_in(&step(50, 10, Some(150), 5, 0), &[0, 4, 5, 49, 50, 1000]);
        assert_eq!(due, [50, 50, 60, 140, 150, 150]);
    }

    #[test]
    fn the_manuals_step_down_stays_where_the_longest_time_finds_it() {
        let spec = step(200, -10, None, 5, 40);
        assert_eq!(due_in(&spec, &[0, 39, 40, 1000]), [200, 130, 120, 120]);
    }

    #[test]
    fn the_manuals_line_falls_by_two_each_second() {
        let spec = RateSpec {
            schedule: ScheduleKind::Line,
            ..step(200, -2, Some(50), 0, 0)
        };
        assert_eq!(due_in(&spec, &[0, 1, 74, 75, 1000]), [200, 198, 52, 50, 50]);
    }

    #[test]
    fn a_last_step_that_would_overshoot_the_end_is_cut_short() {
        let due = due_in(&step(50, 30, Some(100), 1, 0), &[0, 1, 2, 3]);
        assert_eq!(due, [50, 80, 100, 100]);
    }

    #[test]
    fn the_longest_time_jumps_to_the_end_if_it_comes_first() {
        let due = due_in(&step(50, 10, Some(500), 1, 3), &[2, 3, 4]);
        assert_eq!(due, [70, 500, 500]);
    }

    #[test]
    fn the_end_holds_although_the_longest_time_is_not_over() {
        let due = due_in(&step(50, 10, Some(70), 1, 9), &[1, 2, 3, 9]);
        assert_eq!(due, [60, 70, 70, 70]);
    }

    #[test]
    fn a_start_of_zero_sends_its_first_call_with_the_first_step() {
        let schedule = Schedule::new(&step(0, 10, None, 2, 0)).unwrap().unwrap();
        assert_eq!(schedule.intended_ns(0), Some(2 * S));
        assert_eq!(schedule.intended_ns(20), Some(4 * S));
        assert_eq!(schedule.count_until(2 * S), 0);
    }

    #[test]
    fn a_descent_without_an_end_stops_at_zero_and_sends_no_more() {
        let spec = step(20, -15, None, 1, 0);
        assert_eq!(due_in(&spec, &[0, 1, 2, 99]), [20, 5, 0, 0]);
        let schedule = Schedule::new(&spec).unwrap().unwrap();
        assert_eq!(schedule.intended_ns(24), Some(1_800_000_000));
        assert_eq!(schedule.intended_ns(25), None);
        assert_eq!(schedule.count_until(u64::MAX), 25);
    }

    #[test]
    fn the_steepest_ascent_stays_within_its_type() {
        let spec = step(u32::MAX - 1, i32::MAX, None, u64::MAX, 0);
        let schedule = Schedule::new(&spec).unwrap().unwrap();
        assert_eq!(schedule.count_until(u64::MAX), u64::MAX);
        let last_ns = schedule.intended_ns(u64::MAX);
        assert_eq!(last_ns, Some(4_294_967_298_000_000_000));
    }

    #[test]
    fn nonsense_is_refused_with_the_flag_that_mends_it() {
        for (spec, line) in [
            (
                step(10, 0, None, 1, 0),
                "`--load-step` is 0, so a `step` schedule never changes: give a step, or use `const`",
            ),
            (
                step(10, 5, None, 0, 0),
                "a `step` schedule needs the length of a step: give `--load-step-duration`, such as `5s`",
            ),
            (
                step(10, -5, Some(20), 1, 0),
                "`--load-step` -5 leads from `--load-start` 10 away from `--load-end` 20: change its sign",
            ),
            (
                step(20, 5, Some(10), 1, 0),
                "`--load-step` 5 leads from `--load-start` 20 away from `--load-end` 10: change its sign",
            ),
            (
                step(10, 5, Some(10), 1, 0),
                "`--load-start` and `--load-end` are both 10, so nothing changes: change one of them, or use `const`",
            ),
            (
                step(0, -5, None, 1, 0),
                "`--load-step` -5 cannot go down from `--load-start` 0: start higher, or make the step positive",
            ),
        ] {
            assert_eq!(Schedule::new(&spec).unwrap_err().to_string(), line);
        }
    }
}
