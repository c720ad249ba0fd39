//! Scenario files, from their text to a plan or to lines that say what is wrong.

mod check;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod edit;
mod import;
mod lua;
mod lua_limits;
mod mistakes;
mod peers;
mod plans;
mod program;
mod run;
mod schema;

use std::path::{Path, PathBuf};

use volley::scenario::file;
use volley::scenario::plan::Plan;

/// A folder with the files that the tests' scenarios name.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Compiles a text as if it stood among the examples.
fn compile(text: &str) -> Result<Plan, String> {
    let env = |name: &str| (name == "KEY").then(|| "k e\"y".to_owned());
    file::compile(text, &examples().join("test.yaml"), &env).map_err(|mistakes| {
        let folder = format!("{}/", examples().display());
        mistakes.to_string().replace(&folder, "")
    })
}

/// A file with these steps in its only scenario.
fn with_steps(steps: &str) -> String {
    format!("targets: {{api: https://a:1}}\nscenarios: {{s: {{steps: [\n{steps}\n]}}}}\n")
}
