//! The load: number of calls, duration, workers and connections.

use std::time::Duration;

use crate::cli::args::LoadArgs;

use super::above_zero;
use super::error::UsageError;

const TOTAL: u64 = 200;
const CONCURRENCY: u32 = 50;
const TIMEOUT: Duration = Duration::from_secs(20);
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

pub struct Load {
    pub total: Option<u64>,
    pub duration: Option<Duration>,
    pub max_duration: Option<Duration>,
    pub timeout: Option<Duration>,
    pub drain_timeout: Duration,
    pub concurrency: u32,
    pub connections: u32,
    pub threads: Option<u32>,
    pub rps: u32,
}

pub fn resolve(args: &LoadArgs) -> Result<Load, UsageError> {
    let bound = above_zero(args.max_duration);
    let (total, duration, max_duration) = match above_zero(args.duration) {
        // ghz's manual: with -z, -n is ignored. -x still applies.
        Some(duration) => {
            let shorter = bound.map_or(duration, |bound| bound.min(duration));
            (None, Some(shorter), None)
        }
        None => (Some(args.total.unwrap_or(TOTAL)), None, bound),
    };
    if total == Some(0) {
        return Err(UsageError::NoCalls);
    }
    let timeout = above_zero(Some(args.limits.timeout.unwrap_or(TIMEOUT)));
    let load = Load {
        total,
        duration,
        max_duration,
        timeout,
        drain_timeout: args.drain_timeout.or(timeout).unwrap_or(DRAIN_TIMEOUT),
        concurrency: args.concurrency.unwrap_or(CONCURRENCY),
        connections: args.connections.unwrap_or(1),
        threads: args.limits.threads,
        rps: args.rps.unwrap_or_default(),
    };
    for (flag, number, work) in [
        ("-c", load.concurrency, "worker to make a call"),
        (
            "--connections",
            load.connections,
            "connection to send calls on",
        ),
        (
            "--threads",
            load.threads.unwrap_or(1),
            "thread to do the work",
        ),
    ] {
        if number == 0 {
            return Err(UsageError::None { flag, work });
        }
    }
    Ok(load)
}
