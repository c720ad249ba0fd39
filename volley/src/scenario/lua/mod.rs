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
use std::rc::Rc;

use crate::budget::Buffer;
use crate::http2::hpack::HeaderList;

#[cfg(not(feature = "lua"))]
pub use absent::{Machine, check};
#[cfg(feature = "lua")]
pub use machine::Machine;
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

impl Trouble {
    pub fn into_words(self) -> String {
        match self {
            Self::Error(words) | Self::Failed(words) | Self::Broken(words) => words,
        }
    }
}

/// A response that scripts look at.
#[derive(Debug, Default)]
pub struct Kept {
    pub status: u16,
    /// The fields of its head, and what h2loadrunner adds to them of its request.
    pub fields: HeaderList,
    /// Decoded.
    pub body: Buffer,
    /// The target that it came from, if that is not its step's.
    pub elsewhere: Option<usize>,
}

impl Kept {
    /// Gives back the memory of the body.
    pub fn emptied(mut self: Box<Self>) -> Box<Self> {
        self.body.clear();
        self
    }
}

/// What a script makes of a step's request. It is used again for the next one.
#[derive(Debug, Default)]
pub struct Rewritten {
    /// What a path is relative to.
    pub target: usize,
    pub method: Option<String>,
    url: Option<Span>,
    body: Option<Span>,
    fields: Vec<(Rc<str>, Option<Span>)>,
    bytes: Vec<u8>,
    #[cfg(feature = "lua")]
    held: Option<limits::Held>,
}

/// What a field takes beside its value, more or less, in bytes.
#[cfg(feature = "lua")]
const FIELD: usize = 64;

/// The most headers of a request that a script changes.
#[cfg(feature = "lua")]
const MOST_CHANGED: usize = 1000;

/// The most bytes that are kept for the next request.
const MOST_SPARE: usize = 64 << 10;

/// A part of the bytes: from, and behind.
type Span = (usize, usize);

impl Rewritten {
    /// Forgets all, and keeps the memory, unless that is much.
    pub fn clear(&mut self) {
        (self.method, self.url, self.body) = (None, None, None);
        self.fields.clear();
        self.bytes.clear();
        self.bytes.shrink_to(MOST_SPARE);
        #[cfg(feature = "lua")]
        self.held.take();
    }

    /// Whether the request is as the file says.
    pub fn is_empty(&self) -> bool {
        self.method.is_none() && self.url.is_none() && self.body.is_none() && self.fields.is_empty()
    }

    /// A path, or a whole URL.
    pub fn url(&self) -> Option<&[u8]> {
        self.url.map(|span| self.part(span))
    }

    pub fn body(&self) -> Option<&[u8]> {
        self.body.map(|span| self.part(span))
    }

    /// What it says of a field; `Some(None)`: it is not sent.
    pub fn field(&self, name: &str) -> Option<Option<&[u8]>> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(changed, _)| **changed == *name)?;
        Some(value.map(|span| self.part(span)))
    }

    /// The fields that it sends.
    pub fn sent(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let fields = self.fields.iter();
        fields.filter_map(|(name, value)| Some((&**name, self.part((*value)?))))
    }

    fn part(&self, (begin, end): Span) -> &[u8] {
        self.bytes.get(begin..end).unwrap_or_default()
    }
}

#[cfg(feature = "lua")]
impl Rewritten {
    fn set_url(&mut self, url: &[&[u8]]) {
        self.url = Some(self.add(url));
    }

    fn set_body(&mut self, body: &[u8]) {
        self.body = Some(self.add(&[body]));
    }

    /// Whether a script may change no more headers.
    fn is_full(&self) -> bool {
        self.fields.len() >= MOST_CHANGED
    }

    /// `name` is in lower case.
    fn set(&mut self, name: Rc<str>, value: Option<&[u8]>) {
        let value = value.map(|value| self.add(&[value]));
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.fields.push((name, value)),
        }
    }

    /// Counts its memory as kept for scripts.
    ///
    /// # Errors
    ///
    /// That is more than may be, or the state has more than it may.
    fn count(&mut self, watch: &limits::Watch, lua: &mlua::Lua) -> mlua::Result<()> {
        let names = self.fields.iter().map(|(name, _)| name.len() + FIELD);
        let bytes = self.bytes.len() + names.sum::<usize>();
        watch.hold(lua, &mut self.held, bytes)
    }

    fn add(&mut self, parts: &[&[u8]]) -> Span {
        let begin = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        (begin, self.bytes.len())
    }
}

/// What a request is before its script runs.
#[derive(Clone, Copy, Debug)]
pub struct Sketch<'a> {
    pub scheme: &'a str,
    pub authority: &'a str,
    /// Path and query; empty if a value that it needs is missing.
    pub path: &'a [u8],
    /// The target that it goes to, if that is not its step's.
    pub elsewhere: Option<usize>,
}
