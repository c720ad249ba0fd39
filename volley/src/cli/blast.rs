//! `volley blast`: a sweep of calls that leave together.

use std::ffi::OsString;
use std::io::Read;
use std::time::Duration;

use clap::{Args, Command, CommandFactory, Parser};

use super::apply::apply;
use super::args::{
    self, CheckArgs, ConnectionArgs, DataArgs, LimitArgs, LoadArgs, OutputArgs, RunArgs, TargetArgs,
};
use super::options::{Format, Output};
use super::usage::{CliExit, UsageError};
use super::value::{positive, span, up_to, whole};
use super::{argv, help, unused};
use crate::blast::BlastSpec;
use crate::spec::Spec;
use volley_base::words;

const PROGRAM: &str = "volley blast";
pub(super) const TITLE: &str = "Send many calls at the same moment";

/// The most calls in a blast.
const MOST_REQUESTS: u32 = 1_000_000;
/// The most connections.
const MOST_CONNECTIONS: u32 = 10_000;

/// Flags of a run that have no effect in a sweep, by clap's ids. They are refused, never ignored.
const UNUSED: [&str; 16] = words! {
    config count_errors details disable_template_functions fail_if keepalive lb_strategy
    reconnect_every resolve_every skip_first stream_call_count stream_call_duration
    stream_dynamic_messages stream_interval stream_rate tags
};

const REQUESTS: [u32; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const CONNECTIONS: [u32; 3] = [1, 8, 1000];
const REPETITIONS: u32 = 10;
const SEED: u64 = 1;
const MAX_DURATION: Duration = Duration::from_secs(180);

/// What `volley blast [FLAGS] HOST` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Blast {
    /// What is swept.
    pub spec: BlastSpec,
    /// Where results go.
    pub output: Output,
}

/// The flags of `volley blast`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley blast", about = help::BLAST_ABOUT)]
pub struct BlastArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub sweep: SweepArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What is measured, and how often.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Load")]
pub struct SweepArgs {
    /// N: the calls that are sent at once, at most 1000000 (default
    /// 1,2,5,10,20,50,100,200,500,1000,2000,5000,10000)
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = up_to::<MOST_REQUESTS>)]
    pub requests: Option<Vec<u32>>,

    /// C: the calls go in turn over min(N, C) connections; at most 10000 (default 1,8,1000)
    #[arg(long, value_name = "C,C,…", value_delimiter = ',', value_parser = up_to::<MOST_CONNECTIONS>)]
    pub connections: Option<Vec<u32>>,

    /// How often each point (one N with one C) is measured (default 10)
    #[arg(long, value_name = "R", value_parser = positive::<u32>)]
    pub repetitions: Option<u32>,

    /// Seed for the order of points within each repetition (default 1)
    #[arg(long, value_name = "S", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// End the sweep after this time, even if points are left (default 3m)
    #[arg(short = 'x', long, value_name = "TIME", value_parser = span)]
    pub max_duration: Option<Duration>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Reads the words after `volley blast`.
pub(super) fn parse(words: &[OsString], stdin: &mut impl Read) -> Result<Blast, CliExit> {
    let command = args::parser(plain());
    let matches = argv::matches(PROGRAM, &command, help_command, words)?;
    unused::refuse(PROGRAM, &command, &matches, &UNUSED)?;
    Ok(resolve(argv::taken(PROGRAM, &matches)?, stdin)?)
}

/// Adds the defaults. Reads payloads and metadata; reads `stdin` only if a flag names it.
fn resolve(args: BlastArgs, stdin: &mut impl Read) -> Result<Blast, UsageError> {
    let output = Output::of(&args.output);
    let sweep = args.sweep;
    let mut spec = BlastSpec {
        run: Spec::default(),
        requests: ascending(sweep.requests, &REQUESTS),
        connections: ascending(sweep.connections, &CONNECTIONS),
        repetitions: sweep.repetitions.unwrap_or(REPETITIONS),
        seed: sweep.seed.unwrap_or(SEED),
        max_duration: sweep.max_duration.unwrap_or(MAX_DURATION),
    };
    let pooled = |connections: &u32| u64::from(*connections.min(&spec.most_requests()));
    let all: u64 = spec.connections.iter().map(pooled).sum();
    let connections = u32::try_from(all).unwrap_or(u32::MAX);
    let threads = sweep.limits.threads;
    if let Some(threads) = threads.filter(|threads| *threads > connections) {
        return Err(UsageError::IdleBlastThreads {
            threads,
            connections,
        });
    }
    // What a run needs to open all connections; a sweep ignores the rest of this load.
    let run = RunArgs {
        target: args.target,
        data: args.data,
        load: LoadArgs {
            concurrency: Some(connections),
            connections: Some(connections),
            duration: Some(spec.max_duration),
            limits: sweep.limits,
            ..LoadArgs::default()
        },
        connection: args.connection,
        checks: args.checks,
        output: args.output,
        ..RunArgs::default()
    };
    apply(&run, &mut spec.run, stdin)?;
    if !matches!(output.format, Format::Summary | Format::Json) {
        return Err(UsageError::BlastFormat);
    }
    Ok(Blast { spec, output })
}

/// Sorted, without duplicates; the defaults if nothing is given.
fn ascending(given: Option<Vec<u32>>, defaults: &[u32]) -> Vec<u32> {
    let mut list = given.unwrap_or_else(|| defaults.to_vec());
    list.sort_unstable();
    list.dedup();
    list
}

pub(super) fn plain() -> Command {
    let command = help::dress(BlastArgs::command(), help::BLAST_EXAMPLES)
        .override_usage("volley blast [FLAGS] HOST")
        .mut_arg("format", |arg| arg.help("summary (default) or json"));
    unused::hide(command, &UNUSED)
}

pub(super) fn help_command() -> Command {
    unused::shown(plain())
}
