//! `--config`: a run in a JSON, TOML or YAML file: the sections of a [`Spec`], and flags keyed by their long names, as in
//! ghz's own files.
//!
//! A key of the second kind is parsed as the flag of the same name, so a file and the command line accept the same
//! values. Flags override sections. Errors name the file and the key. A key that is neither has no effect, as in ghz,
//! but a warning names it; within a section, an unknown key is an error.

mod file;

use std::any::TypeId;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgAction, Command, FromArgMatches};
use serde_json::{Map, Value};
use thiserror::Error;

use super::args::RunArgs;
use super::clap_error;
use crate::report::ghz_options::{DIGEST, is_empty};
use crate::spec::Spec;

/// Flags that make no sense in a file.
const ONLY_FLAGS: [&str; 3] = ["config", "help", "version"];

/// What editors put into a file for themselves.
const SCHEMA: &str = "$schema";

/// Keys of the options in ghz's JSON reports that are not named as their flags are.
const OPTIONS: [(&str, &str); 1] = [("dial-timeout", "connect-timeout")];

/// ghz's reports hold durations as whole nanoseconds. A smaller number is no such duration: its unit is missing.
const LEAST_NS: u64 = 1_000_000;

/// The sections of a [`Spec`]. No flag has such a name.
const SECTIONS: [&str; 5] = ["target", "request", "checks", "load", "count"];

/// What a file holds.
#[derive(Default)]
pub(super) struct Config {
    /// Its sections.
    pub spec: Spec,
    /// Its flags.
    pub args: RunArgs,
    /// Which of its keys have no effect, one line each.
    pub warnings: Vec<String>,
    /// Its payload, or a part of it, is elsewhere.
    pub lacks_payload: Option<ConfigError>,
}

/// Reads a file.
pub(super) fn read(command: &Command, path: &Path) -> Result<Config, ConfigError> {
    let mut table = file::read(path)?;
    // A whole report: it counts its calls.
    if table.get("count").is_some_and(Value::is_number)
        && let Some(Value::Object(options)) = table.remove("options")
    {
        table = options;
    }
    let is_section = |(key, _): &(String, Value)| SECTIONS.contains(&key.as_str());
    let (sections, flags): (Map<_, _>, Map<_, _>) = table.into_iter().partition(is_section);
    let spec = serde_path_to_error::deserialize(Value::Object(sections)).map_err(|error| {
        let key = error.path().to_string();
        let problem = needed(&key, &error.inner().to_string());
        wrong(path, &key, Some(problem))
    })?;
    let mut config = Config {
        spec,
        ..Config::default()
    };
    for (key, value) in flags {
        // The second is what a report of volley says of reflection.
        if key == SCHEMA || (key == "schema" && value == "reflection") {
            continue;
        }
        if key == BINARY {
            // ghz writes an empty entry for a flag that was not given.
            if !is_empty(&value) {
                config.lacks_payload = Some(wrong(path, &key, Some(NO_BINARY.to_owned())));
            }
            continue;
        }
        if key == DIGEST {
            config.lacks_payload = Some(wrong(path, &key, Some(NO_DATA.to_owned())));
            continue;
        }
        let Some(arg) = arg_of(command, &key) else {
            config.warnings.push(unknown(command, path, &key));
            continue;
        };
        let words = words_of(arg, &value);
        let words = words.map_err(|problem| wrong(path, &key, Some(problem)))?;
        if !words.is_empty() {
            let argv = std::iter::once("volley".to_owned()).chain(words);
            let matches = command.clone().try_get_matches_from(argv);
            let args = &mut config.args;
            matches
                .and_then(|matches| args.update_from_arg_matches(&matches))
                .map_err(|error| wrong(path, &key, clap_error::problem(&error)))?;
        }
    }
    if config.lacks_payload.is_some() {
        config.args.data.data = None;
    }
    Ok(config)
}

/// The flag that a key names. As in ghz, upper and lower case are the same.
fn arg_of<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    let option = OPTIONS.iter().find(|(option, _)| *option == key);
    let key = option.map_or(key, |(_, flag)| flag);
    let mut args = command.get_arguments();
    args.find(|arg| {
        let name = arg.get_long().unwrap_or(arg.get_id().as_str());
        !ONLY_FLAGS.contains(&name) && name.eq_ignore_ascii_case(key)
    })
}

/// What a section needs, from serde's message, which names types of Rust.
fn needed(key: &str, message: &str) -> String {
    let expected = message.rsplit_once(", expected ");
    let expected = expected.map_or("", |(_, expected)| expected);
    let text = match expected {
        "u32" | "u64" | "i32" => "a whole number is needed".to_owned(),
        "a boolean" => "`true` or `false` is needed".to_owned(),
        "a sequence" => "a list is needed".to_owned(),
        "path string" => "a path is needed".to_owned(),
        _ if expected.starts_with("struct ") || expected == "a map" => match key {
            "load.concurrency" => "an object is needed, such as {\"workers\": 8}".to_owned(),
            "load.rate" => "an object is needed, such as {\"rps\": 1000}".to_owned(),
            _ => "an object is needed".to_owned(),
        },
        _ if expected == "string or map" || message.contains("untagged enum") => {
            "it has the wrong type: see `volley schema`".to_owned()
        }
        _ => return message.to_owned(),
    };
    if !message.starts_with("invalid value: integer ") {
        return text;
    }
    // A number out of range is worth its range.
    match expected {
        "u32" => format!("{text}, from 0 to {}", u32::MAX),
        "i32" => format!("{text}, from {} to {}", i32::MIN, i32::MAX),
        _ => format!("{text}, from 0 to {}", u64::MAX),
    }
}

/// Says that a key has no effect.
fn unknown(command: &Command, path: &Path, key: &str) -> String {
    let flag = format!("--{key}");
    let is_short = |arg: &&Arg| arg.get_short().map(String::from).as_deref() == Some(key);
    let long = command.get_arguments().find(is_short);
    let similar = || {
        let parsed = command.clone().try_get_matches_from(["volley", &flag]);
        clap_error::suggestion(&parsed.err()?)
    };
    let suggestion = match long {
        Some(arg) => arg.get_long().map(str::to_owned),
        None if key.len() == 1 => None,
        None => similar().map(|flag| flag.trim_start_matches('-').to_owned()),
    };
    let suggestion = suggestion.filter(|name| !ONLY_FLAGS.contains(&name.as_str()));
    let hint = match suggestion {
        Some(name) => format!("did you mean `{name}`?"),
        None => "keys are the long names of flags (see `volley --help`), or the sections of `volley schema`".to_owned(),
    };
    let path = path.display();
    format!("`{path}`: unknown key `{key}` has no effect; {hint}")
}

fn wrong(path: &Path, key: &str, problem: Option<String>) -> ConfigError {
    ConfigError::Value {
        place: format!("{}: {key}", path.display()),
        problem: problem.unwrap_or_else(|| "it is not understood".to_owned()),
    }
}

/// Why a `--config` file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("`--config`: cannot read `{}`: {reason}", .path.display())]
    Read { path: PathBuf, reason: String },
    #[error("`--config`: cannot tell the format of `{}`: its name must end in .json, .toml, .yaml or .yml", .0.display())]
    Format(PathBuf),
    #[error("`{}`: {reason}", .path.display())]
    Syntax { path: PathBuf, reason: String },
    #[error("`{}` is empty", .0.display())]
    Empty(PathBuf),
    #[error("`{}` must hold keys and their values, such as `\"concurrency\": 64`", .0.display())]
    NoTable(PathBuf),
    #[error("`{place}`: {problem}")]
    Value { place: String, problem: String },
}

/// With this key, ghz's options say that the payload was protobuf. They do not hold it.
const BINARY: &str = "binary";
const NO_BINARY: &str = "the payload is not in this file: give it with `-B FILE`";
const NO_DATA: &str = "the payload is not whole in this file: give it with `-d`, `-D` or `-B`";

/// Flags whose text is JSON; a file holds tables and lists for them.
const JSON: [&str; 4] = ["data", "metadata", "reflect-metadata", "tags"];

/// The words that give `arg` this value; none if the value is null or empty, which leaves the flag
/// unset.
fn words_of(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let long = arg.get_long();
    match value {
        Value::Array(items) if matches!(arg.get_action(), ArgAction::Append) => {
            let texts = items.iter().map(scalar);
            let words = texts.map(|text| Some(word(long, &text?)));
            let words: Option<_> = words.collect();
            words.ok_or_else(|| "a list of strings is needed".to_owned())
        }
        Value::Array(_) | Value::Object(_) if long.is_some_and(|long| JSON.contains(&long)) => {
            Ok(vec![word(long, &value.to_string())])
        }
        Value::Array(_) => Err("one value is needed, not a list".to_owned()),
        Value::Object(_) => Err("one value is needed, not a table".to_owned()),
        Value::Number(number)
            if number.as_u64().is_some_and(|ns| ns >= LEAST_NS) && is_time(arg) =>
        {
            Ok(vec![word(long, &format!("{number}ns"))])
        }
        value => Ok(match scalar(value).filter(|text| !text.is_empty()) {
            None => Vec::new(),
            Some(text) if long.is_none() => vec!["--".to_owned(), text],
            Some(text) => vec![word(long, &text)],
        }),
    }
}

fn is_time(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<Duration>()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn word(long: Option<&str>, value: &str) -> String {
    format!("--{}={value}", long.unwrap_or_default())
}
