//! A scenario file, compiled: what every thread of a run reads and nobody changes.
//!
//! All names of the file have become indices: into [`Plan::targets`], [`Plan::feeds`], [`Plan::scenarios`],
//! [`Plan::steps`], and slots of [`Values`](super::Values). Times are in nanoseconds, sizes in bytes.

use std::path::PathBuf;
use std::sync::Arc;

use regex::bytes::Regex;
use serde::Deserialize;

use super::{Slot, Text};
pub use volley_load::pace::Phase;
use volley_load::pace::{PhasedRate, PhasedUsers, Timetable};
use volley_request::Method;

use volley_load::spec::threshold::Selected;
use volley_load::spec::{Endpoint, ListenAddress, Threshold};

/// The largest body that is read, in bytes, unless a file says otherwise.
pub const MAX_BODY: usize = 16 << 20;

/// Everything that a run needs.
#[derive(Debug)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub feeds: Vec<Feed>,
    /// Every step of the file, setup and teardown included; a step's index is its number in counters and reports.
    pub steps: Vec<Step>,
    pub scenarios: Vec<Scenario>,
    /// Steps that run once before the load; their values are for everybody.
    pub setup: Vec<Action>,
    /// Steps that run once after it.
    pub teardown: Vec<Action>,
    /// For the slots of `setup`: which values are asked for again, and when.
    pub refreshes: Vec<Refresh>,
    /// What makes iterations begin; each scenario belongs to one.
    pub loads: Vec<Load>,
    pub limits: Limits,
    pub thresholds: Vec<Goal>,
    /// By slot: the name in the file, for messages.
    pub slots: Vec<String>,
    /// Slots below this one belong to everybody: setup fills them, and no iteration clears them.
    pub common_slots: u16,
    /// A path in the file's folder is relative to this.
    pub folder: PathBuf,
    /// The files that the file names.
    pub files: Vec<PathBuf>,
    /// `--control`: where the run can be changed.
    pub control: Option<ListenAddress>,
    /// Names and values that reports keep.
    pub tags: Vec<(String, String)>,
}

impl Plan {
    /// A step's name in messages.
    #[must_use]
    pub fn step_name(&self, step: usize) -> String {
        self.steps
            .get(step)
            .map_or_else(String::new, |step| step.name.clone())
    }

    /// A scenario's name in messages.
    #[must_use]
    pub fn scenario_name(&self, scenario: usize) -> &str {
        let scenario = self.scenarios.get(scenario);
        scenario.map_or("", |scenario| &scenario.name)
    }
}

/// A host, or several that are equal, and how to speak with it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name in the file.
    pub name: String,
    /// One or more; connections are dealt out to them in turn.
    pub hosts: Vec<Endpoint>,
    pub is_tls: bool,
    pub version: Version,
    /// Connections over all threads; 0: no request leads there.
    pub connections: u32,
    /// The most requests that may be open on one connection; HTTP/1.1: 1.
    pub streams: u32,
    pub connect_timeout_ns: u64,
    /// Connections that fell back to another host return to their own when it answers again.
    pub fails_back: bool,
    /// What becomes of URLs that lead to no target.
    pub route: Route,
    /// `:authority` or `host`; `None`: the host's own.
    pub authority: Option<String>,
    pub tls: TlsFiles,
}

/// Files and names of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub server_name: Option<String>,
    /// Any certificate is accepted.
    pub skips_verification: bool,
}

/// The protocol of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Http1,
    /// Over plaintext with prior knowledge.
    Http2,
    /// TLS: whatever ALPN chooses. Plaintext: HTTP/1.1.
    Auto,
}

impl Version {
    /// Whether that is HTTP/1.1, as far as it is known before TLS has chosen.
    #[must_use]
    pub fn is_http1(self, is_tls: bool) -> bool {
        match self {
            Self::Http1 => true,
            Self::Http2 => false,
            Self::Auto => !is_tls,
        }
    }
}

/// What becomes of a URL that leads to no target of the file: a value such as `${url}`, or a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The step fails.
    #[default]
    Targets,
    /// Its authority gets connections of its own, as many as the target that led there and with the same `http` and `tls`.
    /// There are at most 64 such authorities.
    Authority,
}

/// A source of values.
#[derive(Clone, Debug)]
pub struct Feed {
    /// Its name in the file.
    pub name: String,
    pub source: Source,
    pub order: RowOrder,
    pub at_end: AtEnd,
    pub slice: Slice,
    /// With [`Slice::Connection`]: how many connections each target of its scenarios has.
    pub connections: u32,
    /// The slots that a draw fills: one for each column that is used, with its index in the row. A source without columns
    /// has one, with index 0.
    pub columns: Vec<(usize, Slot)>,
}

/// Where values come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// RFC 4180, with a header line. `names`: that line's, in order.
    Csv { file: PathBuf, names: Vec<String> },
    /// One JSON object a line; columns are its keys in `names`.
    JsonLines { file: PathBuf, names: Vec<String> },
    /// Rows in the scenario file itself.
    Rows(Vec<Vec<Box<[u8]>>>),
    /// Whole numbers from `start` to before `end`, with zeros in front up to `width` digits.
    Range { start: u64, end: u64, width: usize },
    /// A random whole number in `low..=high`.
    Random { low: i64, high: i64 },
    /// So many random letters and digits.
    RandomText { length: usize },
    /// A random UUID (version 4).
    Uuid,
    /// The present time.
    Time(TimeFormat),
}

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// RFC 3339 in UTC, with milliseconds.
    Rfc3339,
    UnixSeconds,
    UnixMillis,
    UnixNanos,
}

/// Which row is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// From the first row on; one position for each user.
    Sequential,
    /// From the first row on; one position for all.
    Circular,
    /// Any row, each with the same chance.
    Random,
    /// Each row for one iteration only, over all threads.
    Unique,
}

/// What happens after the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The first row again.
    Restart,
    /// No iteration that needs it begins any more.
    Stop,
    /// The run ends as failed.
    Fail,
}

/// Who draws from which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Slice {
    /// Everybody from all rows.
    All,
    /// User `k` of `n`: every `n`-th row from the `k`-th on.
    User,
    /// The same by thread.
    Thread,
    /// Connection `k` of `n`: the `k`-th of `n` parts of rows that follow each other. An iteration that draws from it sends
    /// everything on connection `k` of each target, and waits for that one. A connection that is opened again keeps its part.
    Connection,
    /// Process `k` of `n`, if the load is shared.
    Share,
}

/// What a user does.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub actions: Vec<Action>,
    /// Feeds that each iteration draws from at its beginning.
    pub draws: Vec<usize>,
    /// It draws from parts of connections, so that an iteration keeps to one connection of each target, of so many.
    pub keeps_to: Option<u32>,
    /// How often an iteration repeats its actions.
    pub repeat: u32,
    pub on_failure: OnFailure,
    /// Cookies of responses are sent with later requests of the same iteration.
    pub keeps_cookies: bool,
}

/// One thing after another.
#[derive(Clone, Debug)]
pub enum Action {
    /// Index into [`Plan::steps`].
    Step(usize),
    /// Steps that are sent at the same time; the next action begins when all are over.
    Together(Vec<usize>),
    /// Waits for a time in `least_ns..=most_ns`.
    Think { least_ns: u64, most_ns: u64 },
    /// Draws from a feed again.
    Draw(usize),
}

impl Action {
    /// The steps that it does.
    #[must_use]
    pub fn steps(&self) -> &[usize] {
        match self {
            Self::Step(step) => std::slice::from_ref(step),
            Self::Together(steps) => steps,
            Self::Think { .. } | Self::Draw(_) => &[],
        }
    }
}

/// What a failed step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The iteration is over, as failed.
    #[default]
    EndIteration,
    /// The next action begins; the iteration is failed all the same.
    Continue,
    /// The run ends as failed.
    EndRun,
}

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

/// A value of setup that grows old.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The setup's action that asks for it again.
    pub action: usize,
    /// The slot that holds the seconds until it is too old, or a fixed time.
    pub after: After,
    /// How much earlier it is asked for.
    pub early_ns: u64,
}

/// When a value is too old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    Fixed(u64),
    Seconds(Slot),
}

/// What makes iterations begin.
#[derive(Clone, Debug)]
pub struct Load {
    /// Scenarios and their weights, which are exact.
    pub scenarios: Vec<(usize, u32)>,
    /// A weight is a share of the requests, not of the iterations.
    pub shares_requests: bool,
    pub phases: Phases,
    /// The most iterations that begin.
    pub iterations: Option<u64>,
    pub start_after_ns: u64,
    /// A user's iterations begin at least so far apart.
    pub pace_ns: u64,
}

/// How the load changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Users, each of which begins an iteration when its last one is over.
    Users(Vec<Phase>),
    /// Iterations that begin at given moments, whatever became of others. In millionths a second.
    Rate(Vec<Phase>),
}

impl Phases {
    /// How long the load is, in ns; `None` if only its number of iterations, or its data, ends it.
    #[must_use]
    pub fn end_ns(&self) -> Option<u64> {
        match self {
            Self::Users(phases) => PhasedUsers::new(phases).end_ns(),
            Self::Rate(phases) => PhasedRate::new(phases).end_ns(),
        }
    }

    /// The most iterations that can begin; without a limit, the greatest number.
    #[must_use]
    pub fn most_iterations(&self) -> u64 {
        match self {
            Self::Users(_) => u64::MAX,
            Self::Rate(phases) => {
                let rate = PhasedRate::new(phases);
                rate.end_ns()
                    .map_or(u64::MAX, |end_ns| rate.count_until(end_ns))
            }
        }
    }
}

/// Limits of a whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most iterations of schedules that may be open at a time, over all threads.
    pub iterations_open: u32,
    pub when_full: WhenFull,
    /// How long open iterations may take after the load's end.
    pub drain_ns: u64,
    /// The largest body that is read, in bytes.
    pub body: usize,
    /// The most memory of each thread's state of Lua, in bytes.
    pub lua_memory: usize,
    /// A thread wakes at most once in this time. 0: whenever something is to do.
    pub coalesce_ns: u64,
}

/// What becomes of an iteration that is due while too many are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It is counted as dropped.
    Drop,
    /// It begins later.
    Wait,
}

/// What stands before a condition of `--fail-if`: unlike those of a file, it must not hold.
pub const FAILS_IF: &str = "fails if ";

/// A condition under which the run is good.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its opposite: the run has failed if this holds.
    pub fails_if: Threshold,
    /// As the file says it; [`FAILS_IF`] and what `--fail-if` says.
    pub text: String,
    /// Only this scenario, step or check: `crud.create`.
    pub of: Option<String>,
    /// The run ends as soon as it has failed over the last so many ns.
    pub abort_after_ns: Option<u64>,
}

impl From<&Selected> for Goal {
    /// A condition of `--fail-if`.
    fn from(selected: &Selected) -> Self {
        Self {
            fails_if: selected.threshold.clone(),
            text: format!("{FAILS_IF}{selected}"),
            of: selected.of.clone(),
            abort_after_ns: None,
        }
    }
}
