//! Replies as lines of JSON: the first on stderr, all in a file.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::{Record, Replies};
use crate::measure::Outcome;
use crate::report::write_json;
use crate::request::messages;

/// Clears the live line, which is drawn again soon.
const CLEAR: &str = "\r\x1b[K";

/// A thread that writes the replies of a run.
pub struct ReplyWriter {
    replies: Arc<Replies>,
    thread: JoinHandle<io::Result<()>>,
}

/// What became of the replies.
#[derive(Debug)]
pub struct Written {
    /// How many were not printed.
    pub dropped: u64,
    /// How long the load waited, all threads together.
    pub held_up: Duration,
    /// Whether all were saved.
    pub saved: io::Result<()>,
}

impl ReplyWriter {
    /// Starts it: the first `printed` replies go to stderr, all to `saved` if there is one.
    #[must_use]
    pub fn start(printed: u64, saved: Option<Box<dyn Write + Send>>) -> Self {
        let replies = Arc::new(Replies::new(printed, saved.is_some()));
        let source = Arc::clone(&replies);
        let thread = thread::spawn(move || {
            let done = write(&source, saved.map(BufWriter::new));
            source.give_up();
            done
        });
        Self { replies, thread }
    }

    /// Where the load leaves its replies.
    #[must_use]
    pub fn replies(&self) -> &Arc<Replies> {
        &self.replies
    }

    /// Writes what is left.
    #[must_use]
    pub fn finish(self) -> Written {
        self.replies.close();
        let saved = self.thread.join();
        let (dropped, held_up) = self.replies.lost();
        Written {
            dropped,
            held_up,
            saved: saved.unwrap_or_else(|_| Err(io::Error::other("its thread is gone"))),
        }
    }
}

fn write(replies: &Replies, mut file: Option<impl Write>) -> io::Result<()> {
    let clear = if io::stderr().is_terminal() {
        CLEAR
    } else {
        ""
    };
    let mut line = Vec::new();
    loop {
        let taken = replies.take();
        for record in &taken.records {
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
        if taken.is_over {
            return file.as_mut().map_or(Ok(()), Write::flush);
        }
    }
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
            let reply = kind.map(|kind| messages::to_json(message, kind));
            json!({ "call": call, "index": index, "reply": reply })
        }
        Record::Ended { call, outcome } => match outcome {
            Outcome::Ok => json!({ "call": call, "status": "OK" }),
            Outcome::Failed { code, error } => {
                json!({ "call": call, "status": code.name(), "error": error })
            }
        },
    }
}
