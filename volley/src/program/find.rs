//! `volley find`: makes a search and prints its windows and its answer.

use std::process::ExitCode;

use super::{Failure, Out, live_line, warn};
use crate::cli::{Find, Format};
use crate::find::{report, run};

/// Makes a search and prints what it has found. Succeeds with any answer.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn find(find: &Find) -> Result<ExitCode, Failure> {
    let Find { spec, output } = find;
    warn(spec.run.request.raised_words().as_slice(), output);
    let out = Out::open(output.file.as_deref())?;
    let mut line = live_line(output);
    let is_text = output.format == Format::Summary;
    let mut problem = None;
    out.print(|mut out| {
        if is_text {
            report::write_heads(&mut out)?;
        }
        let found = run::run(spec, &mut |step| {
            // What cannot be written now is an error at the end.
            let _ = match is_text {
                true => report::write_step(step, &mut out).and_then(|()| out.flush()),
                false => line.draw(&report::line(step)),
            };
        });
        let _ = line.clear();
        match found {
            Ok(found) if is_text => report::write_answer(&found, &mut out),
            Ok(found) => report::write(&found, &mut out),
            Err(error) => {
                problem = Some(error);
                Ok(())
            }
        }
    })?;
    match problem {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}
