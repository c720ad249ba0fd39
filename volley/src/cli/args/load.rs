use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::value::{time, whole};

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
    /// them finish, ignore cuts them and does not count them
    #[arg(
        long,
        value_name = "WHAT",
        ignore_case = true,
        hide_possible_values = true
    )]
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

    /// + Run the same load for this long first, without counting it
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub warmup: Option<Duration>,

    /// + After --warmup, go on until a line comes on stdin: it opens the window of -z
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

/// Limits that apply to any load, so to `volley blast` too.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Load")]
pub struct LimitArgs {
    /// Time limit for each call; 0 means none (default 20s)
    #[arg(short = 't', long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// + Threads that send and receive, at most --connections (default: the CPUs that taskset
    ///   allows, else half of the host's)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub threads: Option<u32>,
}

/// What happens to calls that are open when the run's time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DurationStop {
    /// They are cut, and counted as cut.
    #[default]
    Close,
    /// They may finish, and are counted.
    Wait,
    /// They are cut, and not counted at all.
    Ignore,
}
