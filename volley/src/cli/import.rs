//! `volley import`: a file of another load generator becomes a scenario file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, Parser};

use super::apply::filled_file;
use super::files::need_file;
use super::usage::CliExit;
use super::value::path;
use super::{argv, files, help};

const PROGRAM: &str = "volley import";
pub(super) const TITLE: &str = "Make a scenario file of a file of another load generator";

/// The only generator whose files are read.
const H2LOADRUNNER: &str = "h2loadrunner";

const ABOUT: &str = "\
Make a scenario file of a configuration file of h2loadrunner. Each part that volley cannot take over
as it is gets a warning, which is also a comment in the new file. `volley run` and `volley check`
take such a file directly.

By default, the new file does what the schema of h2loadrunner says. Where h2loadrunner does
something else, a warning names the fault; with --as-run, the new file does that, too.
H2LOADRUNNER.md lists all faults.

Names of files are relative to the current folder, as in h2loadrunner. A file that -o names is
replaced if it exists.

Exit status: 0 if the file was imported, 2 if something in it is wrong or cannot be translated.";

const EXAMPLES: &str = "\
Examples:
  volley import h2loadrunner old.json -o new.yaml
  volley import h2loadrunner old.json --as-run -o new.json
  volley run old.json";

/// What `volley import` is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "volley import", about = ABOUT)]
pub struct Import {
    /// The load generator whose file it is: h2loadrunner
    #[arg(value_name = "GENERATOR")]
    generator: Option<String>,

    /// Its configuration file
    #[arg(value_name = "FILE", value_parser = path, default_value = "", hide_default_value = true)]
    pub file: PathBuf,

    /// Do what h2loadrunner does, not what its schema says
    #[arg(long)]
    pub as_run: bool,

    /// Write the scenario to a file: JSON if its name ends with .json, otherwise YAML (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,
}

impl Import {
    /// Whether the scenario is written as JSON, and not as YAML.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        extension.is_some_and(|extension| extension == "json")
    }
}

/// Reads the words after `volley import`.
pub(super) fn parse(words: &[OsString]) -> Result<Import, CliExit> {
    let mut import: Import = argv::read(PROGRAM, command, words)?;
    if import.generator.as_deref() != Some(H2LOADRUNNER) {
        let problem = "write `volley import h2loadrunner FILE`: its files are the only ones";
        return Err(CliExit::usage(problem));
    }
    let needed = "a configuration file of h2loadrunner, such as `old.json`";
    need_file(&import.file, needed)?;
    let output = files::output(import.output.as_deref());
    files::check(&[output], &[("FILE", &import.file)])?;
    import.output = filled_file(&import.output);
    Ok(import)
}

pub(super) fn command() -> Command {
    help::dress(Import::command(), EXAMPLES)
        .override_usage("volley import h2loadrunner [FLAGS] FILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::{parsed, refused};

    #[test]
    fn the_name_of_the_new_file_says_what_it_is() {
        for (output, is_json) in [("a.yaml", false), ("a.json", true), ("a", false)] {
            let line = format!("h2loadrunner o.json --as-run -o {output}");
            let import = parsed(parse, &line).unwrap();
            assert_eq!((import.is_json(), import.as_run), (is_json, true));
            assert_eq!(import.output, Some(output.into()));
        }
        let import = parsed(parse, "h2loadrunner o.json").unwrap();
        assert_eq!(import.output, None);
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        refused(parse, &["", "h2loadrunner", "o.json", "k6 o.js"]);
        let files = [
            "h2loadrunner o.json p.json",
            "h2loadrunner o.json -o o.json",
        ];
        refused(parse, &files);
    }
}
