//! `volley list` and `volley describe`: what a server, or a file, declares.

use std::ffi::OsString;

use clap::{Command, CommandFactory, FromArgMatches, Parser};

use super::apply::apply_target;
use super::args::{self, ConnectionArgs, RunArgs, TargetArgs};
use super::exit::{CliExit, UsageError};
use super::{argv, help, unused, usage};
use crate::spec::{SchemaSource, Spec};

/// Flags of a run that have no effect here, by clap's ids.
const UNUSED: [&str; 11] = [
    "call",
    "config",
    "enable_compression",
    "keepalive",
    "lb_strategy",
    "max_memory",
    "max_recv_message_size",
    "max_send_message_size",
    "reconnect_every",
    "resolve_every",
    "window",
];

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which services and methods there are.
    List,
    /// How a symbol is declared.
    Describe,
}

/// What `volley list` or `volley describe` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What is asked.
    pub question: Question,
    /// The server and the schema; nothing else of a run.
    pub spec: Spec,
    /// The service or symbol; empty: all services.
    pub name: String,
}

/// The flags of both commands, as they are written.
#[derive(Clone, Debug, Parser)]
struct LookArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The full name of what is looked up
    #[arg(value_name = "NAME", index = 2, help_heading = "What to call")]
    name: Option<String>,

    #[command(flatten)]
    connection: ConnectionArgs,
}

impl Question {
    fn program(self) -> &'static str {
        match self {
            Self::List => "volley list",
            Self::Describe => "volley describe",
        }
    }

    fn plain(self) -> Command {
        let (usage, about, examples) = match self {
            Self::List => (
                "volley list [FLAGS] HOST [SERVICE]\n       volley list --proto FILE [SERVICE]",
                help::LIST_ABOUT,
                help::LIST_EXAMPLES,
            ),
            Self::Describe => (
                "volley describe [FLAGS] HOST NAME\n       volley describe --proto FILE NAME",
                help::DESCRIBE_ABOUT,
                help::DESCRIBE_EXAMPLES,
            ),
        };
        let command = help::dress(LookArgs::command().about(about), examples).override_usage(usage);
        unused::hide(command, &UNUSED)
    }

    pub(super) fn help(self) -> Command {
        unused::shown(self.plain())
    }
}

/// Reads the words after the command.
pub(super) fn parse(question: Question, words: &[OsString]) -> Result<Look, CliExit> {
    let program = question.program();
    let command = args::parser(question.plain());
    let matches = argv::matches(program, &command, || question.help(), words)?;
    unused::refuse(program, &command, &matches, &UNUSED)?;
    let args =
        LookArgs::from_arg_matches(&matches).map_err(|error| usage::exit(program, &error))?;
    resolve(question, args).map_err(|error| CliExit::usage(error.to_string()))
}

fn resolve(question: Question, args: LookArgs) -> Result<Look, UsageError> {
    let mut run = RunArgs {
        target: args.target,
        connection: args.connection,
        ..RunArgs::default()
    };
    let mut spec = Spec::default();
    let asked = apply_target(&run, &mut spec);
    let name = if spec.request.schema == SchemaSource::Reflection {
        asked?;
        args.name
    } else {
        // With a file, there is no HOST.
        let name = run.target.host.take();
        if args.name.is_some() {
            return Err(UsageError::HostUnused);
        }
        name
    };
    let name = name.unwrap_or_default().trim().to_owned();
    if name.is_empty() && question == Question::Describe {
        return Err(UsageError::NoSymbol);
    }
    Ok(Look {
        question,
        spec,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(question: Question, line: &str) -> Result<Look, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(question, &words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn help_shows_what_leads_to_a_schema_and_nothing_else() {
        for (question, expected) in [
            (
                Question::List,
                include_str!("../../tests/expected/list-help.txt"),
            ),
            (
                Question::Describe,
                include_str!("../../tests/expected/describe-help.txt"),
            ),
        ] {
            let help = question.help().term_width(100).render_help().to_string();
            assert_eq!(help, expected);
        }
    }

    #[test]
    fn the_parsers_are_sound() {
        for question in [Question::List, Question::Describe] {
            args::parser(question.plain()).debug_assert();
            question.help().debug_assert();
        }
    }

    #[test]
    fn a_host_and_a_name_are_taken() {
        let list = look(Question::List, "--insecure localhost:1").unwrap();
        assert_eq!(
            (list.spec.target.host.as_str(), list.name.as_str()),
            ("localhost:1", "")
        );
        let one = look(Question::Describe, "localhost:1 a.B").unwrap();
        assert_eq!(
            (one.question, one.name.as_str()),
            (Question::Describe, "a.B")
        );
    }

    #[test]
    fn with_a_file_there_is_only_a_name() {
        let list = look(Question::List, "--proto a.proto a.B").unwrap();
        assert_eq!(list.name, "a.B");
        assert!(look(Question::Describe, "--protoset a.pb a.B").is_ok());
    }

    #[test]
    fn what_cannot_be_looked_up_is_refused() {
        for (question, line, words) in [
            (
                Question::List,
                "",
                "error: no HOST: give the server's address, such as `localhost:8080`",
            ),
            (
                Question::Describe,
                "localhost:1",
                "error: nothing to describe: give the full name of a service, method, message or enum",
            ),
            (
                Question::List,
                "--proto a.proto localhost:1 a.B",
                "error: with `--proto` or `--protoset`, no server is asked: drop HOST",
            ),
            (
                Question::List,
                "--keepalive 1s localhost:1",
                "error: `--keepalive` has no effect in `volley list`: drop it",
            ),
        ] {
            assert_eq!(look(question, line), Err(words.to_owned()));
        }
    }
}
