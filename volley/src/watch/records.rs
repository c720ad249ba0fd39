//! Requests of scenarios as lines of JSON.

use std::io::{self, BufWriter, Write};

use super::writer::Writer;
use crate::report::write_json;
use crate::scenario::record::{Record, Records, line};

/// A thread that writes requests.
pub type RecordWriter = Writer<Records, Record>;

/// Writes each request to `log`, and those that failed, with all that was sent and received, to `failures`.
#[must_use]
pub fn record_writer(
    records: Records,
    log: Option<Box<dyn Write + Send>>,
    failures: Option<Box<dyn Write + Send>>,
) -> RecordWriter {
    let [mut log, mut failures] = [log, failures].map(|file| file.map(BufWriter::new));
    Writer::start(records, Records::outbox, move |records, new| {
        for record in new {
            if let Some(log) = &mut log {
                write(records, record, false, log)?;
            }
            if let Some(failures) = failures.as_mut().filter(|_| record.is_whole) {
                write(records, record, true, failures)?;
            }
        }
        let mut files = [&mut log, &mut failures].into_iter().flatten();
        match new.is_empty() {
            true => files.try_for_each(Write::flush),
            false => Ok(()),
        }
    })
}

fn write(records: &Records, record: &Record, whole: bool, file: impl Write) -> io::Result<()> {
    match line(records, record, whole) {
        Some(line) => write_json(&line, file),
        None => Ok(()),
    }
}
