//! What every thread of a run must know, computed once from what is to be run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::caller::Caller;
use super::sink::ReplyRules;
use super::stage::Window;
use super::{LoadError, reflect};
use volley_base::budget::Budget;
use volley_http::http2;
use volley_load::pace::{Lane, Schedule, StreamPace, Workers, whole_ns};
use volley_load::spec::{DurationStop, LbStrategy, LoadSpec, Share, Spec, SpecError, some};
use volley_net::names::{Names, system};
use volley_net::proxy::Proxies;
use volley_net::tls_config::{self, TlsClient};
use volley_net::{NetError, spare_cpus};
use volley_request::{Method, Shape};

/// No host has memory for more open calls than this.
pub const MOST_WORKERS: u32 = 1_000_000;

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
    /// What is to be run.
    pub spec: Spec,
    /// The target as the user named it.
    pub target: String,
    /// Its addresses, as far as they are known.
    pub names: Arc<Names>,
    /// Connections are dealt out to all of them.
    pub in_turn: bool,
    /// `None` for plaintext.
    pub tls: Option<TlsClient>,
    /// The client's side of HTTP/2.
    pub http2: http2::Config,
    /// The method called.
    pub method: Method,
    /// When calls are sent and counted.
    pub window: Window,
    /// How the requests of a stream are sent.
    pub streaming: Streaming,
    /// Rules that apply to all replies.
    pub rules: ReplyRules,
    /// For partial and inflated replies.
    pub budget: Arc<Budget>,
    /// When the messages of streams that live are due; `None`: there are none.
    pub pace: Option<StreamPace>,
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
    /// Each thread wakes at most once in this time; 0: when a call is due, or something comes.
    pub coalesce_ns: u64,
    /// The connections of all processes together.
    pub connections: u32,
    /// The number of threads that share them.
    pub threads: u32,
}

impl Streaming {
    fn new(spec: &Spec, shape: Shape) -> Self {
        let interval_ns = whole_ns(spec.request.stream.interval);
        let length_ns = whole_ns(spec.request.stream.duration);
        let client_streams = matches!(shape, Shape::ClientStreaming | Shape::Bidirectional);
        Self {
            interval_ns,
            length_ns,
            is_paced: client_streams && spec.request.stream.is_paced(),
        }
    }

    /// Whether a stream needs work after its first message.
    pub fn needs_time(&self) -> bool {
        self.is_paced || self.length_ns > 0
    }
}

impl Plan {
    /// Reads the schema or asks the server for it, until `signal` is set; resolves the target, and decides what the
    /// spec leaves open.
    pub fn new(spec: &Spec, signal: &Arc<AtomicBool>) -> Result<Self, LoadError> {
        let Spec {
            target,
            request,
            load,
            ..
        } = spec;
        let method = reflect::method(spec, signal)?;
        let workers = Workers::new(&load.concurrency)?;
        let most_workers = most_workers(&workers, load.length())?;
        let parsed = target.target().map_err(SpecError::from)?;
        let tls = tls_config::client(target, &parsed).map_err(NetError::from)?;
        let named = parsed.to_string();
        let (strategy, every) = (target.lb_strategy, target.resolve_every);
        let names = Names::new(
            parsed,
            Proxies::of_process(),
            strategy,
            every,
            Box::new(system),
        )?;
        let in_turn = strategy == LbStrategy::RoundRobin;
        let connections = match load.share {
            // Each address gets a connection, if there is a worker for it.
            Share { of: 1, .. } if in_turn => {
                let addresses = u32::try_from(names.routes().len()).unwrap_or(u32::MAX);
                load.connections.max(addresses.min(most_workers))
            }
            _ => load.connections,
        };
        let rate = request.stream.rate;
        let pace = (rate > 0).then(|| StreamPace::new(rate, most_workers));
        let connections = match pace {
            None => connections,
            Some(_) if method.shape != Shape::Bidirectional => {
                return Err(LoadError::NoPacedStreams);
            }
            // All streams are to be open at the same time.
            Some(_) => match streams_allowed(spec, signal)? {
                0 => connections,
                each => connections.max(most_workers.div_ceil(each)),
            },
        };
        Ok(Self {
            target: named,
            names,
            in_turn,
            tls,
            http2: http2::Config {
                window: target.window,
                most_streams: (target.reconnect_every > 0).then_some(target.reconnect_every),
                ..http2::Config::default()
            },
            window: Window {
                warmup_ns: whole_ns(load.warmup),
                told_within_ns: load.told_within().map(whole_ns),
                length_ns: load.length().map(whole_ns),
                total: load.calls(),
                stop: load.duration_stop,
                drain_ns: whole_ns(spec.drain_timeout()),
            },
            streaming: Streaming::new(spec, method.shape),
            rules: ReplyRules {
                max_message: request.max_reply as usize,
                times_first: method.shape.streams_replies(),
                timeout_ns: some(request.timeout).map_or(u64::MAX, whole_ns),
                enough_replies: enough_replies(spec, method.shape),
            },
            budget: Arc::new(request.budget()),
            pace,
            most_workers,
            threads: threads(load, connections, &workers),
            workers,
            schedule: Schedule::new(&load.rate)?,
            is_async: load.is_async,
            timeout_ns: some(request.timeout).map(whole_ns),
            connect_timeout_ns: whole_ns(target.connect_timeout),
            keepalive_ns: some(target.keepalive).map(whole_ns),
            coalesce_ns: match load.is_open_loop() {
                false => 0,
                true => whole_ns(load.coalesce_sends),
            },
            connections,
            method,
            spec: spec.clone(),
        })
    }

    /// The connections of thread `index`, by number.
    pub fn links_of(&self, index: u32) -> impl Iterator<Item = u32> + use<> {
        let lane = self.lane_of(index);
        let distance = usize::try_from(lane.every).unwrap_or(usize::MAX);
        let first = u32::try_from(lane.first).unwrap_or(u32::MAX);
        (first..self.connections).step_by(distance)
    }

    /// How many connections this process has.
    pub fn own_connections(&self) -> u32 {
        own(&self.spec.load, self.connections)
    }

    /// The workers of a connection below `most`, by number: dealt out in turn, as evenly as possible.
    pub fn workers_of(&self, link: u32, most: u32) -> impl Iterator<Item = u32> + use<> {
        (link..most).step_by(self.connections as usize)
    }

    /// The calls of this process.
    pub fn lane(&self) -> Lane {
        self.spec.load.share.lane()
    }

    /// The calls of thread `index`.
    pub fn lane_of(&self, index: u32) -> Lane {
        self.lane().part(index.into(), self.threads.into())
    }

    /// The fewest workers with which every thread has one for its share, if it has a share.
    pub fn least_workers(&self) -> u32 {
        if !has_shares(&self.spec.load) {
            return 1;
        }
        let last = self.lane_of(self.threads - 1).first;
        u32::try_from(last + 1).unwrap_or(u32::MAX)
    }

    /// Whether the calls that count are those started inside the window, so that they can be
    /// compared with a given number. Otherwise they are those that ended inside it, as a rate
    /// requires.
    pub fn counts_by_begin(&self) -> bool {
        let is_by_begin = self.window.total.is_some()
            || self.window.stop == DurationStop::Wait
            || self.schedule.is_some();
        // Streams that live begin before the window.
        is_by_begin && self.pace.is_none()
    }

    /// How many streams this process keeps open, and how many of their messages are due between two moments since the
    /// load's start.
    pub fn paced_streams(&self, from_ns: u64, until_ns: u64) -> Option<(u64, u64)> {
        let pace = self.pace?;
        let lane = self.lane();
        let every = usize::try_from(lane.every).unwrap_or(usize::MAX);
        let first = u32::try_from(lane.first).unwrap_or(u32::MAX);
        let links = (first..self.connections).step_by(every);
        let workers = links.flat_map(|link| self.workers_of(link, self.most_workers));
        let due = |worker| pace.due_before(worker, until_ns) - pace.due_before(worker, from_ns);
        Some(workers.fold((0, 0), |(count, all), worker| {
            (count + 1, all + due(worker))
        }))
    }

    /// How many of the `total` calls thread `index` makes.
    pub fn quota_of(&self, index: u32) -> Option<u64> {
        Some(self.lane_of(index).count(self.window.total?))
    }
}

/// How many streams the server allows on a connection.
fn streams_allowed(spec: &Spec, signal: &Arc<AtomicBool>) -> Result<u32, LoadError> {
    let until = Instant::now() + spec.target.connect_timeout;
    let caller = Caller::connect(&spec.target, spec.request.budget(), signal, until)?;
    Ok(u32::try_from(caller.capacity()).unwrap_or(u32::MAX))
}

/// After how many replies the client ends a call; 0: never.
pub fn enough_replies(spec: &Spec, shape: Shape) -> u64 {
    match shape {
        Shape::ServerStreaming => spec.request.stream.count,
        _ => 0,
    }
}

/// How many of so many connections, or workers, belong to this process.
fn own(load: &LoadSpec, all: u32) -> u32 {
    let count = load.share.lane().count(all.into());
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The number of workers to allocate; an unbounded rise is refused.
fn most_workers(workers: &Workers, length: Option<Duration>) -> Result<u32, LoadError> {
    let most = length.map_or_else(
        || workers.most(),
        |length| workers.most_before(whole_ns(length)),
    );
    if most > MOST_WORKERS {
        return Err(LoadError::TooManyWorkers { most: MOST_WORKERS });
    }
    Ok(most)
}

/// `--threads`; by default all CPUs that this process is confined to, or else half of the host's,
/// because the server needs the rest. Never more than the number of connections.
fn threads(load: &LoadSpec, connections: u32, workers: &Workers) -> u32 {
    let wanted = load.threads.unwrap_or_else(spare_cpus);
    let most = own(load, connections).min(fewest_workers(load, workers));
    wanted.clamp(1, most.max(1))
}

/// Whether a thread gets a share of the calls, or of a schedule.
fn has_shares(load: &LoadSpec) -> bool {
    load.calls().is_some() || load.is_open_loop()
}

/// How many workers this process has when there are fewest: a thread must have one for its share.
fn fewest_workers(load: &LoadSpec, workers: &Workers) -> u32 {
    if !has_shares(load) {
        return u32::MAX;
    }
    let fewest = workers.active_at(0).min(workers.active_at(u64::MAX));
    own(load, fewest)
}
