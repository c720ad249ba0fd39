//! Scenarios: variables, then requests in their order.

use super::object::Object;
use super::request::Made;
use super::tree::{Entries, Tree, put};
use super::variables::Scope;
use super::{Importer, free_name};
use crate::file::mistake::Path;

/// A scenario that has been translated, but for its load.
pub(super) struct Scenario {
    pub at: Path,
    pub name: String,
    pub weight: u64,
    /// The time before it begins, in milliseconds.
    pub wait: u64,
    /// How many requests an iteration has.
    pub requests: u64,
    /// An iteration has pauses.
    pub pauses: bool,
    pub entries: Entries,
}

impl Importer<'_> {
    /// All scenarios but those that never run.
    pub(super) fn scenarios(&mut self, file: &mut Object<'_>) -> Vec<Scenario> {
        let objects = self.objects(file, "Scenarios");
        let is_alone = objects.len() == 1;
        if objects.is_empty() {
            self.wrong(&file.at.key("Scenarios"), "there is no scenario: add one");
        }
        let mut scenarios: Vec<Scenario> = Vec::new();
        for object in objects {
            let mut scenario = self.scenario(object);
            if is_alone {
                scenario.weight = 1;
            } else if scenario.weight == 0 {
                let text = "it never runs, as its weight is 0: left out";
                self.note(&scenario.at.key("weight"), "not-used", text.to_owned());
                continue;
            }
            let is_taken = |name: &str| scenarios.iter().any(|other| other.name == name);
            scenario.name = free_name(&scenario.name, is_taken);
            scenarios.push(scenario);
        }
        scenarios
    }

    fn scenario(&mut self, mut object: Object<'_>) -> Scenario {
        let at = object.at.clone();
        let name = self.needed(&mut object, "name").unwrap_or_default();
        // What volley's conditions on scenarios are written with.
        let name = name.replace(['.', '(', ')', '<', '>'], "-");
        let weight = self.whole(&mut object, "weight").unwrap_or(100);
        let wait = self.whole(&mut object, "interval-to-wait-before-start");
        let key = "run-requests-in-parallel";
        let is_parallel = self.flag(&mut object, key).unwrap_or(false);
        let mut scope = Scope::default();
        let mut requests = self.objects(&mut object, "Requests");
        for request in &mut requests {
            self.picked(request, &mut scope);
        }
        self.variables(&mut object, &mut scope);
        if requests.is_empty() {
            self.wrong(&at.key("Requests"), "there is no request: add one");
        }
        let mut made: Vec<Made> = Vec::new();
        for request in requests {
            let last = made.last_mut().filter(|_| !is_parallel);
            let request = self.request(request, &mut scope, last);
            made.push(request);
        }
        self.finish(object);
        let is_parallel = is_parallel && made.len() > 1;
        if is_parallel {
            self.fault(&at.key(key), "parallel");
        } else if made.len() > 1 {
            self.fault(&at.key("Requests"), "chain");
        }
        let mut entries = Entries::new();
        let keeps_cookies = self.keeps_cookies(&made);
        let steps = steps(&made, is_parallel, self.how.as_run);
        put(&mut entries, "steps", Tree::list(steps));
        if !keeps_cookies {
            put(&mut entries, "cookies", false);
        }
        let paused = made.len().saturating_sub(1);
        Scenario {
            name: match name.as_str() {
                "" => "scenario".to_owned(),
                _ => name,
            },
            weight,
            wait: wait.unwrap_or(0),
            requests: made.len().max(1) as u64,
            pauses: !is_parallel && made.iter().take(paused).any(|made| made.delay > 0),
            entries,
            at,
        }
    }

    /// Whether cookies are sent with later requests.
    fn keeps_cookies(&mut self, made: &[Made]) -> bool {
        let later = made.get(1..).unwrap_or_default();
        if later.is_empty() {
            return true;
        }
        for made in made.iter().filter(|made| made.clears_cookies) {
            self.fault(&made.at.key("clear-old-cookies"), "cookies-kept");
        }
        for made in later.iter().filter(|made| made.sent.is_path) {
            self.fault(&made.at.key("uri"), "cookies-by-path");
        }
        let has_none = |made: &Made| made.clears_cookies || (self.how.as_run && made.sent.is_path);
        !later.iter().all(has_none)
    }
}

/// The steps of an iteration.
fn steps(made: &[Made], is_parallel: bool, as_run: bool) -> Vec<Tree> {
    let name = |index: usize| format!("r{index}");
    if !is_parallel {
        let last = made.len().saturating_sub(1);
        let steps = made.iter().enumerate();
        return steps
            .map(|(index, made)| made.step(&name(index), index < last))
            .collect();
    }
    let sent: Vec<(String, &Made)> = match made {
        [first, second, rest @ ..] if as_run => {
            let again = (0..rest.len()).map(|index| (format!("r1-{}", index + 2), second));
            std::iter::once((name(1), second))
                .chain(again)
                .chain([(name(0), first)])
                .collect()
        }
        _ => (0..).map(name).zip(made).collect(),
    };
    let steps = sent.iter().map(|(name, made)| made.step(name, false));
    vec![Tree::pair("together", Tree::list(steps))]
}
