//! `volley find`: makes a search and prints its windows and its answer.

use std::io::{self, Write};
use std::process::ExitCode;

use super::{Failure, Out, live_line, warn};
use crate::cli::{Find, Format};
use crate::find::search::{Answer, Step};
use crate::find::{report, run};

/// Makes a search and prints what it has found. Succeeds if that is anything.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn find(find: &Find) -> Result<ExitCode, Failure> {
    let Find { spec, output } = find;
    warn(spec.run.request.raised_words().as_slice(), output);
    let out = Out::open(output.file.as_deref())?;
    let is_text = output.format == Format::Summary;
    // Without a file, a person sees each window as soon as it is over.
    let shows_steps = is_text && output.file.is_none();
    let mut line = live_line(output);
    let mut shown = 0;
    let found = run::run(spec, &mut |step| {
        // What cannot be written now is an error at the end.
        let _ = match shows_steps {
            true => show(step, shown == 0),
            false => line.draw(&report::line(step)),
        };
        shown += 1;
    });
    let _ = line.clear();
    let (found, error) = found?;
    out.print(|mut out| match is_text {
        false => report::write(&found, &mut out),
        true => {
            if !shows_steps {
                report::write_heads(&mut out)?;
                for step in &found.steps {
                    report::write_step(step, &mut out)?;
                }
            }
            report::write_answer(&found, &mut out)
        }
    })?;
    if let Some(error) = error {
        return Err(error.into());
    }
    Ok(match found.answer {
        Answer::Unknown => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

/// Prints a window, and the heads before the first one.
fn show(step: &Step, is_first: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_first {
        report::write_heads(&mut out)?;
    }
    report::write_step(step, &mut out)?;
    out.flush()
}
