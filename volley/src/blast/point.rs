//! Adds up the shots of a point.

use std::collections::BTreeMap;

use super::slots::{Slot, Slots};
use super::statistics;
use super::way::Way;
use crate::report::blast::{Point, Shot};
use crate::report::{Kind, Latency};

/// A point that is being measured.
#[derive(Debug)]
pub struct Gathering {
    pub way: Way,
    pub requests: u32,
    /// Latency of every OK call, from the barrier on.
    latencies_ns: Vec<u64>,
    shots: Vec<Shot>,
}

impl Gathering {
    pub fn new(way: Way, requests: u32) -> Self {
        Self {
            way,
            requests,
            latencies_ns: Vec::new(),
            shots: Vec::new(),
        }
    }

    /// Counts what all threads recorded of one blast, released at `released_ns`. Returns the number of failed calls.
    pub fn add(&mut self, order: u64, released_ns: u64, threads: &[Slots]) -> u64 {
        let mut shot = Shot {
            order,
            span_ns: 0,
            ok: 0,
            failed: BTreeMap::new(),
        };
        for slot in threads.iter().flat_map(Slots::iter) {
            match slot {
                Slot::Ok(end_ns) => {
                    let latency_ns = end_ns.saturating_sub(released_ns);
                    shot.ok += 1;
                    shot.span_ns = shot.span_ns.max(latency_ns);
                    self.latencies_ns.push(latency_ns);
                }
                Slot::Failed(code) => *shot.failed.entry(code.name()).or_default() += 1,
                Slot::Open => {}
            }
        }
        let failed = shot.failed.values().sum();
        self.shots.push(shot);
        failed
    }

    /// Whether a call was OK.
    pub fn has_ok(&self) -> bool {
        !self.latencies_ns.is_empty()
    }

    /// The point's figures.
    pub fn finish(self) -> Point {
        let mut failed = BTreeMap::new();
        for (code, count) in self.shots.iter().flat_map(|shot| &shot.failed) {
            *failed.entry(*code).or_default() += count;
        }
        Point {
            connections: self.way.connections,
            requests: self.requests,
            rate: statistics::median(self.shots.iter().map(Shot::rate).collect()),
            ok: self.shots.iter().map(|shot| shot.ok).sum(),
            failed,
            latency: Latency::from_samples(Kind::Response, self.latencies_ns),
            shots: self.shots,
        }
    }
}
