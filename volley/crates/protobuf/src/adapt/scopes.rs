//! The types that files declare, and what a name means where it is used.

use std::collections::{HashMap, HashSet};

use super::super::full_name::{join, last};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Message,
    Enum,
}

/// Packages and types by their full names, part by part: a lookup in a scope costs no more than the name.
pub(super) struct Scopes {
    all: Vec<Scope>,
    /// The last parts of the names of all types.
    names: HashSet<String>,
}

#[derive(Default)]
struct Scope {
    /// What it is, if it is a type.
    sort: Option<Sort>,
    inner: HashMap<String, usize>,
}

/// What is outside of every package.
pub(super) const OUTERMOST: usize = 0;

impl Default for Scopes {
    fn default() -> Self {
        Self {
            all: vec![Scope::default()],
            names: HashSet::new(),
        }
    }
}

impl Scopes {
    /// Adds a scope inside of another one.
    pub(super) fn add(&mut self, outer: usize, name: &str, sort: Option<Sort>) -> usize {
        let mut at = outer;
        for part in parts(outer, name) {
            let next = self.all.len();
            let Some(scope) = self.all.get_mut(at) else {
                return at;
            };
            at = match scope.inner.get(part) {
                Some(known) => *known,
                None => {
                    scope.inner.insert(part.to_owned(), next);
                    self.all.push(Scope::default());
                    next
                }
            };
        }
        if let (Some(scope), Some(_)) = (self.all.get_mut(at), sort) {
            scope.sort = sort;
            self.names.insert(last(name).to_owned());
        }
        at
    }

    /// What has this name inside of a scope.
    pub(super) fn find(&self, outer: usize, name: &str) -> Option<usize> {
        parts(outer, name).try_fold(outer, |at, part| self.all.get(at)?.inner.get(part).copied())
    }

    pub(super) fn sort(&self, at: usize) -> Option<Sort> {
        self.all.get(at)?.sort
    }
}

/// The parts of a name. What has no name is its own scope, if nothing is around it.
fn parts(outer: usize, name: &str) -> impl Iterator<Item = &str> {
    let is_own = outer == OUTERMOST && name.is_empty();
    name.split('.').filter(move |_| !is_own)
}

/// From where a name is seen.
pub(super) struct View {
    name: String,
    /// The scopes around, from the outermost, and how much of `name` is the name of each.
    around: Vec<(usize, usize)>,
}

impl View {
    /// That of a file.
    pub(super) fn of(scopes: &Scopes, package: &str) -> Self {
        let mut view = Self {
            name: String::new(),
            around: vec![(OUTERMOST, 0)],
        };
        view.enter(scopes, package);
        view
    }

    /// Its full name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Goes into a scope. What it returns leads back.
    pub(super) fn enter(&mut self, scopes: &Scopes, name: &str) -> (usize, usize) {
        let back = (self.name.len(), self.around.len());
        let (mut at, mut end) = self.around.last().copied().unwrap_or_default();
        for part in parts(at, name) {
            let Some(inner) = scopes.find(at, part) else {
                break;
            };
            end += usize::from(end > 0) + part.len();
            at = inner;
            self.around.push((at, end));
        }
        self.name = join(&self.name, name);
        back
    }

    pub(super) fn leave(&mut self, (name, around): (usize, usize)) {
        self.name.truncate(name);
        self.around.truncate(around);
    }

    /// The full name of what a name means here, and where that is: the innermost scope that has such a type decides.
    pub(super) fn find(&self, scopes: &Scopes, name: &str) -> (String, Option<usize>) {
        if let Some(full) = name.strip_prefix('.') {
            return (full.to_owned(), scopes.find(OUTERMOST, full));
        }
        let is_there = scopes.names.contains(last(name));
        for (scope, end) in self.around.iter().rev().filter(|_| is_there) {
            let found = scopes.find(*scope, name);
            if let Some(found) = found.filter(|found| scopes.sort(*found).is_some()) {
                let scope = self.name.get(..*end).unwrap_or_default();
                return (join(scope, name), Some(found));
            }
        }
        (name.to_owned(), None)
    }
}
