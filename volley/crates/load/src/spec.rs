//! What is to be run, as plain data. Flags compile to it, a file may hold it, and the engine knows nothing else.
//!
//! Every value has one place here. Times of zero mean "none", as on the command line. [`Spec::check`] refuses what makes
//! no sense.

mod check;
mod command;
mod data;
mod error;
mod host;
mod listen;
pub mod secret;
mod share;
pub mod threshold;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use check::MOST_COALESCE;
pub use command::Command;
pub use data::Data;
pub use error::SpecError;
pub use host::{Address, COMMANDS, Endpoint, HostError, Target, address, misspelt, without_port};
pub use listen::{ListenAddress, ListenError};
pub use threshold::{Threshold, ThresholdError};

use volley_base::budget::{self, Budget, MAX_MEMORY};
use volley_base::defaults;
use volley_base::units::{duration, size};

use crate::pace::{RateSpec, ScheduleKind, WorkersSpec};

/// ghz's own setting for its client, in both directions.
const MAX_MESSAGE: u32 = i32::MAX as u32;

/// Large enough that flow control never delays a loopback stream.
const WINDOW: u32 = 16 << 20;

const CALLS: u64 = 200;
/// A call's time limit, unless another one is given.
pub const TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
/// Names are not looked up more often than this.
pub const RESOLVE_LEAST: Duration = Duration::from_millis(100);
const WARMUP_AT_MOST: Duration = Duration::from_secs(300);

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spec {
    /// Name of the run, for the report; may be empty.
    pub name: String,
    /// Tags of the run, for the report.
    pub tags: BTreeMap<String, String>,
    /// Which server, and how to connect to it.
    pub target: TargetSpec,
    /// What is sent.
    pub request: RequestSpec,
    /// What the replies, and the whole run, must be.
    pub checks: CheckSpec,
    /// How much is sent, and when.
    pub load: LoadSpec,
    /// What is counted.
    pub count: CountSpec,
}

defaults! {
    /// Which server, and how to connect to it.
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
    #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct TargetSpec {
        /// The server's address, such as `localhost:8080`; several with commas; or `dns:///name:port`, `unix:/path` and
        /// other forms of gRPC's name syntax.
        pub host: String = String::new(),
        /// How connections use the server's addresses, if there are several.
        pub lb_strategy: LbStrategy = LbStrategy::default(),
        /// Names are looked up this often; zero: only when a connection is lost.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub resolve_every: Duration = Duration::ZERO,
        /// Each connection is closed and opened again after this many calls; 0: never.
        pub reconnect_every: u32 = 0,
        /// The `:authority` of each call; if missing, the name in `tls`, or else the host.
        pub authority: Option<String> = None,
        /// Plaintext HTTP/2 with prior knowledge, instead of TLS.
        pub insecure: bool = false,
        /// Whom to trust, and who the client is.
        pub tls: TlsSpec = TlsSpec::default(),
        /// Time limit of connecting, TLS included; above zero.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub connect_timeout: Duration = CONNECT_TIMEOUT,
        /// A PING is sent after this long without a byte from the server; zero: never.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub keepalive: Duration = Duration::ZERO,
        /// HTTP/2 flow-control window of each stream, in bytes: 1 to 2^31 - 1.
        #[serde(with = "size::text")]
        #[cfg_attr(feature = "docs", schemars(with = "SizeSchema"))]
        pub window: u32 = WINDOW,
    }
}

/// How connections use the server's addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LbStrategy {
    /// All go to the first address that works.
    #[default]
    PickFirst,
    /// They are dealt out to all addresses in turn.
    RoundRobin,
}

/// Whom to trust, and who the client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TlsSpec {
    /// Accept any certificate.
    pub skip_verify: bool,
    /// Root certificates (PEM) to trust; if missing, the system's.
    pub cacert: Option<PathBuf>,
    /// The client's certificates (PEM); needs `key`.
    pub cert: Option<PathBuf>,
    /// The private key (PEM) of `cert`.
    pub key: Option<PathBuf>,
    /// The name that the server's certificate must have; if missing, that of the authority, or else the host.
    pub cname: Option<String>,
}

defaults! {
    /// What is sent.
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
    #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct RequestSpec {
        /// Where the service is described.
        pub schema: SchemaSource = SchemaSource::default(),
        /// Metadata of the calls that ask the server for its schema, in the same form as `metadata`. Templates are not filled in.
        pub reflect_metadata: BTreeMap<String, String> = BTreeMap::new(),
        /// The method: `package.Service/Method` or `package.Service.Method`.
        pub call: String = String::new(),
        /// The messages.
        pub data: Data = Data::default(),
        /// The file that they came from, for messages.
        #[serde(skip)]
        pub data_file: Option<PathBuf> = None,
        /// Metadata of each call in ghz's form: the value of a `-bin` name is base64. Templates are filled in.
        pub metadata: BTreeMap<String, String> = BTreeMap::new(),
        /// Reports show secret metadata, such as `authorization`; otherwise they show `***`.
        pub show_secrets: bool = false,
        /// Whether `{{…}}` in data and metadata is filled in.
        pub templates: Templates = Templates::default(),
        /// Compress every message with gzip.
        pub compress: bool = false,
        /// Time limit of a call, sent as `grpc-timeout`; zero: none.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub timeout: Duration = TIMEOUT,
        /// The longest reply accepted, in bytes.
        #[serde(with = "size::text")]
        #[cfg_attr(feature = "docs", schemars(with = "SizeSchema"))]
        pub max_reply: u32 = MAX_MESSAGE,
        /// The most memory, in bytes, that replies of all calls take which have not come whole, or are inflated. A larger
        /// `max-reply` raises it.
        #[serde(with = "size::text")]
        #[cfg_attr(feature = "docs", schemars(with = "SizeSchema"))]
        pub max_memory: u32 = MAX_MEMORY,
        /// The longest message sent, in bytes, compressed if so.
        #[serde(with = "size::text")]
        #[cfg_attr(feature = "docs", schemars(with = "SizeSchema"))]
        pub max_send: u32 = MAX_MESSAGE,
        /// How the messages of a streaming call are sent.
        pub stream: StreamSpec = StreamSpec::default(),
    }
}

/// How the messages of a streaming call are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StreamSpec {
    /// Pause between two messages; zero: none.
    #[serde(with = "duration::text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub interval: Duration,
    /// Messages a second of each stream, which then lives until the window's end: each message has a time at which it is due;
    /// 0: none has.
    pub rate: u32,
    /// The client ends the call after this time; zero: never.
    #[serde(with = "duration::text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub duration: Duration,
    /// The client ends the call after this many messages, sent (data repeats as needed) or received; 0: no limit.
    pub count: u64,
    /// The client renders the templates of each message when it sends it, not once for each call.
    pub dynamic: bool,
}

/// Where a service is described.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
pub enum SchemaSource {
    /// The server itself, by gRPC server reflection.
    #[default]
    Reflection,
    /// A .proto file and the folders to search for its imports. The file's own folder and the current folder are always
    /// searched.
    Proto {
        /// The .proto file.
        file: PathBuf,
        /// Folders, searched in this order.
        #[serde(default)]
        import_paths: Vec<PathBuf>,
    },
    /// A compiled descriptor set (`protoc -o`).
    Protoset(PathBuf),
}

/// Whether `{{…}}` is filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Templates {
    /// Variables and functions.
    #[default]
    All,
    /// Variables; functions are refused.
    NoFunctions,
    /// Everything is sent as it is.
    Off,
}

/// What the replies, and the whole run, must be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckSpec {
    /// Rules that every reply must satisfy, such as `result = a + b + i`.
    pub expect: Vec<String>,
    /// How many replies each call must get.
    pub replies: Option<u64>,
    /// Conditions under which the run has failed, such as `p99 > 20ms`. Those of a share are for the whole load.
    pub fail_if: Vec<Threshold>,
}

defaults! {
    /// How much is sent, and when.
    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
    #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct LoadSpec {
        /// Calls to make, at least 1; without effect if `duration` is set.
        pub total: u64 = CALLS,
        /// How long calls are made; zero: until all of `total` are made.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub duration: Duration = Duration::ZERO,
        /// When the run ends at the latest; zero: no limit.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub max_duration: Duration = Duration::ZERO,
        /// What happens to calls that are open when the time is over.
        pub duration_stop: DurationStop = DurationStop::default(),
        /// Time limit for open calls to end, if they may; if missing, that of a call.
        #[serde(with = "duration::text::option")]
        #[cfg_attr(feature = "docs", schemars(with = "Option<String>"))]
        pub drain_timeout: Option<Duration> = None,
        /// Calls per second; by default, workers set the pace.
        pub rate: RateSpec = RateSpec::default(),
        /// Workers; each has one call open at a time.
        pub concurrency: WorkersSpec = WorkersSpec::default(),
        /// Calls are sent when due, even if their worker has one open.
        #[serde(rename = "async")]
        pub is_async: bool = false,
        /// Connections, shared evenly by the workers: at least 1, and at most the largest number of workers.
        pub connections: u32 = 1,
        /// Threads, at most `connections`; if missing, chosen from the host's CPUs.
        pub threads: Option<u32> = None,
        /// This process makes a part of the load; other processes make the rest.
        pub share: Share = Share::default(),
        /// Each thread wakes at most once in this time: calls are sent late by up to as much, and latencies can be too long by
        /// as much; zero: when a call is due, or something comes.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub coalesce_sends: Duration = Duration::ZERO,
        /// Threads wait on their CPUs for calls that are due, instead of asleep.
        pub spin: bool = false,
        /// How long the same load runs, uncounted, before the window opens.
        #[serde(with = "duration::text")]
        #[cfg_attr(feature = "docs", schemars(with = "String"))]
        pub warmup: Duration = Duration::ZERO,
        /// The warm-up then goes on until a line comes on stdin.
        pub open_on_stdin: bool = false,
        /// The longest warm-up that a line on stdin may end.
        #[serde(with = "duration::text::option")]
        #[cfg_attr(feature = "docs", schemars(with = "Option<String>"))]
        pub warmup_at_most: Option<Duration> = None,
    }
}

/// A part of the load: calls and connections are dealt out in turn. Written as `2/3`, the second of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one, from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

/// What happens to calls that are open when the run's time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DurationStop {
    /// They are cut, and counted as cut.
    #[default]
    Close,
    /// They may finish, and are counted.
    Wait,
    /// They are cut, and only their ages count.
    Ignore,
}

/// What is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CountSpec {
    /// How many calls, the first to end, are left out of the report.
    pub skip_first: u64,
    /// Failed calls count in latency figures.
    pub count_errors: bool,
    /// How many single calls the report keeps.
    pub details: u64,
}

/// A size in a schema: a number of bytes, or text such as `16MiB`.
#[cfg(feature = "docs")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum SizeSchema {
    Bytes(u32),
    Text(String),
}

impl TargetSpec {
    /// Where to connect to.
    ///
    /// # Errors
    ///
    /// If the host is no target.
    pub fn target(&self) -> Result<Target, HostError> {
        host::parse(&self.host)
    }

    /// The `:authority` of each call. Either name of the server defaults to the other one, as in grpc-go.
    #[must_use]
    pub fn effective_authority(&self) -> String {
        let given = self.authority.clone().or_else(|| self.tls.cname.clone());
        given.unwrap_or_else(|| match self.target() {
            Ok(target) => target.authority,
            Err(_) => self.host.clone(),
        })
    }

    /// The name that the server's certificate must have; `None`: the host.
    #[must_use]
    pub fn server_name(&self) -> Option<String> {
        let authority = self.authority.as_deref();
        let given = self.tls.cname.clone();
        given.or_else(|| authority.map(|authority| host::without_port(authority).to_owned()))
    }
}

impl StreamSpec {
    /// Whether messages are sent over time, not all at once.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.rate > 0 || !self.interval.is_zero() || !self.duration.is_zero()
    }
}

impl CheckSpec {
    /// Whether replies are compared with anything. Without rules, they are only decoded.
    #[must_use]
    pub fn compare(&self) -> bool {
        !self.expect.is_empty() || self.replies.is_some()
    }
}

impl LoadSpec {
    /// How many calls are made; `None` if only time ends the run.
    #[must_use]
    pub fn calls(&self) -> Option<u64> {
        self.duration.is_zero().then_some(self.total)
    }

    /// How many of them this process makes.
    #[must_use]
    pub fn own_calls(&self) -> Option<u64> {
        self.calls().map(|all| self.share.lane().count(all))
    }

    /// How long new calls start; `None` if only their number ends the run.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        [self.duration, self.max_duration]
            .into_iter()
            .filter(|limit| !limit.is_zero())
            .min()
    }

    /// How long the warm-up may last until a line comes on stdin; `None` if none is waited for.
    #[must_use]
    pub fn told_within(&self) -> Option<Duration> {
        let longest = || WARMUP_AT_MOST.max(2 * self.warmup);
        self.open_on_stdin
            .then(|| self.warmup_at_most.unwrap_or_else(longest))
    }

    /// Whether each call has a due time.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.rate.rps > 0 || self.rate.schedule != ScheduleKind::Const
    }
}

impl Spec {
    /// Time limit for open calls to end after the window.
    #[must_use]
    pub fn drain_timeout(&self) -> Duration {
        let given = self.load.drain_timeout;
        given.unwrap_or_else(|| some(self.request.timeout).unwrap_or(DRAIN_TIMEOUT))
    }
}

impl RequestSpec {
    /// The memory for partial and inflated replies.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget::new(self.raised().unwrap_or(self.max_memory as usize))
    }

    /// The memory, in bytes, that a reply of the longest length needs, if `max_memory` is less. ghz's default for that
    /// length is no limit.
    #[must_use]
    pub fn raised(&self) -> Option<usize> {
        let longest = (self.max_reply < MAX_MESSAGE).then_some(self.max_reply as usize)?;
        budget::raised(self.max_memory, longest)
    }

    /// The same in words.
    #[must_use]
    pub fn raised_words(&self) -> Option<String> {
        let longest = ("reply", "--max-recv-message-size");
        self.raised()
            .map(|bytes| budget::raised_words(bytes, longest))
    }
}

/// A time, unless it is zero: that means none.
#[must_use]
pub fn some(time: Duration) -> Option<Duration> {
    (!time.is_zero()).then_some(time)
}
