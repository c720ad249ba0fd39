//! A run of scenarios, as others see and change it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use volley_base::view;

use super::calls::whole;
use super::shown::{Asked, Refused, Shown};
use crate::report::json_line;
use crate::scenario::engine::control::{Control, LoadNow, Order, Refusal};
use crate::scenario::file;
use crate::scenario::plan::Plan;
use crate::scenario::report::live::{Progress, StepNow};
use crate::scenario::report::{Names, prometheus};
use crate::scenario::tally::IterationCounts;

const NEEDED: &str = "a JSON object with one of `rate`, `users`, `phases` and `weights` is needed, such as {\"rate\": \"0.5/s\"}";

/// A run of scenarios.
pub struct Scenarios {
    name: String,
    tags: Vec<(String, String)>,
    names: Names,
    control: Arc<Control>,
    now: Mutex<Known>,
}

/// What is known since the last second.
#[derive(Default)]
struct Known {
    elapsed: Duration,
    iterations: IterationCounts,
    steps: Vec<StepNow>,
    metrics: String,
}

#[derive(Serialize)]
struct StatsView<'a> {
    name: &'a str,
    elapsed_s: u64,
    paused: bool,
    loads: Vec<LoadNow>,
    /// Sums of all scenarios.
    iterations: IterationsView,
    steps: Vec<StepView<'a>>,
}

view! {
    struct IterationsView(counts: &IterationCounts) {
        due: u64 = counts.due(),
        begun: u64 = counts.begun,
        ok: u64 = counts.ok,
        failed: u64 = counts.failed,
        dropped: u64 = counts.dropped,
        open: u64 = counts.under_way(),
    }
}

/// Sums; `ended` and the times are of the last second.
#[derive(Serialize)]
struct StepView<'a> {
    scenario: &'a str,
    name: &'a str,
    #[serde(flatten)]
    now: &'a StepNow,
}

impl Scenarios {
    /// A run before its load.
    #[must_use]
    pub fn new(name: String, plan: &Plan, control: Arc<Control>) -> Self {
        Self {
            name,
            tags: plan.tags.clone(),
            names: plan.into(),
            control,
            now: Mutex::default(),
        }
    }

    /// A second is over.
    pub fn tell(&self, progress: &Progress, steps: Vec<StepNow>, elapsed: Duration) {
        let mut report = progress.report(&self.names, elapsed);
        report.facts.name.clone_from(&self.name);
        report.facts.tags.clone_from(&self.tags);
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = prometheus::write(&report, &mut text);
        *self.now() = Known {
            elapsed,
            iterations: progress.iterations(),
            steps,
            metrics: String::from_utf8_lossy(&text).into_owned(),
        };
    }

    fn now(&self) -> MutexGuard<'_, Known> {
        // It is whole at any moment.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The order of a `PATCH /v1/load`.
    fn order(&self, body: &Value) -> Result<Order, Refused> {
        let wrong = |why: &str| Refused::Wrong(why.to_owned());
        let members = body.as_object().ok_or_else(|| wrong(NEEDED))?;
        let mut asked = members.iter().filter(|(key, _)| *key != "scenario");
        let (Some((key, value)), None) = (asked.next(), asked.next()) else {
            return Err(wrong(NEEDED));
        };
        if key == "weights" {
            let weights = self.weights(value, members.get("scenario"));
            return weights.map_err(Refused::Wrong);
        }
        let load = || {
            let named = members.get("scenario");
            let load = self.load(named).map_err(Refused::Wrong)?;
            self.check_whole(load, named).map(|()| load)
        };
        match key.as_str() {
            "rate" => {
                let rate = file::constant_rate(value).map_err(Refused::Wrong)?;
                Ok(Order::Rate(load()?, rate))
            }
            "users" => {
                let users = file::constant_users(value).map_err(Refused::Wrong)?;
                Ok(Order::Users(load()?, users))
            }
            "phases" if *value == Value::Bool(true) => Ok(Order::Phases(load()?)),
            "phases" => Err(wrong("`phases` can only be true")),
            _ => Err(wrong(NEEDED)),
        }
    }

    /// The load of the scenario that is named, or of a list of those that share it. If there is one load, none must be.
    fn load(&self, scenario: Option<&Value>) -> Result<usize, String> {
        let Some(scenario) = scenario else {
            let names = self.scenarios();
            return match self.control.has_one_load() {
                true => Ok(0),
                false => Err(format!(
                    "there are several loads: name the scenarios of one as `scenario`: {names}"
                )),
            };
        };
        let mut load = None;
        for name in listed(scenario) {
            let name = name.as_str();
            self.find_in(
                &mut load,
                name.ok_or("`scenario` must be a name, or a list of names")?,
            )?;
        }
        load.ok_or_else(|| "`scenario` names no scenario".to_owned())
    }

    /// Refuses to change a load for some of its scenarios: it has one rate, or one number of users, for all of them.
    fn check_whole(&self, load: usize, scenario: Option<&Value>) -> Result<(), Refused> {
        let (Some(named), (_, loads)) = (scenario, self.control.now()) else {
            return Ok(());
        };
        let own = loads.get(load).map_or(&[][..], |load| &load.scenarios);
        let is_named = |name: &str| listed(named).iter().any(|one| one == name);
        let others = own.iter().filter(|one| !is_named(&one.name));
        let others: Vec<_> = others.map(|one| format!("`{}`", one.name)).collect();
        if others.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = own.iter().map(|one| one.name.as_str()).collect();
        let (all, others) = (Value::from(names), others.join(", "));
        Err(Refused::Conflict(format!(
            "this load is shared with {others}: change it for all of them with \"scenario\": {all}, or change their shares with `weights`"
        )))
    }

    fn weights(&self, value: &Value, scenario: Option<&Value>) -> Result<Order, String> {
        let form = "`weights` must be an object such as {\"crud\": 80}";
        let members: &Map<_, _> = value.as_object().ok_or(form)?;
        let mut load = scenario.map(|one| self.load(Some(one))).transpose()?;
        let mut weights = Vec::new();
        for (name, weight) in members {
            let place = self.find_in(&mut load, name)?;
            let (most, weight) = (u32::MAX, whole(weight));
            let range =
                || format!("the weight of `{name}` must be a whole number from 0 to {most}");
            weights.push((place, weight.ok_or_else(range)?));
        }
        match load.filter(|_| !weights.is_empty()) {
            Some(load) => Ok(Order::Weights(load, weights)),
            None => Err(form.to_owned()),
        }
    }

    /// The place of a scenario in its load, which must be the one that is known, if one is.
    fn find_in(&self, load: &mut Option<usize>, scenario: &str) -> Result<usize, String> {
        let Some((of, place)) = self.control.find(scenario) else {
            let names = self.scenarios();
            return Err(format!(
                "there is no scenario `{scenario}`: give one of {names}"
            ));
        };
        match *load.get_or_insert(of) == of {
            true => Ok(place),
            false => Err(format!(
                "`{scenario}` has a load of its own: change that by itself"
            )),
        }
    }

    fn scenarios(&self) -> String {
        let names = self.control.names().iter();
        let names = names.map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The members of a list; anything else is one of its own.
fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(all) => all,
        one => std::slice::from_ref(one),
    }
}

impl Shown for Scenarios {
    fn stats(&self) -> Vec<u8> {
        let (paused, loads) = self.control.now();
        let known = self.now();
        let steps = self.names.steps.iter().zip(&known.steps);
        let steps = steps.map(|(names, now)| StepView {
            scenario: &names.scenario,
            name: &names.name,
            now,
        });
        let view = StatsView {
            name: &self.name,
            elapsed_s: known.elapsed.as_secs(),
            paused,
            loads,
            iterations: IterationsView::new(&known.iterations),
            steps: steps.collect(),
        };
        json_line(&view)
    }

    fn metrics(&self) -> String {
        self.now().metrics.clone()
    }

    fn obey(&self, order: Asked) -> Result<(), Refused> {
        let order = match order {
            Asked::Load(body) => self.order(&body)?,
            Asked::Pause => Order::Pause,
            Asked::Resume => Order::Resume,
            Asked::Stop => Order::Stop,
        };
        self.control.ask(order).map_err(|refusal| match refusal {
            Refusal::NoWeight => Refused::Wrong(refusal.to_string()),
            _ => Refused::Conflict(refusal.to_string()),
        })
    }
}
