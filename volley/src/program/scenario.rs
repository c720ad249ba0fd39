//! `volley run`: a scenario file as load.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use super::check::refuse;
use super::{Failure, Out, THRESHOLD_FAILED, buffered, unless_hung_up};
use crate::cli::{ScenarioFormat, ScenarioRun};
use crate::engine;
use crate::report::live::LiveTable;
use crate::scenario::engine::{self as load, Options, RunError};
use crate::scenario::file;
use crate::scenario::plan::{Goal, Plan};
use crate::scenario::report::{Names, Report, csv, html, json, prometheus, summary};

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Engine(error) => error.into(),
            error => Self {
                status: if error.is_usage() { 2 } else { 1 },
                message: error.to_string(),
            },
        }
    }
}

/// Runs a file, and prints its report.
///
/// # Errors
///
/// Whatever prevented the load or the report, or broke the load off.
pub fn run_scenario(args: &ScenarioRun) -> Result<ExitCode, Failure> {
    let mut plan = match file::read(&args.file) {
        Ok(plan) => plan,
        Err(mistakes) => return Ok(refuse(&mistakes)),
    };
    plan.thresholds.extend(args.fail_if.iter().map(Goal::from));
    let out = Out::open(args.output.as_deref())?;
    let signal = engine::watch()?;
    let options = Options {
        name: args.file.display().to_string(),
        threads: args.threads,
    };
    let (names, stderr) = (Names::from(&plan), io::stderr());
    let is_shown = stderr.is_terminal() && !args.quiet;
    let mut table = LiveTable::new(stderr, is_shown);
    let finished = load::run(&plan, &options, &signal, &mut |progress, elapsed| {
        // For a person; if nobody reads it, the run continues.
        let _ = table.draw(&progress.lines(&names, elapsed));
    });
    let _ = table.clear();
    let finished = finished?;
    let report = &finished.report;
    out.print(|out| print(report, args.format, out))?;
    buffered(io::stderr().lock(), |mut out| {
        if !args.quiet {
            summary::write_warnings(report, &mut out)?;
        }
        summary::write_failed(report, &mut out)
    })
    .or_else(unless_hung_up)?;
    match finished.failure {
        Some(error) => Err(error.into()),
        None => Ok(status(&plan, report)),
    }
}

/// Thresholds decide. Without any, every iteration must succeed.
fn status(plan: &Plan, report: &Report) -> ExitCode {
    let is_clean = !plan.thresholds.is_empty() || report.iterations().failed == 0;
    if !report.has_success() || !is_clean {
        ExitCode::FAILURE
    } else if report.thresholds.iter().any(|verdict| verdict.failed) {
        ExitCode::from(THRESHOLD_FAILED)
    } else {
        ExitCode::SUCCESS
    }
}

fn print(report: &Report, format: ScenarioFormat, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        ScenarioFormat::Summary => summary::write(report, &mut out),
        ScenarioFormat::Json => json::write(report, &mut out),
        ScenarioFormat::Pretty => json::write_pretty(report, &mut out),
        ScenarioFormat::Csv => csv::write(report, &mut out),
        ScenarioFormat::Html => html::write(report, &mut out),
        ScenarioFormat::Prometheus => prometheus::write(report, &mut out),
    }
}
