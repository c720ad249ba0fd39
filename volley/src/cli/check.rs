//! `volley check`: what a scenario file would do, or everything that is wrong with it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, Parser};

use super::files::need_file;
use super::usage::CliExit;
use super::value::path;
use super::{argv, help};

const PROGRAM: &str = "volley check";
pub(super) const TITLE: &str = "Check a scenario file";

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
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "volley check", about = ABOUT)]
pub struct Check {
    /// The scenario file, YAML or JSON; or a program of Lua, x.lua
    #[arg(value_name = "FILE", value_parser = path, default_value = "", hide_default_value = true)]
    pub file: PathBuf,

    /// Run each scenario once, and show each request and response
    #[arg(long)]
    pub once: bool,

    /// With --once: let scripts of Lua use files, modules and programs
    #[arg(long, requires = "once")]
    pub allow_io: bool,
}

/// Reads the words after `volley check`.
pub(super) fn parse(words: &[OsString]) -> Result<Check, CliExit> {
    let check: Check = argv::read(PROGRAM, command, words)?;
    need_file(&check.file, "a scenario file, such as `shop.yaml`")?;
    Ok(check)
}

pub(super) fn command() -> Command {
    help::dress(Check::command(), EXAMPLES)
        .override_usage("volley check [--once [--allow-io]] FILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::parsed;

    #[test]
    fn one_file_is_taken() {
        for (words, once) in [("a.yaml", false), ("--once a.yaml", true)] {
            let expected = Check {
                file: "a.yaml".into(),
                once,
                allow_io: false,
            };
            assert_eq!(parsed(parse, words), Ok(expected));
        }
        let line = "error: no FILE: give a scenario file, such as `shop.yaml`";
        assert_eq!(parsed(parse, ""), Err(line.to_owned()));
        assert!(parsed(parse, "a.yaml b.yaml").is_err());
    }
}
