//! `volley blast`: makes a sweep and prints its report.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::{Failure, Out, buffered, live_line, success_if, unless_hung_up};
use crate::blast::{self, BlastError};
use crate::cli::{BlastOptions, Format};
use crate::report::blast::{json, live, summary};
use crate::report::own_section;

/// The shortest interval between two updates of the live line: blasts are short.
const REDRAWN: Duration = Duration::from_millis(200);

impl From<BlastError> for Failure {
    fn from(error: BlastError) -> Self {
        Self {
            status: if error.is_usage() { 2 } else { 1 },
            message: error.to_string(),
        }
    }
}

/// Makes a sweep and prints its report. Succeeds if at least one call succeeded.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn blast(options: &BlastOptions) -> Result<ExitCode, Failure> {
    let run = &options.run;
    let out = Out::open(run)?;
    let mut line = live_line(run);
    let mut drawn: Option<Instant> = None;
    let sweep = blast::run(options, &mut |moment| {
        if drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
            drawn = Some(Instant::now());
            // The line is for a person; a sweep continues if nobody reads it.
            let _ = line.draw(&live::line(moment));
        }
    });
    let _ = line.clear();
    let sweep = sweep?;
    out.print(|mut out| match run.format {
        Format::Json => json::write(&sweep, &mut out),
        _ => summary::write(&sweep, &mut out),
    })?;
    if !run.quiet {
        buffered(io::stderr().lock(), |mut out| {
            own_section::write_warnings(&sweep.warnings, &mut out)
        })
        .or_else(unless_hung_up)?;
    }
    Ok(success_if(sweep.ok() > 0))
}
