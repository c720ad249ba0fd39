use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::value::{time, whole};
use crate::pace::ScheduleKind;

/// How load and concurrency change over time.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Schedules, for load and concurrency that change with time")]
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

    /// Calls/s added each step, or each second of a line
    #[arg(long, value_name = "N", value_parser = whole::<i32>, allow_negative_numbers = true)]
    pub load_step: Option<i32>,

    /// Calls/s to stop changing at (default 0: no upper bound)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub load_end: Option<u32>,

    /// How long each step lasts (step only)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub load_step_duration: Option<Duration>,

    /// When to stop changing, whatever has been reached
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

    /// Workers added each step, or second (default 1)
    #[arg(long, value_name = "N", value_parser = whole::<i32>, allow_negative_numbers = true)]
    pub concurrency_step: Option<i32>,

    /// Workers to stop changing at (default 0: no upper bound)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub concurrency_end: Option<u32>,

    /// How long each step lasts (step only)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub concurrency_step_duration: Option<Duration>,

    /// When to stop changing, whatever has been reached
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
