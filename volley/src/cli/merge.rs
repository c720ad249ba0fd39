//! `volley merge`: one report from those of several processes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, Parser};

use super::args::ReportArgs;
use super::options::Output;
use super::usage::CliExit;
use super::value::path;
use super::{argv, files, help};
use crate::spec::Threshold;

const PROGRAM: &str = "volley merge";
pub(super) const TITLE: &str = "Make one report of those of several processes";

const EXAMPLES: &str = "\
Examples:
  Two processes make a load together, from the same moment on, and their reports become one:
    volley --share 1/2 --start-at stdin … -O json -o 1.json localhost:8080
    volley --share 2/2 --start-at stdin … -O json -o 2.json localhost:8080
    volley merge 1.json 2.json";

/// What `volley merge` is asked for.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(
    name = "volley merge",
    about = "Merge the JSON reports of all shares of a load (see --share) into the report of the whole, to the\n\
             bucket of every histogram."
)]
pub struct Merge {
    /// JSON reports of runs with --share, one for each share
    #[arg(value_name = "FILE", value_parser = path)]
    pub files: Vec<PathBuf>,

    /// Merge some of the shares, such as those of one host; the report can be merged with the others
    #[arg(long)]
    pub partial: bool,

    /// Exit with status 99 if so, such as 'p99 > 20ms' (see `volley --help`); repeatable
    #[arg(long, value_name = "CONDITION", help_heading = "Checks")]
    pub fail_if: Vec<Threshold>,

    #[command(flatten)]
    report: ReportArgs,
}

impl Merge {
    /// Where results go.
    #[must_use]
    pub fn output(&self) -> Output {
        Output::new(&self.report, false)
    }
}

/// Reads the words after `volley merge`.
pub(super) fn parse(words: &[OsString]) -> Result<Merge, CliExit> {
    let merge: Merge = argv::read(PROGRAM, command, words)?;
    if merge.files.is_empty() {
        let problem = "no FILE: give the JSON report of every share";
        return Err(CliExit::usage(problem));
    }
    let output = files::output(merge.report.output.as_deref());
    let read: Vec<files::Named<'_>> = merge.files.iter().map(|file| ("FILE", &**file)).collect();
    files::check(&[output], &read)?;
    Ok(merge)
}

pub(super) fn command() -> Command {
    help::dress(Merge::command(), EXAMPLES).override_usage("volley merge [FLAGS] FILE...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options::Format;
    use crate::cli::testkit::parsed;

    #[test]
    fn files_and_a_format_are_taken() {
        let merge = parsed(parse, "a.json -O json b.json").unwrap();
        assert_eq!(merge.files, ["a.json", "b.json"].map(PathBuf::from));
        assert_eq!(merge.output().format, Format::Json);
        let merge = parsed(parse, "a.json -o -").unwrap();
        assert_eq!(merge.output().file, None);
    }

    #[test]
    fn nothing_to_merge_is_refused() {
        let line = "error: no FILE: give the JSON report of every share";
        assert_eq!(parsed(parse, "-O json"), Err(line.to_owned()));
    }
}
