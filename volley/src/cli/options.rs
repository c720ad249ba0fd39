//! The checked options of a run: flags override the file, which overrides defaults.

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
    /// The requested `:authority`; see [`Options::effective_authority`].
    pub authority: Option<String>,
    pub schema: SchemaSource,
    /// `package.Service/Method` or `package.Service.Method`.
    pub call: String,
    pub data: DataSource,
    /// Metadata of each call; keys and values as given, templates included.
    pub metadata: BTreeMap<String, String>,

    /// Calls to make, at least 1; `None` if `duration` limits the run.
    pub total: Option<u64>,
    /// How long calls are made, above zero: the shorter of `-z` and `-x`.
    pub duration: Option<Duration>,
    /// When a run of `total` calls ends at the latest; `None` if `duration` is set.
    pub max_duration: Option<Duration>,
    pub duration_stop: DurationStop,
    /// Time limit of one call.
    pub timeout: Option<Duration>,
    /// Workers of a constant concurrency, at least 1.
    pub concurrency: u32,
    /// At least 1, and at most the largest number of workers.
    pub connections: u32,
    /// At least 1 and at most `connections`; `None`: chosen from the host's CPUs.
    pub threads: Option<u32>,
    /// Calls per second of a constant load; 0: no limit.
    pub rps: u32,
    /// Calls are sent when due, even if their worker has one open.
    pub is_async: bool,
    pub load: LoadSpec,
    pub concurrency_schedule: ConcurrencySpec,
    /// How many calls, the first to end, are left out of the report.
    pub skip_first: u64,
    /// Failed calls count in latency figures.
    pub count_errors: bool,

    pub security: Security,
    /// Requests are compressed with gzip.
    pub compress: bool,
    /// Time limit of connecting, TLS included; above zero.
    pub connect_timeout: Duration,
    /// PING after this much silence.
    pub keepalive: Option<Duration>,
    /// Longest reply, in bytes.
    pub max_recv_message: usize,
    /// HTTP/2 flow-control window of each stream, in bytes: 1 to 2^31 - 1.
    pub window: u32,

    /// Pause between messages of one call; zero: none.
    pub stream_interval: Duration,
    /// The client ends a streaming call after this time.
    pub stream_call_duration: Option<Duration>,
    /// The client ends a streaming call after this many messages; 0: no limit.
    pub stream_call_count: u64,
    /// `{{…}}` in data and metadata is filled in.
    pub templates_in_data: bool,
    /// Functions are allowed in `{{…}}`; false if `templates_in_data` is false.
    pub template_functions: bool,

    /// Where the report goes; `None`: stdout.
    pub output: Option<PathBuf>,
    pub format: Format,
    /// Name of the run, may be empty.
    pub name: String,
    pub tags: BTreeMap<String, String>,
    /// How many single calls the report keeps.
    pub details: u64,
    /// Show no progress line.
    pub quiet: bool,

    /// How long the same load runs, uncounted, before the window.
    pub warmup: Duration,
    /// The warm-up goes on until a line comes on stdin, at most for this long; `None`: it ends by
    /// itself.
    pub told_within: Option<Duration>,
    /// Time limit for open calls to end after the window, with [`DurationStop::Wait`].
    pub drain_timeout: Duration,
    /// `--expect` rules, as written.
    pub expect: Vec<String>,
    /// Replies each call must get.
    pub expect_replies: Option<u64>,

    /// The options as ghz's JSON report shows them under `options`.
    pub given: Value,
}

/// The payload, read from its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// A JSON object or a list of objects, possibly with templates; `{}` if nothing was given.
    Json(String),
    /// One protobuf message, or several, each preceded by its length as a varint.
    Binary(Vec<u8>),
}

/// Whether and how a connection is secured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// Plaintext HTTP/2 with prior knowledge.
    Plain,
    Tls {
        /// Accept any certificate.
        skip_verify: bool,
        /// Roots to trust; `None`: the system's.
        cacert: Option<PathBuf>,
        /// The client certificate; given if and only if `key` is.
        cert: Option<PathBuf>,
        key: Option<PathBuf>,
        /// The name in the server's certificate; `None`: the host's.
        server_name: Option<String>,
    },
}

impl Options {
    /// The `:authority` of each call: the requested one, else host and port.
    pub fn effective_authority(&self) -> String {
        match &self.authority {
            Some(authority) => authority.clone(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}
