//! The flags for load and concurrency over time, before they are compiled into a schedule.

use std::time::Duration;

/// How a value changes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleKind {
    /// The same value all the time.
    #[default]
    Const,
    /// `step` is added at the end of each `step_duration`.
    Step,
    /// `step` is added at the end of each second.
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
    /// Calls per second to add per step (`step`) or per second (`line`); a negative number lowers the rate.
    pub step: i32,
    /// Calls per second at which the change ends; `None`: no upper bound, 0 downwards.
    pub end: Option<u32>,
    /// Length of one step; zero unless `schedule` is `step`.
    pub step_duration: Duration,
    /// After this time the rate is `end`, or stays as it is without `end`; zero: no limit.
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
    /// Workers to add per step (`step`) or per second (`line`); a negative number removes workers.
    pub step: i32,
    /// Number of workers at which the change ends; `None`: no upper bound, 0 downwards.
    pub end: Option<u32>,
    /// Length of one step; zero unless `schedule` is `step`.
    pub step_duration: Duration,
    /// After this time the number of workers is `end`, or stays as it is without `end`; zero: no limit.
    pub max_duration: Duration,
}
