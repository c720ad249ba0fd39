//! What is wrong with a file, and where.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use volley_report::report::visible;

/// A way into the file: `scenarios.crud.steps[0].post`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Path(Vec<Segment>);

/// A key of a map, or the number of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Segment {
    Index(usize),
    Key(String),
}

impl Path {
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    pub fn then(mut self, segment: Segment) -> Self {
        self.0.push(segment);
        self
    }

    /// The way to a value below.
    pub fn key(&self, key: &str) -> Self {
        self.clone().then(Segment::Key(key.to_owned()))
    }

    /// The way to an item.
    pub fn index(&self, index: usize) -> Self {
        self.clone().then(Segment::Index(index))
    }

    /// The way on, to what `below` leads to from here.
    pub fn join(mut self, below: Self) -> Self {
        self.0.extend(below.0);
        self
    }

    /// The map or list that holds it, and its place there; `None` for the whole file.
    pub fn split(&self) -> Option<(&[Segment], &Segment)> {
        let (last, before) = self.0.split_last()?;
        Some((before, last))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(out, "[{index}]")?,
                Segment::Key(key) if place == 0 => out.write_str(key)?,
                Segment::Key(key) => write!(out, ".{key}")?,
            }
        }
        Ok(())
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// Where in the file's tree, such as `scenarios.crud.steps[0].post`; empty for the whole file.
    pub path: String,
    /// The same, key by key.
    place: Path,
    /// What is wrong, and the remedy.
    pub problem: String,
}

impl Mistake {
    pub(super) fn new(line: usize, path: Path, problem: String) -> Self {
        Self {
            line,
            path: path.to_string(),
            place: path,
            problem,
        }
    }
}

/// Everything that is wrong with a file, by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    pub file: PathBuf,
    /// At least one.
    pub all: Vec<Mistake>,
}

impl Mistakes {
    /// Mistakes, in the file's order.
    pub(super) fn sorted(file: &std::path::Path, mut all: Vec<Mistake>) -> Self {
        all.sort_by_key(|mistake| mistake.line);
        Self {
            file: file.to_owned(),
            all,
        }
    }

    /// The only mistake: one of the whole file, at a line.
    pub(super) fn whole(file: &std::path::Path, line: usize, problem: String) -> Self {
        Self {
            file: file.to_owned(),
            all: vec![Mistake::new(line, Path::default(), problem)],
        }
    }

    /// One line for each: `file:line: path: problem`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.all.iter().map(
            |Mistake {
                 line,
                 path,
                 problem,
                 ..
             }| {
                let colon = if path.is_empty() { "" } else { ": " };
                let text = format!("{}:{line}: {path}{colon}{problem}", self.file.display());
                visible(&text).into_owned()
            },
        )
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(out, "{end}{line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
