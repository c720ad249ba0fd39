//! `volley import`: a file of another load generator becomes a scenario file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Command, CommandFactory, FromArgMatches, Parser};

use super::apply::filled_file;
use super::exit::CliExit;
use super::value::path;
use super::{argv, files, help, usage};

const PROGRAM: &str = "volley import";

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub file: PathBuf,
    /// As h2loadrunner runs it.
    pub as_run: bool,
    /// Where the scenario goes; `None`: stdout.
    pub output: Option<PathBuf>,
    /// JSON instead of YAML.
    pub is_json: bool,
}

/// The words of `volley import`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley import", about = ABOUT)]
struct ImportWords {
    /// The load generator whose file it is: h2loadrunner
    #[arg(value_name = "GENERATOR")]
    generator: Option<String>,

    /// Its configuration file
    #[arg(value_name = "FILE", value_parser = path)]
    file: Option<PathBuf>,

    /// Do what h2loadrunner does, not what its schema says
    #[arg(long)]
    as_run: bool,

    /// Write the scenario to a file: JSON if its name ends with .json, otherwise YAML (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path)]
    output: Option<PathBuf>,
}

/// Reads the words after `volley import`.
pub(super) fn parse(words: &[OsString]) -> Result<Import, CliExit> {
    let matches = argv::matches(PROGRAM, &command(), command, words)?;
    let args =
        ImportWords::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    if args.generator.as_deref() != Some(H2LOADRUNNER) {
        let problem = "write `volley import h2loadrunner FILE`: its files are the only ones";
        return Err(CliExit::usage(problem));
    }
    let file = args.file.ok_or_else(|| {
        CliExit::usage("no FILE: give a configuration file of h2loadrunner, such as `old.json`")
    })?;
    let output = files::output(args.output.as_deref());
    files::check(&[output], &[("FILE", &file)])
        .map_err(|error| CliExit::usage(error.to_string()))?;
    let output = filled_file(&args.output);
    let extension = output.as_ref().and_then(|path| path.extension());
    Ok(Import {
        file,
        as_run: args.as_run,
        is_json: extension.is_some_and(|extension| extension == "json"),
        output,
    })
}

pub(super) fn command() -> Command {
    help::dress(ImportWords::command(), EXAMPLES)
        .override_usage("volley import h2loadrunner [FLAGS] FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(words: &[&str]) -> Result<Import, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn the_name_of_the_new_file_says_what_it_is() {
        for (output, is_json) in [("a.yaml", false), ("a.json", true), ("a", false)] {
            let parsed = import(&["h2loadrunner", "o.json", "--as-run", "-o", output]).unwrap();
            assert_eq!((parsed.is_json, parsed.as_run), (is_json, true));
            assert_eq!(parsed.output, Some(output.into()));
        }
        assert_eq!(import(&["h2loadrunner", "o.json"]).unwrap().output, None);
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for words in [
            &[][..],
            &["h2loadrunner"],
            &["o.json"],
            &["k6", "o.js"],
            &["h2loadrunner", "o.json", "p.json"],
            &["h2loadrunner", "o.json", "-o", "o.json"],
        ] {
            let line = import(words).unwrap_err();
            assert!(
                line.starts_with("error: ") && !line.contains('\n'),
                "{line}"
            );
        }
    }

    #[test]
    fn help_says_what_it_does() {
        let help = command().term_width(100).render_help().to_string();
        assert_eq!(help, include_str!("../../tests/expected/import-help.txt"));
    }
}
