//! What ghz's command-line library takes and clap does not, put into clap's words.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

use super::args::is_switch_named;
use super::exit::CliExit;
use super::{refused, usage};

/// What the words after `program` say; `shown` is the command as its help shows it.
pub(super) fn matches(
    program: &str,
    command: &Command,
    shown: impl Fn() -> Command,
    words: &[OsString],
) -> Result<ArgMatches, CliExit> {
    let words = translate(command, words)?;
    let argv = std::iter::once(OsString::from(program)).chain(words);
    command
        .clone()
        .try_get_matches_from(argv)
        .map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp => CliExit::Print(shown().render_help()),
            _ => usage::exit(program, &error),
        })
}

/// Turn `--no-flag` into `--flag=false`, and refuse the flags volley does not have.
fn translate(command: &Command, words: &[OsString]) -> Result<Vec<OsString>, CliExit> {
    let mut translated = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    for word in rest.by_ref() {
        if word == "--" {
            translated.push(word.clone());
            break;
        }
        if let Some(word) = translate_word(command, word)? {
            translated.push(word);
        }
    }
    // What follows `--` is no flag, whatever it looks like.
    translated.extend(rest.cloned());
    Ok(translated)
}

/// `None`: the word asks for nothing.
fn translate_word(command: &Command, word: &OsString) -> Result<Option<OsString>, CliExit> {
    let Some(long) = word.to_str().and_then(|word| word.strip_prefix("--")) else {
        return Ok(Some(word.clone()));
    };
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    if let Some(remedy) = refused::remedy(name) {
        return match value {
            // To say that it shall not be so is to ask for what volley does.
            Some("false") => Ok(None),
            _ => Err(refused::flag(name, remedy)),
        };
    }
    match name.strip_prefix("no-") {
        Some("stream-dynamic-messages") => Ok(None),
        Some(name) if value.is_none() && is_switch_named(command, name) => {
            Ok(Some(format!("--{name}=false").into()))
        }
        _ => Ok(Some(word.clone())),
    }
}
