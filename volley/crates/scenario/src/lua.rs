//! Lua on steps: scripts that write requests and look at responses, in one state for each thread.
//!
//! A script may have `request(req)`, which changes the step's request before it is sent, and `response(res)`, which looks at
//! its response: both ask for what they need, and pay for nothing else. It may have h2loadrunner's `make_request` and
//! `validate_response` instead, which get everything in tables.

#[cfg(not(feature = "lua"))]
mod absent;
#[cfg(feature = "lua")]
mod limits;
#[cfg(feature = "lua")]
mod machine;
#[cfg(feature = "lua")]
mod objects;
#[cfg(feature = "lua")]
pub mod program;
#[cfg(feature = "lua")]
mod state;
#[cfg(feature = "lua")]
mod tables;
#[cfg(all(test, feature = "lua"))]
mod tests;
#[cfg(feature = "lua")]
mod watchdog;

use std::path::Path;

#[cfg(not(feature = "lua"))]
pub use absent::{check, open_scripts};
#[cfg(feature = "lua")]
pub use machine::open_scripts;
#[cfg(feature = "lua")]
pub use state::check;

/// Whether a file is a program, and no scenario.
#[must_use]
pub fn is_program(file: &Path) -> bool {
    let extension = file.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("lua"))
}

/// The functions that a script may have; at least one.
pub const FUNCTIONS: [&str; 4] = ["request", "response", "make_request", "validate_response"];

/// What is wrong with a script that has none of them.
pub const NO_FUNCTION: &str =
    "the script has no function `request`, `response`, `make_request` or `validate_response`";
