//! Responses that a server makes by itself.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use regex::bytes::Regex;

use super::rule::Asked;
use crate::lua::program::answer::Reply;
use crate::lua::program::offers::uuid;
use crate::plan::Pointer;

/// A response.
#[derive(Debug)]
pub struct Static {
    pub weight: u64,
    /// So much of them is never sent.
    pub dropped_share: f64,
    pub status: u16,
    pub headers: Vec<(String, Template)>,
    pub body: Template,
}

/// A text whose holes are filled for each request.
#[derive(Debug, Default)]
pub struct Template {
    /// One more than there are holes.
    pieces: Vec<String>,
    arguments: Vec<Argument>,
}

/// What fills a hole.
#[derive(Debug)]
pub struct Argument {
    pub kind: Kind,
    pub regex: Option<Regex>,
    /// The part that counts; in bytes.
    pub start: usize,
    pub length: Option<usize>,
}

/// Where a value comes from.
#[derive(Debug)]
pub enum Kind {
    Json(Pointer),
    Header(String),
    RandomHex,
    Time,
    Uuid,
    Body,
}

impl Static {
    /// The response to a request; `None`: none is sent.
    pub fn make(&self, asked: &Asked) -> Option<Reply> {
        if self.dropped_share > 0.0 && fastrand::f64() < self.dropped_share {
            return None;
        }
        let headers = self.headers.iter();
        Some(Reply {
            status: self.status,
            fields: headers
                .map(|(name, value)| (name.as_bytes().into(), value.fill(asked)))
                .collect(),
            body: self.body.fill(asked),
            trailers: Vec::new(),
        })
    }
}

impl Template {
    pub fn new(text: &str, placeholder: &str, arguments: Vec<Argument>) -> Self {
        let pieces = match placeholder {
            "" => vec![text.to_owned()],
            placeholder => text.split(placeholder).map(str::to_owned).collect(),
        };
        Self { pieces, arguments }
    }

    fn fill(&self, asked: &Asked) -> Vec<u8> {
        let mut out = Vec::new();
        let arguments = self
            .arguments
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        for (at, (piece, argument)) in self.pieces.iter().zip(arguments).enumerate() {
            out.extend_from_slice(piece.as_bytes());
            if let Some(argument) = argument.filter(|_| at + 1 < self.pieces.len()) {
                out.extend_from_slice(&argument.value(asked));
            }
        }
        out
    }
}

impl Argument {
    fn value(&self, asked: &Asked) -> Vec<u8> {
        let value = match &self.kind {
            Kind::Json(pointer) => asked.json(pointer).unwrap_or_default(),
            Kind::Header(name) => asked.header(name).unwrap_or_default().to_vec(),
            Kind::RandomHex => format!("{:X}", fastrand::u8(..16)).into_bytes(),
            Kind::Time => {
                let printer = DateTimePrinter::new();
                let now = printer.timestamp_to_rfc9110_string(&Timestamp::now());
                now.unwrap_or_default().into_bytes()
            }
            Kind::Uuid => uuid().into_bytes(),
            Kind::Body => asked.body.to_vec(),
        };
        let found = self.regex.as_ref().map(|regex| regex.find(&value));
        let value = match found {
            None => &value[..],
            Some(found) => found.map_or(&[][..], |found| found.as_bytes()),
        };
        let rest = value.get(self.start..).unwrap_or_default();
        let length = self.length.unwrap_or(rest.len()).min(rest.len());
        rest.get(..length).unwrap_or_default().to_vec()
    }
}
