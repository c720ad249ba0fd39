//! The command line: ghz's flags, and volley's own.

mod args;
mod argv;
mod blast;
mod config;
pub mod duration;
mod exit;
mod help;
mod host;
mod json;
mod options;
mod refused;
mod resolve;
mod run;
pub mod serve;
mod size;
mod usage;
mod value;

use std::ffi::OsString;

pub use blast::BlastOptions;
pub use config::ConfigError;
pub use duration::GoDuration;
pub use exit::CliExit;
pub use host::HostError;
pub use options::{DataSource, DurationStop, Format, Options, Security};
pub use resolve::UsageError;
pub use serve::{Freeze, ServeArgs};

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `volley [FLAGS] HOST`
    Run(Box<Options>),
    /// `volley blast [FLAGS] HOST`
    Blast(Box<BlastOptions>),
    /// `volley serve [FLAGS]`
    Serve(Box<ServeArgs>),
}

/// Reads a command line, program name first. Also reads `--config` and payload files, and stdin if
/// a flag names it.
pub fn parse(argv: impl Iterator<Item = OsString>) -> Result<Command, CliExit> {
    let words: Vec<OsString> = argv.skip(1).collect();
    match words.split_first() {
        Some((first, rest)) if first == "serve" => {
            serve::parse(rest).map(Box::new).map(Command::Serve)
        }
        Some((first, rest)) if first == "blast" => blast::parse(rest, &mut std::io::stdin())
            .map(Box::new)
            .map(Command::Blast),
        _ => run::parse(&words, &mut std::io::stdin())
            .map(Box::new)
            .map(Command::Run),
    }
}
