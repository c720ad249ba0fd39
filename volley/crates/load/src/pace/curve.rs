//! The flags of one schedule, checked and compiled; the same for load and concurrency.

use super::stairs::Stairs;
use super::{PaceError, RateSpec, SECOND_NS, ScheduleKind, WorkersSpec, whole_ns};

/// The flags of a step or line schedule.
pub(crate) struct Curve {
    /// Family of the flags, for errors: `load` or `concurrency`.
    pub flags: &'static str,
    pub kind: ScheduleKind,
    pub start: u32,
    pub step: i32,
    pub end: Option<u32>,
    pub step_ns: u64,
    /// 0: no limit.
    pub max_ns: u64,
    /// Where a descent without an end stops.
    pub floor: u32,
}

impl From<&RateSpec> for Curve {
    fn from(spec: &RateSpec) -> Self {
        Self {
            flags: "load",
            kind: spec.schedule,
            start: spec.start,
            step: spec.step,
            end: spec.end,
            step_ns: whole_ns(spec.step_duration),
            max_ns: whole_ns(spec.max_duration),
            floor: 0,
        }
    }
}

impl From<&WorkersSpec> for Curve {
    fn from(spec: &WorkersSpec) -> Self {
        let least = if spec.step < 0 { 1 } else { 0 };
        Self {
            flags: "concurrency",
            kind: spec.schedule,
            start: spec.start,
            step: spec.step,
            end: spec.end.map(|end| end.max(least)),
            step_ns: whole_ns(spec.step_duration),
            max_ns: whole_ns(spec.max_duration),
            floor: 1,
        }
    }
}

impl Curve {
    /// Those of its flags that only a step or a line has, and whether each is given.
    pub fn given(&self) -> [(&'static str, bool); 5] {
        // ghz sets the start and the step of workers to 1 by default: to their floor.
        let usual = self.floor;
        [
            ("start", self.start > usual),
            (
                "step",
                self.step != 0 && i64::from(self.step) != i64::from(usual),
            ),
            ("end", self.end.is_some_and(|end| end > 0)),
            ("step-duration", self.step_ns > 0),
            ("max-duration", self.max_ns > 0),
        ]
    }

    /// Changes until the end is reached or the maximum time has passed, whichever comes first, as
    /// in ghz's manual. (ghz itself overshoots the end if a maximum time is given too.)
    pub(super) fn stairs(&self) -> Result<Stairs, PaceError> {
        let step_ns = self.checked_step_ns()?;
        let bound = self.end().unwrap_or(match self.step > 0 {
            true => u32::MAX,
            false => self.floor.min(self.start),
        });
        let distance = self.start.abs_diff(bound);
        let steps = distance.div_ceil(self.step.unsigned_abs());
        let reached_ns = u64::from(steps).saturating_mul(step_ns);
        let stairs =
            |flat_from_ns, flat| Stairs::new(self.start, self.step, step_ns, flat_from_ns, flat);
        let whole = stairs(reached_ns, bound);
        if self.max_ns == 0 || self.max_ns >= reached_ns {
            return Ok(whole);
        }
        let flat = self.end().unwrap_or_else(|| whole.value_at(self.max_ns));
        Ok(stairs(self.max_ns, flat))
    }

    /// An end of 0 is valid only for a descent; otherwise it is ghz's "not set".
    fn end(&self) -> Option<u32> {
        self.end.filter(|&end| end > 0 || self.step < 0)
    }

    fn checked_step_ns(&self) -> Result<u64, PaceError> {
        let Self {
            flags,
            kind,
            start,
            step,
            ..
        } = *self;
        if step == 0 {
            let schedule = kind.name();
            return Err(PaceError::NoStep { flags, schedule });
        }
        if start == 0 && step < 0 {
            return Err(PaceError::StartsAtFloor { flags, step });
        }
        if let Some(end) = self.end() {
            if end == start {
                return Err(PaceError::NoDistance { flags, value: end });
            }
            if (end > start) != (step > 0) {
                return Err(PaceError::WrongWay {
                    flags,
                    step,
                    start,
                    end,
                });
            }
        }
        match kind {
            // The manual defines a line as steps of one second.
            ScheduleKind::Line => Ok(SECOND_NS),
            _ if self.step_ns == 0 => Err(PaceError::NoStepDuration { flags }),
            _ => Ok(self.step_ns),
        }
    }
}
