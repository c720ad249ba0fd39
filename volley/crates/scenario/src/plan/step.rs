//! One request, what its response must be, and what is taken from it.

use std::sync::Arc;

use regex::bytes::Regex;

use crate::{Slot, Text};
use volley_request::Method;

/// One request, and what its response must be.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in reports: `create`.
    pub name: String,
    /// The scenario's name; empty for setup and teardown.
    pub scenario: String,
    /// Where in the file it stands: line, from 1.
    pub line: usize,
    /// Its URL as the file has it, without values of the environment.
    pub written_url: Box<str>,
    pub url: Url,
    pub request: Request,
    pub timeout_ns: Option<u64>,
    pub expect: Expect,
    pub saves: Vec<Save>,
    /// What writes its request, or looks at its response.
    pub lua: Option<Script>,
    /// The script of the next step gets its response.
    pub keeps_response: bool,
}

/// A step's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file that it stands in, as messages name it.
    pub name: String,
    /// Its lines have the numbers that they have in that file.
    pub text: Arc<str>,
    /// The values that it sets.
    pub sets: Vec<Slot>,
}

impl Step {
    /// Whether its response is kept until it is over: for its own script, or for that of the next step.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.keeps_response || self.lua.as_ref().is_some_and(Script::looks)
    }
}

impl Script {
    /// Whether it may look at the response.
    #[must_use]
    pub fn looks(&self) -> bool {
        self.names("response") || self.names("validate_response")
    }

    /// Whether it may have a function of this name.
    #[must_use]
    pub fn names(&self, function: &str) -> bool {
        let mut words = self
            .text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| word == function)
    }
}

/// Where a request goes.
#[derive(Clone, Debug)]
pub enum Url {
    /// `${api}/v1/items`: a target, and the path with its query.
    Target { target: usize, path: Text },
    /// `${url}`: a value that is a whole URL, or a path of the target that gave it.
    Value {
        slot: Slot,
        relative_to: usize,
        then: Text,
    },
}

impl Url {
    /// The target that it leads to, or that its value came from, as far as the file says.
    #[must_use]
    pub fn target(&self) -> usize {
        match self {
            Self::Target { target, .. } => *target,
            Self::Value { relative_to, .. } => *relative_to,
        }
    }
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Request {
    Http(HttpRequest),
    Grpc(Box<GrpcRequest>),
}

#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: Box<str>,
    /// Lower-case names, in the file's order; `content-type` and `content-encoding` included.
    pub headers: Vec<(Box<str>, Text)>,
    /// `None`: no body. HTTP/1.1 says so with `content-length: 0` where the method usually has one.
    pub body: Option<Text>,
    /// How many redirects are followed.
    pub redirects: u8,
}

#[derive(Clone, Debug)]
pub struct GrpcRequest {
    pub method: Method,
    pub metadata: Vec<(Box<str>, Text)>,
    /// JSON of each message that is sent; one for a call without a request stream.
    pub messages: Vec<Text>,
    /// How often `messages` are sent, one after another.
    pub repeat: u32,
}

/// What a response must be. Whatever is left out is not checked.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// HTTP: any status in one of these ranges. Without any, 200..=399.
    pub status: Vec<(u16, u16)>,
    /// gRPC: the status code; 0 is OK.
    pub code: Option<u16>,
    pub checks: Vec<Check>,
    /// From when the request was to be sent to the end of the response.
    pub within_ns: Option<u64>,
    /// gRPC: the number of replies.
    pub replies: Option<u64>,
    /// gRPC: a rule for each reply, as `--expect`: `seq = i`.
    pub each: Vec<String>,
    /// gRPC: from the sending to the first reply.
    pub first_within_ns: Option<u64>,
}

/// One condition on one part of a response.
#[derive(Clone, Debug)]
pub struct Check {
    /// As the file says it, for counters and messages: `json /item/sku`.
    pub name: String,
    pub part: Part,
    pub rule: Rule,
    /// The type of a literal that a JSON value must equal, or not equal.
    pub json_type: Option<JsonType>,
}

/// The type of a single JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    Text,
    Number,
    /// `true`, `false` or `null`.
    Word,
}

/// A part of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// HTTP status or gRPC code, as a number.
    Status,
    /// The first header of this lower-case name.
    Header(Box<str>),
    /// A trailer.
    Trailer(Box<str>),
    /// A cookie that the response sets.
    Cookie(Box<str>),
    /// A JSON pointer (RFC 6901), or a path of the last gRPC reply's fields: `session.id`.
    Field(Pointer),
    /// The whole body.
    Body,
    /// The URL that the response came from, after redirects.
    Url,
}

/// A way to a value inside of a document: keys, or numbers of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// As the file says it.
    pub text: Box<str>,
    /// Unescaped.
    pub keys: Box<[Box<str>]>,
}

impl Pointer {
    /// A JSON pointer (RFC 6901); `None`: it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let key = |key: &str| {
            let is_escaped = key
                .split('~')
                .skip(1)
                .all(|rest| rest.starts_with(['0', '1']));
            is_escaped.then(|| key.replace("~1", "/").replace("~0", "~").into())
        };
        let keys: Option<Box<[Box<str>]>> = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(key).collect(),
            None => text.is_empty().then(Box::default),
        };
        keys.map(|keys| Self {
            text: text.into(),
            keys,
        })
    }
}

/// What a part must be.
#[derive(Clone, Debug)]
pub enum Rule {
    Equals(Text),
    Differs(Text),
    /// The same text, or a number that is equal: `1.10` and `1.1`.
    EqualsNumber(Text),
    DiffersFromNumber(Text),
    StartsWith(Text),
    EndsWith(Text),
    Contains(Text),
    Matches(Arc<Regex>),
    /// Numbers: at least, at most.
    Between(f64, f64),
    Exists,
    IsAbsent,
}

/// A value that is taken from a response.
#[derive(Clone, Debug)]
pub struct Save {
    pub slot: Slot,
    pub part: Part,
    /// Only this group of the first match.
    pub regex: Option<(Arc<Regex>, usize)>,
    /// If the part is missing; without it, the step has failed.
    pub default: Option<Box<[u8]>>,
}
