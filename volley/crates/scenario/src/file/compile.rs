//! Turns the file into a plan. Every mistake is noted, and the work goes on with what is left.

mod body;
mod data;
mod expect;
mod grpc;
mod http;
mod json;
mod load;
mod lua;
mod names;
mod rows;
mod save;
mod setup;
mod step;
mod target;
mod text;
mod thresholds;
mod url;

#[cfg(feature = "import")]
pub(super) use rows::csv_header;

use std::path::{self, PathBuf};

use super::mistake::{Mistake, Path};
use super::model::{File, Scalar};
use super::node::Node;
use crate::plan::{Limits, MAX_BODY, Plan, Refresh, Scenario, Step, Target, WhenFull};
use data::Draft;
use names::{Names, Scope};
use step::asks;
pub use thresholds::{check_part, check_samples};
use volley_base::Lacks;
use volley_load::pace::whole_ns;
use volley_load::spec::{ListenAddress, MOST_COALESCE};
use volley_protobuf::Pool;

/// The most iterations that can be open.
const MOST_OPEN: u32 = 10_000_000;

/// What is known so far.
pub(super) struct Compiler<'a> {
    file: &'a File,
    node: &'a Node,
    /// The file, and its text.
    path: &'a path::Path,
    source: &'a str,
    folder: PathBuf,
    env: &'a dyn Fn(&str) -> Option<String>,
    mistakes: Vec<Mistake>,
    names: Names,
    /// Of the steps that are compiled now.
    scope: Scope,
    targets: Vec<Target>,
    /// Beside `targets`: the most time for a response, in nanoseconds.
    timeouts: Vec<u64>,
    /// Targets for which the file says no number of connections.
    unset: Vec<usize>,
    feeds: Vec<Draft>,
    pools: Vec<Pool>,
    steps: Vec<Step>,
    /// Names of steps that are wrong, alone and with their scenarios'.
    unplanned: Vec<String>,
    refreshes: Vec<Refresh>,
    files: Vec<PathBuf>,
}

impl<'a> Compiler<'a> {
    pub fn new(
        file: &'a File,
        node: &'a Node,
        source: &'a str,
        path: &'a path::Path,
        env: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let folder = path.parent().unwrap_or(path::Path::new(""));
        Self {
            file,
            node,
            path,
            source,
            folder: path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned()),
            env,
            mistakes: Vec::new(),
            names: Names::default(),
            scope: Scope::default(),
            targets: Vec::new(),
            timeouts: Vec::new(),
            unset: Vec::new(),
            feeds: Vec::new(),
            pools: Vec::new(),
            steps: Vec::new(),
            unplanned: Vec::new(),
            refreshes: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The whole plan.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub fn plan(mut self) -> Result<Plan, Vec<Mistake>> {
        let root = Path::default();
        self.read_targets(&root.key("targets"));
        self.read_protos(&root.key("protos"));
        self.read_feeds(&root.key("data"));
        let common_slots = self.read_common(&root.key("setup"));
        let (setup, common) = self.setup(&root.key("setup"));
        let scenarios = self.scenarios(&root.key("scenarios"), &common);
        let teardown = self.teardown(&root.key("teardown"), &common);
        let loads = self.loads(&root, &scenarios);
        self.refuse_users(&loads, &scenarios);
        let thresholds = self.goals(&root.key("thresholds"), &loads, &scenarios);
        let limits = self.limits(&root.key("limits"));
        let control = self.control(&root.key("control"));
        self.settle_versions();
        self.settle_connections(&loads, &scenarios);
        self.settle_unused();
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let tags = self.file.tags.iter();
        let tags = tags.map(|(name, value)| {
            let value = self.as_written(&root.key("tags").key(name), value);
            (name.to_owned(), value)
        });
        let tags = tags.collect();
        Ok(Plan {
            targets: self.targets,
            feeds: self.feeds.into_iter().map(|draft| draft.feed).collect(),
            steps: self.steps,
            scenarios,
            setup,
            teardown,
            refreshes: self.refreshes,
            loads,
            limits,
            thresholds,
            slots: self.names.slots,
            common_slots,
            folder: self.folder,
            files: self.files,
            control,
            tags,
        })
    }

    /// Notes a mistake.
    fn wrong(&mut self, at: &Path, problem: impl Into<String>) {
        let line = self.node.line(at);
        self.mistakes
            .push(Mistake::new(line, at.clone(), problem.into()));
    }

    /// Notes a mistake in the place of what cannot be there.
    fn none<T>(&mut self, at: &Path, problem: impl Into<String>) -> Option<T> {
        self.wrong(at, problem);
        None
    }

    /// What is right; what is wrong is noted.
    fn noted<T, E: std::fmt::Display>(&mut self, at: &Path, result: Result<T, E>) -> Option<T> {
        result
            .map_err(|error| self.wrong(at, error.to_string()))
            .ok()
    }

    /// The text of a value; a number as it is written.
    fn as_written(&self, at: &Path, value: &Scalar) -> String {
        let text = self.number(at).unwrap_or(&value.0);
        text.to_owned()
    }

    /// A number as it is written.
    fn number(&self, at: &Path) -> Option<&'a str> {
        let (_, place) = self.node.number(at)?;
        // With a tag, there may be quotes: `!!int "3"`.
        let text = self.source.get(place)?;
        (!text.starts_with(['"', '\''])).then_some(text)
    }

    /// Refuses keys of a map, except some.
    fn refuse(&mut self, at: &Path, keys: &[&str], except: &[&str], why: &str) {
        for key in keys.iter().filter(|key| !except.contains(key)) {
            let at = at.key(key);
            if self.node.has(&at) {
                self.wrong(&at, format!("`{key}` {why}"));
            }
        }
    }

    /// The data of a name.
    fn feed_named(&self, name: &str) -> Option<usize> {
        self.feeds.iter().position(|draft| draft.feed.name == name)
    }

    fn scenarios(&mut self, at: &Path, common: &Scope) -> Vec<Scenario> {
        let file = self.file;
        if file.scenarios.is_empty() {
            self.wrong(at, "no scenario: add one with its `steps`, such as `scenarios: {main: {steps: [{get: \"${api}/\"}]}}`");
        }
        let mut scenarios = Vec::new();
        for (name, written) in file.scenarios.iter() {
            let at = at.key(name);
            if name.is_empty() || name.contains(['.', '(', ')', '<', '>']) {
                self.wrong(
                    &at,
                    "a scenario's name is not empty, and has none of . ( ) < >: choose another",
                );
            }
            if written.steps.is_empty() {
                self.wrong(&at, "no `steps`: add at least one request");
            }
            if written.repeat == Some(0) {
                self.wrong(&at.key("repeat"), "it is at least 1");
            }
            let redirects = written.redirects.or(file.redirects);
            self.scope = Scope::new(name, common, &written.steps, redirects);
            let (before, first) = (self.mistakes.len(), self.steps.len());
            let actions = self.actions(&at.key("steps"), &written.steps);
            self.keep_responses(&actions, written.repeat.is_some_and(|times| times > 1));
            let is_idle = !written.steps.iter().any(asks);
            if is_idle && !written.steps.is_empty() && self.mistakes.len() == before {
                self.wrong(
                    &at.key("steps"),
                    "none of them is a request: add one, such as `get: ${api}/`",
                );
            }
            scenarios.push(Scenario {
                name: name.to_owned(),
                actions,
                keeps_to: self.slices(first),
                draws: self.scope.draws.iter().copied().collect(),
                repeat: written.repeat.unwrap_or(1).max(1),
                on_failure: written.on_failure.unwrap_or(file.on_failure),
                keeps_cookies: written.cookies.or(file.cookies).unwrap_or(true),
            });
        }
        scenarios
    }

    fn limits(&mut self, at: &Path) -> Limits {
        let written = &self.file.limits;
        if written
            .iterations_open
            .is_some_and(|most| !(1..=MOST_OPEN).contains(&most))
        {
            self.wrong(
                &at.key("iterations_open"),
                format!("it is from 1 to {MOST_OPEN}"),
            );
        }
        let coalesce_ns = written.coalesce.map_or(0, |time| time.0);
        if coalesce_ns > whole_ns(MOST_COALESCE) {
            self.wrong(&at.key("coalesce"), "it is at most 100ms".to_owned());
        }
        Limits {
            iterations_open: written.iterations_open.unwrap_or(10_000),
            when_full: written.when_full.unwrap_or(WhenFull::Drop),
            drain_ns: written.drain.map_or(30_000_000_000, |time| time.0),
            body: written.body.map_or(MAX_BODY, |size| size.0 as usize),
            lua_memory: written.lua_memory.map_or(64 << 20, |size| size.0 as usize),
            coalesce_ns,
        }
    }

    fn control(&mut self, at: &Path) -> Option<ListenAddress> {
        let control = self.file.control.as_ref()?;
        let is_there = cfg!(feature = "control").then_some(());
        self.noted(at, is_there.ok_or(Lacks("control")))?;
        self.noted(at, control.parse())
    }
}

/// The keys that are given.
fn given<'k>(keys: &[(&'k str, bool)]) -> Vec<&'k str> {
    let given = keys.iter().filter(|(_, is_given)| *is_given);
    given.map(|(key, _)| *key).collect()
}
