//! Configuration files of h2loadrunner, as scenario files.
//!
//! [`object`] reads keys, [`words`] reads texts with `${names}`, [`variables`] knows what these stand for, and [`tree`] is the
//! new file. Where h2loadrunner departs from its schema, a [`Fault`] has the difference.

mod expect;
mod fault;
mod load;
mod lua;
mod object;
mod pick;
mod request;
mod scenario;
mod target;
mod tree;
mod variables;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::mem::take;
use std::path;

use serde_json::Value;

pub use fault::{FAULTS, Fault};

use super::mistake::{Mistake, Mistakes, Path};
use super::node::Node;
use crate::plan::Plan;
use object::Object;
use tree::{Entries, Tree, put, put_map};

/// How a file is imported.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// As h2loadrunner runs it, not as its schema describes it.
    pub as_run: bool,
    /// The folder of relative names of files; h2loadrunner takes the current one.
    pub from: &'a path::Path,
    /// The folder of the new file.
    pub to: &'a path::Path,
}

/// A scenario file that was made of an old one.
#[derive(Debug)]
pub struct Imported {
    pub plan: Plan,
    notes: Vec<Note>,
    tree: Tree,
    file: path::PathBuf,
    as_run: bool,
}

/// Something that a reader of the new file must know.
#[derive(Debug)]
struct Note {
    name: &'static str,
    line: usize,
    /// In the old file.
    path: Path,
    text: String,
    /// How often the same is so elsewhere.
    more: usize,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            path,
            text,
            more,
            ..
        } = self;
        write!(out, "{path}: {name}: {text}")?;
        match more {
            0 => Ok(()),
            1 => write!(out, " (and in another place)"),
            more => write!(out, " (and in {more} other places)"),
        }
    }
}

impl Imported {
    /// What the user must know, the gravest first, one line each: the file, the line, the key, a name, and what is so.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let file = self.file.display();
        let mut notes: Vec<&Note> = self.notes.iter().collect();
        notes.sort_by_key(|note| weight(note.name));
        notes
            .into_iter()
            .map(move |note| format!("{file}:{}: {note}", note.line))
    }

    /// The new file as YAML, with the warnings as comments.
    #[must_use]
    pub fn yaml(&self) -> String {
        let how = match self.as_run {
            true => "as h2loadrunner runs it",
            false => "as the schema of h2loadrunner describes it",
        };
        let title = format!("From {}, {how}", self.file.display());
        self.tree.yaml(&title, &self.notes)
    }

    /// The new file as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        self.tree.value()
    }
}

/// The name of a warning about a key that h2loadrunner does not have.
const UNKNOWN_KEY: &str = "unknown-key";

/// How much a warning matters: first what is lost, then what a flag does, then what h2loadrunner does otherwise.
fn weight(name: &str) -> u8 {
    match name {
        UNKNOWN_KEY => 0,
        "use-flag" => 2,
        // Hardly a file is without it, and what is sent is the same for its server.
        "header-blank" => 4,
        name if FAULTS.iter().any(|fault| fault.name == name) => 3,
        _ => 1,
    }
}

/// Makes a scenario file of a configuration of h2loadrunner.
///
/// # Errors
///
/// Everything that cannot be translated, or that is wrong with the file.
pub fn import(text: &str, file: &path::Path, how: How<'_>) -> Result<Imported, Mistakes> {
    import_node(&super::node(text, file)?, file, how)
}

/// The same of a tree.
pub(super) fn import_node(
    node: &Node,
    file: &path::Path,
    how: How<'_>,
) -> Result<Imported, Mistakes> {
    let refused = |all| Mistakes::sorted(file, all);
    if !super::is_config(node) {
        let problem =
            "it is no configuration of h2loadrunner: that has `schema`, `host` and `Scenarios`";
        return Err(Mistakes::whole(file, 1, problem.to_owned()));
    }
    let mut importer = Importer::new(node, how);
    let tree = importer.file(&node.value());
    if !importer.mistakes.is_empty() {
        let mut all = importer.mistakes;
        // A misspelt key is often the cause of a mistake.
        let unknown = importer.notes.into_iter();
        let unknown = unknown.filter(|note| note.name == UNKNOWN_KEY);
        all.extend(unknown.map(|note| Mistake::new(note.line, note.path, note.text)));
        return Err(refused(all));
    }
    let text = tree.value().to_string();
    let plan = super::compile(&text, &how.to.join("imported.json"), &|_| None);
    let plan = plan.map_err(|mistakes| {
        let all = mistakes.all.into_iter();
        refused(all.map(|mistake| traced(mistake, &tree, node)).collect())
    })?;
    Ok(Imported {
        plan,
        notes: importer.notes,
        tree,
        file: file.to_owned(),
        as_run: how.as_run,
    })
}

/// A mistake in the new file, where the old one has its cause.
fn traced(mistake: Mistake, tree: &Tree, node: &Node) -> Mistake {
    let mut cause = Path::default();
    tree.places(&Path::default(), &mut |at, from| {
        let rest = mistake.path.strip_prefix(&at.to_string());
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
            cause = from.clone();
        }
    });
    Mistake::new(node.line(&cause), cause, mistake.problem)
}

/// What is known while a file is imported.
struct Importer<'a> {
    node: &'a Node,
    how: How<'a>,
    notes: Vec<Note>,
    mistakes: Vec<Mistake>,
    top: Top,
    targets: Entries,
    data: Entries,
    /// Names of targets and data.
    names: BTreeSet<String>,
    /// Names of values that some scenario saves.
    saved: BTreeSet<String>,
}

/// What scenarios must know of the rest.
#[derive(Debug, Default)]
struct Top {
    is_tls: bool,
    is_http1: bool,
    /// `host:port` of the first target.
    authority: String,
    /// The hosts of the first target.
    hosts: Vec<String>,
    /// What `tls` says.
    tls: Vec<(&'static str, Value)>,
    by_authority: bool,
    clients: u64,
    streams: u64,
    /// Other targets: their origins, and their names.
    named: Vec<(String, String)>,
}

impl<'a> Importer<'a> {
    fn new(node: &'a Node, how: How<'a>) -> Self {
        Self {
            node,
            how,
            notes: Vec::new(),
            mistakes: Vec::new(),
            top: Top::default(),
            targets: Entries::new(),
            data: Entries::new(),
            names: ["env", "last"].map(str::to_owned).into(),
            saved: BTreeSet::new(),
        }
    }

    /// The whole new file.
    fn file(&mut self, value: &Value) -> Tree {
        let Some(mut file) = self.object(Path::default(), value) else {
            return Tree::map(Entries::new());
        };
        let http = self.target(&mut file);
        let wanted = self.wanted(&mut file);
        let control = self.outputs(&mut file);
        let scenarios = self.scenarios(&mut file);
        self.finish(file);
        let loads = self.loads(&wanted, &scenarios);
        let mut all = Entries::new();
        let (targets, data) = (take(&mut self.targets), take(&mut self.data));
        put(&mut all, "targets", Tree::map(targets));
        put(&mut all, "http", Tree::map(http));
        put_map(&mut all, "data", data);
        put(&mut all, "scenarios", Tree::map(loads.scenarios));
        all.extend(loads.top);
        if self.how.as_run {
            put(&mut all, "on_failure", "continue");
        }
        if let Some(address) = control {
            put(&mut all, "control", address);
        }
        Tree::map(all)
    }

    /// Where h2loadrunner writes and listens. What is left is the address that takes orders.
    fn outputs(&mut self, file: &mut Object<'_>) -> Option<Tree> {
        for (key, flag) in [
            ("log-file", "--log"),
            ("failed-request-log-file", "--save-failures"),
        ] {
            if let Some(name) = self.text(file, key) {
                let text = format!("a flag of `volley run` has it: `{flag} {name}`");
                self.note(&file.at.key(key), "use-flag", text);
            }
        }
        let reports = "the report has each second (`-O json` or `html`), and `--metrics` shows the present figures";
        for key in ["statistics-interval", "statistics-file"] {
            if self.value(file, key).is_some() {
                self.note(&file.at.key(key), "use-flag", reports.to_owned());
            }
        }
        let key = "request-per-second-feed-file";
        let feed = self.text(file, key).filter(|name| !name.is_empty());
        if feed.is_some() {
            self.fault(&file.at.key(key), "feed-file");
        }
        let at = file.at.key("builtin-server-listening-port");
        let port = self.whole(file, "builtin-server-listening-port");
        if port.is_some() {
            self.fault(&at, "control-port");
        }
        let port = port.or(feed.map(|_| 8888))?;
        Some(Tree::from(format!("127.0.0.1:{port}")).at(&at))
    }

    /// Notes what is wrong, or cannot be translated.
    fn wrong(&mut self, at: &Path, problem: impl Into<String>) {
        let line = self.node.line(at);
        self.mistakes
            .push(Mistake::new(line, at.clone(), problem.into()));
    }

    /// Notes what the user must know.
    fn note(&mut self, at: &Path, name: &'static str, text: String) {
        self.notes.push(Note {
            name,
            line: self.node.line(at),
            path: at.clone(),
            text,
            more: 0,
        });
    }

    /// Notes a fault of h2loadrunner that touches the file; where it does so again, it is only counted.
    fn fault(&mut self, at: &Path, name: &'static str) {
        if let Some(note) = self.notes.iter_mut().find(|note| note.name == name) {
            note.more += 1;
            return;
        }
        let mut faults = FAULTS.iter();
        let Some(fault) = faults.find(|fault| fault.name == name) else {
            unreachable!("{name} is no fault")
        };
        let Fault { says, does, .. } = fault;
        let volley = match self.how.as_run {
            // Nothing differs.
            true if does.starts_with(fault.as_run) => return,
            true => fault.as_run,
            false => fault.by_schema,
        };
        let text = format!("volley {volley}; h2loadrunner {does}; the schema says: {says}");
        self.note(at, name, text);
    }

    /// Notes a key for which volley has nothing.
    fn no_equal(&mut self, file: &mut Object<'_>, key: &'static str, effect: &str) {
        if self.value(file, key).is_some() {
            self.note(&file.at.key(key), "no-equal", effect.to_owned());
        }
    }

    /// What was read of a file, if it could be.
    fn readable<T>(
        &mut self,
        at: &Path,
        file: &path::Path,
        read: Result<T, impl fmt::Display>,
    ) -> Option<T> {
        let said = |error| self.wrong(at, format!("`{}`: {error}", file.display()));
        read.map_err(said).ok()
    }

    /// The name of a file as the new file has it.
    fn file_name(&self, name: &str) -> String {
        let (from, to) = (self.how.from, self.how.to);
        if from == to || path::Path::new(name).is_absolute() {
            return name.to_owned();
        }
        let whole = path::absolute(from.join(name));
        let (Ok(whole), Ok(to)) = (whole, path::absolute(to.join("."))) else {
            return name.to_owned();
        };
        let near = whole.strip_prefix(to).unwrap_or(&whole);
        near.display().to_string()
    }

    /// A name for something in the new file, as near as possible to that in the old one.
    fn new_name(&self, wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let plain = wanted.replace(|c: char| !c.is_alphanumeric() && c != '_', "-");
        let plain = if plain.is_empty() { "value" } else { &plain };
        free_name(plain, |name| self.names.contains(name) || is_taken(name))
    }

    /// A name for a target or data.
    fn own_name(&mut self, wanted: &str) -> String {
        let name = self.new_name(wanted, |name| self.saved.contains(name));
        self.names.insert(name.clone());
        name
    }
}

/// A name, with a number if something has it already.
fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}
