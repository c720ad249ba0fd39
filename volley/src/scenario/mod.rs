//! Scenarios: requests that depend on each other, over HTTP/1.1, HTTP/2 and gRPC.
//!
//! A file says what users do; [`plan`] is what it is compiled into, once, before the load. While the load runs, an
//! iteration is a set of [`Values`], and each step renders its request from [`Text`]s and takes values from its response.

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
mod text;
mod values;

pub(crate) use secrets::is_lifetime;
pub use text::{Escape, Piece, Text, Unrendered};
pub use values::{Slot, Values};
