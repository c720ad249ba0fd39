//! Pools of any files, and JSON in both directions.

mod cost;
mod files;
mod mapping;

use std::path::Path;

use super::Pool;
use super::compile::compile;

/// What the tests' own file of all kinds of fields declares.
fn everything() -> Pool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/protos");
    let mut open = move |name: &str| Ok(std::fs::read(folder.join(name)).ok());
    Pool::new(compile("everything.proto", &mut open).unwrap()).unwrap()
}

/// What one file of this text declares.
fn pool(text: &str) -> Pool {
    let text = text.to_owned();
    let mut open = move |name: &str| Ok((name == "a.proto").then(|| text.clone().into_bytes()));
    Pool::new(compile("a.proto", &mut open).unwrap_or_else(|error| panic!("{error}"))).unwrap()
}
