//! The file as it is written: what serde reads, and what the JSON Schema describes.

mod data;
mod load;
pub(super) mod nested;
mod response;
mod scalar;
mod step;

pub use data::{Columns, Feed};
pub use load::{Phase, Ramp, constant_rate, constant_users};
pub use response::{Conditions, Expect, Refresh, Rule, Save, Taken};
pub use scalar::{HttpVersion, Named, OneOrMany, Scalar, Size, Time, present, words};
pub use step::{Lua, Part, Step};

use serde::Deserialize;

use crate::plan::{OnFailure, Route, WhenFull};

/// A scenario file: what users do, how many of them there are, and what must hold.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// For editors.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// Servers by name. `${name}` at the beginning of a URL is one of them.
    pub targets: Named<Target>,
    /// How targets are spoken to, unless they say otherwise.
    pub http: Http,
    /// Files that declare the gRPC services: `.proto`, or a descriptor set.
    pub protos: OneOrMany<String>,
    /// Folders of imported `.proto` files.
    pub import_paths: OneOrMany<String>,
    /// Sources of values by name. `${name}` or `${name.column}` is the value of an iteration.
    pub data: Named<Feed>,
    /// Steps that run once before the load; what they save is for everybody.
    pub setup: Vec<Step>,
    /// What users do.
    pub scenarios: Named<Scenario>,
    /// Steps that run once after the load.
    pub teardown: Vec<Step>,
    /// How many iterations begin, and when. Without it: one user, one iteration.
    pub load: Option<OneOrMany<Phase>>,
    /// What weights are shares of.
    pub share: Share,
    /// The time before `load` begins. Scenarios with a load of their own do not inherit it.
    pub start_after: Option<Time>,
    /// A user's iterations begin at least so far apart. Scenarios with `users` of their own inherit it.
    pub pace: Option<Time>,
    pub limits: Limits,
    /// What a failed step does.
    pub on_failure: OnFailure,
    /// Whether cookies of responses are sent with later requests of an iteration. The default is true.
    pub cookies: Option<bool>,
    /// How many redirects each request follows. The default is 0.
    pub redirects: Option<u8>,
    /// What must hold, such as `p99(crud.create) < 50ms`.
    pub thresholds: Vec<Threshold>,
    /// Names and values that are kept for reports.
    pub tags: Named<Scalar>,
    /// An address such as `127.0.0.1:6565`, `:6565` or `unix:/path`, where the run can be changed.
    pub control: Option<String>,
}

/// What weights are shares of.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    #[default]
    Iterations,
    Requests,
}

/// A server, or several that are equal: a URL, a list of URLs, or a map.
#[derive(Debug, Default)]
pub struct Target(pub TargetMap);

/// A target in full.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TargetMap {
    /// `https://host:port`, `http://host:port` or `unix:/path`; `${env.NAME}` is from the environment.
    pub hosts: OneOrMany<String>,
    pub http: Http,
    pub tls: Option<Tls>,
    /// `:authority` or `host`, instead of the host's own.
    pub authority: Option<String>,
    /// Connections that fell back to another host return to their own when it answers again. The default is true.
    pub failback: Option<bool>,
}

/// How a target is spoken to.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// 1, 2 or auto. With auto, TLS chooses, and plaintext is HTTP/1.1.
    pub version: Option<HttpVersion>,
    /// Connections to the target, over all threads. The default is 8; over HTTP/1.1, one for each user if those are more.
    pub connections: Option<u32>,
    /// The most requests that are open on a connection. HTTP/1.1 has one; the default of HTTP/2 is 100.
    pub streams: Option<u32>,
    /// The most time for a response. The default is 30s.
    pub timeout: Option<Time>,
    /// The most time to open a connection. The default is 10s.
    pub connect_timeout: Option<Time>,
    /// What becomes of URLs that lead to no target. The default is targets.
    pub route: Option<Route>,
}

/// Files and names of TLS.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// Roots to trust, as PEM, instead of the system's.
    pub ca: Option<String>,
    /// The client's certificate, as PEM.
    pub cert: Option<String>,
    /// Its private key, as PEM.
    pub key: Option<String>,
    /// The name that the server's certificate must have.
    pub server_name: Option<String>,
    /// Any certificate is accepted.
    pub insecure: bool,
}

/// What a user does.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Its share of the load, beside those of other scenarios. The default is 1.
    pub weight: Option<u32>,
    /// Requests and pauses, one after another.
    pub steps: Vec<Step>,
    /// A load of its own.
    pub load: Option<OneOrMany<Phase>>,
    /// The time before its load begins.
    pub start_after: Option<Time>,
    /// A user's iterations begin at least so far apart.
    pub pace: Option<Time>,
    /// How often an iteration repeats the steps. The default is 1.
    pub repeat: Option<u32>,
    pub on_failure: Option<OnFailure>,
    pub cookies: Option<bool>,
    pub redirects: Option<u8>,
}

/// Limits of the whole run.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The most iterations of a `rate` that are open at a time, over all threads. The default is 10,000.
    pub iterations_open: Option<u32>,
    /// What becomes of an iteration that is due while too many are open. The default is drop.
    pub when_full: Option<WhenFull>,
    /// How long open iterations may take after the load's end. The default is 30s.
    pub drain: Option<Time>,
    /// The largest body of a response. The default is 16 MiB.
    pub body: Option<Size>,
    /// The most memory of each thread for scripts (`lua`). The default is 64 MiB.
    pub lua_memory: Option<Size>,
    /// For a high `rate`: a thread wakes at most once in this time, of at most 100ms, and then does all that is due.
    /// That saves CPU time, and makes latencies up to so much longer. The default is 0.
    pub coalesce: Option<Time>,
}

/// What must hold: a text, or a map.
#[derive(Debug)]
pub struct Threshold(pub ThresholdMap);

/// A threshold in full.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThresholdMap {
    /// Such as `dropped < 0.1%`.
    pub that: String,
    /// It is judged over a window of this length while the run goes on, and ends the run as soon as it does not hold.
    #[serde(default)]
    pub abort_after: Option<Time>,
}

nested::shorthand!(Target, TargetMap, "a URL, a list of URLs, or a map with `hosts`", |value| {
    serde_json::Value::String(_) | serde_json::Value::Array(_) => TargetMap {
        hosts: nested::read(value, crate::file::mistake::Path::default())?,
        ..TargetMap::default()
    }
}, serde_json::json!({"type": ["string", "array"], "items": {"type": "string"}}));

nested::shorthand!(Threshold, ThresholdMap, "a text such as `p99 < 50ms`, or a map with `that`", |value| {
    serde_json::Value::String(that) => ThresholdMap { that, abort_after: None }
}, serde_json::json!({"type": "string", "pattern": "[<>]"}));
