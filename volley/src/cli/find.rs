//! `volley find`: the highest rate that keeps a limit on response times.

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
use super::value::{positive, span};
use super::{argv, help, unused};
use crate::find::run::FindSpec;
use crate::find::search::LEAST_BUDGET;
use crate::spec::Spec;
use volley_base::words;

const PROGRAM: &str = "volley find";
pub(super) const TITLE: &str = "Find the highest rate that keeps a limit on response times";

/// Flags of a run that have no effect in a search, by clap's ids. They are refused, never ignored.
const UNUSED: [&str; 8] = words! {
    config count_errors details fail_if show_secrets skip_first stream_rate tags
};

const FAILED: f64 = 0.001;
const BUDGET: Duration = Duration::from_secs(60);

/// What `volley find [FLAGS] HOST` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Find {
    /// What is looked for.
    pub spec: FindSpec,
    /// Where results go.
    pub output: Output,
}

/// The flags of `volley find`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley find", about = help::FIND_ABOUT)]
pub struct FindArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What is looked for, and for how long.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Load")]
pub struct SearchArgs {
    /// The longest response time that 99 % of the calls may have; needed
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub p99: Option<Duration>,

    /// The share of calls that may fail (default 0.1%)
    #[arg(long, value_name = "N%", value_parser = percent)]
    pub failed: Option<f64>,

    /// How long load is made in all, waits not included; at least 20s (default 60s)
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Duration>,

    /// Connections (default 1)
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    pub connections: Option<u32>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Reads the words after `volley find`.
pub(super) fn parse(words: &[OsString], stdin: &mut impl Read) -> Result<Find, CliExit> {
    let command = args::parser(plain());
    let matches = argv::matches(PROGRAM, &command, help_command, words)?;
    unused::refuse(PROGRAM, &command, &matches, &UNUSED)?;
    Ok(resolve(argv::taken(PROGRAM, &matches)?, stdin)?)
}

/// Adds the defaults. Reads payloads and metadata; reads `stdin` only if a flag names it.
fn resolve(args: FindArgs, stdin: &mut impl Read) -> Result<Find, UsageError> {
    let output = Output::of(&args.output);
    let search = args.search;
    let limit = search.p99.ok_or(UsageError::NoLimit)?;
    let budget = search.budget.unwrap_or(BUDGET);
    let run = RunArgs {
        target: args.target,
        data: args.data,
        load: LoadArgs {
            // As many as there must be; calls do not wait for them.
            concurrency: search.connections,
            connections: search.connections,
            duration: Some(budget),
            limits: search.limits,
            ..LoadArgs::default()
        },
        connection: args.connection,
        checks: args.checks,
        output: args.output,
        ..RunArgs::default()
    };
    let mut spec = FindSpec {
        run: Spec::default(),
        limit,
        failed: search.failed.unwrap_or(FAILED),
        budget,
    };
    apply(&run, &mut spec.run, stdin)?;
    let timeout = spec.run.request.timeout;
    if !timeout.is_zero() && timeout <= limit {
        return Err(UsageError::ShortTimeout);
    }
    if !matches!(output.format, Format::Summary | Format::Json) {
        return Err(UsageError::FindFormat);
    }
    Ok(Find { spec, output })
}

/// A share, as a number with a `%` behind it.
fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse().ok());
    let number = number.filter(|number: &f64| (0.0..=4.0).contains(number));
    let number = number.ok_or("a number from 0 to 4 with a `%` is needed, such as `0.1%`")?;
    Ok(number / 100.0)
}

fn budget(text: &str) -> Result<Duration, String> {
    let budget = span(text)?;
    match budget < LEAST_BUDGET {
        true => Err(format!("at least {}s is needed", LEAST_BUDGET.as_secs())),
        false => Ok(budget),
    }
}

pub(super) fn plain() -> Command {
    let command = help::dress(FindArgs::command(), help::FIND_EXAMPLES)
        .override_usage("volley find [FLAGS] HOST")
        .mut_arg("format", |arg| arg.help("summary (default) or json"));
    unused::hide(command, &UNUSED)
}

pub(super) fn help_command() -> Command {
    unused::shown(plain())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::parsed;
    use volley_testkit::table::table;

    fn find(flags: &str) -> Result<Find, String> {
        let line = format!("--proto a.proto --call p.S/M l:1 {flags}");
        parsed(|words| parse(words, &mut std::io::empty()), &line)
    }

    #[test]
    fn only_the_limit_is_needed() {
        let Find { spec, output } = find("--p99 10ms").unwrap();
        assert_eq!(
            (spec.limit, spec.budget),
            (Duration::from_millis(10), BUDGET)
        );
        assert!((spec.failed - 0.001).abs() < 1e-12);
        assert_eq!(
            (spec.run.load.connections, output.format),
            (1, Format::Summary)
        );
    }

    #[test]
    fn every_flag_reaches_its_field() {
        let flags = "--p99 1s --failed 2.5% --budget 5m --connections 60 --threads 2 --insecure -O json -t 3s";
        let Find { spec, output } = find(flags).unwrap();
        assert_eq!(
            (spec.limit, spec.budget),
            (Duration::from_secs(1), 5 * BUDGET)
        );
        assert!((spec.failed - 0.025).abs() < 1e-12);
        let run = spec.run;
        assert_eq!((run.load.connections, run.load.threads), (60, Some(2)));
        assert_eq!(run.request.timeout, Duration::from_secs(3));
        assert!(run.target.insecure);
        assert_eq!(output.format, Format::Json);
    }

    #[test]
    fn what_makes_no_search_is_refused_in_one_line() {
        for [flags, error] in table(
            r"
            --insecure => `--p99` is missing: the longest time that 99 % of the calls may take, such as `10ms`
            --p99 0 => `--p99`: invalid value `0`: a duration above 0 is needed
            --p99 10ms --failed 0.1 => `--failed`: invalid value `0.1`: a number from 0 to 4 with a `%` is needed, such as `0.1%`
            --p99 10ms -t 10ms => `--timeout` must be longer than `--p99`: a call that is given up says nothing about the limit
            --p99 10ms --show-secrets => `--show-secrets` has no effect in `volley find`: drop it
            --p99 10ms --failed 5% => `--failed`: invalid value `5%`: a number from 0 to 4 with a `%` is needed, such as `0.1%`
            --p99 10ms --budget 5s => `--budget`: invalid value `5s`: at least 20s is needed
            --p99 10ms --skipFirst 5 => `--skipFirst` has no effect in `volley find`: drop it
            --p99 10ms -O csv => `--format`: `volley find` writes only `summary` and `json`
        ",
        ) {
            assert_eq!(find(flags), Err(format!("error: {error}")), "{flags}");
        }
    }
}
