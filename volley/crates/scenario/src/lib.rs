//! Scenarios: requests that depend on each other, over HTTP/1.1, HTTP/2 and gRPC.
//!
//! A file says what users do; [`plan`] is what it is compiled into, once, before the load. While the load runs, an
//! iteration is a set of [`Values`], and each step renders its request from [`Text`]s and takes values from its response.
//!
//! The modules, lowest layer first. Each uses only those listed before it, which a test checks:
//!
//! - `values`: the values of one iteration.
//! - `text`: constant bytes, and values that are written as their place requires.
//! - `secrets`: values whose names promise a secret.
//! - [`plan`]: a file, compiled: what every thread reads and nobody changes.
//! - [`json`]: values of a JSON document by pointers.
//! - [`mix`]: which scenario the next iteration runs.
//! - [`data`]: the rows that iterations draw their values from.
//! - [`request`]: what a step sends.
//! - [`response`]: what a step checks and saves.
//! - [`tally`]: what a thread counts.
//! - [`report`]: a finished run as plain data, and every output format.
//! - [`record`]: single requests on their way to a reader.
//! - [`script`]: scripts as the engine sees them, in whatever language.
//! - [`engine`]: runs a plan.
//! - [`lua`]: scripts of steps, and programs that are a load.
//! - [`file`]: the file that a plan is compiled from.
//!
//! Words:
//!
//! - *target*: where requests go: hosts that do the same. *Site*: a target, ready for connections.
//! - *scenario*: steps that a user does one after another. *Step*: one request, what is checked, what is saved.
//! - *user*: does iterations one after another. *Iteration*: one pass through the steps of a scenario, with its values.
//! - *load*: how many users, or how many iterations a second, and for how long.
//! - *slot*: the place of a value in an iteration. *Feed*: rows of data that iterations draw from.
//! - *flight*: a request on its way, until its response is judged. *Exchange*: a request and its response, as recorded.
//! - *link*: the place of one connection in a pool. *Pool*: a thread's links to one target.
//! - *fault*: why a request failed: a reason, and words. *Tally*: what a thread has counted.
//! - *setup*, *teardown*: steps before and after the load. *Refresh*: setup's step that is done again as its value grows old.

pub mod data;
pub mod engine;
pub mod file;
pub mod json;
pub mod lua;
pub mod mix;
pub mod plan;
pub mod record;
pub mod report;
pub mod request;
pub mod response;
pub mod script;
mod secrets;
pub mod tally;
#[cfg(test)]
mod testkit;
mod text;
mod values;

pub use secrets::is_lifetime;
pub use text::{Escape, Piece, Text, Unrendered};
pub use values::{Slot, Values};
