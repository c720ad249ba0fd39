//! What the command line says about load and concurrency over time, before it is compiled into a schedule.

use std::time::Duration;

/// How a value changes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleKind {
    /// The same value from the first to the last second.
    #[default]
    Const,
    /// `step` is added at the end of each `step_duration`.
    Step,
    /// `step` is added in the course of each second.
    Line,
}

impl ScheduleKind {
    /// The word on the command line: `const`, `step` or `line`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Const => "const",
            Self::Step => "step",
            Self::Line => "line",
        }
    }
}

/// `--rps` and the `--load-*` flags: calls per second over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadSpec {
    pub schedule: ScheduleKind,
    /// Calls per second of a `const` schedule; 0 sets no limit (closed loop).
    pub rps: u32,
    /// Calls per second at the start of a `step` or `line` schedule; may be 0.
    pub start: u32,
    /// Calls per second added per step (`step`) or per second (`line`); negative descends.
    pub step: i32,
    /// Calls per second at which the change ends; `None`: no bound upwards, 0 downwards.
    pub end: Option<u32>,
    /// Length of one step; zero unless `schedule` is `step`.
    pub step_duration: Duration,
    /// After this time the rate stays at `end` (or where it has got to, without `end`); zero: no such time.
    pub max_duration: Duration,
}

/// `-c` and the `--concurrency-*` flags: workers over time. A worker has one call open at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcurrencySpec {
    pub schedule: ScheduleKind,
    /// Workers of a `const` schedule.
    pub workers: u32,
    /// Workers at the start of a `step` or `line` schedule.
    pub start: u32,
    /// Workers added per step (`step`) or per second (`line`); negative takes some away.
    pub step: i32,
    /// Number of workers at which the change ends; `None`: no bound upwards, 0 downwards.
    pub end: Option<u32>,
    /// Length of one step; zero unless `schedule` is `step`.
    pub step_duration: Duration,
    /// After this time the number of workers goes to `end` (or stays, without `end`); zero: no such time.
    pub max_duration: Duration,
}
