//! Why a schedule is refused.

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
