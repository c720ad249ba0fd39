//! `--config`: the flags of a run in a JSON, TOML or YAML file, keyed by their long names.
//!
//! Each entry is parsed as the flag of the same name, so a file and the command line accept the
//! same values. Errors name the file and the key.

mod error;
mod file;
mod words;

use std::path::Path;

use clap::{ArgMatches, Command, FromArgMatches};
use serde_json::Value;

pub use error::ConfigError;

use super::args::RunArgs;
use super::{refused, usage};

/// Flags that make no sense in a file.
const ONLY_FLAGS: [&str; 4] = ["binary", "config", "help", "version"];

/// Reads a file as flags.
pub(super) fn read(command: &Command, path: &Path) -> Result<RunArgs, ConfigError> {
    let mut args = RunArgs::default();
    for (key, value) in file::read(path)? {
        if let Some(matches) = entry(command, path, &key, &value)? {
            args.update_from_arg_matches(&matches)
                .map_err(|error| wrong(path, &key, usage::problem(&error)))?;
        }
    }
    Ok(args)
}

/// One entry as clap sees it; `None` if it leaves its flag unset.
fn entry(
    command: &Command,
    path: &Path,
    key: &str,
    value: &Value,
) -> Result<Option<ArgMatches>, ConfigError> {
    if let Some(remedy) = refused::remedy(key) {
        return match words::asks_for_nothing(value) {
            true => Ok(None),
            false => Err(ConfigError::Refused {
                place: place(path, key),
                remedy,
            }),
        };
    }
    let known =
        |arg: &&clap::Arg| arg.get_long() == Some(key) || arg.get_id() == key && key == "host";
    let arg = command
        .get_arguments()
        .find(known)
        .filter(|_| !ONLY_FLAGS.contains(&key))
        .ok_or_else(|| unknown(command, path, key))?;
    let words = words::of(arg, value).map_err(|problem| wrong(path, key, Some(problem)))?;
    if words.is_empty() {
        return Ok(None);
    }
    command
        .clone()
        .try_get_matches_from(std::iter::once("volley".to_owned()).chain(words))
        .map(Some)
        .map_err(|error| wrong(path, key, usage::problem(&error)))
}

fn unknown(command: &Command, path: &Path, key: &str) -> ConfigError {
    let flag = format!("--{key}");
    let suggestion = command
        .clone()
        .try_get_matches_from(["volley", &flag])
        .err()
        .and_then(|error| usage::suggestion(&error))
        .map(|flag| flag.trim_start_matches('-').to_owned())
        .filter(|name| !ONLY_FLAGS.contains(&name.as_str()));
    ConfigError::Unknown {
        path: path.to_owned(),
        key: key.to_owned(),
        hint: match suggestion {
            Some(name) => format!("did you mean `{name}`?"),
            None => "keys are the long names of flags, see `volley --help`".to_owned(),
        },
    }
}

fn wrong(path: &Path, key: &str, problem: Option<String>) -> ConfigError {
    ConfigError::Value {
        place: place(path, key),
        problem: problem.unwrap_or_else(|| "it is not understood".to_owned()),
    }
}

fn place(path: &Path, key: &str) -> String {
    format!("{}: {key}", path.display())
}
