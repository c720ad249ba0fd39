//! The file of a scenario: YAML or JSON, read into structs, and compiled into a [`Plan`] with every check that needs no
//! server.
//!
//! [`node`] keeps the lines, [`shape`] says what does not belong there, [`model`] is the file as it is written, and
//! [`compile`] turns names into indices.

mod compile;
mod import;
mod mistake;
mod model;
mod node;
mod shape;

use std::fs;
use std::path::Path;

pub use compile::check_part;
pub use import::{FAULTS, Fault, How, Imported, import};
pub use mistake::{Mistake, Mistakes};
pub use model::{constant_rate, constant_users};

use super::plan::Plan;
use compile::Compiler;
use node::Node;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// A file that has been read and compiled.
#[derive(Debug)]
pub struct Loaded {
    pub plan: Plan,
    /// If it was a configuration of h2loadrunner: what its user must know, one line each.
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
    if import::is_config(&node) {
        let how = How {
            as_run: false,
            from: Path::new(""),
            to: Path::new(""),
        };
        let imported = import::import_node(&node, path, how)?;
        return Ok(Loaded {
            warnings: imported.warnings().collect(),
            plan: imported.plan,
        });
    }
    let plan = compile_node(&text, &node, path, &|name| std::env::var(name).ok())?;
    Ok(Loaded {
        plan,
        warnings: Vec::new(),
    })
}

/// Reads the text of a file.
///
/// # Errors
///
/// It cannot be read.
pub fn text(path: &Path) -> Result<String, Mistakes> {
    let text =
        readable(path).and_then(|()| fs::read_to_string(path).map_err(|error| error.to_string()));
    text.map_err(|reason| {
        let problem = format!("cannot read the file: {reason}");
        let mistake = Mistake::new(1_usize, mistake::Path::default(), problem);
        Mistakes::sorted(path, vec![mistake])
    })
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

fn node(text: &str, path: &Path) -> Result<Node, Mistakes> {
    Node::read(text).map_err(|mistake| Mistakes::sorted(path, vec![mistake]))
}

fn compile_node(
    text: &str,
    node: &Node,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, Mistakes> {
    shape::read(node)
        .and_then(|file| Compiler::new(&file, node, text, path, env).plan())
        .map_err(|all| Mistakes::sorted(path, all))
}

/// The JSON Schema of a file.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(model::File).into()
}

/// Whether a file can be read whole: it is no device, and not too large.
fn readable(path: &Path) -> Result<(), String> {
    let data = fs::metadata(path).map_err(|error| error.to_string())?;
    match data.len() {
        _ if !data.is_file() => Err("it is not a file".to_owned()),
        length if length > LARGEST => Err(format!("it has more than {} MiB", LARGEST >> 20)),
        _ => Ok(()),
    }
}
