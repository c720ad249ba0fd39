//! Which requests a server answers how.

use regex::bytes::Regex;

use super::reply::Static;
use crate::json::{Found, Tree, text};
use crate::lua::program::open_request::Fields;
use crate::plan::Pointer;
use volley_base::budget::Buffer;

/// Requests of a kind, and what answers them, if no function of the program does.
#[derive(Debug)]
pub struct Rule {
    pub name: String,
    pub conditions: Vec<Condition>,
    pub responses: Vec<Static>,
}

/// What a part of a request must be.
#[derive(Debug)]
pub enum Condition {
    Header(String, Matches),
    Json(Pointer, Matches),
    Body(Matches),
}

/// How a text is compared.
#[derive(Debug)]
pub enum Matches {
    Equals(Vec<u8>),
    Starts(Vec<u8>),
    Ends(Vec<u8>),
    Contains(Vec<u8>),
    /// All of it.
    Regex(Regex),
}

/// A request that a server has received.
#[derive(Debug, Default)]
pub struct Asked {
    pub fields: Fields,
    pub body: Buffer,
}

impl Asked {
    /// The first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(known, _)| **known == *name.as_bytes())?;
        Some(value)
    }

    /// A value of the body.
    pub fn json(&self, pointer: &Pointer) -> Option<Vec<u8>> {
        let tree = Tree::new([pointer]);
        let mut found = Found::default();
        tree.find(&self.body, &mut found).ok()?;
        let value = found.get(&tree, 0, &self.body)?;
        let mut room = Vec::new();
        text(value, &mut room).map(<[u8]>::to_vec)
    }
}

impl Matches {
    pub fn new(kind: &str, input: &str) -> Result<Self, String> {
        let text = input.as_bytes().to_vec();
        Ok(match kind {
            "EqualsTo" => Self::Equals(text),
            "StartsWith" => Self::Starts(text),
            "EndsWith" => Self::Ends(text),
            "Contains" => Self::Contains(text),
            "RegexMatch" => {
                let whole = Regex::new(&format!("^(?s-u:{input})$"));
                let whole = whole.or_else(|_| Regex::new(&format!("^(?s:{input})$")));
                Self::Regex(whole.map_err(|error| format!("`{input}`: {error}"))?)
            }
            other => return Err(format!("`matchType: {other}` is no comparison")),
        })
    }

    fn is_of(&self, text: &[u8]) -> bool {
        match self {
            Self::Equals(other) => text == other,
            Self::Starts(begin) => text.starts_with(begin),
            Self::Ends(end) => text.ends_with(end),
            Self::Contains(part) => memchr::memmem::find(text, part).is_some(),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Rule {
    /// Whether a request is of this kind.
    pub fn is_of(&self, asked: &Asked) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::Header(name, matches) => {
                asked.header(name).is_some_and(|value| matches.is_of(value))
            }
            Condition::Json(pointer, matches) => asked
                .json(pointer)
                .is_some_and(|value| matches.is_of(&value)),
            Condition::Body(matches) => matches.is_of(&asked.body),
        })
    }

    /// One of its responses, by their weights.
    pub fn response(&self) -> Option<&Static> {
        let sum: u64 = self.responses.iter().map(|response| response.weight).sum();
        let mut ticket = fastrand::u64(..sum.max(1));
        self.responses.iter().find(|response| {
            let is_drawn = ticket < response.weight;
            ticket = ticket.saturating_sub(response.weight);
            is_drawn
        })
    }
}
