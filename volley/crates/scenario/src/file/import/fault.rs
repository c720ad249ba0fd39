//! Where h2loadrunner does something else than its schema says.

use std::sync::LazyLock;

/// A line for each: its name, what the schema says, what h2loadrunner does, and what volley does; with `--as-run`, if that is
/// something else.
const TABLE: &str = include_str!("faults.txt");

/// One of them, as in the table of H2LOADRUNNER.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in warnings. It never changes.
    pub name: &'static str,
    /// What the schema says.
    pub says: &'static str,
    /// What h2loadrunner does.
    pub does: &'static str,
    /// What volley does.
    pub by_schema: &'static str,
    /// What volley does with `--as-run`. Where `does` begins with it, there is no warning.
    pub as_run: &'static str,
}

/// All faults.
pub static FAULTS: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let fault = |line: &'static str| {
        let mut parts = line.split(" | ");
        let mut part = || parts.next().unwrap_or_default();
        let [name, says, does, by_schema] = std::array::from_fn(|_| part());
        let as_run = parts.next().unwrap_or(by_schema);
        Fault {
            name,
            says,
            does,
            by_schema,
            as_run,
        }
    };
    TABLE.lines().map(fault).collect()
});
