use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::value::{time, whole};
use crate::pace::ScheduleKind;

/// How load and concurrency change over time.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Schedules: load and concurrency that change over time")]
pub struct ScheduleArgs {
    /// const (default, see --rps), step or line
    #[arg(
        long,
        value_name = "KIND",
        ignore_case = true,
        hide_possible_values = true
    )]
    pub load_schedule: Option<Kind>,

    /// Calls/s at the start (default 0)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub load_start: Option<u32>,

    /// Calls/s to add per step, or per second of a line
    #[arg(long, value_name = "N", value_parser = whole::<i32>, allow_negative_numbers = true)]
    pub load_step: Option<i32>,

    /// Calls/s at which the change ends (default 0: no upper bound)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub load_end: Option<u32>,

    /// Length of each step (step only)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub load_step_duration: Option<Duration>,

    /// Stop the change after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub load_max_duration: Option<Duration>,

    /// const (default, see -c), step or line
    #[arg(
        long,
        value_name = "KIND",
        ignore_case = true,
        hide_possible_values = true
    )]
    pub concurrency_schedule: Option<Kind>,

    /// Workers at the start (default 0)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub concurrency_start: Option<u32>,

    /// Workers to add per step, or per second (default 1)
    #[arg(long, value_name = "N", value_parser = whole::<i32>, allow_negative_numbers = true)]
    pub concurrency_step: Option<i32>,

    /// Workers at which the change ends (default 0: no upper bound)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub concurrency_end: Option<u32>,

    /// Length of each step (step only)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub concurrency_step_duration: Option<Duration>,

    /// Stop the change after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub concurrency_max_duration: Option<Duration>,
}

/// [`ScheduleKind`] as a value of a flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    #[default]
    Const,
    Step,
    Line,
}

impl From<Kind> for ScheduleKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Const => Self::Const,
            Kind::Step => Self::Step,
            Kind::Line => Self::Line,
        }
    }
}
