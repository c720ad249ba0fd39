//! The program: parse the command line, make the run, print its report.

use std::process::ExitCode;

use volley::cli::{self, Command};
use volley::program;

fn main() -> ExitCode {
    let done = match cli::parse(std::env::args_os()) {
        Ok(Command::Run(options)) => program::run(&options),
        Ok(Command::Blast(options)) => program::blast(&options),
        Ok(Command::Serve(args)) => program::serve(&args),
        Err(exit) => return exit.print(),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("error: {}", failure.message);
        ExitCode::from(failure.status)
    })
}
