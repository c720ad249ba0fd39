//! What a response must be.

use serde_json::Value;

use super::Importer;
use super::object::Object;
use super::tree::{Entries, Tree, put, put_map};
use super::words::plain;
use crate::file::mistake::Path;

/// How a value is compared: what the old file says, and the condition's key in the new one.
const KINDS: [(&str, &str); 5] = [
    ("EqualsTo", EQUALS),
    ("StartsWith", STARTS_WITH),
    ("EndsWith", ENDS_WITH),
    ("Contains", CONTAINS),
    ("RegexMatch", MATCHES),
];
const EQUALS: &str = "equals";
const STARTS_WITH: &str = "starts_with";
const ENDS_WITH: &str = "ends_with";
const CONTAINS: &str = "contains";
const MATCHES: &str = "matches";

/// A regular expression that matches the whole value.
fn whole(regex: &str) -> String {
    format!("^(?:{regex})$")
}

impl Importer<'_> {
    /// Reads what a request's response must be. `by_script`: its script decides alone.
    pub(super) fn expect(&mut self, request: &mut Object<'_>, by_script: bool) -> Entries {
        let mut expect = Entries::new();
        let key = "expected-status-code";
        let status = self.whole(request, key).filter(|status| *status > 0);
        let rules = self.inner(request, "response-match");
        if by_script {
            return expect;
        }
        let rules = rules.is_some_and(|rules| self.rules(rules, &mut expect));
        if rules {
            if status.is_some() {
                let text = "`response-match` decides alone: left out";
                self.note(&request.at.key(key), "not-used", text.to_owned());
            }
            return expect;
        }
        match status {
            Some(status) => put(&mut expect, "status", status),
            None => {
                self.fault(&request.at.key(key), "default-success");
                let good = match self.how.as_run {
                    true => Tree::list(["2xx", "3xx"].map(Tree::from)),
                    false => Tree::from("2xx"),
                };
                put(&mut expect, "status", good);
            }
        }
        expect
    }

    /// Adds the rules of `response-match`; false if there are none. They say themselves whether the status counts.
    fn rules(&mut self, mut rules: Object<'_>, expect: &mut Entries) -> bool {
        if self.value(&mut rules, "headers").is_none() {
            self.fault(&rules.at, "headers-needed");
        }
        let mut statuses: Vec<u64> = (100..600).collect();
        let mut headers: Vec<(String, Entries)> = Vec::new();
        let mut json: Vec<(String, Entries)> = Vec::new();
        let mut any = false;
        for mut rule in self.objects(&mut rules, "headers") {
            any = true;
            let name = self.text(&mut rule, "header-name").unwrap_or(":status");
            let kind = self.kind(&mut rule, Some(EQUALS));
            let input = self.text(&mut rule, "input").unwrap_or("200");
            let at = rule.at.clone();
            self.finish(rule);
            let Some(kind) = kind else {
                continue;
            };
            if name == ":status" {
                self.keep(&at, kind, input, &mut statuses);
            } else {
                self.add(&at, &mut headers, &name.to_ascii_lowercase(), kind, input);
            }
        }
        for mut rule in self.objects(&mut rules, "payload") {
            any = true;
            let pointer = self.needed(&mut rule, "JsonPointer").unwrap_or_default();
            let kind = self.kind(&mut rule, None);
            let input = self.needed(&mut rule, "input").unwrap_or_default();
            let at = rule.at.clone();
            self.finish(rule);
            self.fault(&at, "json-text");
            // A literal is compared by its type, too, and this one is a text for each.
            let is_ambiguous = serde_json::from_str::<Value>(input).is_ok();
            match kind {
                Some(EQUALS) if is_ambiguous => {
                    let literal = regex::escape(input);
                    self.add(&at, &mut json, pointer, MATCHES, &literal);
                }
                Some(kind) => self.add(&at, &mut json, pointer, kind, input),
                None => {}
            }
        }
        let at = rules.at.clone();
        self.finish(rules);
        if !any {
            return false;
        }
        if statuses.is_empty() {
            self.wrong(&at, "no status fits these rules");
        }
        put(expect, "status", ranges(&statuses));
        for (key, group) in [("headers", headers), ("json", json)] {
            let group = group.into_iter().map(|(name, conditions)| {
                let only = match &conditions[..] {
                    [(key, text)] if key == EQUALS => text.clone(),
                    _ => Tree::map(conditions),
                };
                (name, only)
            });
            put_map(expect, key, group.collect());
        }
        true
    }

    fn kind(
        &mut self,
        rule: &mut Object<'_>,
        default: Option<&'static str>,
    ) -> Option<&'static str> {
        let key = "matchType";
        let Some(name) = self.text(rule, key) else {
            if default.is_none() {
                self.wrong(&rule.at, format!("`{key}` is missing"));
            }
            return default;
        };
        let known = KINDS.into_iter().find(|(known, _)| *known == name);
        if known.is_none() {
            let names = KINDS.map(|(name, _)| name).join(", ");
            self.wrong(&rule.at.key(key), format!("it is one of {names}"));
        }
        known.map(|(_, kind)| kind)
    }

    /// Keeps the statuses that fit a rule.
    fn keep(&mut self, at: &Path, kind: &'static str, input: &str, statuses: &mut Vec<u64>) {
        let mut regex = None;
        if kind == MATCHES {
            regex = self.regex(&at.key("input"), input, &whole(input));
            if regex.is_none() {
                return;
            }
        }
        statuses.retain(|status| {
            let status = status.to_string();
            match kind {
                EQUALS => status == input,
                STARTS_WITH => status.starts_with(input),
                ENDS_WITH => status.ends_with(input),
                CONTAINS => status.contains(input),
                _ => regex.as_ref().is_some_and(|regex| regex.is_match(&status)),
            }
        });
    }

    /// Adds a condition on a header or a value.
    fn add(
        &mut self,
        at: &Path,
        group: &mut Vec<(String, Entries)>,
        name: &str,
        kind: &'static str,
        input: &str,
    ) {
        let text = match kind {
            MATCHES => whole(input),
            _ => plain(input),
        };
        let place = group.iter().position(|(known, _)| known == name);
        let place = place.unwrap_or_else(|| {
            group.push((name.to_owned(), Entries::new()));
            group.len() - 1
        });
        let Some((_, conditions)) = group.get_mut(place) else {
            return;
        };
        if conditions.iter().any(|(known, _)| known == kind) {
            let problem =
                format!("`{name}` has two such rules: volley takes one of each `matchType`");
            self.wrong(at, problem);
            return;
        }
        put(conditions, kind, Tree::from(text).at(at));
    }
}

/// Statuses as classes and numbers.
fn ranges(statuses: &[u64]) -> Tree {
    let mut items = Vec::new();
    for class in 1..6 {
        let of_class: Vec<u64> = statuses
            .iter()
            .copied()
            .filter(|status| status / 100 == class)
            .collect();
        match of_class.len() {
            100 => items.push(Tree::from(format!("{class}xx"))),
            _ => items.extend(of_class.into_iter().map(Tree::from)),
        }
    }
    match items.len() {
        1 => items.remove(0),
        _ => Tree::list(items),
    }
}
