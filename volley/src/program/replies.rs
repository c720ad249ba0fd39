//! The replies of a run, printed or saved.

use std::io::Write;

use super::{Failure, unless_hung_up};
use crate::measure::Warning;
use crate::pace::whole_ns;
use crate::report::Report;
use crate::units::numbers::duration;
use crate::watch::{ReplyWriter, Written, reply_writer};

/// What takes the replies; `None` if nobody asks for them.
pub fn writer(printed: u64, saved: Option<Box<dyn Write + Send>>) -> Option<ReplyWriter> {
    let is_asked_for = printed > 0 || saved.is_some();
    is_asked_for.then(|| reply_writer(printed, saved))
}

/// Adds to a report what its reader must know about the replies.
pub fn note(report: &mut Report, written: Option<Written>) -> Result<(), Failure> {
    let Some(written) = written else {
        return Ok(());
    };
    if written.dropped > 0 {
        let dropped = written.dropped;
        report.warnings.push(Warning::RepliesDropped { dropped });
    }
    if !written.held_up.is_zero() {
        let waited = duration(whole_ns(written.held_up));
        report.warnings.push(Warning::RepliesHeldUp { waited });
    }
    let done = written.done.or_else(unless_hung_up);
    done.map_err(|error| {
        let problem = format!("`--save-replies`: not all replies are saved: {error}");
        Failure::new(1, problem)
    })
}
