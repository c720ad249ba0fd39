//! Lua on steps: scripts that write requests and look at responses, in one state for each thread.
//!
//! A script may have `request(req)`, which changes the step's request before it is sent, and `response(res)`, which looks at
//! its response: both ask for what they need, and pay for nothing else. It may have h2loadrunner's `make_request` and
//! `validate_response` instead, which get everything in tables.

mod machine;
mod objects;
mod pattern;
mod state;
mod strings;
mod tables;
#[cfg(test)]
mod tests;

use crate::http2::hpack::HeaderList;
use crate::scenario::request::{name_fault, value_fault};

pub use machine::Machine;
pub use state::check;

/// The functions that a script may have; at least one.
pub const FUNCTIONS: [&str; 4] = ["request", "response", "make_request", "validate_response"];

/// What is wrong with a script that has none of them.
pub const NO_FUNCTION: &str =
    "the script has no function `request`, `response`, `make_request` or `validate_response`";

/// Why a script did not succeed. The words begin with the script's name and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It has an error.
    Error(String),
    /// It says that the response is not as it should be.
    Failed(String),
    /// It took too long, or too much memory, and so would the next call.
    Broken(String),
}

/// A response that scripts look at.
#[derive(Debug, Default)]
pub struct Kept {
    pub status: u16,
    /// The fields of its head, and what h2loadrunner adds to them of its request.
    pub fields: HeaderList,
    /// Decoded.
    pub body: Vec<u8>,
}

/// What a script makes of a step's request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// A path on `target`, or a whole URL.
    pub url: Option<Vec<u8>>,
    pub target: usize,
    pub method: Option<String>,
    /// `fields` are all that are sent, and not changes of the step's own.
    pub replaces: bool,
    /// Lower-case names; `None`: it is not sent.
    pub fields: Vec<(String, Option<Vec<u8>>)>,
    pub body: Option<Vec<u8>>,
}

impl Rewritten {
    /// Whether it says something of a field.
    pub fn changes(&self, name: &str) -> bool {
        self.replaces || self.fields.iter().any(|(changed, _)| changed == name)
    }

    /// The fields that it sends.
    pub fn sent(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let fields = self.fields.iter();
        fields.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)))
    }

    fn set(&mut self, name: &str, value: Option<&[u8]>) {
        let value = value.map(<[u8]>::to_vec);
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, place)) => *place = value,
            None => self.fields.push((name.to_owned(), value)),
        }
    }
}

/// Why a script cannot send a header.
fn fault(name: &str, value: Option<&[u8]>) -> Option<String> {
    let of_value = || value_fault(value?).map(|fault| format!("header `{name}`: {fault}"));
    name_fault(name).or_else(of_value)
}

/// What a request is before its script runs.
#[derive(Clone, Copy, Debug)]
pub struct Sketch<'a> {
    pub scheme: &'a str,
    pub authority: &'a str,
    /// Path and query; empty if a value that it needs is missing.
    pub path: &'a [u8],
}
