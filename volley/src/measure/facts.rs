//! The facts of a run that no thread counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::model::{Cost, EndedBy, Event, Use};
use crate::report::warning::Warning;
use crate::spec::Spec;

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
        self.planned_reconnects = self
            .planned_reconnects
            .saturating_add(other.planned_reconnects);
        for (address, other) in &other.addresses {
            self.addresses
                .entry(address.clone())
                .or_default()
                .add(other);
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
