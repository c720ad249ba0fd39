//! `volley try`: one call, and all that is seen of it.

use std::ffi::OsString;
use std::io::Read;
use std::time::Duration;

use clap::{Args, Command, CommandFactory, Parser};

use super::apply::apply;
use super::args::{self, RunArgs, WatchArgs};
use super::config::Config;
use super::options::{Format, Output};
use super::run::with_config;
use super::usage::{CliExit, UsageError};
use super::value::whole;
use super::{argv, help, unused};
use crate::spec::Spec;
use volley_base::words;

const PROGRAM: &str = "volley try";
pub(super) const TITLE: &str = "Make one call";

/// The flags of a run that have an effect here, by clap's ids.
const USED: [&str; 36] = words! {
    host proto protoset import_paths reflect_metadata call config data data_file binary
    binary_file metadata metadata_file stream_call_count stream_call_duration
    stream_dynamic_messages disable_template_functions disable_template_data timeout insecure
    skip_tls cacert cert key cname authority connect_timeout enable_compression max_memory
    max_recv_message_size max_send_message_size window output format show_secrets quiet
};

const MAX_REPLIES: u64 = 100;

/// What `volley try [FLAGS] HOST` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The call. Of its load, nothing is used.
    pub spec: Spec,
    /// When a server's stream is ended; 0: never.
    pub stream_duration: Duration,
    /// How many replies are shown.
    pub max_replies: u64,
    /// Where the result goes.
    pub output: Output,
    /// What has no effect, one line each.
    pub warnings: Vec<String>,
}

/// The flags of `volley try`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley try", about = help::TRY_ABOUT)]
struct TrialArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    own: OwnArgs,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
struct OwnArgs {
    /// Show at most N replies (default 100)
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    max_replies: Option<u64>,
}

/// Reads the words after `volley try`.
pub(super) fn parse(words: &[OsString], stdin: &mut impl Read) -> Result<Trial, CliExit> {
    let command = args::parser(plain());
    let matches = argv::matches(PROGRAM, &command, help_command, words)?;
    unused::refuse(PROGRAM, &command, &matches, &unused_ids())?;
    let own: OwnArgs = argv::taken(PROGRAM, &matches)?;
    let config = with_config(&args::command(), &matches)?;
    Ok(resolve(config, &own, stdin)?)
}

fn resolve(config: Config, own: &OwnArgs, stdin: &mut impl Read) -> Result<Trial, UsageError> {
    let Config {
        mut spec,
        args: mut flags,
        warnings,
        ..
    } = config;
    let output = Output::of(&flags.output);
    // It writes none of the files of a load.
    flags.watch = WatchArgs::default();
    apply(&flags, &mut spec, stdin)?;
    if !matches!(
        output.format,
        Format::Summary | Format::Json | Format::Pretty
    ) {
        return Err(UsageError::TrialFormat);
    }
    // Its messages are sent at once.
    (spec.request.stream.interval, spec.request.stream.rate) = (Duration::ZERO, 0);
    let stream_duration = std::mem::take(&mut spec.request.stream.duration);
    Ok(Trial {
        spec,
        stream_duration,
        max_replies: own.max_replies.unwrap_or(MAX_REPLIES),
        output,
        warnings,
    })
}

/// The other flags of a run.
fn unused_ids() -> Vec<String> {
    let command = RunArgs::command();
    let ids = command.get_arguments().map(|arg| arg.get_id().as_str());
    let unused = ids.filter(|id| !USED.contains(id));
    unused.map(str::to_owned).collect()
}

pub(super) fn plain() -> Command {
    let command = help::dress(TrialArgs::command(), help::TRY_EXAMPLES)
        .override_usage("volley try [FLAGS] HOST")
        .mut_arg("format", |arg| {
            arg.help("pretty (JSON for people, default) or json")
        });
    unused::hide(command, &unused_ids())
}

pub(super) fn help_command() -> Command {
    unused::shown(plain())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::parsed;

    fn trial(line: &str) -> Result<Trial, String> {
        let line = format!("{line} --call p.S/M l:1");
        parsed(|words| parse(words, &mut &b""[..]), &line)
    }

    #[test]
    fn the_files_of_a_load_do_not_matter() {
        let config = std::env::temp_dir().join(format!("volley-try-{}.json", std::process::id()));
        std::fs::write(&config, r#"{"live-json": "-"}"#).unwrap();
        let parsed = trial(&format!("--config {}", config.display()));
        std::fs::remove_file(&config).unwrap();
        assert_eq!(parsed.map(|trial| trial.output.file), Ok(None));
    }

    #[test]
    fn a_load_is_refused_and_a_limit_is_taken() {
        let words = "error: `--concurrency` has no effect in `volley try`: drop it";
        assert_eq!(trial("-c 5"), Err(words.to_owned()));
        assert_eq!(
            trial("--max-replies 7").map(|trial| trial.max_replies),
            Ok(7)
        );
        let words = "error: `--format`: `volley try` writes only `pretty` and `json`";
        assert_eq!(trial("-O csv"), Err(words.to_owned()));
    }
}
