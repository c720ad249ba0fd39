//! Replies as lines of JSON: the first on stderr, all in a file.

use std::io::{self, BufWriter, IsTerminal, Write};

use serde_json::{Value, json};

use super::writer::Writer;
use crate::measure::Outcome;
use crate::plain::{Record, Replies};
use crate::protobuf::Zeros;
use crate::report::write_json;
use crate::request::messages::{self, LEFT_OUT};

/// Clears the live line, which is drawn again soon.
const CLEAR: &str = "\r\x1b[K";

/// A thread that writes replies.
pub type ReplyWriter = Writer<Replies, Record>;

/// Writes the replies of a run: the first `printed` go to stderr, all to `saved` if there is one.
#[must_use]
pub fn reply_writer(printed: u64, saved: Option<Box<dyn Write + Send>>) -> ReplyWriter {
    let source = Replies::new(printed, saved.is_some());
    let mut file = saved.map(BufWriter::new);
    let clear = match io::stderr().is_terminal() {
        true => CLEAR,
        false => "",
    };
    let mut line = Vec::new();
    Writer::start(source, Replies::outbox, move |replies, records| {
        for record in records {
            line.clear();
            write_json(&of(record, replies), &mut line)?;
            if let Record::Reply {
                is_printed: true, ..
            } = record
            {
                // For a person; if nobody reads it, the run continues.
                let _ = io::stderr().write_all(&[clear.as_bytes(), &line].concat());
            }
            if let Some(file) = &mut file {
                file.write_all(&line)?;
            }
        }
        match &mut file {
            Some(file) if records.is_empty() => file.flush(),
            _ => Ok(()),
        }
    })
}

fn of(record: &Record, replies: &Replies) -> Value {
    match record {
        Record::Reply {
            call,
            index,
            message,
            ..
        } => {
            let kind = replies.kind();
            let zeros = Zeros::default();
            let reply = kind.map(|kind| messages::to_json(message, kind, &zeros));
            let mut shown = json!({ "call": call, "index": index, "reply": reply });
            if zeros.are_left_out() {
                shown["zero_fields"] = LEFT_OUT.into();
            }
            shown
        }
        Record::Ended { call, outcome } => match outcome {
            Outcome::Ok => json!({ "call": call, "status": "OK" }),
            Outcome::Failed { code, error, .. } => {
                json!({ "call": call, "status": code.name(), "error": error })
            }
        },
    }
}
