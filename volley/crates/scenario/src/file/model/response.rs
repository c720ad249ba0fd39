//! What a response must be, and what is taken from it.

use serde::Deserialize;
use serde_json::Value;

use super::scalar::words;
use super::{Named, OneOrMany, Scalar, Time, nested};

/// What a response must be. What is left out is not checked.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// A number, a class such as `2xx`, or a list of them; gRPC: a name such as `OK`. The default is 200 to 399, or OK.
    pub status: Option<OneOrMany<Scalar>>,
    /// Conditions on headers.
    pub headers: Named<Rule>,
    /// Conditions on trailers.
    pub trailers: Named<Rule>,
    /// Conditions on cookies that the response sets.
    pub cookies: Named<Rule>,
    /// Conditions on values of the body, by JSON pointer. A value has a type: `1` is a number, `"1"` a text.
    pub json: Named<Rule>,
    /// gRPC: conditions on fields of the last reply, such as `session.id`.
    pub fields: Named<Rule>,
    /// A condition on the whole body.
    pub body: Option<Rule>,
    /// The most time from when it was to be sent to the end of the response.
    pub within: Option<Time>,
    /// gRPC: the number of replies.
    pub replies: Option<u64>,
    /// gRPC: rules for each reply, such as `seq = i`.
    pub each: OneOrMany<String>,
    /// gRPC: the most time from the sending to the first reply.
    pub first_within: Option<Time>,
}

/// A condition: the value itself, or a map.
#[derive(Debug)]
pub struct Rule(pub Conditions);

/// Conditions, all of which must hold.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    pub equals: Option<Scalar>,
    /// It differs from this.
    pub not: Option<Scalar>,
    pub starts_with: Option<Scalar>,
    pub ends_with: Option<Scalar>,
    pub contains: Option<Scalar>,
    /// A regular expression that matches a part of it.
    pub matches: Option<String>,
    /// It is a number, and not smaller.
    pub at_least: Option<f64>,
    /// It is a number, and not greater.
    pub at_most: Option<f64>,
    /// Whether it is there.
    pub exists: Option<bool>,
}

/// Where a value is taken from: `status`, `body` or `url`, or a map.
#[derive(Debug)]
pub struct Save(pub Taken);

/// Where a value is taken from.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Taken {
    /// The first header of this name.
    pub header: Option<String>,
    /// The first trailer of this name.
    pub trailer: Option<String>,
    /// The cookie of this name.
    pub cookie: Option<String>,
    /// A JSON pointer into the body.
    pub json: Option<String>,
    /// gRPC: a field of the last reply, such as `session.id`.
    pub field: Option<String>,
    /// `status`, `body` or `url`.
    pub from: Option<String>,
    /// Only the group of the first match.
    pub regex: Option<String>,
    /// The group's number. The default is 1 if there is a group, else the whole match.
    pub group: Option<usize>,
    /// The value if there is none.
    pub default: Option<Scalar>,
    /// In `setup`: the value is asked for again before it is too old.
    pub refresh: Option<Refresh>,
}

/// When a value is asked for again.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// A time such as `30m`, or a JSON pointer to a number of seconds in the same response.
    pub after: String,
    /// How much earlier it is asked for.
    #[serde(default)]
    pub early: Option<Time>,
}

nested::shorthand!(Rule, Conditions, "a value, or a map such as `{starts_with: a}`,", |value| {
    Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => Conditions {
        equals: words(&value).map(Scalar),
        ..Conditions::default()
    }
}, serde_json::json!({"type": ["string", "number", "boolean", "null"]}));

nested::shorthand!(Save, Taken, "`status`, `body`, `url`, or a map such as `{header: location}`", |value| {
    Value::String(from) => Taken {
        from: Some(from),
        ..Taken::default()
    }
}, serde_json::json!({"enum": ["status", "body", "url"]}));
