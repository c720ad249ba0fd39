//! The file of a scenario: YAML or JSON, read into structs, and compiled into a [`Plan`] with every check that needs no
//! server.
//!
//! [`node`] keeps the lines, [`shape`] says what does not belong there, [`model`] is the file as it is written, and
//! [`compile`] turns names into indices.

mod compile;
#[cfg(feature = "import")]
mod import;
mod mistake;
mod model;
mod node;
mod shape;

use std::path::Path;

pub use compile::{check_part, check_samples};
#[cfg(feature = "import")]
pub use import::{FAULTS, Fault, How, Imported, import};
pub use mistake::{Mistake, Mistakes};
pub use model::{constant_rate, constant_users};

use serde::de::IgnoredAny;

use super::plan::Plan;
use compile::Compiler;
use node::Node;
#[cfg(not(feature = "import"))]
use volley_base::Lacks;
use volley_base::input;

/// The largest file that is read, in bytes.
pub const LARGEST: u64 = input::TEXT;

/// A file that has been read and compiled.
#[derive(Debug)]
pub struct Loaded {
    pub plan: Plan,
    /// What its user must know, one line each.
    pub warnings: Vec<String>,
}

/// Reads a file and those that it names, and compiles it. A configuration of h2loadrunner is imported.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read(path: &Path) -> Result<Loaded, Mistakes> {
    let text = text(path)?;
    let node = node(&text, path)?;
    if is_config(&node) {
        return imported(&node, path);
    }
    let plan = compile_node(&text, &node, path, &|name| std::env::var(name).ok())?;
    Ok(Loaded {
        warnings: doubts(&text, &plan),
        plan,
    })
}

#[cfg(feature = "import")]
fn imported(node: &Node, path: &Path) -> Result<Loaded, Mistakes> {
    let how = How {
        as_run: false,
        from: Path::new(""),
        to: Path::new(""),
    };
    let imported = import::import_node(node, path, how)?;
    Ok(Loaded {
        warnings: imported.warnings().collect(),
        plan: imported.plan,
    })
}

#[cfg(not(feature = "import"))]
fn imported(_: &Node, path: &Path) -> Result<Loaded, Mistakes> {
    let problem = format!("a file of h2loadrunner: {}", Lacks("import"));
    Err(Mistakes::whole(path, 1, problem))
}

/// What is right, and hardly meant so.
fn doubts(text: &str, plan: &Plan) -> Vec<String> {
    let braces = text.lines().zip(1..).filter_map(|(line, number)| {
        let inner = line.split_once("{{")?.1.split_once("}}")?.0.trim();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_code = !line.trim_start().starts_with('#');
        (is_code && !inner.is_empty() && inner.chars().all(is_name)).then(|| {
            format!("line {number}: `{{{{{inner}}}}}` is sent as it is: a value is written `${{{inner}}}`")
        })
    });
    let feeds = plan.feeds.iter().filter(|feed| feed.columns.is_empty());
    let unused = feeds.map(|feed| format!("`data.{}` is used by no step", feed.name));
    let idle = plan.targets.iter().filter(|target| target.connections == 0);
    let idle = idle.map(|target| {
        let name = &target.name;
        format!("`targets.{name}` is used by no step: nothing connects to it")
    });
    braces.chain(unused).chain(idle).collect()
}

/// Reads the text of a file.
///
/// # Errors
///
/// It cannot be read.
pub fn text(path: &Path) -> Result<String, Mistakes> {
    input::text(path, LARGEST)
        .map_err(|reason| Mistakes::whole(path, 1, format!("cannot read the file: {reason}")))
}

/// Compiles the text of a file. `env` knows the environment's variables.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn compile(
    text: &str,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, Mistakes> {
    compile_node(text, &node(text, path)?, path, env)
}

/// Whether a text is a configuration of h2loadrunner.
#[must_use]
pub fn is_foreign(text: &str) -> bool {
    Node::read(text).is_ok_and(|node| is_config(&node))
}

fn is_config(node: &Node) -> bool {
    let has = |key: &str| node.has(&mistake::Path::default().key(key));
    has("Scenarios") && (has("schema") || has("host"))
}

fn node(text: &str, path: &Path) -> Result<Node, Mistakes> {
    Node::read(text).map_err(|(line, reason)| {
        let (line, reason) = broken_json(text, path).unwrap_or((line, reason));
        Mistakes::whole(path, line, reason)
    })
}

fn compile_node(
    text: &str,
    node: &Node,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, Mistakes> {
    let mut shape = shape::read(node);
    let file = shape.file.take();
    let all = match file.map(|file| Compiler::new(&file, node, text, path, env).plan()) {
        Some(Ok(plan)) if shape.mistakes.is_empty() => return Ok(plan),
        None | Some(Ok(_)) => shape.mistakes,
        Some(Err(mut more)) => {
            more.retain(|mistake| shape.lacks(mistake));
            [shape.mistakes, more].concat()
        }
    };
    Err(Mistakes::sorted(path, all))
}

/// Why a file is no JSON, if it is to be JSON, and its line: what breaks YAML, too, has other names there.
fn broken_json(text: &str, path: &Path) -> Option<(usize, String)> {
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let error = serde_json::from_str::<IgnoredAny>(text).err();
    error.filter(|_| is_json).map(|error| {
        if error.is_eof() {
            let line = text.trim_end().lines().count();
            let problem = "the JSON is cut short: a value or a bracket is missing at its end";
            return (line, problem.to_owned());
        }
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let problem = format!("the JSON is broken at column {}: {reason}", error.column());
        (error.line(), problem)
    })
}

/// The JSON Schema of a file, made anew.
#[cfg(feature = "docs")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(model::File)
}

/// Whether a file that another one names can be read whole. It may be read twice.
fn readable(path: &Path) -> Result<(), String> {
    input::check(path, LARGEST).map_err(|error| error.to_string())
}
