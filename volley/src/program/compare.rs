//! `volley compare`: what changed from one run to another.

use std::path::Path;
use std::process::ExitCode;

use super::status::THRESHOLD_FAILED;
use super::{Failure, Out, to_stderr};
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
    let comparison = Comparison::of(old, new, &args.fail_if).map_err(Failure::usage)?;
    out.print(|mut out| match args.format {
        CompareFormat::Summary => table::write(&comparison, &mut out),
        CompareFormat::Json => json::write(&comparison, &mut out),
        CompareFormat::Markdown => table::write_markdown(&comparison, &mut out),
    })?;
    let thresholds = &comparison.thresholds;
    to_stderr(|out| {
        for warning in &comparison.warnings {
            writeln!(out, "warning: {}", visible(warning))?;
        }
        // A warning has named those that are not decided.
        let mut met = thresholds.iter().filter(|judged| judged.is_met());
        met.try_for_each(|judged| writeln!(out, "failed: {}", visible(&judged.line())))
    })?;
    Ok(match thresholds.iter().any(|judged| judged.failed) {
        true => ExitCode::from(THRESHOLD_FAILED),
        false => ExitCode::SUCCESS,
    })
}

/// A run in which no call succeeded has no figures to compare.
fn read(path: &Path) -> Result<Run, Failure> {
    let shown = path.display();
    let run = Run::read(path).map_err(|error| Failure::usage(format!("`{shown}`: {error}")))?;
    match run.any_ok() {
        true => Ok(run),
        false => Err(Failure::new(
            1,
            format!("`{shown}`: no call succeeded in this run: there is nothing to compare"),
        )),
    }
}
