//! The command line: ghz's flags, and volley's own.

mod apply;
mod args;
mod argv;
mod blast;
mod config;
mod exit;
mod help;
mod merge;
mod options;
mod payload;
mod refused;
mod run;
pub mod serve;
mod usage;
mod value;

use std::ffi::OsString;

pub use blast::Blast;
pub use config::ConfigError;
pub use exit::{CliExit, UsageError};
pub use merge::Merge;
pub use options::{Format, Output, STDOUT, Watched};
pub use run::Run;
pub use serve::ServeArgs;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `volley [FLAGS] HOST`
    Run(Box<Run>),
    /// `volley blast [FLAGS] HOST`
    Blast(Box<Blast>),
    /// `volley serve [FLAGS]`
    Serve(Box<ServeArgs>),
    /// `volley merge [FLAGS] FILE...`
    Merge(Box<Merge>),
    /// `volley schema`
    Schema,
}

/// Reads a command line, program name first. Also reads `--config` and payload files, and stdin if
/// a flag names it.
pub fn parse(argv: impl Iterator<Item = OsString>) -> Result<Command, CliExit> {
    let words: Vec<OsString> = argv.skip(1).collect();
    match words.split_first() {
        Some((first, rest)) if first == "serve" => {
            serve::parse(rest).map(Box::new).map(Command::Serve)
        }
        Some((first, rest)) if first == "merge" => {
            merge::parse(rest).map(Box::new).map(Command::Merge)
        }
        Some((first, rest)) if first == "schema" => schema(rest),
        Some((first, rest)) if first == "blast" => blast::parse(rest, &mut std::io::stdin())
            .map(Box::new)
            .map(Command::Blast),
        _ => run::parse(&words, &mut std::io::stdin())
            .map(Box::new)
            .map(Command::Run),
    }
}

/// Reads the words after `volley schema`.
fn schema(words: &[OsString]) -> Result<Command, CliExit> {
    const HELP: &str = "Print the JSON Schema of a file for --config.\n\nUsage: volley schema\n";
    match words {
        [] => Ok(Command::Schema),
        _ if words.iter().any(|word| word == "--help" || word == "-h") => {
            Err(CliExit::Print(HELP.into()))
        }
        _ => Err(CliExit::usage("`volley schema` takes no flags")),
    }
}
