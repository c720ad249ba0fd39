//! What is known of a run while it goes on.

use serde::Serialize;

use crate::measure::latency::bounds;
use crate::measure::{Bin, Percentile, Told, WithOpen};
use crate::pace::{SECOND_NS, ScheduleKind};
use crate::plain::Stage;
use crate::spec::{Command, LoadSpec, Spec};

/// What is known of a run: its load, its last second, and the sums since its window opened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// `--name`; empty if none was given.
    pub name: String,
    /// The target, as the user wrote it.
    pub host: String,
    /// The method.
    pub call: String,
    /// `connecting`, `warmup` or `window`.
    pub phase: &'static str,
    /// Seconds of the window, or of the warm-up, that are over.
    pub elapsed_s: u64,
    /// What the load is now.
    pub load: LoadNow,
    /// The last second that is over.
    pub second: SecondNow,
    /// Sums over all seconds of the window.
    pub total: Bin,
}

/// What the load is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadNow {
    /// Calls per second; `null` if they follow a schedule, or if workers set the pace.
    pub rps: Option<u32>,
    /// Workers; `null` if their number follows a schedule.
    pub concurrency: Option<u32>,
    /// No calls are started.
    pub paused: bool,
    /// A rate sets the pace, not the workers.
    #[serde(skip)]
    pub has_rate: bool,
}

/// A second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SecondNow {
    /// Its counts.
    #[serde(flatten)]
    pub counts: Bin,
    /// The median latency of the calls that ended in it, and of those that are open, in ns; `null` without any.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The longest one.
    pub max_ns: Option<u64>,
    /// Which of them are lower bounds, because too much is open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<&'static str>,
}

impl Stats {
    /// What is known before a run starts.
    #[must_use]
    pub fn new(spec: &Spec) -> Self {
        Self {
            name: spec.name.clone(),
            host: spec.target.host.clone(),
            call: spec.request.call.clone(),
            phase: "connecting",
            elapsed_s: 0,
            load: LoadNow::new(&spec.load),
            second: SecondNow::default(),
            total: Bin::default(),
        }
    }

    /// A second is over.
    pub fn tell(&mut self, told: &Told) {
        self.second = SecondNow::of(told);
        self.elapsed_s = told.at + told.length_ns / SECOND_NS;
        if !told.is_warm_up {
            self.total.add(&self.second.counts);
        }
    }

    /// A stage of the load has begun.
    pub fn begin(&mut self, stage: Stage) {
        self.elapsed_s = 0;
        self.phase = match stage {
            Stage::Warmup => "warmup",
            _ => "window",
        };
    }

    /// The load was changed.
    pub fn change(&mut self, command: Command) {
        let load = &mut self.load;
        load.paused = command.pauses().unwrap_or(load.paused);
        match command {
            Command::Rate(rps) => load.rps = Some(rps),
            Command::Workers(workers) => load.concurrency = Some(workers),
            Command::Pause | Command::Resume | Command::Stop => {}
        }
    }
}

impl LoadNow {
    fn new(load: &LoadSpec) -> Self {
        let (rate, workers) = (&load.rate, &load.concurrency);
        let is_constant = workers.schedule == ScheduleKind::Const;
        Self {
            rps: Some(rate.rps).filter(|rps| *rps > 0),
            concurrency: is_constant.then_some(workers.workers),
            paused: false,
            has_rate: load.is_open_loop(),
        }
    }
}

impl SecondNow {
    /// A second that is over.
    #[must_use]
    pub fn of(told: &Told) -> Self {
        let WithOpen { p50, p99, max } = told.with_open;
        let ns = |found: Option<Percentile>| found.map(|found| found.ns);
        Self {
            counts: told.counts,
            p50_ns: ns(p50),
            p99_ns: ns(p99),
            max_ns: ns(max),
            at_least: bounds([("p50_ns", p50), ("p99_ns", p99), ("max_ns", max)]),
        }
    }
}
