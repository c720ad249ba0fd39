//! `volley check`: what a scenario file would do, or everything that is wrong with it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser};

use super::exit::CliExit;
use super::value::path;
use super::{argv, help, usage};

const PROGRAM: &str = "volley check";

const ABOUT: &str = "\
Check a scenario file, and the files that it names, without sending anything. Print what it would
do: targets, scenarios with their steps, data, load and thresholds. Or list every mistake, one a
line: the file, the line, the key, what is wrong, and how to mend it. Of a program of Lua, check the
syntax.

With --once, run the setup, one iteration of each scenario, and the teardown, and show each request
(>), each response (<), and what was saved. Secrets are masked.

Exit status: 0 if the file is good, 2 if it is not; with --once, 1 if a step failed.";

const EXAMPLES: &str = "\
Examples:
  volley check shop.yaml
  volley check --once shop.yaml

  An editor that knows JSON Schema completes the keys:
    volley schema scenario > volley-scenario-1.json";

/// What `volley check` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub file: PathBuf,
    /// Each scenario is run once, and shown.
    pub once: bool,
    /// Scripts may use files.
    pub allow_io: bool,
}

/// The words of `volley check`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley check", about = ABOUT)]
struct CheckArgs {
    /// The scenario file, YAML or JSON; or a program of Lua, x.lua
    #[arg(value_name = "FILE", value_parser = path)]
    file: Option<PathBuf>,

    /// Run each scenario once, and show each request and response
    #[arg(long)]
    once: bool,

    /// With --once: let scripts of Lua use files, modules and programs
    #[arg(long, requires = "once")]
    allow_io: bool,
}

/// Reads the words after `volley check`.
pub(super) fn parse(words: &[OsString]) -> Result<Check, CliExit> {
    let matches = argv::matches(PROGRAM, &command(), command, words)?;
    let args =
        CheckArgs::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    let file = args
        .file
        .ok_or_else(|| CliExit::usage("no FILE: give a scenario file, such as `shop.yaml`"))?;
    let (once, allow_io) = (args.once, args.allow_io);
    Ok(Check {
        file,
        once,
        allow_io,
    })
}

pub(super) fn command() -> Command {
    help::dress(CheckArgs::command(), EXAMPLES)
        .override_usage("volley check [--once [--allow-io]] FILE")
        .mut_arg("help", |arg: Arg| arg.help_heading(help::OTHER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str]) -> Result<Check, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn one_file_is_taken() {
        for (words, once) in [(&["a.yaml"][..], false), (&["--once", "a.yaml"], true)] {
            let file = "a.yaml".into();
            let allow_io = false;
            let expected = Check {
                file,
                once,
                allow_io,
            };
            assert_eq!(check(words), Ok(expected));
        }
        let line = "error: no FILE: give a scenario file, such as `shop.yaml`";
        assert_eq!(check(&[]), Err(line.to_owned()));
        assert!(check(&["a.yaml", "b.yaml"]).is_err());
    }

    #[test]
    fn help_says_what_it_does() {
        let help = command().term_width(100).render_help().to_string();
        assert_eq!(help, include_str!("../../tests/expected/check-help.txt"));
    }
}
