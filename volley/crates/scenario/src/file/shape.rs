//! From the tree to the structs: every key and value that has no place there, with the nearest that has.

use serde_json::Value;

use super::mistake::{Mistake, Path, Segment};
use super::model::{File, nested};
use super::node::Node;
use volley_base::words;
use volley_request::schema::suggest;

/// The most mistakes that are reported at once.
const MOST: usize = 50;

/// Keys whose values give names. Without them, what uses the names would seem wrong, too.
const NAMING: [&str; 9] = words! {
    data lua name protos save scenarios setup steps targets
};

/// What a tree says as a file.
#[derive(Default)]
pub(super) struct Shape {
    /// What belongs there; `None` if too little is left of it.
    pub file: Option<File>,
    /// Everything that does not.
    pub mistakes: Vec<Mistake>,
}

impl Shape {
    /// Whether something is wrong that the mistakes do not name already.
    pub fn lacks(&self, more: &Mistake) -> bool {
        let named =
            |one: &Mistake| one.path.starts_with(&more.path) || more.path.starts_with(&one.path);
        !self.mistakes.iter().any(named)
    }
}

/// Reads a tree as a file.
pub(super) fn read(node: &Node) -> Shape {
    let mut value = node.value();
    let mut shape = Shape::default();
    if !value.is_object() {
        let problem = "a scenario file is a map with `targets` and `scenarios`".to_owned();
        shape
            .mistakes
            .push(Mistake::new(1, Path::default(), problem));
        return shape;
    }
    let mut seen = Vec::new();
    let mut gives_names = false;
    loop {
        let error = match serde_path_to_error::deserialize(value.clone()) {
            Ok(file) => {
                shape.file = Some(file).filter(|_| !gives_names);
                return shape;
            }
            Err(error) => error,
        };
        let (mut path, message) = nested::place(&error);
        if let Some(("unknown field", key, _)) = parts(&message) {
            let is_last = matches!(path.segments().last(), Some(Segment::Key(last)) if last == key);
            if !is_last {
                path = path.key(key);
            }
        }
        // An item that was taken away may be needed.
        if seen.contains(&path) {
            return shape;
        }
        let problem = problem(&message);
        gives_names |= may_give_names(&path, &problem);
        let mistake = Mistake::new(node.line(&path), path.clone(), problem);
        shape.mistakes.push(mistake);
        // Without it, the next mistake shows.
        if shape.mistakes.len() == MOST || !remove(&mut value, &path) {
            return shape;
        }
        seen.push(path);
    }
}

/// Whether what is wrong there may have been meant to give a name.
fn may_give_names(path: &Path, problem: &str) -> bool {
    let is_naming = |segment: &Segment| match segment {
        Segment::Key(key) => NAMING.contains(&key.as_str()),
        Segment::Index(_) => false,
    };
    let meant = |key: &&str| problem.ends_with(&format!("did you mean `{key}`?"));
    path.segments().iter().rev().take(2).any(is_naming) || NAMING.iter().any(meant)
}

/// Takes a value away; false if there is none.
fn remove(value: &mut Value, path: &Path) -> bool {
    let Some((before, last)) = path.split() else {
        return false;
    };
    let holder = before
        .iter()
        .try_fold(value, |value, segment| match segment {
            Segment::Key(key) => value.get_mut(key),
            Segment::Index(index) => value.get_mut(index),
        });
    match (holder, last) {
        (Some(Value::Object(map)), Segment::Key(key)) => map.shift_remove(key).is_some(),
        // The places of the others stay.
        (Some(Value::Array(items)), Segment::Index(index)) => match items.get_mut(*index) {
            Some(item) if !item.is_null() => {
                *item = Value::Null;
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// `unknown field`, its name, and the names that are known.
fn parts(message: &str) -> Option<(&str, &str, Vec<String>)> {
    let (kind, rest) = message.split_once(" `")?;
    let (name, rest) = rest
        .rsplit_once("`, ")
        .and_then(|_| rest.split_once("`, "))?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((kind, name, known.collect()))
}

/// What serde's message means here: it names types of Rust.
fn problem(message: &str) -> String {
    match parts(message) {
        Some(("unknown field", name, known)) => {
            let hint = suggest::hint(name, &known, "there are none");
            return format!("unknown key `{name}`; {hint}");
        }
        Some(("unknown variant", name, known)) => {
            let hint = suggest::hint(name, &known, "there are none");
            return format!("`{name}` is not known; {hint}");
        }
        _ => {}
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    let Some((_, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    match expected {
        "u8" => "a whole number from 0 to 255 is needed".to_owned(),
        "u32" => format!("a positive whole number of at most {} is needed", u32::MAX),
        "u64" | "usize" => "a whole number of at least 0 is needed".to_owned(),
        "i64" => "a whole number is needed".to_owned(),
        "f64" => "a number is needed".to_owned(),
        "a boolean" => "`true` or `false` is needed".to_owned(),
        "a string" | "string or map" => "a text is needed".to_owned(),
        "a sequence" => "a list is needed".to_owned(),
        _ if expected.contains("tuple") => {
            "a list of two numbers is needed, such as `[0, 100]`".to_owned()
        }
        _ if expected == "a map" || expected.starts_with("struct ") => "a map is needed".to_owned(),
        _ => message.to_owned(),
    }
}
