//! The facts of a run that no thread counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use volley_base::sums;
use volley_load::spec::{Command, Spec};

use super::Warning;

/// What the engine knows about a run, and no thread counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFacts {
    /// What was run.
    pub spec: Spec,
    /// The target, `localhost:8080`.
    pub host: String,
    /// `package.Service/Method`.
    pub call: String,
    /// From the first call to the window's opening; 0 without a warm-up.
    pub warmup_ns: u64,
    /// What CLOCK_MONOTONIC of the process's host showed when its window opened; of several processes, the first one's.
    #[serde(default)]
    pub opened_monotonic_ns: u64,
    /// From the load's start until the last thread woke up for it, if that is known.
    #[serde(default)]
    pub late_ns: Option<u64>,
    /// From the window's opening until the last counted call ended or was cut.
    pub elapsed_ns: u64,
    /// From the window's opening until no new calls started.
    pub window_ns: u64,
    pub ended_by: EndedBy,
    pub threads: u32,
    pub connections: u32,
    /// Connections reopened during the run.
    pub reconnects: u64,
    /// Connections that were replaced without need.
    #[serde(default)]
    pub planned_reconnects: u64,
    /// What went to each address.
    #[serde(default)]
    pub addresses: BTreeMap<String, Use>,
    /// What the generator itself used; see [`super::process`].
    pub cost: Cost,
    /// What was changed while the run went on.
    pub events: Vec<Event>,
    /// Warnings that only the engine can give; those that follow from the counts are added.
    pub warnings: Vec<Warning>,
}

impl RunFacts {
    /// Adds those of another process that made a part of the same load.
    pub(super) fn merge(&mut self, other: Self) {
        if self.host != other.host {
            self.warnings.push(Warning::Hosts {
                one: self.host.clone(),
                other: other.host,
            });
        }
        self.warmup_ns = self.warmup_ns.max(other.warmup_ns);
        self.late_ns = self.late_ns.max(other.late_ns);
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.window_ns = self.window_ns.max(other.window_ns);
        self.ended_by = self.ended_by.over(other.ended_by);
        self.threads = self.threads.saturating_add(other.threads);
        self.connections = self.connections.saturating_add(other.connections);
        self.reconnects = self.reconnects.saturating_add(other.reconnects);
        let planned = other.planned_reconnects;
        self.planned_reconnects = self.planned_reconnects.saturating_add(planned);
        for (address, other) in other.addresses {
            self.addresses.entry(address).or_default().add(&other);
        }
        self.cost.add(&other.cost);
        self.events.extend(other.events);
        self.events.sort_by_key(|event| event.at_ns);
        for warning in other.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndedBy {
    /// Every call was made and answered, so none was cut. ghz: `normal`.
    Finished,
    /// A time limit passed: the window's, or that for open calls to end. ghz: `timeout`.
    Window,
    /// Somebody ended the run: a signal, a key, or an order. ghz: `cancel`.
    Signal,
}

impl EndedBy {
    /// Why a whole ended: a signal to one of its parts takes precedence over a time limit, and that over the end of all
    /// calls.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        match (self, other) {
            (Self::Signal, _) | (_, Self::Signal) => Self::Signal,
            (Self::Window, _) | (_, Self::Window) => Self::Window,
            (Self::Finished, Self::Finished) => Self::Finished,
        }
    }
}

sums! {
    /// What went to one address while the run was counted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Use {
        /// Calls sent to it; each try counts.
        pub calls: u64,
        /// Calls that were open on a connection that was lost.
        pub lost_calls: u64,
        /// Connections that were open when the window opened, or were opened later.
        pub connections: u64,
        /// Connections that were lost; those that the server retired are not.
        pub lost_connections: u64,
    }
}

/// The generator's own resource use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// User and system time of this process while the run was counted.
    pub cpu_s: f64,
    /// The same since the process started, including connecting and warm-up.
    pub cpu_total_s: f64,
    /// User and system time of the busiest thread while the run was counted.
    pub busiest_thread_s: f64,
    /// The peak resident memory of this process.
    pub peak_bytes: u64,
}

impl Cost {
    /// Adds that of another process.
    pub fn add(&mut self, other: &Self) {
        self.cpu_s += other.cpu_s;
        self.cpu_total_s += other.cpu_total_s;
        self.busiest_thread_s = self.busiest_thread_s.max(other.busiest_thread_s);
        self.peak_bytes = self.peak_bytes.saturating_add(other.peak_bytes);
    }
}

/// Something that was changed while the run went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it took effect, since the window opened; negative in the warm-up.
    pub at_ns: i64,
    pub what: Command,
}
