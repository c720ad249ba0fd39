//! Scripts on steps, as the engine sees them: they write requests and look at responses, in whatever language.

#[cfg(feature = "lua")]
use std::cell::Cell;
use std::rc::Rc;

use super::Values;
use super::plan::Plan;
use volley_base::budget::Buffer;
use volley_http::http2::hpack::HeaderList;

/// The scripts of a plan's steps, in a state of their own for each thread.
pub trait Scripts {
    /// Whether a step's script looks at its response.
    fn looks(&self, step: usize) -> bool;

    /// Whether a step's script writes its request.
    fn asks(&self, step: usize) -> bool;

    /// Lets a step's script write its request. `last`: the response to the request before.
    ///
    /// # Errors
    ///
    /// The script failed.
    fn ask(
        &mut self,
        step: usize,
        sketch: Sketch<'_>,
        last: Option<&Kept>,
        values: &mut Values,
        rewritten: &mut Rewritten,
    ) -> Result<(), Trouble>;

    /// Lets a step's script look at its response.
    ///
    /// # Errors
    ///
    /// The script failed, or says that the response is not as it should be.
    fn look(&mut self, step: usize, kept: &mut Kept, values: &mut Values) -> Result<(), Trouble>;
}

/// Makes a thread's scripts ready. `None`: the plan has none. The flag: they may use files.
pub type OpenScripts = fn(&Plan, bool) -> Result<Option<Box<dyn Scripts>>, Trouble>;

/// Runs no scripts.
///
/// # Errors
///
/// The plan has some.
pub fn none(plan: &Plan, _: bool) -> Result<Option<Box<dyn Scripts>>, Trouble> {
    match plan.steps.iter().find_map(|step| step.lua.as_ref()) {
        Some(script) => Err(Trouble::Error(format!(
            "{}: no scripts are run here",
            script.name
        ))),
        None => Ok(None),
    }
}

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

/// Bytes that are kept for scripts as long as this is there. They have a limit of their own, as high as that of a state's
/// memory.
#[cfg(feature = "lua")]
#[derive(Debug)]
pub struct Held(usize, Rc<Cell<usize>>);

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
    pub(super) held: Option<Held>,
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
impl Held {
    /// So many more of `all`.
    pub(super) fn new(bytes: usize, all: &Rc<Cell<usize>>) -> Self {
        all.set(all.get() + bytes);
        Self(bytes, Rc::clone(all))
    }
}

#[cfg(feature = "lua")]
impl Drop for Held {
    fn drop(&mut self) {
        self.1.set(self.1.get().saturating_sub(self.0));
    }
}

#[cfg(feature = "lua")]
impl Rewritten {
    pub(super) fn set_url(&mut self, url: &[&[u8]]) {
        self.url = Some(self.add(url));
    }

    pub(super) fn set_body(&mut self, body: &[u8]) {
        self.body = Some(self.add(&[body]));
    }

    /// Whether a script may change no more headers.
    pub(super) fn is_full(&self) -> bool {
        self.fields.len() >= MOST_CHANGED
    }

    /// `name` is in lower case.
    pub(super) fn set(&mut self, name: Rc<str>, value: Option<&[u8]>) {
        let value = value.map(|value| self.add(&[value]));
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.fields.push((name, value)),
        }
    }

    /// What it takes, more or less, in bytes.
    pub(super) fn size(&self) -> usize {
        let names = self.fields.iter().map(|(name, _)| name.len() + FIELD);
        self.bytes.len() + names.sum::<usize>()
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
