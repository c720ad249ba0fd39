//! `volley compare`: what changed from one run to another.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::{Failure, Out, THRESHOLD_FAILED, buffered, unless_hung_up};
use crate::cli::{Compare, CompareFormat};
use crate::compare::{Comparison, Run, json, table};
use crate::report::visible;

/// Compares two reports and prints the result. Succeeds unless a condition was met.
///
/// # Errors
///
/// Whatever prevents a comparison: files that are no reports, or runs that are no pair.
pub fn compare(args: &Compare) -> Result<ExitCode, Failure> {
    let out = Out::open(args.output.as_deref())?;
    let [old, new] = [read(&args.old)?, read(&args.new)?];
    let comparison =
        Comparison::of(old, new, &args.fail_if).map_err(|error| usage(error.to_string()))?;
    out.print(|mut out| match args.format {
        CompareFormat::Summary => table::write(&comparison, &mut out),
        CompareFormat::Json => json::write(&comparison, &mut out),
        CompareFormat::Markdown => table::write_markdown(&comparison, &mut out),
    })?;
    let mut failed = comparison
        .thresholds
        .iter()
        .filter(|judged| judged.failed)
        .peekable();
    let status = match failed.peek() {
        Some(_) => ExitCode::from(THRESHOLD_FAILED),
        None => ExitCode::SUCCESS,
    };
    buffered(io::stderr().lock(), |out| {
        for warning in &comparison.warnings {
            writeln!(out, "warning: {}", visible(warning))?;
        }
        // A warning has named those that are not decided.
        let mut failed = failed.filter(|judged| judged.is_met());
        failed.try_for_each(|judged| writeln!(out, "failed: {}", visible(&judged.line())))
    })
    .or_else(unless_hung_up)?;
    Ok(status)
}

/// A run in which no call succeeded has no figures to compare.
fn read(path: &Path) -> Result<Run, Failure> {
    let run = Run::read(path).map_err(|error| usage(format!("`{}`: {error}", path.display())))?;
    if run.any_ok() {
        return Ok(run);
    }
    Err(Failure {
        status: 1,
        message: format!(
            "`{}`: no call succeeded in this run: there is nothing to compare",
            path.display()
        ),
    })
}

fn usage(message: String) -> Failure {
    Failure { status: 2, message }
}
