//! What every thread of a run must know, computed once from the options.

use std::net::SocketAddr;
use std::time::Duration;

use super::EngineError;
use super::sink::ReplyRules;
use super::target;
use super::tls;
use super::transport::TlsClient;
use crate::cli::{DataSource, DurationStop, Options, Security};
use crate::http2;
use crate::pace::{LoadSpec, Schedule, Workers, whole_ns};
use crate::request::{Data, Method, RequestSpec, Shape, schema};

/// No host has memory for more open calls than this.
const MOST_WORKERS: u32 = 1_000_000;

/// When calls start and when they are counted, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// How long the same load runs, uncounted, before the window opens.
    pub warmup_ns: u64,
    /// The warm-up then goes on until a line comes on stdin, at most for this long in all; `None`:
    /// the window opens by itself.
    pub told_within_ns: Option<u64>,
    /// How long new calls start; `None` if only `total` ends the run.
    pub length_ns: Option<u64>,
    /// How many calls start; `None` if only time ends the run.
    pub total: Option<u64>,
    /// What happens to calls that are open at the window's end.
    pub stop: DurationStop,
    /// The time limit for open calls to end.
    pub drain_ns: u64,
}

/// How the requests of a streaming call are sent.
#[derive(Clone, Copy, Debug)]
pub struct Streaming {
    /// Between two messages; 0 sends all at once.
    pub interval_ns: u64,
    /// The client ends the call after this time; 0: never.
    pub length_ns: u64,
    /// The client sends its messages over time, not all at once.
    pub is_paced: bool,
}

/// The run, as every thread sees it.
pub struct Plan {
    /// The target as the user named it.
    pub target: String,
    /// Its addresses, in the resolver's order. The first one that answers is used.
    pub addresses: Vec<SocketAddr>,
    /// `None` for plaintext.
    pub tls: Option<TlsClient>,
    /// The client's side of HTTP/2.
    pub http2: http2::Config,
    /// The method called.
    pub method: Method,
    /// What is sent to it.
    pub spec: RequestSpec,
    /// When calls are sent and counted.
    pub window: Window,
    /// How the requests of a stream are sent.
    pub streaming: Streaming,
    /// Rules that apply to all replies.
    pub rules: ReplyRules,
    /// Workers over time.
    pub workers: Workers,
    /// The most workers at any time.
    pub most_workers: u32,
    /// The rate over time; `None` for a closed loop.
    pub schedule: Option<Schedule>,
    /// Calls do not wait for a worker.
    pub is_async: bool,
    /// Time limit of a call; `None`: no limit.
    pub timeout_ns: Option<u64>,
    /// Time limit for opening a connection.
    pub connect_timeout_ns: u64,
    /// A PING is sent after this long without a byte; `None`: never.
    pub keepalive_ns: Option<u64>,
    /// The total number of connections.
    pub connections: u32,
    /// The number of threads that share them.
    pub threads: u32,
}

impl Streaming {
    fn new(options: &Options, shape: Shape) -> Self {
        let interval_ns = whole_ns(options.stream_interval);
        let length_ns = options.stream_call_duration.map_or(0, whole_ns);
        let client_streams = matches!(shape, Shape::ClientStreaming | Shape::Bidirectional);
        Self {
            interval_ns,
            length_ns,
            is_paced: client_streams && (interval_ns > 0 || length_ns > 0),
        }
    }

    /// Whether a stream needs work after its first message.
    pub fn needs_time(&self) -> bool {
        self.is_paced || self.length_ns > 0
    }
}

impl Plan {
    /// Reads the schema, resolves the target, and decides what the options leave open.
    pub fn new(options: &Options) -> Result<Self, EngineError> {
        let method = schema::load(&options.schema, &options.call)?;
        let spec = spec(options);
        let workers = Workers::new(&options.concurrency_schedule)?;
        let length = options.duration.or(options.max_duration);
        Ok(Self {
            target: format!("{}:{}", options.host, options.port),
            addresses: target::resolve(&options.host, options.port)?,
            tls: tls::client(&options.security, &options.host)?,
            http2: http2::Config {
                window: options.window,
                ..http2::Config::default()
            },
            window: Window {
                warmup_ns: whole_ns(options.warmup),
                told_within_ns: options.told_within.map(whole_ns),
                length_ns: length.map(whole_ns),
                total: options.total,
                stop: options.duration_stop,
                drain_ns: whole_ns(options.drain_timeout),
            },
            streaming: Streaming::new(options, method.shape),
            rules: ReplyRules {
                max_message: options.max_recv_message,
                enough_replies: match method.shape {
                    Shape::ServerStreaming => options.stream_call_count,
                    _ => 0,
                },
            },
            most_workers: most_workers(&workers, length)?,
            threads: threads(options, &workers),
            workers,
            schedule: Schedule::new(&options.load)?,
            is_async: options.is_async,
            timeout_ns: options.timeout.map(whole_ns),
            connect_timeout_ns: whole_ns(options.connect_timeout),
            keepalive_ns: options.keepalive.map(whole_ns),
            connections: options.connections,
            method,
            spec,
        })
    }

    /// The connections of thread `index`, by number.
    pub fn links_of(&self, index: u32) -> impl Iterator<Item = u32> + use<> {
        (index..self.connections).step_by(self.threads as usize)
    }

    /// The workers of a connection, by number: dealt out in turn, as evenly as possible.
    pub fn workers_of(&self, link: u32) -> impl Iterator<Item = u32> + use<> {
        (link..self.most_workers).step_by(self.connections as usize)
    }

    /// Whether the calls that count are those started inside the window, so that they can be
    /// compared with a given number. Otherwise they are those that ended inside it, as a rate
    /// requires.
    pub fn counts_by_begin(&self) -> bool {
        self.window.total.is_some()
            || self.window.stop == DurationStop::Wait
            || self.schedule.is_some()
    }

    /// How many of the `total` calls thread `index` makes.
    pub fn quota_of(&self, index: u32) -> Option<u64> {
        let threads = u64::from(self.threads);
        let total = self.window.total?;
        Some(total / threads + u64::from(u64::from(index) < total % threads))
    }
}

/// What is sent and expected.
fn spec(options: &Options) -> RequestSpec {
    let scheme = match options.security {
        Security::Plain => "http",
        Security::Tls { .. } => "https",
    };
    RequestSpec {
        data: match &options.data {
            DataSource::Json(text) => Data::Json(text.clone()),
            DataSource::Binary(bytes) => Data::Binary(bytes.clone()),
        },
        metadata: options.metadata.clone(),
        authority: options.effective_authority(),
        scheme: scheme.to_owned(),
        timeout: options.timeout,
        compress: options.compress,
        stream_call_count: options.stream_call_count,
        templates_in_data: options.templates_in_data,
        template_functions: options.template_functions,
        expect: options.expect.clone(),
        expect_replies: options.expect_replies,
        name: options.name.clone(),
        connections: options.connections,
    }
}

/// The number of workers to allocate; an unbounded rise is refused.
fn most_workers(workers: &Workers, length: Option<Duration>) -> Result<u32, EngineError> {
    let most = length.map_or_else(
        || workers.most(),
        |length| workers.most_before(whole_ns(length)),
    );
    if most > MOST_WORKERS {
        return Err(EngineError::TooManyWorkers { most: MOST_WORKERS });
    }
    Ok(most)
}

/// `--threads`; by default all CPUs that this process is confined to, or else half of the host's,
/// because the server needs the rest. Never more than the number of connections.
fn threads(options: &Options, workers: &Workers) -> u32 {
    let wanted = options.threads.unwrap_or_else(|| {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        let online = std::fs::read_to_string("/proc/cpuinfo").map_or(allowed, |text| {
            text.lines()
                .filter(|line| line.starts_with("processor"))
                .count()
        });
        let spare = if allowed < online {
            allowed
        } else {
            allowed / 2
        };
        u32::try_from(spare).unwrap_or(1)
    });
    let most = options.connections.min(fewest_workers(options, workers));
    wanted.clamp(1, most.max(1))
}

/// A thread gets a share of the calls, or of a schedule. It must have a worker for them, even if
/// there are few workers.
fn fewest_workers(options: &Options, workers: &Workers) -> u32 {
    let has_shares = options.total.is_some() || options.load != LoadSpec::default();
    if has_shares {
        workers.active_at(0).min(workers.active_at(u64::MAX))
    } else {
        u32::MAX
    }
}
