//! Orders to a load while it goes on, and what it is by them.
//!
//! Threads share a list of orders and its length. Each looks at the length every few hundredths of a second, takes what
//! is new, and obeys each order at its moment, which is far enough ahead that all know of it before.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use thiserror::Error;

use crate::plan::{Load, Phases, Plan};
use crate::report::{Event, decimal};
use volley_load::pace::{PhasedRate, PhasedUsers};
use volley_net::Clock;

/// From an order to the moment when it takes effect: longer than threads look away.
const LEAD_NS: u64 = super::driver::GLANCE_NS + 10_000_000;

/// The report lists at most this many orders.
const MOST_ORDERS: usize = 10_000;

/// Scenarios and their weights.
pub type Weights = Vec<(usize, u32)>;

/// What a load is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Of a load: so many iterations begin, in millionths a second.
    Rate(usize, u64),
    /// Of a load: so many users work.
    Users(usize, u64),
    /// A load does again what its phases say for this time.
    Phases(usize),
    /// Scenarios of a load have other weights.
    Weights(usize, Weights),
    /// No iteration begins; open ones go on.
    Pause,
    Resume,
    /// The load ends; open iterations may end.
    Stop,
    /// The same, because a threshold has failed for too long: its place in the plan.
    Abort(usize),
}

/// An order, and the moment when all threads obey it, in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub at_ns: u64,
    pub order: Order,
}

/// Why a run does not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("the load of {0} has users, not a rate: give `users`")]
    HasUsers(String),
    #[error("the load of {0} has a rate, not users: give `rate`")]
    HasRate(String),
    /// Nothing could begin.
    #[error("one weight at least must be above 0; to begin nothing, pause the run")]
    NoWeight,
    #[error("the load of {0} is over")]
    LoadOver(String),
    #[error("the run is paused already")]
    Paused,
    #[error("the run is not paused")]
    NotPaused,
    /// The report would have no end.
    #[error("the run was changed {0} times, and keeps a list of all changes: no more are accepted")]
    TooMany(usize),
    #[error("the load has not started yet")]
    NotStarted,
    #[error(
        "no iteration begins any more, and the last ones are ending: all that can be ordered is `stop`"
    )]
    Draining,
    #[error("the run is over")]
    Over,
}

/// Where a run takes orders.
#[derive(Debug)]
pub struct Control {
    /// Names of scenarios.
    names: Vec<String>,
    state: Mutex<State>,
    /// How many orders there are.
    length: AtomicUsize,
    /// What is open ends now.
    is_cut: AtomicBool,
    /// Ends the run before its load begins.
    signal: Arc<AtomicBool>,
}

#[derive(Debug)]
struct State {
    /// Since the load began: the clock, and that moment.
    began: Option<(Clock, u64)>,
    is_draining: bool,
    is_over: bool,
    paused_ns: Option<u64>,
    orders: Vec<Change>,
    loads: Vec<OrderedLoad>,
}

/// What is known of a load.
#[derive(Debug)]
struct OrderedLoad {
    /// As the file says.
    written: Load,
    /// What an order says instead of the phases.
    ordered: Option<u64>,
    /// How much later its phases are, because of pauses, in ns.
    late_ns: u64,
    /// The phases were ordered in a pause, and so are not later by it.
    is_fresh: bool,
    /// First the file's, and then those of each order.
    weights: Vec<Weights>,
}

/// What a load is at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadNow {
    /// `rate` or `users`.
    pub kind: &'static str,
    /// Such as `0.5/s`, or a number of users.
    pub now: String,
    /// The file's phases are in force.
    pub phases: bool,
    pub scenarios: Vec<WeightNow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WeightNow {
    pub name: String,
    pub weight: u32,
}

impl Control {
    /// For a run of this plan, which `signal` ends.
    #[must_use]
    pub fn new(plan: &Plan, signal: Arc<AtomicBool>) -> Self {
        let load = |load: &Load| OrderedLoad {
            written: load.clone(),
            ordered: None,
            late_ns: 0,
            is_fresh: false,
            weights: vec![load.scenarios.clone()],
        };
        let scenarios = plan.scenarios.iter();
        Self {
            names: scenarios.map(|scenario| scenario.name.clone()).collect(),
            state: Mutex::new(State {
                began: None,
                is_draining: false,
                is_over: false,
                paused_ns: None,
                orders: Vec::new(),
                loads: plan.loads.iter().map(load).collect(),
            }),
            length: AtomicUsize::new(0),
            is_cut: AtomicBool::new(false),
            signal,
        }
    }

    /// Asks for a change. It is in force within a tenth of a second.
    ///
    /// # Errors
    ///
    /// Why the run does not do it.
    pub fn ask(&self, order: Order) -> Result<(), Refusal> {
        let mut state = self.state();
        let Some((clock, start_ns)) = state.began.filter(|_| !state.is_over) else {
            return match order {
                _ if state.is_over => Err(Refusal::Over),
                Order::Stop => {
                    self.signal.store(true, Ordering::Relaxed);
                    Ok(())
                }
                _ => Err(Refusal::NotStarted),
            };
        };
        let at_ns = clock.now_ns().saturating_add(LEAD_NS);
        self.check(&state, &order, at_ns.saturating_sub(start_ns))?;
        state.note(&order, at_ns, start_ns);
        state.orders.push(Change { at_ns, order });
        self.length.store(state.orders.len(), Ordering::Release);
        Ok(())
    }

    fn check(&self, state: &State, order: &Order, elapsed_ns: u64) -> Result<(), Refusal> {
        if state.is_stopped() {
            return Err(Refusal::Over);
        }
        if matches!(order, Order::Stop | Order::Abort(_)) {
            return Ok(());
        }
        if state.is_draining {
            return Err(Refusal::Draining);
        }
        if state.orders.len() >= MOST_ORDERS {
            return Err(Refusal::TooMany(MOST_ORDERS));
        }
        let load = order.load().and_then(|at| state.loads.get(at));
        let Some(load) = load else {
            return match (order, state.paused_ns) {
                (Order::Pause, Some(_)) => Err(Refusal::Paused),
                (Order::Resume, None) => Err(Refusal::NotPaused),
                _ => Ok(()),
            };
        };
        let has_rate = matches!(load.written.phases, Phases::Rate(_));
        match order {
            Order::Rate(..) if !has_rate => Err(Refusal::HasUsers(self.of(load))),
            Order::Users(..) if has_rate => Err(Refusal::HasRate(self.of(load))),
            Order::Weights(_, changed)
                if load.with(changed).iter().all(|(_, weight)| *weight == 0) =>
            {
                Err(Refusal::NoWeight)
            }
            _ if load.end_ns().is_some_and(|end_ns| elapsed_ns >= end_ns) => {
                Err(Refusal::LoadOver(self.of(load)))
            }
            _ => Ok(()),
        }
    }

    /// The scenarios of a load, in words.
    fn of(&self, load: &OrderedLoad) -> String {
        let name = |(scenario, _): &(usize, u32)| format!("`{}`", self.name(*scenario));
        let names: Vec<_> = load.written.scenarios.iter().map(name).collect();
        names.join(", ")
    }

    fn name(&self, scenario: usize) -> &str {
        self.names.get(scenario).map_or("", String::as_str)
    }

    /// The load of a scenario, and the scenario's place. `None`: there is none of this name.
    #[must_use]
    pub fn find(&self, scenario: &str) -> Option<(usize, usize)> {
        let place = self.names.iter().position(|name| name == scenario)?;
        let has = |load: &OrderedLoad| load.written.scenarios.iter().any(|(own, _)| *own == place);
        let load = self.state().loads.iter().position(has)?;
        Some((load, place))
    }

    /// The names of all scenarios.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is but one load.
    #[must_use]
    pub fn has_one_load(&self) -> bool {
        self.state().loads.len() == 1
    }

    /// Whether nothing begins, and what the loads are.
    #[must_use]
    pub fn now(&self) -> (bool, Vec<LoadNow>) {
        let state = self.state();
        let elapsed_ns = state.began.map_or(0, |(clock, start_ns)| {
            state
                .paused_ns
                .unwrap_or_else(|| clock.now_ns())
                .saturating_sub(start_ns)
        });
        let loads = state
            .loads
            .iter()
            .map(|load| self.load_now(load, elapsed_ns));
        (state.paused_ns.is_some(), loads.collect())
    }

    fn load_now(&self, load: &OrderedLoad, elapsed_ns: u64) -> LoadNow {
        let weights = load.weights.last().unwrap_or(&load.written.scenarios);
        let scenarios = weights.iter().map(|(scenario, weight)| WeightNow {
            name: self.name(*scenario).to_owned(),
            weight: *weight,
        });
        let elapsed_ns = elapsed_ns.checked_sub(load.written.start_after_ns);
        let (kind, now) = match &load.written.phases {
            Phases::Rate(phases) => {
                let planned = elapsed_ns.map_or(0, |ns| {
                    PhasedRate::new(phases).rate_at(ns.saturating_sub(load.late_ns))
                });
                let rate = load.ordered.unwrap_or(planned);
                ("rate", format!("{}/s", decimal(rate)))
            }
            Phases::Users(phases) => {
                let planned = elapsed_ns.map_or(0, |ns| PhasedUsers::new(phases).active_at(ns));
                ("users", load.ordered.unwrap_or(planned).to_string())
            }
        };
        LoadNow {
            kind,
            now,
            phases: load.ordered.is_none(),
            scenarios: scenarios.collect(),
        }
    }

    /// What was ordered, for the report.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let state = self.state();
        let start_ns = state.began.map_or(0, |(_, start_ns)| start_ns);
        let has_one_load = state.loads.len() == 1;
        let event = |change: &Change| {
            let load = change.order.load().and_then(|at| state.loads.get(at));
            let names = load.filter(|_| !has_one_load).map(|load| {
                let names = load.written.scenarios.iter();
                names.map(|(one, _)| self.name(*one).to_owned()).collect()
            });
            let (what, value) = match &change.order {
                Order::Rate(_, rate) => ("rate", Some(format!("{}/s", decimal(*rate)))),
                Order::Users(_, users) => ("users", Some(users.to_string())),
                Order::Phases(_) => ("phases", None),
                Order::Weights(_, weights) => {
                    let words = weights
                        .iter()
                        .map(|(one, weight)| format!("{}: {weight}", self.name(*one)));
                    ("weights", Some(words.collect::<Vec<_>>().join(", ")))
                }
                Order::Pause => ("pause", None),
                Order::Resume => ("resume", None),
                Order::Stop => ("stop", None),
                Order::Abort(_) => return None,
            };
            Some(Event {
                at_ns: change.at_ns.saturating_sub(start_ns),
                what,
                scenarios: names.unwrap_or_default(),
                value,
            })
        };
        state.orders.iter().filter_map(event).collect()
    }

    /// Ends what is open in a load that ends. `false`: no load goes on.
    pub fn cut(&self) -> bool {
        let state = self.state();
        let goes_on = state.began.is_some() && !state.is_over;
        self.is_cut.fetch_or(goes_on, Ordering::Relaxed);
        goes_on
    }

    /// Whether the load was cut.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// The load begins.
    pub(super) fn begin(&self, clock: Clock, start_ns: u64) {
        self.state().began = Some((clock, start_ns));
    }

    /// No iteration begins any more.
    pub(super) fn drain(&self) {
        self.state().is_draining = true;
    }

    /// The load is over.
    pub(super) fn end(&self) {
        self.state().is_over = true;
    }

    /// How many orders there are.
    pub(super) fn length(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// The orders after the first `known` ones.
    pub(super) fn after(&self, known: usize) -> Vec<Change> {
        self.state()
            .orders
            .get(known..)
            .unwrap_or_default()
            .to_vec()
    }

    /// A load with the weights of an order: the number of that order among those, 0 for none.
    pub(super) fn weighted(&self, load: usize, number: u64) -> Option<Load> {
        let state = self.state();
        let load = state.loads.get(load)?;
        let scenarios = load.weights.get(usize::try_from(number).ok()?)?.clone();
        Some(Load {
            scenarios,
            ..load.written.clone()
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // It is whole at any moment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_stopped(&self) -> bool {
        let last = self.orders.last();
        last.is_some_and(|change| matches!(change.order, Order::Stop | Order::Abort(_)))
    }

    /// Notes what an order changes.
    fn note(&mut self, order: &Order, at_ns: u64, start_ns: u64) {
        let is_paused = self.paused_ns.is_some();
        if let Some(load) = order.load().and_then(|at| self.loads.get_mut(at)) {
            match order {
                Order::Rate(_, number) | Order::Users(_, number) => load.ordered = Some(*number),
                Order::Phases(_) => {
                    (load.ordered, load.late_ns, load.is_fresh) = (None, 0, is_paused);
                }
                Order::Weights(_, changed) => {
                    let weights = load.with(changed);
                    load.weights.push(weights);
                }
                _ => {}
            }
            return;
        }
        match order {
            Order::Pause => self.paused_ns = Some(at_ns),
            Order::Resume => {
                let paused_ns = self.paused_ns.take().unwrap_or(at_ns);
                for load in &mut self.loads {
                    let begins_ns = start_ns.saturating_add(load.written.start_after_ns);
                    let since_ns = paused_ns.max(begins_ns);
                    if !std::mem::take(&mut load.is_fresh) {
                        load.late_ns += at_ns.saturating_sub(since_ns);
                    }
                }
            }
            _ => {}
        }
    }
}

impl OrderedLoad {
    /// Its weights with some that change.
    fn with(&self, changed: &[(usize, u32)]) -> Weights {
        let mut weights = self.weights.last().cloned().unwrap_or_default();
        for (scenario, weight) in &mut weights {
            if let Some((_, changed)) = changed.iter().find(|(one, _)| one == scenario) {
                *weight = *changed;
            }
        }
        weights
    }

    /// When it ends, in ns after the start.
    fn end_ns(&self) -> Option<u64> {
        let length_ns = self.written.phases.end_ns();
        length_ns.map(|ns| ns.saturating_add(self.written.start_after_ns))
    }
}

impl Order {
    /// The load that it is about.
    fn load(&self) -> Option<usize> {
        match self {
            Self::Rate(load, _)
            | Self::Users(load, _)
            | Self::Phases(load)
            | Self::Weights(load, _) => Some(*load),
            Self::Pause | Self::Resume | Self::Stop | Self::Abort(_) => None,
        }
    }
}
