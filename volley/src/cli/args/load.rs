//! How much to send, and how that changes over time.

use std::time::Duration;

use clap::Args;

use crate::cli::value::{one_of, time, whole};
use crate::pace::ScheduleKind;
use crate::plain::StartAt;
use crate::spec::{DurationStop, Share};

/// How much to send.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Calls to make (default 200)
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>)]
    pub total: Option<u64>,

    /// Make calls for this long; -n is then ignored
    #[arg(short = 'z', long, value_name = "TIME", value_parser = time)]
    pub duration: Option<Duration>,

    /// End the run after this time at the latest
    #[arg(short = 'x', long, value_name = "TIME", value_parser = time)]
    pub max_duration: Option<Duration>,

    /// What happens to calls that are still open at the end: close cuts them (default), wait lets
    /// them finish, ignore cuts them and counts only their ages
    #[arg(long, value_name = "WHAT", value_parser = one_of::<DurationStop>(["close", "wait", "ignore"]))]
    #[arg(ignore_case = true, hide_possible_values = true)]
    pub duration_stop: Option<DurationStop>,

    /// Workers; each has one call open at a time (default 50)
    #[arg(short = 'c', long, value_name = "N", value_parser = whole::<u32>)]
    pub concurrency: Option<u32>,

    /// Connections, shared evenly by the workers; at most -c (default 1)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub connections: Option<u32>,

    /// Calls per second, all workers together; latency is then measured from when a call was due
    /// (default 0: no limit)
    #[arg(short = 'r', long, value_name = "N", value_parser = whole::<u32>)]
    pub rps: Option<u32>,

    /// Send each call when it is due, even if its worker still has a call open
    #[arg(long = "async")]
    pub is_async: Option<bool>,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// + Make the K-th of N parts of the load: calls and connections are dealt out in turn, and the
    ///   JSON report holds what `volley merge` needs
    #[arg(long, value_name = "K/N")]
    pub share: Option<Share>,

    /// + Start the load when CLOCK_MONOTONIC shows this many ns, or those that come as a line on
    ///   stdin; a line `volley: ready` on stderr says that all connections stand
    #[arg(long, value_name = "NS|stdin", value_parser = start_at)]
    pub start_at: Option<StartAt>,

    /// + With --rps: wake at most once in this time, such as 10ms, to look for replies and to send what
    ///   is due, which takes less CPU at high rates; calls are late by up to as much, and the report
    ///   says so
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub coalesce_sends: Option<Duration>,

    /// + With --rps: wait for the next due call on the CPU, not asleep, so that calls leave less late;
    ///   each thread then takes a whole CPU (see --threads)
    #[arg(long)]
    pub spin: Option<bool>,

    /// + Run the same load for this long first, without counting it
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub warmup: Option<Duration>,

    /// + After --warmup, go on until a line comes on stdin: it opens the window of -z; calls that were
    ///   due before it are not counted
    #[arg(long)]
    pub open_on_stdin: Option<bool>,

    /// + With --open-on-stdin: end the run if its warm-up gets longer than this (default 5m)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub warmup_at_most: Option<Duration>,

    /// + With --duration-stop wait: time limit for open calls to finish (default: that of -t, else
    ///   20s)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub drain_timeout: Option<Duration>,
}

/// Limits that apply to any load, so to `volley blast` and `volley find` too.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Load")]
pub struct LimitArgs {
    /// Time limit for each call; 0 means none (default 20s)
    #[arg(short = 't', long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// Use at most N threads; 0 means the default of --threads
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub cpus: Option<u32>,

    /// + Threads that send and receive, at most --connections (default: the CPUs that taskset
    ///   allows, else half of the host's)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub threads: Option<u32>,
}

fn start_at(text: &str) -> Result<StartAt, &'static str> {
    match text {
        "stdin" => Ok(StartAt::Stdin),
        number => match number.parse() {
            Ok(ns) => Ok(StartAt::Monotonic(ns)),
            Err(_) => Err("use nanoseconds of CLOCK_MONOTONIC, or `stdin`"),
        },
    }
}

/// The kinds of schedules.
const SCHEDULES: [&str; 3] = ["const", "step", "line"];

/// How load and concurrency change over time.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Schedules: load and concurrency that change over time")]
pub struct ScheduleArgs {
    /// const (default, see --rps), step or line
    #[arg(long, value_name = "KIND", value_parser = one_of::<ScheduleKind>(SCHEDULES))]
    #[arg(ignore_case = true, hide_possible_values = true)]
    pub load_schedule: Option<ScheduleKind>,

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
    #[arg(long, value_name = "KIND", value_parser = one_of::<ScheduleKind>(SCHEDULES))]
    #[arg(ignore_case = true, hide_possible_values = true)]
    pub concurrency_schedule: Option<ScheduleKind>,

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
