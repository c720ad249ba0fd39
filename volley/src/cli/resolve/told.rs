//! `--open-on-stdin`: a line on stdin opens the window.

use std::time::Duration;

use crate::cli::args::RunArgs;
use crate::pace::{LoadSpec, ScheduleKind};

use super::error::UsageError;
use super::load::Load;
use super::on;
use super::schedules::Schedules;

const AT_MOST: Duration = Duration::from_secs(300);

/// How long the warm-up may go on until a line comes; `None` if none is waited for.
pub fn resolve(
    args: &RunArgs,
    load: &Load,
    schedules: &Schedules,
) -> Result<Option<Duration>, UsageError> {
    let at_most = args.load.warmup_at_most;
    if !on(args.load.open_on_stdin) {
        return match at_most {
            Some(_) => Err(UsageError::NobodyOpens),
            None => Ok(None),
        };
    }
    if load.total.is_some() {
        return Err(UsageError::OpenedWithoutLength);
    }
    if schedules.load != LoadSpec::default() {
        return Err(UsageError::OpenedSchedule {
            drop: "`--rps` and `--load-schedule`",
        });
    }
    if schedules.concurrency.schedule != ScheduleKind::Const {
        return Err(UsageError::OpenedSchedule {
            drop: "`--concurrency-schedule`",
        });
    }
    if on(args.data.binary) || args.data.data.as_deref().map(str::trim) == Some("@") {
        return Err(UsageError::StdinTwice);
    }
    let warmup = args.load.warmup.unwrap_or_default();
    let at_most = at_most.unwrap_or(AT_MOST.max(2 * warmup));
    if at_most <= warmup {
        return Err(UsageError::NoTimeToOpen);
    }
    Ok(Some(at_most))
}
