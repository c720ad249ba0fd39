//! Feeds: their sources, and which columns are used.

use std::collections::HashSet;
use std::path;

use super::rows::{csv_header, first_keys};
use super::{Compiler, given};
use crate::Slot;
use crate::file::mistake::Path;
use crate::file::model::{Columns as By, Feed as Written};
use crate::plan::{AtEnd, Feed, Load, Phases, RowOrder, Scenario, Slice, Source};
use volley_request::schema::suggest;

/// The most random letters, or digits of a number.
const LONGEST_TEXT: usize = 1 << 20;

/// A feed whose used columns are not all known yet.
#[derive(Debug)]
pub(super) struct Draft {
    pub feed: Feed,
    columns: Columns,
    /// The target whose connections have its parts.
    target: Option<usize>,
}

#[derive(Debug)]
enum Columns {
    One,
    Named(Vec<String>),
    /// One for each step.
    Steps(usize),
}

impl Draft {
    /// What can stand in `${}` for it.
    pub fn known_names(&self) -> Vec<String> {
        let name = &self.feed.name;
        match &self.columns {
            Columns::Named(columns) => columns
                .iter()
                .map(|column| format!("{name}.{column}"))
                .collect(),
            Columns::One | Columns::Steps(_) => vec![name.clone()],
        }
    }
}

impl Compiler<'_> {
    pub(super) fn read_feeds(&mut self, at: &Path) {
        let file = self.file;
        for (name, written) in file.data.iter() {
            let at = at.key(name);
            self.check_name(&at, name);
            let source = self.source(&at, written);
            let feed = self.feed(&at, name, written, source.is_some());
            // A broken one is known by its name all the same.
            let (source, columns) = source.unwrap_or((Source::Uuid, Columns::Named(Vec::new())));
            self.feeds.push(Draft {
                feed: Feed { source, ..feed },
                columns,
                target: None,
            });
        }
    }

    fn feed(&mut self, at: &Path, name: &str, written: &Written, is_read: bool) -> Feed {
        let is_file = written.csv.is_some() || written.jsonl.is_some();
        let has_rows = is_file || written.rows.is_some() || written.range.is_some();
        if !has_rows && is_read {
            self.refuse(
                at,
                &["order", "at_end", "slice", "column"],
                &[],
                "is for rows: this source makes a value each time, so drop it",
            );
        }
        if written.range.is_none() && !self.node.has(&at.key("range")) {
            self.refuse(at, &["width"], &[], "is for `range`: drop it");
        }
        let rows = written.rows.as_ref().and_then(|rows| rows.first());
        if written.range.is_some() || rows.is_some_and(|row| !row.is_object()) {
            let why = "is for rows with columns: drop it";
            self.refuse(at, &["column"], &[], why);
        }
        let order = written.order.unwrap_or(RowOrder::Circular);
        let at_end = match (written.at_end, order) {
            (Some(AtEnd::Restart), RowOrder::Unique) => {
                self.wrong(
                    &at.key("at_end"),
                    "no row of `unique` comes twice: write `stop` or `fail`",
                );
                AtEnd::Stop
            }
            (Some(AtEnd::Stop | AtEnd::Fail), RowOrder::Random) => {
                self.wrong(&at.key("at_end"), "`random` has no end: drop it");
                AtEnd::Restart
            }
            (Some(at_end), _) => at_end,
            (None, RowOrder::Unique) => AtEnd::Stop,
            (None, _) => AtEnd::Restart,
        };
        Feed {
            name: name.to_owned(),
            source: Source::Uuid,
            order,
            at_end,
            slice: written.slice.filter(|_| has_rows).unwrap_or(Slice::All),
            connections: 0,
            columns: Vec::new(),
        }
    }

    fn source(&mut self, feed: &Path, written: &Written) -> Option<(Source, Columns)> {
        let given = given(&[
            ("csv", written.csv.is_some()),
            ("jsonl", written.jsonl.is_some()),
            ("rows", written.rows.is_some()),
            ("range", written.range.is_some()),
            ("random", written.random.is_some()),
            ("random_text", written.random_text.is_some()),
            ("uuid", written.uuid.is_some()),
            ("time", written.time.is_some()),
        ]);
        let [key] = given[..] else {
            let problem = "data has one source: `csv`, `jsonl`, `rows`, `range`, `random`, `random_text`, `uuid` or `time`";
            return self.none(feed, problem);
        };
        let at = feed.key(key);
        if let Some(file) = written.csv.as_ref().or(written.jsonl.as_ref()) {
            let (file, is_csv) = (self.data_file(&at, file)?, written.csv.is_some());
            let read = if is_csv { csv_header } else { first_keys };
            let names = read(&file).map_err(|why| format!("`{}`: {why}", file.display()));
            let names = self.noted(&at, names)?;
            let columns = self.columns(&at, written, &names);
            let source = match is_csv {
                true => Source::Csv { file, names },
                false => Source::JsonLines { file, names },
            };
            return Some((source, columns));
        }
        if let Some(rows) = &written.rows {
            let (rows, names) = self.rows(&at, rows)?;
            let columns = match names {
                Some(names) => self.columns(&at, written, &names),
                None => Columns::One,
            };
            return Some((Source::Rows(rows), columns));
        }
        let source = if let Some((start, end)) = written.range {
            let width = written.width.unwrap_or(0);
            if start >= end {
                let problem =
                    "the range is empty: it goes from the first number to before the second";
                self.wrong(&at, problem);
            }
            if width > 20 {
                self.wrong(&feed.key("width"), "`width` is at most 20");
            }
            Source::Range { start, end, width }
        } else if let Some((low, high)) = written.random {
            if low > high {
                self.wrong(&at, "the smaller number comes first");
            }
            Source::Random { low, high }
        } else if let Some(length) = written.random_text {
            if !(1..=LONGEST_TEXT).contains(&length) {
                self.wrong(&at, format!("the length is from 1 to {LONGEST_TEXT}"));
            }
            Source::RandomText { length }
        } else if let Some(format) = written.time {
            Source::Time(format)
        } else {
            if written.uuid == Some(false) {
                self.wrong(&at, "write `uuid: true`");
            }
            Source::Uuid
        };
        Some((source, Columns::One))
    }

    /// A file of any size.
    fn data_file(&mut self, at: &Path, file: &str) -> Option<path::PathBuf> {
        let path = self.folder.join(file);
        let found = match std::fs::metadata(&path) {
            Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
            Ok(data) if !data.is_file() => Err(format!("`{}` is not a file", path.display())),
            Ok(_) => Ok(path),
        };
        let path = self.noted(at, found)?;
        self.files.push(path.clone());
        Some(path)
    }

    fn columns(&mut self, at: &Path, written: &Written, names: &[String]) -> Columns {
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            self.wrong(at, format!("two columns are named `{twice}`: rename one"));
        }
        match written.column {
            Some(By::Step) => Columns::Steps(names.len()),
            None => Columns::Named(names.to_vec()),
        }
    }

    /// The slot of `name` or `name.column`; `None` if there is no such feed, `Some(None)` if that is wrong.
    pub(super) fn of_feed(&mut self, at: &Path, name: &str) -> Option<Option<Slot>> {
        let (feed, column) = match name.split_once('.') {
            Some((feed, column)) => (feed, Some(column)),
            None => (name, None),
        };
        let index = self.feed_named(feed)?;
        self.scope.draws.insert(index);
        Some(self.column(at, index, column))
    }

    fn column(&mut self, at: &Path, feed: usize, column: Option<&str>) -> Option<Slot> {
        let draft = self.feeds.get(feed)?;
        let name = &draft.feed.name;
        let number = match (&draft.columns, column) {
            (Columns::One, None) => Ok(0),
            (Columns::One, Some(column)) => Err(format!(
                "`{name}` has no column `{column}`: write `${{{name}}}`"
            )),
            (Columns::Steps(columns), None) if self.scope.step < *columns => Ok(self.scope.step),
            (Columns::Steps(columns), None) => Err(format!(
                "`{name}` has {columns} columns, so the step number {} has none",
                self.scope.step + 1
            )),
            (Columns::Steps(_), Some(_)) => {
                Err(format!("the step chooses the column: write `${{{name}}}`"))
            }
            // It is broken, and has been reported.
            (Columns::Named(columns), _) if columns.is_empty() => return self.names.slot(name),
            (Columns::Named(columns), None) if columns.len() == 1 => Ok(0),
            (Columns::Named(columns), None) => {
                let hint = suggest::hint("", columns, "");
                Err(format!(
                    "`{name}` has columns: write `${{{name}.column}}`; {hint}"
                ))
            }
            (Columns::Named(columns), Some(column)) => {
                let place = columns.iter().position(|known| known == column);
                place.ok_or_else(|| {
                    let hint = suggest::hint(column, columns, "");
                    format!("`{name}` has no column `{column}`; {hint}")
                })
            }
        };
        let label = match (&draft.columns, &number) {
            (Columns::Named(columns), Ok(number)) => format!("{name}.{}", columns.get(*number)?),
            (Columns::Steps(_), Ok(number)) => format!("{name}.{number}"),
            _ => name.clone(),
        };
        let number = self.noted(at, number)?;
        let slot = self.slot(at, &label)?;
        let columns = &mut self.feeds.get_mut(feed)?.feed.columns;
        if !columns.contains(&(number, slot)) {
            columns.push((number, slot));
        }
        Some(slot)
    }

    /// How many connections those have to which the iterations of a scenario keep, if it draws from a part of one. `first`:
    /// its first step.
    pub(super) fn slices(&mut self, first: usize) -> Option<u32> {
        let steps = self.steps.iter().skip(first);
        let targets: Vec<usize> = steps.map(|step| step.url.target()).collect();
        let mut keeps_to = None;
        for feed in self.scope.draws.clone() {
            let draft = self.feeds.get_mut(feed);
            let Some(draft) = draft.filter(|draft| draft.feed.slice == Slice::Connection) else {
                continue;
            };
            let own = draft.target.or(targets.first().copied());
            let Some(own) = own.and_then(|own| self.targets.get(own)) else {
                continue;
            };
            let others = targets
                .iter()
                .filter_map(|target| self.targets.get(*target));
            let other = others
                .clone()
                .find(|other| other.connections != own.connections);
            draft.target = draft.target.or(targets.first().copied());
            draft.feed.connections = own.connections;
            keeps_to = Some(own.connections);
            let rows = match &draft.feed.source {
                Source::Range { start, end, .. } => end.saturating_sub(*start),
                Source::Rows(rows) => rows.len() as u64,
                // Files are counted when the run begins.
                _ => u64::MAX,
            };
            let (name, connections) = (&own.name, own.connections);
            let problem = match other {
                Some(other) => Some(format!(
                    "each connection has a slice, but `{name}` has {connections} connections and `{}` {}: give them the same number",
                    other.name, other.connections
                )),
                None if rows < connections.into() => Some(format!(
                    "{rows} rows are too few for the {connections} connections of `{name}`: add rows, or lower `connections`"
                )),
                None => None,
            };
            if let Some(problem) = problem {
                let at = Path::default().key("data").key(&draft.feed.name);
                self.wrong(&at.key("slice"), problem);
            }
        }
        keeps_to
    }

    /// Refuses slices of users where a rate draws.
    pub(super) fn refuse_users(&mut self, loads: &[Load], scenarios: &[Scenario]) {
        let of_rates = loads
            .iter()
            .filter(|load| matches!(load.phases, Phases::Rate(_)));
        let of_rates = of_rates.flat_map(|load| &load.scenarios);
        let of_rates: Vec<_> = of_rates.filter_map(|(at, _)| scenarios.get(*at)).collect();
        for index in 0..self.feeds.len() {
            let draft = self.feeds.get(index);
            let draws = of_rates
                .iter()
                .find(|scenario| scenario.draws.contains(&index));
            if let Some((draft, scenario)) = draft.zip(draws)
                && draft.feed.slice == Slice::User
            {
                let at = Path::default().key("data").key(&draft.feed.name);
                let problem = format!(
                    "scenario `{}` has a rate, and so no users: write `thread` or `connection`, or give its load `users`",
                    scenario.name
                );
                self.wrong(&at.key("slice"), problem);
            }
        }
    }

    /// Refuses parts of connections where there are no iterations.
    pub(super) fn refuse_slices(&mut self, at: &Path) {
        for feed in self.scope.draws.clone() {
            let draft = self.feeds.get(feed);
            if let Some(draft) = draft.filter(|draft| draft.feed.slice == Slice::Connection) {
                let name = &draft.feed.name;
                let what = "is for the connections of the load (`slice: connection`)";
                let problem = format!("`{name}` {what}: name other data here");
                self.wrong(at, problem);
            }
        }
    }

    /// The feed that a step draws from.
    pub(super) fn draw(&mut self, at: &Path, name: &str) -> Option<usize> {
        let index = self.feed_named(name);
        if index.is_none() {
            let known = self.feeds.iter().map(|draft| draft.feed.name.clone());
            let known: Vec<String> = known.collect();
            let hint = suggest::hint(name, &known, "name one in `data`");
            self.wrong(at, format!("there is no data `{name}`; {hint}"));
        }
        self.scope.draws.extend(index);
        index
    }
}
