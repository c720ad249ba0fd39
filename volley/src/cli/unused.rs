//! Flags of a run that have no effect in another command: they are hidden and refused, never ignored.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::args;
use super::exit::CliExit;

/// Leaves flags out of help, by clap's ids.
pub(super) fn hide(command: Command, unused: &[impl AsRef<str>]) -> Command {
    unused.iter().fold(command, |command, id| {
        command.mut_arg(id.as_ref(), |arg| arg.hide(true))
    })
}

/// The flags as help shows them. The `+` marks are removed: they matter only where ghz's flags stand beside them.
pub(super) fn shown(plain: Command) -> Command {
    args::shown(plain).mut_args(|arg| {
        let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
        match text.strip_prefix("+ ") {
            Some(text) => arg.help(text.to_owned()),
            None => arg,
        }
    })
}

/// Refuses the first of these flags that is given.
pub(super) fn refuse(
    program: &str,
    command: &Command,
    matches: &ArgMatches,
    unused: &[impl AsRef<str>],
) -> Result<(), CliExit> {
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let Some(id) = unused.iter().map(AsRef::as_ref).find(given) else {
        return Ok(());
    };
    let arg = command.get_arguments().find(|arg| arg.get_id() == id);
    let flag = arg.and_then(|arg| arg.get_long()).unwrap_or(id);
    Err(CliExit::usage(format!(
        "`--{flag}` has no effect in `{program}`: drop it"
    )))
}
