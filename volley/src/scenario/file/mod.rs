//! The file of a scenario: YAML or JSON, read into structs, and compiled into a [`Plan`] with every check that needs no
//! server.
//!
//! [`node`] keeps the lines, [`shape`] says what does not belong there, [`model`] is the file as it is written, and
//! [`compile`] turns names into indices.

mod compile;
mod mistake;
mod model;
mod node;
mod shape;

use std::fs;
use std::path::Path;

pub use mistake::{Mistake, Mistakes};
pub use model::{constant_rate, constant_users};

use super::plan::Plan;
use compile::Compiler;
use node::Node;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Reads a file and those that it names, and compiles it.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read(path: &Path) -> Result<Plan, Mistakes> {
    let text = readable(path)
        .and_then(|()| fs::read_to_string(path).map_err(|error| error.to_string()))
        .map_err(|reason| Mistakes {
            file: path.to_owned(),
            all: vec![Mistake {
                line: 1,
                path: String::new(),
                problem: format!("cannot read the file: {reason}"),
            }],
        })?;
    compile(&text, path, &|name| std::env::var(name).ok())
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
    let all = match Node::read(text) {
        Err(mistake) => vec![mistake],
        Ok(node) => match shape::read(&node) {
            Err(mistakes) => mistakes,
            Ok(file) => match Compiler::new(&file, &node, (path, text), env).plan() {
                Ok(plan) => return Ok(plan),
                Err(mistakes) => mistakes,
            },
        },
    };
    let mut mistakes = Mistakes {
        file: path.to_owned(),
        all,
    };
    mistakes.all.sort_by_key(|mistake| mistake.line);
    Err(mistakes)
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
