//! clap's errors as one line each.

use std::error::Error as _;
use std::num::ParseIntError;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::usage::CliExit;

/// What `program` does with an error of clap: print it, or refuse.
pub(super) fn exit(program: &str, error: &Error) -> CliExit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => CliExit::Print(error.render()),
        _ => CliExit::usage(line(program, error)),
    }
}

fn line(program: &str, error: &Error) -> String {
    let flag = text(error, ContextKind::InvalidArg).map(name);
    match (error.kind(), flag) {
        (ErrorKind::UnknownArgument, Some(flag)) => unknown(program, &flag, error),
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, Some(flag)) => {
            match problem(error) {
                Some(problem) => format!("`{flag}`: {problem}"),
                None => format!("`{flag}` needs a value"),
            }
        }
        (ErrorKind::ArgumentConflict, Some(flag)) => format!("`{flag}` is given twice: keep one"),
        (ErrorKind::TooManyValues, Some(flag)) => format!("`{flag}` takes no such value"),
        (ErrorKind::MissingRequiredArgument, _) => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => format!("missing: {}", missing.join(" ")),
            _ => first_line(&error.to_string()),
        },
        (ErrorKind::InvalidUtf8, _) => "the command line is not valid UTF-8".to_owned(),
        _ => first_line(&error.to_string()),
    }
}

/// What is wrong with a value; `None` if there is no value.
pub(super) fn problem(error: &Error) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue)?;
    let reason = match (error.source(), error.get(ContextKind::ValidValue)) {
        (Some(source), _) if source.is::<ParseIntError>() => "a whole number is needed".to_owned(),
        (Some(source), _) => source.to_string(),
        _ if value.is_empty() => return None,
        (None, Some(ContextValue::Strings(valid))) => format!("use {}", list(valid)),
        _ => "it is not understood".to_owned(),
    };
    // Metadata may be secret.
    let is_metadata =
        text(error, ContextKind::InvalidArg).is_some_and(|arg| arg.contains("metadata"));
    Some(match is_metadata {
        true => format!("invalid value: {reason}"),
        false => format!("invalid value `{}`: {reason}", shortened(&value)),
    })
}

/// The beginning of a value, long enough to recognize it.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 60;
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// The flag or key that was probably meant, as `--flag`.
pub(super) fn suggestion(error: &Error) -> Option<String> {
    match error.get(ContextKind::SuggestedArg)? {
        ContextValue::String(flag) => Some(flag.clone()),
        ContextValue::Strings(flags) => flags.first().cloned(),
        _ => None,
    }
}

fn unknown(program: &str, word: &str, error: &Error) -> String {
    if !word.starts_with('-') {
        return format!("unexpected argument `{word}`: see `{program} --help`");
    }
    match suggestion(error) {
        Some(flag) => format!("unknown flag `{word}`; did you mean `{flag}`?"),
        None => format!("unknown flag `{word}`: see `{program} --help`"),
    }
}

/// `--flag` from clap's `--flag <VALUE>` or `--flag[=<VALUE>]`. A value that is not a flag stays as
/// it is.
fn name(shown: String) -> String {
    if !shown.starts_with('-') {
        return shown;
    }
    let end = shown.find([' ', '[', '=']).unwrap_or(shown.len());
    shown[..end].to_owned()
}

/// `a`, `b` or `c`.
fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
