//! `volley run x.lua`: a program of Lua as load.

use std::path::Path;
use std::process::ExitCode;

use super::scenario::deliver;
use super::status::{self, why_failed};
use super::{Failure, Out, text};
use crate::cli::ScenarioRun;
use crate::net;
use crate::request::schema::suggest::hint;
use crate::scenario::lua::program::{self, Options, Program};
use crate::scenario::plan::Goal;
use crate::scenario::report::{Report, judge};

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
        max_memory: args.max_memory,
        tls: args.tls(),
    };
    let signal = net::watch()?;
    let mut finished = program::run(&program, &options, &signal)?;
    let goals: Vec<Goal> = args.fail_if.iter().map(Goal::from).collect();
    finished.report.thresholds = judge(&finished.report, &goals);
    let unknown = unknown_parts(&finished.report, &goals);
    finished.report.facts.warnings.extend(unknown);
    let report = &finished.report;
    let why = match finished.failure {
        None if !is_idle(report) => why_failed(report),
        _ => None,
    };
    deliver(report, why, args, out)?;
    match finished.failure {
        Some(error) => Err(error.into()),
        None if is_idle(report) && report.thresholds.is_empty() => Ok(ExitCode::SUCCESS),
        None => Ok(status::of_scenarios(report)),
    }
}

/// Checks a program's syntax.
///
/// # Errors
///
/// What is wrong with it.
pub fn check(file: &Path) -> Result<ExitCode, Failure> {
    read(file)?;
    text("a program of Lua: its syntax is right\n")
}

fn read(file: &Path) -> Result<Program, Failure> {
    program::read(file).map_err(Failure::usage)
}

/// Says which parts there are, if a condition is about none of them: they are known only now.
fn unknown_parts(report: &Report, goals: &[Goal]) -> Vec<String> {
    let programs = report.scenarios.iter().map(|one| one.name.clone());
    let steps = report.steps.iter().map(|step| &step.names);
    let steps = steps.flat_map(|names| [names.name.clone(), names.label()]);
    let known: Vec<String> = programs.chain(steps).collect();
    let missing = goals.iter().zip(&report.thresholds);
    let missing = missing.filter(|(_, verdict)| verdict.value.is_none());
    let parts = missing.filter_map(|(goal, _)| goal.of.as_ref());
    parts
        .filter(|of| !known.contains(of))
        .map(|of| {
            let hint = hint(of, &known, "there are none");
            format!("`--fail-if`: no row of the report is named `{of}`; {hint}")
        })
        .collect()
}

/// Whether a program has made no request: it only answered some, perhaps.
fn is_idle(report: &Report) -> bool {
    report.requests().all() == 0 && report.iterations().failed == 0
}
