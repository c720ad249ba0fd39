//! A whole number that changes over time in equal steps, and then stays the same. All of ghz's
//! schedules have this form.
//!
//! ghz's manual defines `line` as `step` with steps of one second, so both are stairs. `const` is
//! stairs without a step.

/// `start + step * (t / step_ns)` until `flat_from_ns`, and `flat` from then on.
///
/// The value stays within `0..=u32::MAX`: `flat_from_ns` comes before it would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stairs {
    start: u32,
    step: i32,
    /// At least 1.
    step_ns: u64,
    flat_from_ns: u64,
    flat: u32,
}

impl Stairs {
    pub fn constant(value: u32) -> Self {
        Self {
            start: value,
            step: 0,
            step_ns: 1,
            flat_from_ns: 0,
            flat: value,
        }
    }

    /// `flat_from_ns` must come before the steps leave `0..=u32::MAX`, and `step_ns` must be at
    /// least 1.
    pub fn new(start: u32, step: i32, step_ns: u64, flat_from_ns: u64, flat: u32) -> Self {
        debug_assert!(step_ns > 0);
        Self {
            start,
            step,
            step_ns,
            flat_from_ns,
            flat,
        }
    }

    pub fn value_at(&self, ns: u64) -> u32 {
        match ns >= self.flat_from_ns {
            true => self.flat,
            false => self.value_of_step(ns / self.step_ns),
        }
    }

    /// The final value.
    pub fn flat(&self) -> u32 {
        self.flat
    }

    pub fn flat_from_ns(&self) -> u64 {
        self.flat_from_ns
    }

    /// The largest value before `ns`.
    pub fn most_before(&self, ns: u64) -> u32 {
        self.value_at(0).max(self.value_at(ns.saturating_sub(1)))
    }

    /// The next moment after `ns` at which the value changes.
    pub fn next_change_after(&self, ns: u64) -> Option<u64> {
        if ns >= self.flat_from_ns {
            return None;
        }
        let step_ends = (ns / self.step_ns + 1).saturating_mul(self.step_ns);
        let next = step_ends.min(self.flat_from_ns);
        (self.value_at(next) != self.value_at(ns)).then_some(next)
    }

    /// The integral from 0 to `ns`, in value × nanoseconds.
    pub fn area_until(&self, ns: u64) -> u128 {
        let climbing = ns.min(self.flat_from_ns);
        let step = climbing / self.step_ns;
        let whole = self.area_of_steps(step);
        // At `flat_from_ns` itself, either no time of the step is left over, or the step exists.
        let rest = climbing - step * self.step_ns;
        let part = match rest {
            0 => 0,
            rest => u128::from(self.value_of_step(step)) * u128::from(rest),
        };
        whole + part + u128::from(self.flat) * u128::from(ns - climbing)
    }

    /// The part of the stairs in which the integral passes `area`; None if it never does.
    pub fn run_at_area(&self, area: u128) -> Option<Run> {
        let flat_area = self.area_until(self.flat_from_ns);
        if area >= flat_area {
            let run = Run {
                from_ns: self.flat_from_ns,
                until_ns: u64::MAX,
                area: flat_area,
                value: self.flat,
            };
            return (self.flat > 0).then_some(run);
        }
        // The last step that starts with no more than `area`. A step of value 0 is passed over,
        // because its successor starts with the same integral.
        let mut low = 0;
        let mut high = self.flat_from_ns.div_ceil(self.step_ns);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.area_of_steps(middle) <= area {
                low = middle
            } else {
                high = middle
            }
        }
        let step_ends = (low + 1).saturating_mul(self.step_ns);
        Some(Run {
            from_ns: low * self.step_ns,
            until_ns: step_ends.min(self.flat_from_ns),
            area: self.area_of_steps(low),
            value: self.value_of_step(low),
        })
    }

    /// Only for steps that start before `flat_from_ns`.
    fn value_of_step(&self, step: u64) -> u32 {
        let value = i128::from(self.start) + i128::from(self.step) * i128::from(step);
        debug_assert!((0..=i128::from(u32::MAX)).contains(&value));
        u32::try_from(value).unwrap_or(self.flat)
    }

    /// The integral over the first `steps` steps: an arithmetic series.
    ///
    /// No overflow: `steps` is at most 2^32 and `steps * step_ns` fits 64 bits, so each term is
    /// below 2^98.
    fn area_of_steps(&self, steps: u64) -> u128 {
        let steps = i128::from(steps);
        let sum = steps * i128::from(self.start) + steps * (steps - 1) / 2 * i128::from(self.step);
        (sum * i128::from(self.step_ns)).unsigned_abs()
    }
}

/// A period of time with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub from_ns: u64,
    pub until_ns: u64,
    /// The integral at `from_ns`.
    pub area: u128,
    pub value: u32,
}
