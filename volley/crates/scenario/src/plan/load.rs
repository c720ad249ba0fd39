//! What makes iterations begin, the limits of a run, and the conditions under which it is good.

use serde::Deserialize;

pub use volley_load::pace::Phase;
use volley_load::pace::{PhasedRate, PhasedUsers, Timetable};
use volley_load::spec::Threshold;
use volley_load::spec::threshold::Selected;

/// What makes iterations begin.
#[derive(Clone, Debug)]
pub struct Load {
    /// Scenarios and their weights, which are exact.
    pub scenarios: Vec<(usize, u32)>,
    /// A weight is a share of the requests, not of the iterations.
    pub shares_requests: bool,
    pub phases: Phases,
    /// The most iterations that begin.
    pub iterations: Option<u64>,
    pub start_after_ns: u64,
    /// A user's iterations begin at least so far apart.
    pub pace_ns: u64,
}

/// How the load changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Users, each of which begins an iteration when its last one is over.
    Users(Vec<Phase>),
    /// Iterations that begin at given moments, whatever became of others. In millionths a second.
    Rate(Vec<Phase>),
}

impl Phases {
    /// How long the load is, in ns; `None` if only its number of iterations, or its data, ends it.
    #[must_use]
    pub fn end_ns(&self) -> Option<u64> {
        match self {
            Self::Users(phases) => PhasedUsers::new(phases).end_ns(),
            Self::Rate(phases) => PhasedRate::new(phases).end_ns(),
        }
    }

    /// The most iterations that can begin; without a limit, the greatest number.
    #[must_use]
    pub fn most_iterations(&self) -> u64 {
        match self {
            Self::Users(_) => u64::MAX,
            Self::Rate(phases) => {
                let rate = PhasedRate::new(phases);
                rate.end_ns()
                    .map_or(u64::MAX, |end_ns| rate.count_until(end_ns))
            }
        }
    }
}

/// Limits of a whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most iterations of schedules that may be open at a time, over all threads.
    pub iterations_open: u32,
    pub when_full: WhenFull,
    /// How long open iterations may take after the load's end.
    pub drain_ns: u64,
    /// The largest body that is read, in bytes.
    pub body: usize,
    /// The most memory of each thread's state of Lua, in bytes.
    pub lua_memory: usize,
    /// A thread wakes at most once in this time. 0: whenever something is to do.
    pub coalesce_ns: u64,
}

/// What becomes of an iteration that is due while too many are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is counted as dropped.
    Drop,
    /// It begins later.
    Wait,
}

/// What stands before a condition of `--fail-if`: unlike those of a file, it must not hold.
pub const FAILS_IF: &str = "fails if ";

/// A condition under which the run is good.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its opposite: the run has failed if this holds.
    pub fails_if: Threshold,
    /// As the file says it; [`FAILS_IF`] and what `--fail-if` says.
    pub text: String,
    /// Only this scenario, step or check: `crud.create`.
    pub of: Option<String>,
    /// The run ends as soon as it has failed over the last so many ns.
    pub abort_after_ns: Option<u64>,
}

impl From<&Selected> for Goal {
    /// A condition of `--fail-if`.
    fn from(selected: &Selected) -> Self {
        Self {
            fails_if: selected.threshold.clone(),
            text: format!("{FAILS_IF}{selected}"),
            of: selected.of.clone(),
            abort_after_ns: None,
        }
    }
}
