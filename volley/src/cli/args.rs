//! The flags of a run as they are written, on the command line or in a file. All are optional.

mod data;
mod load;
mod output;
mod target;

use std::any::TypeId;

use clap::{Arg, ArgAction, Command, CommandFactory, Parser};

pub use data::{CheckArgs, DataArgs};
pub use load::{LimitArgs, LoadArgs, ScheduleArgs};
pub use output::{Format, OutputArgs, ReportArgs, WatchArgs};
pub use target::{ConnectionArgs, TargetArgs};

use super::help;
use crate::features::VERSION;

/// All flags of a run. `None` means not given: a file or a default may then supply the value.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "volley", about = help::ABOUT)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub schedules: ScheduleArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// The parser of a run's flags.
pub fn command() -> Command {
    parser(plain())
}

/// The same flags, as help shows them.
pub fn help_command() -> Command {
    shown(plain())
}

/// Prepares a command for parsing.
pub fn parser(plain: Command) -> Command {
    // A flag without a value also accepts `=false`: `--no-flag` becomes that, and files may hold
    // it.
    plain.mut_args(|arg| match is_switch(&arg) {
        true => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        false => arg,
    })
}

/// Prepares a command for printing its help.
pub fn shown(plain: Command) -> Command {
    let shown = plain.mut_arg("host", |arg| arg.required(true));
    shown.mut_args(|arg| match is_switch(&arg) {
        true => arg.num_args(0).action(ArgAction::SetTrue),
        false => arg,
    })
}

/// Whether there is a flag of that name that takes no value.
pub fn is_switch_named(command: &Command, long: &str) -> bool {
    let mut args = command.get_arguments();
    args.any(|arg| arg.get_long() == Some(long) && is_switch(arg))
}

/// Whether a flag takes no value.
pub fn is_switch(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<bool>()
        && matches!(arg.get_action(), ArgAction::Set)
}

fn plain() -> Command {
    let version = Arg::new("version").short('v').short_alias('V');
    let version = version.long("version").help("Print the version");
    help::dress(RunArgs::command(), "")
        .after_help(help::of_run())
        .override_usage(
            "volley [FLAGS] HOST\n       volley try [FLAGS] HOST\n       volley list [FLAGS] HOST [SERVICE]\n       \
             volley describe [FLAGS] HOST NAME\n       volley blast [FLAGS] HOST\n       volley find [FLAGS] HOST\n       volley serve [FLAGS]\n       \
             volley merge [FLAGS] FILE...\n       volley compare [FLAGS] OLD NEW\n       \
             volley run [FLAGS] FILE\n       volley check FILE\n       volley edit [FLAGS] [FILE]\n       \
             volley import h2loadrunner [FLAGS] FILE\n       volley schema [scenario] | completions SHELL | man [COMMAND]",
        )
        .version(VERSION.as_str())
        .disable_version_flag(true)
        .arg(version.action(ArgAction::Version).help_heading(help::OTHER))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = include_str!("../../tests/expected/help.txt");

    #[test]
    fn help_is_grouped_and_ends_with_examples() {
        let help = help_command().term_width(100).render_help();
        assert_eq!(help.to_string(), HELP);
    }
}
