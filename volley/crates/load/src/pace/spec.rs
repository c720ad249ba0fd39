//! Load and concurrency over time as plain data, before they are compiled.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use volley_base::units::duration;
use volley_base::{defaults, named};

named! {
    /// How a value changes over time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
    #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum ScheduleKind {
        /// The same value all the time.
        #[default]
        Const = "const",
        /// `step` is added at the end of each `step_duration`.
        Step = "step",
        /// `step` is added at the end of each second.
        Line = "line",
    }
}

/// `--rps` and the `--load-*` flags: calls per second over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RateSpec {
    /// How the rate changes.
    pub schedule: ScheduleKind,
    /// Calls per second of a `const` schedule; 0 sets no limit (closed loop).
    pub rps: u32,
    /// Calls per second at the start of a `step` or `line` schedule; may be 0.
    pub start: u32,
    /// Calls per second to add per step (`step`) or per second (`line`); a negative number lowers the rate.
    pub step: i32,
    /// Calls per second at which the change ends; 0 or missing: no upper bound, 0 downwards.
    pub end: Option<u32>,
    /// Length of one step; zero unless `schedule` is `step`.
    #[serde(with = "duration::text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub step_duration: Duration,
    /// After this time the rate is `end`, or stays as it is without `end`; zero: no limit.
    #[serde(with = "duration::text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub max_duration: Duration,
    /// Calls come at random (a Poisson process), as this seed decides; missing: evenly.
    #[serde(skip)]
    pub poisson: Option<u64>,
}

defaults! {
    /// `-c` and the `--concurrency-*` flags: workers over time. A worker has one call open at a time.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
    #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct WorkersSpec {
        /// How their number changes.
        pub schedule: ScheduleKind = ScheduleKind::Const,
        /// Workers of a `const` schedule.
        pub workers: u32 = 50,
        /// Workers at the start of a `step` or `line` schedule.
        pub start: u32 = 0,
        /// Workers to add per step (`step`) or per second (`line`); a negative number removes workers.
        pub step: i32 = 1,
        /// Number of workers at which the change ends; 0 or missing: no upper bound, 0 downwards.
        pub end: Option<u32> = None,
        /// Length of one step; zero unless `schedule` is `step`.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub step_duration: Duration = Duration::ZERO,
        /// After this time the number of workers is `end`, or stays as it is without `end`; zero: no limit.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub max_duration: Duration = Duration::ZERO,
    }
}

/// Why a schedule is invalid. `flags` is the family of flags it was given with: `load` or
/// `concurrency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaceError {
    #[error(
        "`--{flags}-step` is 0, so a `{schedule}` schedule never changes: give a step, or use `const`"
    )]
    NoStep {
        flags: &'static str,
        schedule: &'static str,
    },

    #[error(
        "a `step` schedule needs the length of a step: give `--{flags}-step-duration`, such as `5s`"
    )]
    NoStepDuration { flags: &'static str },

    #[error(
        "`--{flags}-start` and `--{flags}-end` are both {value}, so nothing changes: change one of them, or use `const`"
    )]
    NoDistance { flags: &'static str, value: u32 },

    #[error(
        "`--{flags}-step` {step} leads from `--{flags}-start` {start} away from `--{flags}-end` {end}: change its sign"
    )]
    WrongWay {
        flags: &'static str,
        step: i32,
        start: u32,
        end: u32,
    },

    #[error(
        "`--{flags}-step` {step} cannot go down from `--{flags}-start` 0: start higher, or make the step positive"
    )]
    StartsAtFloor { flags: &'static str, step: i32 },

    #[error("`--concurrency` is 0, so no call could be sent: give at least 1")]
    NoWorkers,
}
