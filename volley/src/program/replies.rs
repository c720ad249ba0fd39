//! The replies of a run, printed or saved.

use std::fs::File;
use std::io;

use super::Failure;
use crate::cli::Watched;
use crate::pace::whole_ns;
use crate::report::numbers::duration;
use crate::report::{Report, Warning};
use crate::watch::{ReplyWriter, Written};

/// What takes the replies; `None` if nobody asks for them.
pub fn writer(watched: &Watched) -> Result<Option<ReplyWriter>, Failure> {
    let file = watched.save_replies.as_deref().map(|path| {
        File::create(path).map_err(|error| {
            let path = path.display();
            io::Error::other(format!("`--save-replies`: cannot write `{path}`: {error}"))
        })
    });
    let file = file.transpose()?;
    let is_asked_for = watched.print_replies > 0 || file.is_some();
    Ok(is_asked_for.then(|| ReplyWriter::start(watched.print_replies, file)))
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
    written.saved.map_err(|error| {
        io::Error::other(format!(
            "`--save-replies`: not all replies are saved: {error}"
        ))
        .into()
    })
}
