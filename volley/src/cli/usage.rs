//! What is printed instead of a run: help, or what is wrong with a command line. The exit status of a run is decided in `program/status.rs`.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::StyledStr;
use thiserror::Error;

use super::value::JsonError;
use crate::features::Lacks;
use crate::report::visible;
use crate::spec::SpecError;

/// The end of a program that was asked for help, or has a wrong command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CliExit {
    /// Help or version: to stdout, exit status 0.
    Print(StyledStr),
    /// A usage error, one line without "error: ": to stderr, exit status 2.
    Usage(String),
}

impl CliExit {
    /// A message on one line, even if it quotes text of several lines.
    pub(super) fn usage(message: impl AsRef<str>) -> Self {
        Self::Usage(visible(message.as_ref()).into_owned())
    }

    /// 0 or 2.
    pub fn status(&self) -> u8 {
        match self {
            Self::Print(_) => 0,
            Self::Usage(_) => 2,
        }
    }

    /// Prints to the right stream; with colours if stdout is a terminal that wants them.
    pub fn print(&self) -> ExitCode {
        let mut out = io::stdout();
        let printed = match self {
            Self::Print(text) if out.is_terminal() && wants_colour() => {
                write!(out, "{}", text.ansi())
            }
            Self::Print(_) => write!(out, "{self}"),
            Self::Usage(_) => {
                let _ = writeln!(io::stderr(), "{self}");
                Ok(())
            }
        };
        match printed.and_then(|()| out.flush()) {
            // If the reader of the pipe is gone, no message is needed.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io::stderr(), "error: cannot write to stdout: {error}");
                ExitCode::FAILURE
            }
            _ => ExitCode::from(self.status()),
        }
    }
}

/// <https://no-color.org>: any non-empty value turns colours off.
fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

impl fmt::Display for CliExit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Print(text) => write!(out, "{text}"),
            Self::Usage(line) => write!(out, "error: {line}"),
        }
    }
}

impl From<UsageError> for CliExit {
    fn from(error: UsageError) -> Self {
        Self::usage(error.to_string())
    }
}

/// Why flags do not make a run; each message names the flag to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UsageError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Lacks(#[from] Lacks),
    #[error(
        "`--threads {threads}` exceeds the number of connections: raise `--connections` or `--requests`, or lower `--threads` to {connections}"
    )]
    IdleBlastThreads { threads: u32, connections: u32 },
    #[error("`--format`: `volley blast` writes only `summary` and `json`")]
    BlastFormat,
    #[error("`--format`: `volley find` writes only `summary` and `json`")]
    FindFormat,
    #[error("`--p99` is missing: the longest time that 99 % of the calls may take, such as `10ms`")]
    NoLimit,
    #[error(
        "`--timeout` must be longer than `--p99`: a call that is given up says nothing about the limit"
    )]
    ShortTimeout,
    #[error("`--format`: `volley try` writes only `pretty` and `json`")]
    TrialFormat,
    #[error("nothing to describe: give the full name of a service, method, message or enum")]
    NoSymbol,
    #[error("with `--proto` or `--protoset`, no server is asked: drop HOST")]
    HostUnused,
    #[error("`{flag}` waits for a line on stdin: give the payload with `--data` or a file instead")]
    StdinTwice { flag: &'static str },
    #[error(
        "`{flag}`: other hosts can reach this address: give a `--control-token` (or $VOLLEY_TOKEN), or listen on localhost"
    )]
    NoToken { flag: &'static str },
    #[error("`{flag} -` and the report both go to stdout: give the report a file with `-o`")]
    StdoutTwice { flag: &'static str },
    #[error("`{first}` and `{second}` both write to `{}`: give each a file of its own", .path.display())]
    WrittenTwice {
        first: &'static str,
        second: &'static str,
        path: PathBuf,
    },
    #[error("`{flag}` would overwrite `{}`, which is read (`{reads}`): give `{flag}` another file", .path.display())]
    Overwritten {
        flag: &'static str,
        reads: &'static str,
        path: PathBuf,
    },
    #[error("`{first}` and `{second}` both give the {what}: keep one")]
    Twice {
        first: &'static str,
        second: &'static str,
        what: &'static str,
    },
    #[error("`--{flag}`: cannot read `{}`: {reason}", .path.display())]
    File {
        flag: &'static str,
        path: PathBuf,
        reason: String,
    },
    #[error("`{flag}`: cannot read stdin: {reason}")]
    Stdin { flag: &'static str, reason: String },
    #[error("`{flag}`: {from} is empty")]
    Empty { flag: &'static str, from: String },
    #[error("`{flag}`: {from} is not UTF-8; for protobuf use `--binary` or `--binary-file`")]
    Encoding { flag: &'static str, from: String },
    #[error("`--metadata-file`: `{}`: {reason}", .path.display())]
    Metadata { path: PathBuf, reason: JsonError },
}
