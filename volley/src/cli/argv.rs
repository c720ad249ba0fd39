//! Translates what ghz's command-line library accepts, and clap does not, into clap's form.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, FromArgMatches};

use super::args::{is_switch, is_switch_named};
use super::clap_error;
use super::usage::CliExit;

/// What the words after `program` ask for. Help prints the `command` that parses them.
pub(super) fn read<T: FromArgMatches>(
    program: &str,
    command: fn() -> Command,
    words: &[OsString],
) -> Result<T, CliExit> {
    taken(program, &matches(program, &command(), command, words)?)
}

/// What parsed words ask for.
pub(super) fn taken<T: FromArgMatches>(program: &str, words: &ArgMatches) -> Result<T, CliExit> {
    T::from_arg_matches(words).map_err(|error| clap_error::exit(program, &error))
}

/// Parses the words after `program`; `shown` is the command that help prints.
pub(super) fn matches(
    program: &str,
    command: &Command,
    shown: impl Fn() -> Command,
    words: &[OsString],
) -> Result<ArgMatches, CliExit> {
    let words = translate(command, words);
    let argv = std::iter::once(OsString::from(program)).chain(words);
    let matches = command.clone().try_get_matches_from(argv);
    matches.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => CliExit::Print(shown().render_help()),
        _ => clap_error::exit(program, &error),
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
        let word = translate_word(command, word);
        match translated.last_mut() {
            Some(flag) if is_negative(&word) && needs_value(command, flag) => {
                flag.push("=");
                flag.push(word);
            }
            _ => translated.push(word),
        }
    }
    // Whatever follows `--` is not a flag.
    translated.extend(rest.cloned());
    translated
}

/// Whether a word is a negative number or time. No flag looks like it.
fn is_negative(word: &OsString) -> bool {
    let text = word.to_str().and_then(|word| word.strip_prefix('-'));
    text.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Whether a word is a flag whose value is the next word.
fn needs_value(command: &Command, word: &OsString) -> bool {
    let word = word.to_str().unwrap_or_default();
    let is_named = |arg: &Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg
            .get_short()
            .is_some_and(|short| word == format!("-{short}")),
    };
    let arg = command.get_arguments().find(|arg| is_named(arg));
    arg.is_some_and(|arg| arg.get_action().takes_values() && !is_switch(arg))
}

fn translate_word(command: &Command, word: &OsString) -> OsString {
    let switch = word.to_str().and_then(|word| word.strip_prefix("--no-"));
    match switch.filter(|name| is_switch_named(command, name)) {
        Some(name) => format!("--{name}=false").into(),
        None => word.clone(),
    }
}
