//! `volley run x.lua`: a program of Lua as load.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::scenario::{failure, print, status, wrong};
use super::{Failure, Out, buffered, unless_hung_up};
use crate::cli::ScenarioRun;
use crate::engine;
use crate::scenario::lua::program::{self, Options, Program};
use crate::scenario::plan::Goal;
use crate::scenario::report::{Report, judge, summary};

/// Runs a program, and prints its report.
///
/// # Errors
///
/// Whatever is wrong with the program, or prevented the report.
pub fn run(args: &ScenarioRun) -> Result<ExitCode, Failure> {
    let program = read(&args.file)?;
    let out = Out::open(args.output.as_deref())?;
    let options = Options {
        name: args.file.display().to_string(),
        duration: args.duration,
        allow_io: args.allow_io,
        tls: args.tls.clone(),
    };
    let signal = engine::watch()?;
    let mut finished = program::run(&program, &options, &signal)?;
    let goals: Vec<Goal> = args.fail_if.iter().map(Goal::from).collect();
    finished.report.thresholds = judge(&finished.report, &goals);
    let report = &finished.report;
    out.print(|out| print(report, args.format, out))?;
    let has_broken = finished.failure.is_some();
    buffered(io::stderr().lock(), |mut out| {
        if !args.quiet {
            summary::write_warnings(report, &mut out)?;
        }
        summary::write_failed(report, &mut out)?;
        match failure(report).filter(|_| !has_broken && !is_idle(report)) {
            Some(why) => writeln!(out, "failed: {why}; the report says why"),
            None => Ok(()),
        }
    })
    .or_else(unless_hung_up)?;
    match finished.failure {
        Some(error) => Err(error.into()),
        None if is_idle(report) && report.thresholds.is_empty() => Ok(ExitCode::SUCCESS),
        None => Ok(status(report)),
    }
}

/// Checks a program's syntax.
///
/// # Errors
///
/// What is wrong with it.
pub fn check(file: &Path) -> Result<ExitCode, Failure> {
    read(file)?;
    buffered(io::stdout().lock(), |out| {
        writeln!(out, "a program of Lua: its syntax is right")
    })
    .or_else(unless_hung_up)?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Program, Failure> {
    program::read(file).map_err(wrong)
}

/// Whether a program has made no request: it only answered some, perhaps.
fn is_idle(report: &Report) -> bool {
    report.requests().all() == 0 && report.iterations().failed == 0
}
