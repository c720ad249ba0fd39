//! A scenario file, compiled: what every thread of a run reads and nobody changes.
//!
//! All names of the file have become indices: into [`Plan::targets`], [`Plan::feeds`], [`Plan::scenarios`],
//! [`Plan::steps`], and slots of [`Values`](super::Values). Times are in nanoseconds, sizes in bytes.

mod data;
mod load;
mod step;
mod target;

use std::path::PathBuf;

use serde::Deserialize;

pub use data::{AtEnd, Feed, RowOrder, Slice, Source, TimeFormat};
pub use load::{FAILS_IF, Goal, Limits, Load, Phase, Phases, WhenFull};
pub use step::{
    Check, Expect, GrpcRequest, HttpRequest, JsonType, Part, Pointer, Request, Rule, Save, Script,
    Step, Url,
};
pub use target::{Route, Target, TlsFiles, Version};

use super::Slot;
use volley_load::spec::ListenAddress;

/// The largest body that is read, in bytes, unless a file says otherwise.
pub const MAX_BODY: usize = 16 << 20;

/// Everything that a run needs.
#[derive(Debug)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub feeds: Vec<Feed>,
    /// Every step of the file, setup and teardown included; a step's index is its number in counters and reports.
    pub steps: Vec<Step>,
    pub scenarios: Vec<Scenario>,
    /// Steps that run once before the load; their values are for everybody.
    pub setup: Vec<Action>,
    /// Steps that run once after it.
    pub teardown: Vec<Action>,
    /// For the slots of `setup`: which values are asked for again, and when.
    pub refreshes: Vec<Refresh>,
    /// What makes iterations begin; each scenario belongs to one.
    pub loads: Vec<Load>,
    pub limits: Limits,
    pub thresholds: Vec<Goal>,
    /// By slot: the name in the file, for messages.
    pub slots: Vec<String>,
    /// Slots below this one belong to everybody: setup fills them, and no iteration clears them.
    pub common_slots: u16,
    /// A path in the file's folder is relative to this.
    pub folder: PathBuf,
    /// The files that the file names.
    pub files: Vec<PathBuf>,
    /// `--control`: where the run can be changed.
    pub control: Option<ListenAddress>,
    /// Names and values that reports keep.
    pub tags: Vec<(String, String)>,
}

impl Plan {
    /// A step's name in messages.
    #[must_use]
    pub fn step_name(&self, step: usize) -> String {
        self.steps
            .get(step)
            .map_or_else(String::new, |step| step.name.clone())
    }

    /// A scenario's name in messages.
    #[must_use]
    pub fn scenario_name(&self, scenario: usize) -> &str {
        let scenario = self.scenarios.get(scenario);
        scenario.map_or("", |scenario| &scenario.name)
    }
}

/// What a user does.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub actions: Vec<Action>,
    /// Feeds that each iteration draws from at its beginning.
    pub draws: Vec<usize>,
    /// It draws from parts of connections, so that an iteration keeps to one connection of each target, of so many.
    pub keeps_to: Option<u32>,
    /// How often an iteration repeats its actions.
    pub repeat: u32,
    pub on_failure: OnFailure,
    /// Cookies of responses are sent with later requests of the same iteration.
    pub keeps_cookies: bool,
}

/// One thing after another.
#[derive(Clone, Debug)]
pub enum Action {
    /// Index into [`Plan::steps`].
    Step(usize),
    /// Steps that are sent at the same time; the next action begins when all are over.
    Together(Vec<usize>),
    /// Waits for a time in `least_ns..=most_ns`.
    Think { least_ns: u64, most_ns: u64 },
    /// Draws from a feed again.
    Draw(usize),
}

impl Action {
    /// The steps that it does.
    #[must_use]
    pub fn steps(&self) -> &[usize] {
        match self {
            Self::Step(step) => std::slice::from_ref(step),
            Self::Together(steps) => steps,
            Self::Think { .. } | Self::Draw(_) => &[],
        }
    }
}

/// What a failed step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The iteration is over, as failed.
    #[default]
    EndIteration,
    /// The next action begins; the iteration is failed all the same.
    Continue,
    /// The run ends as failed.
    EndRun,
}

/// A value of setup that grows old.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The setup's action that asks for it again.
    pub action: usize,
    /// The slot that holds the seconds until it is too old, or a fixed time.
    pub after: After,
    /// How much earlier it is asked for.
    pub early_ns: u64,
}

/// When a value is too old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    Fixed(u64),
    Seconds(Slot),
}
