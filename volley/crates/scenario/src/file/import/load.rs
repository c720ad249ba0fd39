//! How many iterations begin, and when.

use super::Importer;
use super::object::Object;
use super::scenario::Scenario;
use super::tree::{Entries, Tree, put};
use crate::file::mistake::Path;

/// The most iterations that volley keeps open, unless the file says more.
const OPEN: u64 = 10_000;

/// What the file says of the load.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Requests a second, on each connection.
    rate: Option<f64>,
    /// In seconds.
    duration: Option<f64>,
    /// Requests, on all connections.
    total: Option<u64>,
}

/// Scenarios with their loads, and the keys beside them.
pub(super) struct Loads {
    pub scenarios: Entries,
    pub top: Entries,
}

/// A load of all scenarios together.
struct Whole<'w> {
    wanted: &'w Wanted,
    /// Iterations that are open.
    users: f64,
    /// Iterations a second.
    rate: Option<f64>,
    iterations: f64,
}

impl Whole<'_> {
    /// A part of it, which begins after some milliseconds.
    fn part(&self, share: f64, wait: u64) -> Tree {
        let from = |tree: Tree, key: &str| tree.at(&Path::default().key(key));
        let mut phase = Entries::new();
        match self.rate {
            Some(rate) => {
                let rate = Tree::from(format!("{}/s", decimal(rate * share)));
                put(&mut phase, "rate", from(rate, "request-per-second"));
            }
            None => {
                // At most 2^64, so the cast keeps it.
                let users = Tree::from((self.users * share).round().max(1.0) as u64);
                put(&mut phase, "users", from(users, "clients"));
            }
        }
        match self.wanted.duration {
            Some(seconds) => {
                let left = seconds - wait as f64 / 1000.0;
                let left = Tree::from(format!("{}s", decimal(left)));
                put(&mut phase, "for", from(left, "duration"));
            }
            None => {
                let iterations = (self.iterations * share - 1e-6).ceil().max(1.0);
                let iterations = Tree::from(iterations as u64);
                put(&mut phase, "iterations", from(iterations, "total-requests"));
            }
        }
        Tree::list([Tree::map(phase)])
    }
}

/// A number with at most six decimals, and at least a millionth.
fn decimal(number: f64) -> String {
    let text = format!("{:.6}", number.max(1e-6));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Importer<'_> {
    /// Reads what the file says of the load.
    pub(super) fn wanted(&mut self, file: &mut Object<'_>) -> Wanted {
        let has_duration = self.value(file, "duration").is_some();
        let duration = self.amount(file, "duration");
        let duration = duration.filter(|seconds| *seconds > 0.0);
        let total = self.whole(file, "total-requests");
        let total = total.filter(|total| *total > 0);
        let rate = self.amount(file, "request-per-second");
        let rate = rate.filter(|rate| *rate > 0.0);
        let mut wanted = Wanted {
            rate,
            duration,
            total,
        };
        if rate.is_some() {
            self.fault(&file.at.key("request-per-second"), "rate-kept");
        }
        match (duration, total) {
            (Some(_), Some(_)) => {
                let text = "`duration` decides alone: left out";
                self.note(&file.at.key("total-requests"), "not-used", text.to_owned());
            }
            (None, None) => {
                self.fault(&file.at.key("duration"), "default-duration");
                if self.how.as_run {
                    self.wrong(
                        &file.at,
                        "`duration` and `total-requests` are missing: give one",
                    );
                }
                if has_duration {
                    wanted.total = Some(1);
                } else {
                    wanted.duration = Some(60.0);
                }
            }
            _ => {}
        }
        wanted
    }

    /// Gives each scenario its load.
    pub(super) fn loads(&mut self, wanted: &Wanted, all: &[Scenario]) -> Loads {
        let shares_requests = self.how.as_run;
        let weight = |one: &Scenario| match shares_requests {
            true => one.weight as f64 / one.requests as f64,
            false => one.weight as f64,
        };
        let sum: f64 = all.iter().map(weight).sum();
        let share = |one: &Scenario| weight(one) / sum.max(f64::MIN_POSITIVE);
        let requests: f64 = all.iter().map(|one| share(one) * one.requests as f64).sum();
        let requests = requests.max(1.0);
        let clients = self.top.clients as f64;
        let whole = Whole {
            wanted,
            users: clients * self.top.streams as f64,
            rate: wanted.rate.map(|rate| rate * clients / requests),
            iterations: wanted.total.unwrap_or(1) as f64 / requests,
        };
        let is_alone = all.len() == 1;
        self.say(&whole, all);
        let late = |one: &Scenario| !is_alone && one.wait > 0;
        let together = all.iter().filter(|one| !late(one)).count();
        let mut scenarios = Entries::new();
        for one in all {
            let mut scenario = Entries::new();
            if late(one) {
                put(&mut scenario, "start_after", format!("{}ms", one.wait));
                let load = whole.part(share(one), one.wait);
                put(&mut scenario, "load", load.at(&one.at));
            } else if together > 1 {
                put(&mut scenario, "weight", one.weight);
            } else if one.wait > 0 && !self.how.as_run {
                put(&mut scenario, "start_after", format!("{}ms", one.wait));
            }
            scenario.extend(one.entries.iter().cloned());
            scenarios.push((one.name.clone(), Tree::map(scenario).at(&one.at)));
        }
        let mut top = Entries::new();
        if together > 0 {
            let rest: f64 = all.iter().filter(|one| !late(one)).map(share).sum();
            put(&mut top, "load", whole.part(rest, 0));
        }
        if together > 1 && shares_requests {
            put(&mut top, "share", "requests");
        }
        let open = self.top.clients.saturating_mul(self.top.streams);
        if wanted.rate.is_some() || open > OPEN {
            let limits = Tree::pair("iterations_open", open.max(1));
            put(&mut top, "limits", limits);
        }
        Loads { scenarios, top }
    }

    /// What the user must know of the load.
    fn say(&mut self, whole: &Whole<'_>, all: &[Scenario]) {
        if let [_, second, ..] = all {
            self.fault(&second.at.key("weight"), "weights");
        }
        let is_alone = all.len() == 1;
        let waits = all.iter().filter(|one| one.wait > 0).count();
        for one in all.iter().filter(|one| one.wait > 0) {
            let at = one.at.key("interval-to-wait-before-start");
            if waits == all.len() {
                self.fault(&at, "wait-alone");
                if self.how.as_run && !is_alone {
                    self.wrong(&at, "h2loadrunner refuses a file whose scenarios all wait");
                }
            }
            if !is_alone {
                let text = "until it starts, the others have its share in h2loadrunner; in volley, it has a load of its own from then on";
                self.note(&at, "own-load", text.to_owned());
            }
            let seconds = whole.wanted.duration;
            if seconds.is_some_and(|seconds| one.wait as f64 >= seconds * 1000.0) {
                self.wrong(&at, "it never starts: it waits for the whole `duration`");
            }
        }
        if whole.rate.is_none() {
            for one in all.iter().filter(|one| one.pauses) {
                let text = "while an iteration pauses, h2loadrunner begins another; volley's users pause: give it more of them";
                self.note(&one.at.key("Requests"), "pauses", text.to_owned());
            }
        }
    }
}
