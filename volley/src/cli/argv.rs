//! Translates what ghz's command-line library accepts, and clap does not, into clap's form.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

use super::args::is_switch_named;
use super::exit::CliExit;
use super::usage;

/// Parses the words after `program`; `shown` is the command that help prints.
pub(super) fn matches(
    program: &str,
    command: &Command,
    shown: impl Fn() -> Command,
    words: &[OsString],
) -> Result<ArgMatches, CliExit> {
    let words = translate(command, words);
    let argv = std::iter::once(OsString::from(program)).chain(words);
    command
        .clone()
        .try_get_matches_from(argv)
        .map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp => CliExit::Print(shown().render_help()),
            _ => usage::exit(program, &error),
        })
}

/// Turns `--no-flag` into `--flag=false`.
fn translate(command: &Command, words: &[OsString]) -> Vec<OsString> {
    let mut translated = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    for word in rest.by_ref() {
        if word == "--" {
            translated.push(word.clone());
            break;
        }
        translated.push(translate_word(command, word));
    }
    // Whatever follows `--` is not a flag.
    translated.extend(rest.cloned());
    translated
}

fn translate_word(command: &Command, word: &OsString) -> OsString {
    let switch = word.to_str().and_then(|word| word.strip_prefix("--no-"));
    match switch.filter(|name| is_switch_named(command, name)) {
        Some(name) => format!("--{name}=false").into(),
        None => word.clone(),
    }
}
