//! The scenario file that an import makes, as a tree that knows where its parts come from.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Note;
use crate::file::mistake::Path;
use volley_report::report::visible;

/// The longest map or list that is written in one line, in bytes.
const ONE_LINE: usize = 80;

/// A value of the new file.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    kind: Kind,
    /// The place in the old file.
    from: Option<Path>,
}

#[derive(Clone, Debug)]
enum Kind {
    Leaf(Value),
    List(Vec<Tree>),
    Map(Entries),
}

/// The entries of a map, in their order.
pub(super) type Entries = Vec<(String, Tree)>;

/// Adds an entry.
pub(super) fn put(map: &mut Entries, key: &str, value: impl Into<Tree>) {
    map.push((key.to_owned(), value.into()));
}

/// Adds a map, unless it has no entries.
pub(super) fn put_map(map: &mut Entries, key: &str, entries: Entries) {
    if !entries.is_empty() {
        put(map, key, Tree::map(entries));
    }
}

impl<T: Into<Value>> From<T> for Tree {
    fn from(value: T) -> Self {
        Self {
            kind: Kind::Leaf(value.into()),
            from: None,
        }
    }
}

impl Tree {
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self {
            kind: Kind::List(items.into_iter().collect()),
            from: None,
        }
    }

    pub fn map(entries: Entries) -> Self {
        Self {
            kind: Kind::Map(entries),
            from: None,
        }
    }

    /// A map of one entry.
    pub fn pair(key: &str, value: impl Into<Self>) -> Self {
        Self::map(vec![(key.to_owned(), value.into())])
    }

    /// The same, with its place in the old file.
    pub fn at(self, from: &Path) -> Self {
        Self {
            from: Some(from.clone()),
            ..self
        }
    }

    /// The same without places.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Leaf(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::value).collect(),
            Kind::Map(entries) => {
                let entry = |(key, tree): &(String, Self)| (key.clone(), tree.value());
                Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    /// Calls `see` with each part that has a place in the old file: its place in this one, and that.
    pub fn places<'a>(&'a self, at: &Path, see: &mut impl FnMut(&Path, &'a Path)) {
        if let Some(from) = &self.from {
            see(at, from);
        }
        match &self.kind {
            Kind::Leaf(_) => {}
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.places(&at.index(index), see);
                }
            }
            Kind::Map(entries) => {
                for (key, tree) in entries {
                    tree.places(&at.key(key), see);
                }
            }
        }
    }

    /// The places in the old file of all parts that begin a line.
    fn anchors<'a>(&'a self, all: &mut Vec<&'a Path>) {
        all.extend(&self.from);
        match &self.kind {
            Kind::List(items) if !is_short(self) => items.iter().for_each(|item| item.anchors(all)),
            Kind::Map(entries) if !is_short(self) => {
                entries.iter().for_each(|(_, tree)| tree.anchors(all));
            }
            _ => {}
        }
    }

    /// The file as YAML. A note is a comment above the part that it is about, or at the beginning.
    pub fn yaml(&self, title: &str, notes: &[Note]) -> String {
        let mut all = Vec::new();
        self.anchors(&mut all);
        let nearest = |note: &Note| {
            let is_around = |from: &&Path| note.path.segments().starts_with(from.segments());
            let around = all.iter().copied().filter(is_around);
            // The first of those that are equally near.
            around.rev().max_by_key(|from| from.segments().len())
        };
        let mut writer = Writer {
            comments: notes
                .iter()
                .map(|note| Some((nearest(note), note.to_string())))
                .collect(),
            out: String::new(),
        };
        writer.comment(0, title);
        writer.comments_of(0, None);
        if let Kind::Map(entries) = &self.kind {
            writer.entries(entries, 0, true);
        }
        writer.out
    }
}

struct Writer<'a> {
    /// Above which part they stand; none that has been written.
    comments: Vec<Option<(Option<&'a Path>, String)>>,
    out: String,
}

impl<'a> Writer<'a> {
    fn comment(&mut self, indent: usize, text: &str) {
        // Writing to memory cannot fail.
        let _ = writeln!(self.out, "{:indent$}# {}", "", visible(text));
    }

    fn comments_of(&mut self, indent: usize, from: Option<&'a Path>) {
        for index in 0..self.comments.len() {
            let comment = self.comments.get_mut(index);
            let comment = comment.and_then(|it| it.take_if(|(above, _)| *above == from));
            if let Some((_, text)) = comment {
                self.comment(indent, &text);
            }
        }
    }

    fn above(&mut self, indent: usize, tree: &'a Tree) {
        if tree.from.is_some() {
            self.comments_of(indent, tree.from.as_ref());
        }
    }

    /// `is_new`: the first entry begins a line.
    fn entries(&mut self, entries: &'a Entries, indent: usize, is_new: bool) {
        for (place, (key, tree)) in entries.iter().enumerate() {
            if is_new || place > 0 {
                self.above(indent, tree);
                let _ = write!(self.out, "{:indent$}", "");
            }
            let _ = write!(self.out, "{}:", scalar(&key.as_str().into()));
            self.value(tree, indent);
        }
    }

    /// What stands behind a key.
    fn value(&mut self, tree: &'a Tree, indent: usize) {
        match &tree.kind {
            Kind::Map(entries) if !is_short(tree) => {
                self.out.push('\n');
                self.entries(entries, indent + 2, true);
            }
            Kind::List(items) if !is_short(tree) => {
                self.out.push('\n');
                for item in items {
                    self.above(indent + 2, item);
                    let _ = write!(self.out, "{:1$}- ", "", indent + 2);
                    match &item.kind {
                        Kind::Map(entries) if !is_short(item) => {
                            self.entries(entries, indent + 4, false);
                        }
                        _ => {
                            let _ = writeln!(self.out, "{}", flow(item));
                        }
                    }
                }
            }
            _ => {
                let _ = writeln!(self.out, " {}", flow(tree));
            }
        }
    }
}

/// Whether it is written in one line: it is, or holds, single values and lists of them.
fn is_short(tree: &Tree) -> bool {
    let is_leaf = |tree: &Tree| matches!(tree.kind, Kind::Leaf(_));
    let is_row = |tree: &Tree| match &tree.kind {
        Kind::List(items) => items.iter().all(is_leaf),
        kind => matches!(kind, Kind::Leaf(_)),
    };
    match &tree.kind {
        Kind::Leaf(_) => true,
        Kind::List(_) => is_row(tree) && flow(tree).len() <= ONE_LINE,
        Kind::Map(entries) => {
            entries.iter().all(|(_, tree)| is_row(tree)) && flow(tree).len() <= ONE_LINE
        }
    }
}

fn flow(tree: &Tree) -> String {
    match &tree.kind {
        Kind::Leaf(value) => scalar(value),
        Kind::List(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Map(entries) => {
            let entry = |(key, tree): &(String, Tree)| {
                format!("{}: {}", scalar(&key.as_str().into()), flow(tree))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A single value. A text is quoted if YAML could take it for something else.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/_.-".contains(c));
    let word = text.to_ascii_lowercase();
    let is_literal = matches!(
        word.as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let is_amount = text.starts_with(|c: char| c.is_ascii_digit())
        && ["s", "ms", "xx"].iter().any(|unit| {
            text.strip_suffix(unit)
                .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        });
    if (is_word && !is_literal) || is_amount {
        return text.clone();
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // What YAML does not take as it is, or reads as the end of a line.
            _ if c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c) => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::node::Node;

    fn tree() -> impl Strategy<Value = Tree> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Tree::from),
            "[ -~\u{80}-\u{a0}\u{2028}\u{feff}]{0,12}".prop_map(Tree::from),
            "(true|No|1e3|0x1F|~|-|12s|2xx|a: b|#|\\.5|1_0|2024-01-01|<<)".prop_map(Tree::from),
            any::<i64>().prop_map(Tree::from),
            any::<bool>().prop_map(Tree::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::list),
                prop::collection::btree_map("[ -~]{1,8}", inner, 0..5).prop_map(|map| {
                    let keys = map.into_iter().filter(|(key, _)| key != "<<");
                    Tree::map(keys.collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn yaml_says_what_the_tree_does(tree in tree()) {
            let tree = Tree::pair("all", tree);
            let yaml = tree.yaml("a\nb", &[]);
            prop_assert_eq!(Node::read(&yaml).unwrap().value(), tree.value(), "{}", yaml);
        }
    }
}
