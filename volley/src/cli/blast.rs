//! `volley blast`: a sweep of calls that leave together.

use std::ffi::OsString;
use std::io::Read;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser};

use super::args::{self, CheckArgs, ConnectionArgs, DataArgs, LimitArgs, OutputArgs, TargetArgs};
use super::exit::CliExit;
use super::options::Options;
use super::resolve::resolve_blast;
use super::value::{positive, span, up_to, whole};
use super::{argv, help, usage};

const PROGRAM: &str = "volley blast";

/// The most calls in a blast.
const MOST_REQUESTS: u32 = 1_000_000;
/// The most connections.
const MOST_CONNECTIONS: u32 = 10_000;

/// Flags of a run that have no effect in a sweep, by clap's ids. They are refused, never ignored.
const UNUSED: [&str; 10] = [
    "config",
    "count_errors",
    "details",
    "disable_template_functions",
    "keepalive",
    "skip_first",
    "stream_call_count",
    "stream_call_duration",
    "stream_interval",
    "tags",
];

/// The checked options of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastOptions {
    /// The call and the connections. Of its load, a sweep uses only `timeout`, `threads` and
    /// `connections`; the last two are totals over all ways.
    pub run: Options,
    /// N of each blast: ascending, distinct, at least 1; not empty.
    pub requests: Vec<u32>,
    /// C of each way: at most this many connections. Same form as `requests`.
    pub connections: Vec<u32>,
    /// How often each point is measured; at least 1.
    pub repetitions: u32,
    /// Seed for the order of points.
    pub seed: u64,
    /// When the sweep ends at the latest; above zero.
    pub max_duration: Duration,
}

impl BlastOptions {
    /// The largest N.
    pub fn most_requests(&self) -> u32 {
        self.requests.last().copied().unwrap_or(1)
    }
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
pub(super) fn parse(words: &[OsString], stdin: &mut impl Read) -> Result<BlastOptions, CliExit> {
    let command = args::parser(plain());
    let matches = argv::matches(PROGRAM, &command, help_command, words)?;
    refuse_unused(&command, &matches)?;
    let args =
        BlastArgs::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    resolve_blast(args, stdin).map_err(|error| CliExit::usage(error.to_string()))
}

fn plain() -> Command {
    let command = help::dress(BlastArgs::command(), help::BLAST_EXAMPLES)
        .override_usage("volley blast [FLAGS] HOST")
        .mut_arg("format", |arg| arg.help("summary (default) or json"))
        .mut_arg("help", |arg| arg.help_heading(help::OTHER));
    UNUSED.into_iter().fold(command, |command, id| {
        command.mut_arg(id, |arg| arg.hide(true))
    })
}

/// The flags as help shows them. The `+` marks are removed: they matter only where ghz's flags
/// stand beside them.
fn help_command() -> Command {
    args::shown(plain()).mut_args(|arg| {
        let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
        match text.strip_prefix("+ ") {
            Some(text) => arg.help(text.to_owned()),
            None => arg,
        }
    })
}

fn refuse_unused(command: &Command, matches: &ArgMatches) -> Result<(), CliExit> {
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let Some(id) = UNUSED.iter().find(|id| given(id)) else {
        return Ok(());
    };
    let arg = command.get_arguments().find(|arg| arg.get_id() == *id);
    let flag = arg.and_then(|arg| arg.get_long()).unwrap_or(id);
    Err(CliExit::usage(format!(
        "`--{flag}` has no effect in `volley blast`: drop it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = include_str!("../../tests/expected/blast-help.txt");

    #[test]
    fn help_shows_what_a_sweep_takes_and_nothing_else() {
        let help = help_command().term_width(100).render_help();
        assert_eq!(help.to_string(), HELP);
    }

    #[test]
    fn the_parser_is_sound() {
        args::parser(plain()).debug_assert();
        help_command().debug_assert();
    }
}
