//! Names, the slots that they stand for, and what has filled them.

use std::collections::{BTreeSet, HashMap};

use super::Compiler;
use crate::Slot;
use crate::file::mistake::Path;
use crate::file::model::Step;
use volley_request::schema::suggest;

/// The URL of the last response, as a name.
pub(super) const LAST_URL: &str = "last.url";

/// Slots by name.
#[derive(Default)]
pub(super) struct Names {
    /// By slot: its name.
    pub slots: Vec<String>,
    by_name: HashMap<String, Slot>,
}

impl Names {
    /// The slot of a name; `None` if there are too many.
    pub fn slot(&mut self, name: &str) -> Option<Slot> {
        if let Some(slot) = self.by_name.get(name) {
            return Some(*slot);
        }
        let slot = Slot(u16::try_from(self.slots.len()).ok()?);
        self.slots.push(name.to_owned());
        self.by_name.insert(name.to_owned(), slot);
        Some(slot)
    }
}

/// What the steps of a scenario, or of setup and teardown, know.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// Empty for setup and teardown.
    pub scenario: String,
    pub is_setup: bool,
    pub redirects: u8,
    /// Names that have been saved, and the target that gave them.
    pub saved: HashMap<String, usize>,
    /// Names that setup has saved.
    pub common: BTreeSet<String>,
    /// Names that some step saves, perhaps later.
    pub later: BTreeSet<String>,
    /// Feeds that it uses.
    pub draws: BTreeSet<usize>,
    /// How many requests came before.
    pub step: usize,
    /// The target of the last request.
    pub last: Option<usize>,
    pub uses_last_url: bool,
    /// Names of its steps.
    pub names: BTreeSet<String>,
}

impl Scope {
    pub fn new(scenario: &str, common: &Self, steps: &[Step], redirects: Option<u8>) -> Self {
        let all = steps.iter().flat_map(Step::all);
        let saves = all.flat_map(|step| step.save.iter().map(|(name, _)| name.to_owned()));
        Self {
            scenario: scenario.to_owned(),
            redirects: redirects.unwrap_or(0),
            saved: common.saved.clone(),
            common: common.common.clone(),
            later: saves.collect(),
            ..Self::default()
        }
    }
}

/// What a name stands for.
pub(super) enum Found {
    /// It never changes.
    Fixed(String),
    Slot(Slot),
}

impl Compiler<'_> {
    /// Finds a name that stands in a text.
    pub(super) fn find(&mut self, at: &Path, name: &str) -> Option<Found> {
        if let Some(variable) = name.strip_prefix("env.") {
            let value = (self.env)(variable);
            if value.is_none() {
                self.wrong(at, format!("the environment has no `{variable}`: set it"));
            }
            return value.map(Found::Fixed);
        }
        if name == LAST_URL {
            if self.scope.last.is_none() {
                return self.none(at, "`${last.url}` needs a request before it");
            }
            self.scope.uses_last_url = true;
            return self.slot(at, name).map(Found::Slot);
        }
        if self.scope.saved.contains_key(name) {
            return self.slot(at, name).map(Found::Slot);
        }
        if let Some(found) = self.of_feed(at, name) {
            return found.map(Found::Slot);
        }
        let problem = if self.targets.iter().any(|target| target.name == name) {
            format!("`${{{name}}}` is a target: it stands only at the beginning of a URL")
        } else if self.scope.later.contains(name) {
            format!("`${{{name}}}` has no value here: save it in a step before")
        } else {
            let known = self.known();
            let hint = suggest::hint(name, &known, "nothing is saved before");
            format!("nothing has the name `{name}` here; {hint}")
        };
        self.none(at, problem)
    }

    /// The slot of a name.
    pub(super) fn slot(&mut self, at: &Path, name: &str) -> Option<Slot> {
        let slot = self.names.slot(name);
        if slot.is_none() {
            self.wrong(at, "the file has more than 65,536 names: use fewer");
        }
        slot
    }

    /// Every name that has a value.
    fn known(&self) -> Vec<String> {
        let mut known: Vec<String> = self.scope.saved.keys().cloned().collect();
        known.extend(self.feeds.iter().flat_map(|draft| draft.known_names()));
        known.sort();
        known
    }
}
