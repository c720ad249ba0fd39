//! One call while it is open: what it is to be, what came so far, how it ended.

use std::sync::Arc;

use crate::grpc::{Code, Splitter, Status};
use crate::http2::Closed;
use crate::measure::Outcome;
use crate::request::{Expected, Mismatch};

/// Which call this is, and when it was to be sent and was.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// The worker that waits for it.
    pub worker: u32,
    /// Its number, unique in the run.
    pub number: u64,
    /// When the schedule wanted it sent; without one, when it was sent.
    pub intended_ns: u64,
    /// When it was first sent: a try that the server refused is a part of the call's time.
    pub sent_ns: u64,
    /// How often the server refused it before it began.
    pub refusals: u8,
}

/// The state of an open call, kept by its stream.
pub struct Call {
    /// Which call it is.
    pub ticket: Ticket,
    /// What its replies must be.
    pub expected: Arc<Expected>,
    /// Replies received so far.
    pub replies: u64,
    /// When the last reply came; when it was sent before the first.
    pub last_ns: u64,
    /// Cuts DATA into messages.
    pub splitter: Splitter,
    /// Whether the first header block was seen: the next one holds the trailers.
    pub answered: bool,
    /// Whether the client has ended it as it was told to (`--stream-call-count`, `-duration`).
    pub enough: bool,
    /// The status in the trailers.
    pub status: Option<Status>,
    /// The first thing that was wrong, whatever the server's status says.
    pub fault: Option<Box<Status>>,
    /// That was a reply that is not what `--expect` wants, or one too many or too few.
    pub wrong_reply: bool,
}

impl Call {
    /// A call that is being sent.
    pub fn new(ticket: Ticket, expected: Arc<Expected>) -> Self {
        Self {
            ticket,
            expected,
            replies: 0,
            last_ns: ticket.sent_ns,
            splitter: Splitter::default(),
            answered: false,
            enough: false,
            status: None,
            fault: None,
            wrong_reply: false,
        }
    }

    /// Remember what was wrong, unless something was before.
    #[cold]
    pub fn blame(&mut self, code: Code, message: String) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(Status { code, message }));
        }
    }

    /// Remember that a reply is not what it should be.
    #[cold]
    pub fn wrong(&mut self, mismatch: &Mismatch) {
        if self.fault.is_some() {
            return;
        }
        // A reply that is no protobuf is a broken server's; a wrong one came whole and is still wrong.
        let code = match mismatch {
            Mismatch::Malformed { .. } => Code::Internal,
            Mismatch::Value { .. } | Mismatch::NoRequest { .. } => Code::DataLoss,
        };
        self.blame(code, mismatch.to_string());
        self.wrong_reply = true;
    }

    /// Find fault with how the call ended, from all that was seen.
    pub fn judge(&mut self, why: Closed) {
        if self.fault.is_none() && !self.enough {
            self.judge_end(why);
        }
    }

    /// How the call ended; judge it first.
    pub fn outcome(&self) -> Outcome {
        match (&self.fault, &self.status) {
            (Some(fault), _) => failed(fault),
            (None, Some(status)) if status.code != Code::Ok => failed(status),
            (None, _) => Outcome::Ok,
        }
    }

    fn judge_end(&mut self, why: Closed) {
        match why {
            Closed::Ended => self.judge_ended(),
            Closed::Reset(code) => {
                let name = code.map_or_else(|n| format!("error {n}"), |c| c.name().to_owned());
                self.blame(
                    code.map_or(Code::Internal, Code::from_reset),
                    format!("the server reset the stream ({name})"),
                );
            }
            Closed::Malformed(reason) => {
                self.blame(Code::Internal, format!("malformed response: {reason}"));
            }
            Closed::Refused => self.blame(Code::Unavailable, "the server refused it".to_owned()),
            Closed::Cancelled if self.status.is_some() => {}
            Closed::Cancelled => self.blame(Code::Canceled, "cancelled".to_owned()),
        }
    }

    fn judge_ended(&mut self) {
        match &self.status {
            None => self.blame(
                Code::Internal,
                "the server closed the stream without sending trailers".to_owned(),
            ),
            Some(status) if status.code != Code::Ok => {}
            Some(_) if !self.splitter.is_between_messages() => self.blame(
                Code::Internal,
                "the stream ended in the middle of a message".to_owned(),
            ),
            Some(_) => {
                if let Some(expected) = self.expected.replies()
                    && expected != self.replies
                {
                    let got = self.replies;
                    self.blame(
                        Code::DataLoss,
                        format!("{got} replies, expected {expected}"),
                    );
                    self.wrong_reply = true;
                }
            }
        }
    }
}

/// The outcome of a call that ended with a status other than OK.
pub fn failed(status: &Status) -> Outcome {
    Outcome::Failed {
        code: status.code,
        error: status.to_string(),
    }
}
