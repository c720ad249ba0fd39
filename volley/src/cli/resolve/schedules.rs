//! Load and concurrency over time.

use crate::cli::args::ScheduleArgs;
use crate::pace::{ConcurrencySpec, LoadSpec, Schedule, ScheduleKind, Workers};

use super::error::UsageError;
use super::load::Load;

pub struct Schedules {
    pub load: LoadSpec,
    pub concurrency: ConcurrencySpec,
    /// The most workers at any time.
    pub most_workers: u32,
}

pub fn resolve(args: &ScheduleArgs, load: &Load) -> Result<Schedules, UsageError> {
    let rate = LoadSpec {
        schedule: args.load_schedule.unwrap_or_default().into(),
        rps: load.rps,
        start: args.load_start.unwrap_or_default(),
        step: args.load_step.unwrap_or_default(),
        end: args.load_end.filter(|end| *end > 0),
        step_duration: args.load_step_duration.unwrap_or_default(),
        max_duration: args.load_max_duration.unwrap_or_default(),
    };
    let workers = ConcurrencySpec {
        schedule: args.concurrency_schedule.unwrap_or_default().into(),
        workers: load.concurrency,
        start: args.concurrency_start.unwrap_or_default(),
        step: args.concurrency_step.unwrap_or(1),
        end: args.concurrency_end.filter(|end| *end > 0),
        step_duration: args.concurrency_step_duration.unwrap_or_default(),
        max_duration: args.concurrency_max_duration.unwrap_or_default(),
    };
    if rate.schedule != ScheduleKind::Const && rate.rps > 0 {
        return Err(UsageError::RpsInSchedule {
            schedule: rate.schedule.name(),
        });
    }
    refuse_unused(
        "load",
        rate.schedule,
        [
            ("start", rate.start > 0),
            ("step", rate.step != 0),
            ("end", rate.end.is_some()),
            ("step-duration", !rate.step_duration.is_zero()),
            ("max-duration", !rate.max_duration.is_zero()),
        ],
    )?;
    refuse_unused(
        "concurrency",
        workers.schedule,
        [
            ("start", workers.start > 0),
            // ghz sets 1 by default.
            ("step", !matches!(workers.step, 0 | 1)),
            ("end", workers.end.is_some()),
            ("step-duration", !workers.step_duration.is_zero()),
            ("max-duration", !workers.max_duration.is_zero()),
        ],
    )?;
    // The run compiles both again. Here, their errors are still usage errors.
    Schedule::new(&rate)?;
    let most_workers = Workers::new(&workers)?.most();
    Ok(Schedules {
        load: rate,
        concurrency: workers,
        most_workers,
    })
}

/// Refuses a flag that a schedule of this kind would ignore.
fn refuse_unused(
    prefix: &'static str,
    schedule: ScheduleKind,
    given: [(&'static str, bool); 5],
) -> Result<(), UsageError> {
    let mut given = given
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(flag, _)| flag);
    match schedule {
        ScheduleKind::Step => Ok(()),
        ScheduleKind::Line if given.any(|flag| flag == "step-duration") => {
            Err(UsageError::StepDurationInLine { prefix })
        }
        ScheduleKind::Line => Ok(()),
        ScheduleKind::Const => match given.next() {
            Some(flag) => Err(UsageError::NoSchedule {
                flag: format!("{prefix}-{flag}"),
                prefix,
            }),
            None => Ok(()),
        },
    }
}

/// Refuses idle connections (without a worker) and idle threads (without a connection).
pub fn check_connections(load: &Load, schedules: &Schedules) -> Result<(), UsageError> {
    let &Load {
        connections,
        threads,
        ..
    } = load;
    let workers = schedules.most_workers;
    if connections > workers {
        return Err(UsageError::IdleConnections {
            connections,
            workers,
            flag: flag_of_most(&schedules.concurrency),
        });
    }
    match threads {
        Some(threads) if threads > connections => Err(UsageError::IdleThreads {
            threads,
            connections,
        }),
        _ => Ok(()),
    }
}

/// The flag that sets the maximum number of workers.
fn flag_of_most(spec: &ConcurrencySpec) -> &'static str {
    match spec.schedule {
        ScheduleKind::Const => "-c",
        _ if spec.step < 0 => "--concurrency-start",
        _ => "--concurrency-end",
    }
}
