//! Requests, and what stands between them.

use serde::Deserialize;
use serde_json::Value;

use super::{Expect, Named, OneOrMany, Save, Scalar, Time, nested, present};

/// One request, or `think`, `together` or `draw` alone.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Its name in reports and thresholds. The default is method and URL.
    pub name: Option<String>,

    /// The URL of a GET request.
    pub get: Option<String>,
    /// The URL of a POST request.
    pub post: Option<String>,
    /// The URL of a PUT request.
    pub put: Option<String>,
    /// The URL of a PATCH request.
    pub patch: Option<String>,
    /// The URL of a DELETE request.
    pub delete: Option<String>,
    /// The URL of a HEAD request.
    pub head: Option<String>,
    /// The URL of an OPTIONS request.
    pub options: Option<String>,
    /// A request of any other method.
    pub request: Option<Explicit>,
    /// A gRPC call, as `${target}/package.Service/Method`.
    pub grpc: Option<String>,

    /// Headers of the request. An empty `content-type` leaves out the one that the body would give.
    pub headers: Named<Scalar>,
    /// A JSON body.
    #[serde(deserialize_with = "present")]
    pub json: Option<Value>,
    /// A body of plain text.
    pub text: Option<String>,
    /// The fields of a body of type application/x-www-form-urlencoded.
    pub form: Option<Named<Scalar>>,
    /// The parts of a body of type multipart/form-data.
    pub multipart: Option<Vec<Part>>,
    /// A file that is the body, as it is.
    pub body: Option<BodyFile>,

    /// Metadata of the gRPC call.
    pub metadata: Named<Scalar>,
    /// The message of the gRPC call, as JSON.
    #[serde(deserialize_with = "present")]
    pub message: Option<Value>,
    /// The messages of a gRPC call that sends a stream.
    pub messages: Option<Vec<Value>>,
    /// How often the messages are sent, one after another. The default is 1.
    pub repeat: Option<u32>,

    /// What the response must be.
    pub expect: Expect,
    /// What is taken from the response, by the name that later steps use.
    pub save: Named<Save>,
    /// The most time for the response.
    pub timeout: Option<Time>,
    /// How many redirects are followed.
    pub redirects: Option<u8>,

    /// A script of Lua, or `{file: x.lua}`. Its function `request(req)` changes the request before it is sent, by
    /// `req:set_header(name, value)`, `req:set_body(text)` and `req:set_path(path)`; `response(res)` looks at the
    /// response, by `res.status`, `res:header(name)`, `res:body()` and `res:json(pointer)`. `vars.name` is a value of the
    /// iteration, and `fail(why)` fails the step. Instead, it may have h2loadrunner's `make_request` and
    /// `validate_response`.
    pub lua: Option<Lua>,

    /// A pause after the request: a time, or the shortest and the longest.
    pub think: Option<Think>,
    /// Requests that are sent at the same time.
    pub together: Option<Vec<Step>>,
    /// Names of data whose next row is taken.
    pub draw: Option<OneOrMany<String>>,
}

impl Step {
    /// The step, and those that it sends together.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.together.iter().flatten())
    }
}

/// A request of any method.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Explicit {
    pub method: String,
    pub url: String,
}

/// A file.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// Its path, relative to the scenario file.
    pub file: String,
}

/// A script: its text, or a map.
#[derive(Debug)]
pub struct Lua(pub LuaMap);

/// Where a script is.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LuaMap {
    /// Its path, relative to the scenario file.
    pub file: Option<String>,
    /// The script itself.
    pub text: Option<String>,
}

nested::shorthand!(Lua, LuaMap, "a script, or a map with `file`,", |value| {
    serde_json::Value::String(text) => LuaMap { file: None, text: Some(text) }
}, serde_json::json!({"type": "string"}));

/// A part of a multipart body: a value, or a file.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    #[serde(default)]
    pub value: Option<Scalar>,
    #[serde(default)]
    pub file: Option<String>,
    /// Its content-type.
    #[serde(default, rename = "type")]
    pub media_type: Option<String>,
}

/// A pause.
#[derive(Clone, Copy, Debug)]
pub struct Think(pub ThinkRange);

/// The shortest and the longest time, such as `50ms`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThinkRange {
    pub least: Time,
    pub most: Time,
}

nested::shorthand!(Think, ThinkRange, "a time such as `50ms`, or two such as `[50ms, 150ms]`,", |value| {
    serde_json::Value::String(_) | serde_json::Value::Array(_) | serde_json::Value::Number(_) => {
        let times: OneOrMany<Time> = nested::read(value, crate::file::mistake::Path::default())?;
        let times: Vec<Time> = times.iter().copied().collect();
        match times[..] {
            [time] => ThinkRange { least: time, most: time },
            [least, most] if least.0 <= most.0 => ThinkRange { least, most },
            [_, _] => return Err(D::Error::custom("the shorter time comes first")),
            _ => return Err(D::Error::custom("one time or two are needed, such as `[50ms, 150ms]`")),
        }
    }
}, serde_json::json!({"type": ["string", "array"], "items": {"type": "string"}, "minItems": 2, "maxItems": 2}));
