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

    /// Make calls for this long, whatever -n says
    #[arg(short = 'z', long, value_name = "TIME", value_parser = time)]
    pub duration: Option<Duration>,

    /// End after this time even if -n calls are not done
    #[arg(short = 'x', long, value_name = "TIME", value_parser = time)]
    pub max_duration: Option<Duration>,

    /// Calls still open when the time is over: close cuts them (default), wait lets them end,
    /// ignore forgets them
    #[arg(
        long,
        value_name = "WHAT",
        ignore_case = true,
        hide_possible_values = true
    )]
    pub duration_stop: Option<DurationStop>,

    /// Workers, each with one call open at a time (default 50)
    #[arg(short = 'c', long, value_name = "N", value_parser = whole::<u32>)]
    pub concurrency: Option<u32>,

    /// Connections the workers share evenly, at most -c (default 1)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub connections: Option<u32>,

    /// Calls per second over all workers; latency then counts from when a call was due (default 0:
    /// no limit)
    #[arg(short = 'r', long, value_name = "N", value_parser = whole::<u32>)]
    pub rps: Option<u32>,

    /// Send each call when it is due, even if its worker has calls open
    #[arg(long = "async")]
    pub is_async: Option<bool>,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// + Run the same load for this long first, and count nothing of it
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub warmup: Option<Duration>,

    /// + With --duration-stop wait: how long open calls may take to end (default: that of -t, else
    ///   20s)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub drain_timeout: Option<Duration>,
}

/// What holds for any load, and so for `volley blast` too.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Load")]
pub struct LimitArgs {
    /// Time limit of each call, 0: none (default 20s)
    #[arg(short = 't', long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// + Threads that send and receive, at most --connections (default: what the host can spare)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub threads: Option<u32>,
}

/// What becomes of calls that are open when the time of the run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DurationStop {
    /// They are cut, and counted as cut.
    #[default]
    Close,
    /// They may end, and count.
    Wait,
    /// They are cut, and not counted at all.
    Ignore,
}
