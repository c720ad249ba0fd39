//! `volley blast`: make a sweep and print its report.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::{Failure, Out, buffered, live_line, success_if, unless_hung_up};
use crate::blast::{self, BlastError};
use crate::cli::{BlastOptions, Format};
use crate::report::blast::{json, live, summary};
use crate::report::own_section;

/// How often the live line is drawn at most: blasts are short.
const REDRAWN: Duration = Duration::from_millis(200);

impl From<BlastError> for Failure {
    fn from(error: BlastError) -> Self {
        Self {
            status: if error.is_usage() { 2 } else { 1 },
            message: error.to_string(),
        }
    }
}

/// Make a sweep and print how it went. Success means that some call succeeded.
///
/// # Errors
///
/// Whatever kept the load from being put on, or the report from being written.
pub fn blast(options: &BlastOptions) -> Result<ExitCode, Failure> {
    let run = &options.run;
    let out = Out::open(run)?;
    let mut line = live_line(run);
    let mut drawn: Option<Instant> = None;
    let sweep = blast::run(options, &mut |moment| {
        if drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
            drawn = Some(Instant::now());
            // The line is for a person; a sweep does not end because nobody sees it.
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
