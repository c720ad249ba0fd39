//! Scripts of Lua.

use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

use super::Compiler;
use crate::file::mistake::{Mistake, Path};
use crate::file::model::{Lua, Step};
use crate::file::readable;
use crate::lua::{FUNCTIONS, NO_FUNCTION, check};
use crate::plan::{Action, Script};
use volley_base::input;

/// A value of the iteration in a script: its name, and whether the script assigns it, perhaps with others.
static VARS: LazyLock<Regex> = LazyLock::new(|| {
    let name =
        r#"\bvars\s*(?:\.\s*(\w+)|\[\s*(?:"([^"\n]*)"|'([^'\n]*)')\s*\])(\s*(?:=(?:[^=]|$)|,))?"#;
    Regex::new(name).unwrap_or_else(|error| unreachable!("{error}"))
});

impl Compiler<'_> {
    /// A step's script, if it has one.
    pub(super) fn lua(&mut self, at: &Path, step: &Step) -> Option<Script> {
        let Lua(written) = step.lua.as_ref()?;
        let (name, text, is_inline) = match (&written.file, &written.text) {
            (Some(file), None) => {
                let path = self.existing(&at.key("file"), file)?;
                let text = input::text(&path, input::TEXT);
                let text = text.map_err(|error| format!("cannot read `{file}`: {error}"));
                let text = self.noted(&at.key("file"), text)?;
                let name = file.clone();
                (name, text, false)
            }
            (None, Some(text)) => {
                let before = "\n".repeat(self.first_line(at).saturating_sub(1));
                let name = self.path.display().to_string();
                (name, before + text, true)
            }
            _ => return self.none(at, "a script is a text, or `{file: x.lua}`"),
        };
        let mut script = Script {
            name,
            text: text.into(),
            sets: Vec::new(),
        };
        if let Err(fault) = check(&script) {
            let own = fault.strip_prefix(&format!("{}:", script.name));
            match own
                .filter(|_| is_inline)
                .and_then(|rest| rest.split_once(": "))
            {
                Some((line, problem)) => self.mistakes.push(Mistake::new(
                    line.parse::<usize>().unwrap_or(1),
                    at.clone(),
                    format!("Lua: {problem}"),
                )),
                None => self.wrong(at, fault),
            }
            return None;
        }
        if !FUNCTIONS.iter().any(|function| script.names(function)) {
            self.wrong(at, NO_FUNCTION);
        }
        let text = Arc::clone(&script.text);
        for found in VARS.captures_iter(&text) {
            let (name, is_assigned) = named(&found);
            if !is_assigned
                && !self.scope.saved.contains_key(name)
                && self.of_feed(at, name).is_some()
            {
                continue;
            }
            let slot = self.slot(at, name);
            if is_assigned {
                script.sets.extend(slot);
                let target = self.scope.last.unwrap_or(0);
                self.scope.saved.entry(name.to_owned()).or_insert(target);
            }
        }
        Some(script)
    }

    /// The values that a step's script assigns.
    pub(super) fn assigned(&self, step: &Step) -> Vec<String> {
        let Some(Lua(written)) = &step.lua else {
            return Vec::new();
        };
        // What cannot be read is named elsewhere.
        let file = written.file.as_ref();
        let file = file.map(|file| self.folder.join(file));
        let file = file.filter(|file| readable(file).is_ok());
        let file = file.and_then(|file| input::text(&file, input::TEXT).ok());
        let text = file.as_ref().or(written.text.as_ref());
        let found = VARS.captures_iter(text.map_or("", String::as_str));
        let names = found.filter_map(|found| {
            let (name, is_assigned) = named(&found);
            is_assigned.then(|| name.to_owned())
        });
        names.collect()
    }

    /// The line of the file in which a text begins: below its key, if it is a block.
    fn first_line(&self, at: &Path) -> usize {
        let line = self.node.line(at);
        let key = self
            .source
            .lines()
            .nth(line.saturating_sub(1))
            .unwrap_or_default();
        let key = key.split_once(" #").map_or(key, |(key, _)| key).trim_end();
        let key = key.trim_end_matches(|mark: char| mark.is_ascii_digit() || "+-".contains(mark));
        line + usize::from(key.ends_with(['|', '>']))
    }

    /// Notes which responses the script of the next step gets. `repeats`: the first step follows the last one.
    pub(super) fn keep_responses(&mut self, actions: &[Action], repeats: bool) {
        let asking = actions.iter().filter(|action| !action.steps().is_empty());
        let asking: Vec<&[usize]> = asking.map(Action::steps).collect();
        let last = asking.last().copied().filter(|_| repeats);
        let before = std::iter::once(last).chain(asking.iter().copied().map(Some));
        for (before, steps) in before.zip(&asking) {
            let gets = steps
                .iter()
                .filter_map(|step| self.steps.get(*step)?.lua.as_ref());
            if gets.into_iter().any(|script| script.names("make_request")) {
                for step in before.unwrap_or_default() {
                    if let Some(step) = self.steps.get_mut(*step) {
                        step.keeps_response = true;
                    }
                }
            }
        }
    }
}

fn named<'a>(found: &Captures<'a>) -> (&'a str, bool) {
    let name = (1..=3).find_map(|group| found.get(group));
    (
        name.map_or("", |name| name.as_str()),
        found.get(4).is_some(),
    )
}
