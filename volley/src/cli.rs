//! The command line: ghz's flags, and volley's own.

mod apply;
mod args;
mod argv;
mod blast;
mod check;
mod clap_error;
mod compare;
mod config;
mod edit;
mod files;
mod find;
mod help;
#[cfg(test)]
mod hints;
mod import;
mod look;
mod merge;
mod options;
mod payload;
mod run;
mod scenario;
pub mod serve;
mod shell;
#[cfg(test)]
mod testkit;
mod trial;
mod unused;
mod usage;
mod value;

use std::ffi::OsString;
use std::path::Path;

pub use blast::Blast;
pub use check::Check;
pub use compare::{Compare, CompareFormat};
pub use config::ConfigError;
pub use edit::Edit;
pub use find::Find;
pub use import::Import;
pub use look::{Look, Question};
pub use merge::Merge;
pub use options::{Format, Output, STDOUT, Watched, need_token};
pub use run::Run;
pub use scenario::{ScenarioFormat, ScenarioRun};
pub use serve::{Listen, ServeArgs};
pub use trial::Trial;
pub use usage::{CliExit, UsageError};

use crate::docs;
use crate::spec::misspelt;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `volley [FLAGS] HOST`
    Run(Box<Run>),
    /// `volley blast [FLAGS] HOST`
    Blast(Box<Blast>),
    /// `volley find [FLAGS] HOST`
    Find(Box<Find>),
    /// `volley try [FLAGS] HOST`
    Try(Box<Trial>),
    /// `volley list [FLAGS] HOST` or `volley describe [FLAGS] HOST NAME`
    Look(Box<Look>),
    /// `volley serve [FLAGS]`
    Serve(Box<ServeArgs>),
    /// `volley merge [FLAGS] FILE...`
    Merge(Box<Merge>),
    /// `volley compare [FLAGS] OLD NEW`
    Compare(Box<Compare>),
    /// `volley run [FLAGS] FILE`
    Scenario(Box<ScenarioRun>),
    /// `volley check [--once] FILE`
    Check(Check),
    /// `volley edit [FLAGS] [FILE]`
    Edit(Edit),
    /// `volley import h2loadrunner [FLAGS] FILE`
    Import(Import),
    /// `volley completions SHELL`, `volley man [COMMAND]` or `volley schema [scenario]`: this text.
    Text(&'static str),
}

/// Reads a command line, program name first. Also reads `--config` and payload files, and stdin if
/// a flag names it.
pub fn parse(argv: impl Iterator<Item = OsString>) -> Result<Command, CliExit> {
    let words: Vec<OsString> = argv.skip(1).collect();
    let (first, rest) = words.split_first().unzip();
    let first = first.and_then(|first| first.to_str());
    let (rest, stdin) = (rest.unwrap_or_default(), &mut std::io::stdin());
    Ok(match first.unwrap_or_default() {
        "help" => {
            let words = rest.iter().cloned().chain(["--help".into()]);
            return parse(std::iter::once("volley".into()).chain(words));
        }
        "serve" => Command::Serve(Box::new(serve::parse(rest)?)),
        "try" => Command::Try(Box::new(trial::parse(rest, stdin)?)),
        "list" => Command::Look(Box::new(look::parse(Question::List, rest)?)),
        "describe" => Command::Look(Box::new(look::parse(Question::Describe, rest)?)),
        "merge" => Command::Merge(Box::new(merge::parse(rest)?)),
        "compare" => Command::Compare(Box::new(compare::parse(rest)?)),
        "completions" => Command::Text(shell::completions(rest)?),
        "man" => Command::Text(shell::man(rest)?),
        "run" => Command::Scenario(Box::new(scenario::parse(rest)?)),
        "check" => Command::Check(check::parse(rest)?),
        "edit" => Command::Edit(edit::parse(rest)?),
        "import" => Command::Import(import::parse(rest)?),
        "schema" => Command::Text(schema(rest)?),
        "find" => Command::Find(Box::new(find::parse(rest, stdin)?)),
        "blast" => Command::Blast(Box::new(blast::parse(rest, stdin)?)),
        _ => match meant(&words) {
            Some(problem) => return Err(CliExit::usage(problem)),
            None => Command::Run(Box::new(run::parse(&words, stdin)?)),
        },
    })
}

/// What was probably meant by a first word that is no HOST.
fn meant(words: &[OsString]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let (first, file) = (first.to_str()?, Path::new(first));
    let extension = file.extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("yaml" | "yml" | "json")) && file.is_file() {
        return Some(format!("`{first}` is a file: write `volley run {first}`"));
    }
    // Without more words, it may be a HOST without a port.
    let command = misspelt(first).filter(|_| !rest.is_empty())?;
    Some(format!(
        "`{first}` is no command; did you mean `volley {command}`?"
    ))
}

/// Reads the words after `volley schema`.
fn schema(words: &[OsString]) -> Result<&'static str, CliExit> {
    shell::help("schema", words)?;
    match words {
        [] => Ok(docs::CONFIG_SCHEMA),
        [word] if word == "scenario" => Ok(docs::SCENARIO_SCHEMA),
        _ => Err(CliExit::usage(
            "write `volley schema` for a file of --config, or `volley schema scenario`",
        )),
    }
}
