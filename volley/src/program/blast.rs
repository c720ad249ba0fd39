//! `volley blast`: makes a sweep and prints its report.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::status::success_if;
use super::{Failure, Out, live_line, remark, warn};
use crate::blast::{self, BlastError};
use crate::cli::{Blast, Format};
use crate::report::blast::{self as sweep, json, summary};
use crate::report::own_section;

/// The shortest interval between two updates of the live line: blasts are short.
const REDRAWN: Duration = Duration::from_millis(200);

impl From<BlastError> for Failure {
    fn from(error: BlastError) -> Self {
        Self::new(if error.is_usage() { 2 } else { 1 }, error)
    }
}

/// Makes a sweep and prints its report. Succeeds if at least one call succeeded.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn blast(blast: &Blast) -> Result<ExitCode, Failure> {
    let Blast { spec, output } = blast;
    warn(spec.run.request.raised_words().as_slice(), output);
    let out = Out::open(output.file.as_deref())?;
    let mut line = live_line(output);
    let mut drawn: Option<Instant> = None;
    let sweep = blast::run(spec, &mut |moment| {
        if drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
            drawn = Some(Instant::now());
            // The line is for a person; a sweep continues if nobody reads it.
            let _ = line.draw(&sweep::line(moment));
        }
    });
    let _ = line.clear();
    let sweep = sweep?;
    out.print(|mut out| match output.format {
        Format::Json => json::write(&sweep, &mut out),
        _ => summary::write(&sweep, &mut out),
    })?;
    remark(output, |mut out| {
        own_section::write_warnings(&sweep.warnings, &mut out)
    });
    Ok(success_if(sweep.ok() > 0))
}
