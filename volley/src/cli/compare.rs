//! `volley compare`: what changed from one run to another.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, FromArgMatches, Parser};

use super::apply::filled_file;
use super::exit::CliExit;
use super::value::path;
use super::{argv, files, help, usage};
use crate::compare::Condition;

const PROGRAM: &str = "volley compare";

const ABOUT: &str = "\
Compare the JSON reports of two runs. Each figure has the 95 % interval of its ratio, new over old,
from the runs' histograms and seconds; a verdict needs five seconds.

A CONDITION on a ratio is so only if the whole interval is beyond the limit: noise fails nothing. A
CONDITION without a ratio is about the new run, as in a run's own --fail-if.";

const EXAMPLES: &str = "\
Examples:
  Fail if p99 has grown, or the rate has fallen, by more than 5 %; or if the new run fails calls:
    volley compare old.json new.json --fail-if 'p99 ratio > 1.05' --fail-if 'rate ratio < 0.95' \\
           --fail-if 'failed > 0.1%'

  A comment for a pull request:
    volley compare old.json new.json -O markdown -o comment.md";

/// What `volley compare` is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The report of the run before a change.
    pub old: PathBuf,
    /// That of the run after it.
    pub new: PathBuf,
    /// Conditions under which the comparison has failed.
    pub fail_if: Vec<Condition>,
    /// Where the result goes; `None`: stdout.
    pub output: Option<PathBuf>,
    /// Its form.
    pub format: CompareFormat,
}

/// How a comparison is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareFormat {
    #[default]
    Summary,
    Json,
    Markdown,
}

/// The flags of `volley compare`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley compare", about = ABOUT)]
struct CompareArgs {
    /// JSON report of the run before the change
    #[arg(value_name = "OLD", value_parser = path)]
    old: PathBuf,

    /// JSON report of the run after it
    #[arg(value_name = "NEW", value_parser = path)]
    new: PathBuf,

    /// Exit with status 99 if this is so; repeatable. 'FIGURE ratio > 1.1', for rate, messages, mean
    /// and percentiles; or what --fail-if of a run takes, see `volley --help`
    #[arg(long, value_name = "CONDITION", help_heading = "Checks")]
    fail_if: Vec<Condition>,

    /// Write the result to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    output: Option<PathBuf>,

    /// summary (default), json or markdown
    #[arg(short = 'O', long, value_name = "FORMAT", value_parser = format, help_heading = "Output")]
    format: Option<CompareFormat>,
}

fn format(text: &str) -> Result<CompareFormat, &'static str> {
    match text {
        "summary" => Ok(CompareFormat::Summary),
        "json" => Ok(CompareFormat::Json),
        "markdown" => Ok(CompareFormat::Markdown),
        _ => Err("use `summary`, `json` or `markdown`"),
    }
}

/// Reads the words after `volley compare`.
pub(super) fn parse(words: &[OsString]) -> Result<Compare, CliExit> {
    let matches = argv::matches(PROGRAM, &command(), command, words)?;
    let args =
        CompareArgs::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    let output = files::output(args.output.as_deref());
    files::check(&[output], &[("OLD", &args.old), ("NEW", &args.new)])
        .map_err(|error| CliExit::usage(error.to_string()))?;
    Ok(Compare {
        old: args.old,
        new: args.new,
        fail_if: args.fail_if,
        output: filled_file(&args.output),
        format: args.format.unwrap_or_default(),
    })
}

pub(super) fn command() -> Command {
    help::dress(CompareArgs::command(), EXAMPLES).override_usage("volley compare [FLAGS] OLD NEW")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(words: &[&str]) -> Result<Compare, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn two_files_conditions_and_a_format_are_taken() {
        let parsed = compare(&[
            "a.json",
            "--fail-if",
            "p99 ratio > 1.1",
            "b.json",
            "-O",
            "markdown",
        ])
        .unwrap();
        assert_eq!((parsed.old, parsed.new), ("a.json".into(), "b.json".into()));
        assert_eq!(
            (parsed.fail_if.len(), parsed.format),
            (1, CompareFormat::Markdown)
        );
        for (file, output) in [("-", None), ("c.md", Some("c.md".into()))] {
            assert_eq!(compare(&["a", "b", "-o", file]).unwrap().output, output);
        }
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for words in [
            &[][..],
            &["a"],
            &["a", "b", "c"],
            &["a", "b", "-O", "html"],
            &["a", "b", "--fail-if", "p99"],
        ] {
            let line = compare(words).unwrap_err();
            assert!(
                line.starts_with("error: ") && !line.contains('\n'),
                "{line}"
            );
        }
    }

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }
}
