//! `volley compare`: what changed from one run to another.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, Parser};

use super::apply::filled_file;
use super::usage::CliExit;
use super::value::path;
use super::{argv, files, help};
use crate::compare::Condition;

const PROGRAM: &str = "volley compare";
pub(super) const TITLE: &str = "Tell what changed from one run to another";

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

/// How a comparison is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareFormat {
    Summary,
    Json,
    Markdown,
}

/// What `volley compare` is asked for.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "volley compare", about = ABOUT)]
pub struct Compare {
    /// JSON report of the run before the change
    #[arg(value_name = "OLD", value_parser = path)]
    pub old: PathBuf,

    /// JSON report of the run after it
    #[arg(value_name = "NEW", value_parser = path)]
    pub new: PathBuf,

    /// Exit with status 99 if this is so; repeatable. 'FIGURE ratio > 1.1', for rate, messages, mean
    /// and percentiles; or what --fail-if of a run takes, see `volley --help`
    #[arg(long, value_name = "CONDITION", help_heading = "Checks")]
    pub fail_if: Vec<Condition>,

    /// Write the result to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// summary (default), json or markdown
    #[arg(short = 'O', long, value_name = "FORMAT", value_parser = format, help_heading = "Output")]
    #[arg(default_value = "summary", hide_default_value = true)]
    pub format: CompareFormat,
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
    let mut compare: Compare = argv::read(PROGRAM, command, words)?;
    let output = files::output(compare.output.as_deref());
    files::check(&[output], &[("OLD", &compare.old), ("NEW", &compare.new)])?;
    compare.output = filled_file(&compare.output);
    Ok(compare)
}

pub(super) fn command() -> Command {
    help::dress(Compare::command(), EXAMPLES).override_usage("volley compare [FLAGS] OLD NEW")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::{parsed, refused};

    #[test]
    fn two_files_conditions_and_a_format_are_taken() {
        let line = "a.json --fail-if p99␣ratio␣>␣1.1 b.json -O markdown";
        let compare = parsed(parse, line).unwrap();
        let files = (compare.old, compare.new);
        assert_eq!(files, ("a.json".into(), "b.json".into()));
        let taken = (compare.fail_if.len(), compare.format);
        assert_eq!(taken, (1, CompareFormat::Markdown));
        for (line, output) in [("a b -o -", None), ("a b -o c.md", Some("c.md".into()))] {
            assert_eq!(parsed(parse, line).unwrap().output, output);
        }
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        refused(
            parse,
            &["", "a", "a b c", "a b -O html", "a b --fail-if p99"],
        );
    }
}
