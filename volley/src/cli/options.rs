//! What a run shall do: flags over file over defaults, checked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

pub use super::args::{DurationStop, Format};
use crate::pace::{ConcurrencySpec, LoadSpec};
use crate::request::SchemaSource;

/// The options of a run. Times that are zero on the command line for "none" are `None` here.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name or address of the server, IPv6 without brackets.
    pub host: String,
    /// Its port, never 0.
    pub port: u16,
    /// The `:authority` that was asked for; see [`Options::effective_authority`].
    pub authority: Option<String>,
    pub schema: SchemaSource,
    /// `package.Service/Method` or `package.Service.Method`.
    pub call: String,
    pub data: DataSource,
    /// Metadata of each call; keys and values as given, templates included.
    pub metadata: BTreeMap<String, String>,

    /// Calls to make, at least 1; `None` if `duration` bounds the run.
    pub total: Option<u64>,
    /// How long calls are made, above zero; already the shorter one of `-z` and `-x`.
    pub duration: Option<Duration>,
    /// When a run of `total` calls ends at the latest; `None` whenever `duration` is set.
    pub max_duration: Option<Duration>,
    pub duration_stop: DurationStop,
    /// Time limit of one call.
    pub timeout: Option<Duration>,
    /// Workers of a constant concurrency, at least 1.
    pub concurrency: u32,
    /// At least 1, and no more than there are workers at most.
    pub connections: u32,
    /// At least 1 and at most `connections`; `None`: what the host can spare.
    pub threads: Option<u32>,
    /// Calls per second of a constant load; 0: no limit.
    pub rps: u32,
    /// Calls are sent when due even if their worker has one open.
    pub is_async: bool,
    pub load: LoadSpec,
    pub concurrency_schedule: ConcurrencySpec,
    /// Calls left out of the report, the first to end.
    pub skip_first: u64,
    /// Failed calls count in latency figures.
    pub count_errors: bool,

    pub security: Security,
    /// Requests are sent with gzip.
    pub compress: bool,
    /// Time limit of connecting, TLS included; above zero.
    pub connect_timeout: Duration,
    /// Silence after which a PING is sent.
    pub keepalive: Option<Duration>,
    /// Longest reply, in bytes.
    pub max_recv_message: usize,
    /// HTTP/2 flow-control window of each stream, in bytes: 1 to 2^31 - 1.
    pub window: u32,

    /// Pause between messages of one call; zero: none.
    pub stream_interval: Duration,
    /// When a streaming call is ended by the client.
    pub stream_call_duration: Option<Duration>,
    /// After how many messages a streaming call is ended by the client; 0: no such number.
    pub stream_call_count: u64,
    /// `{{…}}` in data and metadata is filled in.
    pub templates_in_data: bool,
    /// Functions may stand in `{{…}}`; false if `templates_in_data` is.
    pub template_functions: bool,

    /// Where the report goes; `None`: stdout.
    pub output: Option<PathBuf>,
    pub format: Format,
    /// Name of the run, may be empty.
    pub name: String,
    pub tags: BTreeMap<String, String>,
    /// How many single calls to keep for the report.
    pub details: u64,
    /// No live line.
    pub quiet: bool,

    /// How long the same load runs uncounted before the window.
    pub warmup: Duration,
    /// How long calls may take to end after the window, with [`DurationStop::Wait`].
    pub drain_timeout: Duration,
    /// `--expect` rules, as written.
    pub expect: Vec<String>,
    /// Replies each call must get.
    pub expect_replies: Option<u64>,

    /// The options as ghz's JSON report shows them under `options`.
    pub given: Value,
}

/// The payload, read from where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// A JSON object or a list of objects, maybe with templates; `{}` if nothing was given.
    Json(String),
    /// One protobuf message, or several, each after its length as a varint.
    Binary(Vec<u8>),
}

/// Whether and how a connection is secured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// Plaintext HTTP/2 with prior knowledge.
    Plain,
    Tls {
        /// Any certificate is trusted.
        skip_verify: bool,
        /// Roots to trust; `None`: the system's.
        cacert: Option<PathBuf>,
        /// What to show to the server; given if and only if `key` is.
        cert: Option<PathBuf>,
        key: Option<PathBuf>,
        /// The name in the certificate; `None`: the host's.
        server_name: Option<String>,
    },
}

impl Options {
    /// The `:authority` of each call: what was asked for, else host and port.
    pub fn effective_authority(&self) -> String {
        match &self.authority {
            Some(authority) => authority.clone(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}
