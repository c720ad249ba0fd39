//! What `${names}` stand for.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};

use super::Importer;
use super::object::Object;
use super::tree::{Entries, Tree, put};
use super::words::{Word, plain, words};
use crate::file::mistake::Path;
use volley_base::input;

/// So much of a CSV file is looked at, in bytes.
const LOOKED_AT: u64 = 1 << 20;

/// A text whose names are those of the new file.
pub(super) type Text = Vec<Piece>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Fixed(String),
    /// A value. `is_plain`: it can stand in a URL as it is.
    Value {
        name: String,
        is_plain: bool,
    },
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Url,
    /// In a header or a body.
    Other,
}

/// The source of a variable.
enum Source {
    /// A range.
    Range(String),
    /// A column of a file.
    Column(String),
    /// One column for each request.
    Columns(Vec<String>),
}

/// Data of the new file: its cause in the old one, its name, and what it is.
type Data = (Path, String, Entries);

/// The variables of a scenario.
#[derive(Default)]
pub(super) struct Scope {
    sources: HashMap<String, Source>,
    /// Names that a picker fills, in any request.
    picked: HashSet<String>,
    /// Names that have been filled: by a text that is known, or by a value of this name.
    filled: HashMap<String, Text>,
    /// Names of values in the new file.
    pub saved: HashSet<String>,
    /// A name that stands there without `${}`.
    pub old: Option<String>,
    /// The number of the request.
    pub request: usize,
}

impl Scope {
    /// A picker fills this name, now or later.
    pub fn expect(&mut self, name: &str) {
        self.picked.insert(name.to_owned());
    }

    /// A picker has filled this name.
    pub fn fill(&mut self, name: &str, text: Text) {
        self.filled.insert(name.to_owned(), text);
    }

    /// The value of the new file that a picked name is.
    pub fn value_of(&self, name: &str) -> Option<&str> {
        match self.filled.get(name).map(Vec::as_slice) {
            Some([Piece::Value { name, .. }]) => Some(name),
            _ => None,
        }
    }
}

impl Importer<'_> {
    /// Reads the variables of a scenario.
    pub(super) fn variables(&mut self, scenario: &mut Object<'_>, scope: &mut Scope) {
        let mut data = Vec::new();
        for mut range in self.objects(scenario, "range-based-variables") {
            let name = self.needed(&mut range, "variable-name").unwrap_or_default();
            let ends = ["variable-range-start", "variable-range-end"];
            let ends = ends.map(|key| self.end(&mut range, key));
            if let [Some(start), Some(end)] = ends {
                data.extend(self.range(&range.at, name, start, end, scope));
            }
            self.finish(range);
        }
        for mut table in self.objects(scenario, "two-dimensional-variables") {
            let name = self.needed(&mut table, "variable-name").unwrap_or_default();
            if let Some(file) = self.needed(&mut table, "file-name") {
                data.extend(self.table(&table.at, name, file, scope));
            }
            self.finish(table);
        }
        data.extend(self.old_variable(scenario, scope));
        let key = "user-variables-input-file";
        let at = scenario.at.key(key);
        if let Some(file) = self.text(scenario, key).filter(|file| !file.is_empty()) {
            data.extend(self.users(&at, file, scope));
        }
        let key = "user-id-range-slicing";
        let slices = self.flag(scenario, key);
        if self.top.clients > 1 && !data.is_empty() {
            let at = scenario.at.key(key);
            let slices = slices.unwrap_or_else(|| {
                self.fault(&at, "default-slicing");
                !self.how.as_run
            });
            if slices {
                for (.., entries) in &mut data {
                    put(entries, "slice", "connection");
                }
            } else {
                self.fault(&at, "random-start");
            }
        }
        for (at, name, entries) in data {
            self.data.push((name, Tree::map(entries).at(&at)));
        }
    }

    /// An end of a range, which must be there.
    fn end(&mut self, object: &mut Object<'_>, key: &'static str) -> Option<u64> {
        self.demand(object, key);
        self.whole(object, key)
    }

    /// The deprecated variable: a list in a file, or a range.
    fn old_variable(&mut self, scenario: &mut Object<'_>, scope: &mut Scope) -> Option<Data> {
        let key = "user-id-variable-in-path-and-data";
        let at = scenario.at.key(key);
        let name = self.text(scenario, key);
        let list = self.text(scenario, "user-id-list-file");
        let start = self.whole(scenario, "user-id-range-start").unwrap_or(0);
        let end = self.whole(scenario, "user-id-range-end").unwrap_or(0);
        let name = name.filter(|name| !name.is_empty())?;
        scope.old = Some(name.to_owned());
        match list.filter(|file| !file.is_empty()) {
            Some(file) => self.table(&at, name, file, scope),
            None => self.range(&at, name, start, end, scope),
        }
    }

    fn range(
        &mut self,
        at: &Path,
        name: &str,
        start: u64,
        end: u64,
        scope: &mut Scope,
    ) -> Option<Data> {
        if start >= end {
            self.wrong(at, "the range is empty: its end is greater than its start");
            return None;
        }
        let own = self.source(at, name, scope)?;
        let mut entries = Entries::new();
        let range = Tree::list([start, end].map(Tree::from));
        put(&mut entries, "range", range);
        put(&mut entries, "width", end.to_string().len());
        let source = Source::Range(own.clone());
        scope.sources.insert(name.to_owned(), source);
        Some((at.clone(), own, entries))
    }

    /// A file with a column for each request.
    fn table(&mut self, at: &Path, name: &str, file: &str, scope: &mut Scope) -> Option<Data> {
        let own = self.source(at, name, scope)?;
        let columns = self.columns(at, file)?;
        let columns = columns.iter().map(|column| format!("{own}.{column}"));
        let source = Source::Columns(columns.collect());
        scope.sources.insert(name.to_owned(), source);
        Some((at.clone(), own, self.csv(file)))
    }

    /// A file whose columns are variables.
    fn users(&mut self, at: &Path, file: &str, scope: &mut Scope) -> Option<Data> {
        let columns = self.columns(at, file)?;
        let own = self.own_name("users");
        for column in columns {
            let name = column.trim();
            if self.is_new(at, name, scope) {
                let source = Source::Column(format!("{own}.{column}"));
                scope.sources.insert(name.to_owned(), source);
            }
        }
        Some((at.clone(), own, self.csv(file)))
    }

    fn csv(&self, file: &str) -> Entries {
        let mut entries = Entries::new();
        put(&mut entries, "csv", self.file_name(file));
        entries
    }

    /// A name for the data of a variable, unless something else is called so already.
    fn source(&mut self, at: &Path, name: &str, scope: &Scope) -> Option<String> {
        self.is_new(at, name, scope).then(|| self.own_name(name))
    }

    /// Whether nothing else in the scenario has this name. What comes first counts, and pickers do.
    fn is_new(&mut self, at: &Path, name: &str, scope: &Scope) -> bool {
        let is_new = !scope.picked.contains(name) && !scope.sources.contains_key(name);
        if !is_new {
            let text = format!("`{name}` is there already, from a picker or from above: left out");
            self.note(at, "defined-twice", text);
        }
        is_new
    }

    /// The columns of a CSV file, which is looked at for what h2loadrunner reads differently.
    fn columns(&mut self, at: &Path, file: &str) -> Option<Vec<String>> {
        let path = self.how.from.join(file);
        let read = input::check(&path, u64::MAX).map_err(|error| error.to_string());
        let read = read.and_then(|()| super::super::compile::csv_header(&path));
        let columns = self.readable(at, &path, read)?;
        if let Some(odd) = columns
            .iter()
            .find(|name| name.is_empty() || name.contains(['}', ':']) || name.trim_end() != *name)
        {
            self.wrong(
                at,
                format!("the column `{odd}` cannot stand in `${{}}`: rename it"),
            );
        }
        let file = input::open(&path).map(|file| file.take(LOOKED_AT));
        let lines = file.map(|file| BufReader::new(file).split(b'\n'));
        let mut left = LOOKED_AT;
        let is_near = |line: &Vec<u8>| {
            left = left.saturating_sub(line.len() as u64 + 1);
            left > 0
        };
        let is_odd = |line: Vec<u8>| {
            let commas = line.iter().filter(|byte| **byte == b',').count();
            line.contains(&b'"') || (!line.is_empty() && commas + 1 != columns.len())
        };
        let lines = lines.into_iter().flatten().map_while(Result::ok);
        if lines.take_while(is_near).any(is_odd) {
            self.fault(at, "csv");
        }
        Some(columns)
    }

    /// What a text of the present request says, in terms of the new file. `old`: the deprecated variable counts.
    pub(super) fn pieces(&mut self, at: &Path, text: &str, scope: &Scope, old: bool) -> Text {
        let old = scope.old.as_deref().filter(|_| old);
        let mut all = Text::new();
        for word in words(text, old) {
            match word {
                Word::Fixed(text) => all.push(Piece::Fixed(text)),
                Word::Name(name) => all.extend(self.meaning(at, &name, scope)),
            }
        }
        joined(all)
    }

    /// What a name stands for.
    fn meaning(&mut self, at: &Path, name: &str, scope: &Scope) -> Text {
        if let Some(text) = scope.filled.get(name) {
            return text.clone();
        }
        let value = |name: &String, is_plain| {
            vec![Piece::Value {
                name: name.clone(),
                is_plain,
            }]
        };
        if scope.picked.contains(name) {
            self.fault(at, "unset-variable");
            if !self.how.as_run {
                self.wrong(at, format!("no request before has saved `${{{name}}}`"));
            }
            return Text::new();
        }
        match scope.sources.get(name) {
            Some(Source::Range(own)) => value(own, true),
            Some(Source::Column(column)) => value(column, false),
            Some(Source::Columns(columns)) => {
                let number = scope.request % columns.len().max(1);
                columns
                    .get(number)
                    .map_or_else(Text::new, |column| value(column, false))
            }
            None => {
                self.wrong(
                    at,
                    format!("nothing says what `${{{name}}}` is: add a variable or a picker"),
                );
                Text::new()
            }
        }
    }

    /// A text as the new file has it.
    pub(super) fn written(&mut self, at: &Path, text: &[Piece], context: Context) -> String {
        let mut all = String::new();
        for piece in text {
            match piece {
                Piece::Fixed(text) => all += &plain(text),
                Piece::Value { .. } if all.ends_with('$') => {
                    self.wrong(
                        at,
                        "volley reads `$${` as a plain `${`: there is no `$` before a value",
                    );
                }
                Piece::Value { name, is_plain } => {
                    let raw = if context == Context::Url && !is_plain {
                        ":raw"
                    } else {
                        ""
                    };
                    all += &format!("${{{name}{raw}}}");
                }
            }
        }
        all
    }
}

/// Neighbours that never change become one.
fn joined(text: Text) -> Text {
    let mut all = Text::new();
    for piece in text {
        match (all.last_mut(), piece) {
            (Some(Piece::Fixed(before)), Piece::Fixed(text)) => before.push_str(&text),
            (_, piece) => all.push(piece),
        }
    }
    all
}

/// The text, if it never changes.
pub(super) fn constant(text: &[Piece]) -> Option<&str> {
    match text {
        [] => Some(""),
        [Piece::Fixed(text)] => Some(text),
        _ => None,
    }
}
