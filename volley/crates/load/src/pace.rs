//! When calls are sent, and by how many workers: ghz's `const`, `step` and `line` schedules, in
//! exact integers.
//!
//! Everything here is pure: a schedule has no clock. It answers questions about nanoseconds after
//! its start.

mod agenda;
mod cursor;
mod curve;
mod phases;
mod poisson;
#[cfg(test)]
mod properties;
mod schedule;
mod spec;
mod stairs;
mod streams;
mod timetable;
mod workers;

pub use agenda::{Agenda, Lane};
pub use cursor::{Cursor, Planned};
pub(crate) use curve::Curve;
pub use phases::{Phase, PhasedRate, PhasedUsers};
pub use schedule::Schedule;
pub use spec::{PaceError, RateSpec, ScheduleKind, WorkersSpec};
pub use streams::StreamPace;
pub use timetable::{Even, Timetable};
pub use workers::Workers;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// A duration in whole nanoseconds; durations over 584 years count as 584 years.
pub fn whole_ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
