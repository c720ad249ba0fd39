//! `volley list` and `volley describe`: what a server, or a file, declares.

use std::ffi::OsString;

use clap::{Command, CommandFactory, Parser};

use super::apply::apply_target;
use super::args::{self, ConnectionArgs, RunArgs, TargetArgs};
use super::usage::{CliExit, UsageError};
use super::{argv, help, unused};
use crate::spec::{SchemaSource, Spec};
use volley_base::words;

/// Flags of a run that have no effect here, by clap's ids.
const UNUSED: [&str; 11] = words! {
    call config enable_compression keepalive lb_strategy max_memory max_recv_message_size
    max_send_message_size reconnect_every resolve_every window
};

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

    pub(super) fn plain(self) -> Command {
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
    Ok(resolve(question, argv::taken(program, &matches)?)?)
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
    use crate::cli::testkit::parsed;
    use volley_testkit::table::table;

    fn list(line: &str) -> Result<Look, String> {
        parsed(|words| parse(Question::List, words), line)
    }

    fn describe(line: &str) -> Result<Look, String> {
        parsed(|words| parse(Question::Describe, words), line)
    }

    #[test]
    fn a_host_and_a_name_are_taken() {
        let all = list("--insecure localhost:1").unwrap();
        assert_eq!((&*all.spec.target.host, &*all.name), ("localhost:1", ""));
        let one = describe("localhost:1 a.B").unwrap();
        assert_eq!((one.question, &*one.name), (Question::Describe, "a.B"));
    }

    #[test]
    fn with_a_file_there_is_only_a_name() {
        assert_eq!(list("--proto a.proto a.B").unwrap().name, "a.B");
        assert!(describe("--protoset a.pb a.B").is_ok());
    }

    #[test]
    fn what_cannot_be_looked_up_is_refused() {
        for [line, problem] in table(
            r"
             => no HOST: give the server's address, such as `localhost:8080`
            --proto a.proto localhost:1 a.B => with `--proto` or `--protoset`, no server is asked: drop HOST
            --keepalive 1s localhost:1 => `--keepalive` has no effect in `volley list`: drop it
        ",
        ) {
            assert_eq!(list(line), Err(format!("error: {problem}")));
        }
        let line =
            "error: nothing to describe: give the full name of a service, method, message or enum";
        assert_eq!(describe("localhost:1"), Err(line.to_owned()));
    }
}
