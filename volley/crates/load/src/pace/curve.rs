//! The flags of one schedule, checked and compiled; the same for load and concurrency.

use super::stairs::Stairs;
use super::{PaceError, SECOND_NS, ScheduleKind};

/// The flags of a step or line schedule.
pub(super) struct Curve {
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

impl Curve {
    /// Changes until the end is reached or the maximum time has passed, whichever comes first, as
    /// in ghz's manual. (ghz itself overshoots the end if a maximum time is given too.)
    pub fn stairs(&self) -> Result<Stairs, PaceError> {
        let step_ns = self.checked_step_ns()?;
        let bound = self.end().unwrap_or(if self.step > 0 {
            u32::MAX
        } else {
            self.floor.min(self.start)
        });
        let steps = self
            .start
            .abs_diff(bound)
            .div_ceil(self.step.unsigned_abs());
        let reached_ns = u64::from(steps).saturating_mul(step_ns);
        let stairs = Stairs::new(self.start, self.step, step_ns, reached_ns, bound);
        if self.max_ns == 0 || self.max_ns >= reached_ns {
            return Ok(stairs);
        }
        let flat = self.end().unwrap_or_else(|| stairs.value_at(self.max_ns));
        Ok(Stairs::new(
            self.start,
            self.step,
            step_ns,
            self.max_ns,
            flat,
        ))
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
