//! Why a command line does not lead to a run: there is text to print, or an error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::builder::StyledStr;

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
        Self::Usage(message.as_ref().replace(char::is_control, " "))
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
        // If the reader of the pipe is gone, no message is needed.
        let _ = match self {
            Self::Print(text) if io::stdout().is_terminal() && wants_colour() => {
                write!(io::stdout(), "{}", text.ansi())
            }
            Self::Print(_) => write!(io::stdout(), "{self}"),
            Self::Usage(_) => writeln!(io::stderr(), "{self}"),
        };
        ExitCode::from(self.status())
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
