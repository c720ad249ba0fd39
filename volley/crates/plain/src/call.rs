//! One open call: its plan, its state and its end.

use std::sync::Arc;

use volley_http::grpc::encoding::Encoding;
use volley_http::grpc::{Code, Splitter, Status};
use volley_http::http2::Closed;
use volley_report::measure::{Awaits, Cause, Outcome};
use volley_request::{Expected, Mismatch};

/// Which call this is, when it was due, and when it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticket {
    /// The worker that waits for it.
    pub worker: u32,
    /// Its number, unique in the run.
    pub number: u64,
    /// When it was due; without a schedule, when it was sent.
    pub intended_ns: u64,
    /// When it was first sent. A try that the server refused is part of the call's time.
    pub sent_ns: u64,
    /// How often the server refused it before it began.
    pub refusals: u8,
}

/// The state of an open call; its stream keeps it.
pub struct Call<M> {
    /// Which call it is.
    pub ticket: Ticket,
    /// What it carries for its script.
    pub mark: M,
    /// What its replies must be.
    pub expected: Arc<Expected>,
    /// Replies received so far.
    pub replies: u64,
    /// Of a stream that lives: how many messages its worker had sent before.
    pub first: u64,
    /// When the last reply came; before the first one, when the call was sent.
    pub last_ns: u64,
    /// Splits DATA into messages.
    pub splitter: Splitter,
    /// How they are compressed, if they are.
    pub encoding: Encoding,
    /// Whether the first header block came: the next one holds the trailers.
    pub answered: bool,
    /// Whether the client has ended it as configured (`--stream-call-count`, `--stream-call-duration`).
    pub enough: bool,
    /// The status in the trailers.
    pub status: Option<Status>,
    /// The first problem found, whatever the server's status is.
    pub fault: Option<Box<Status>>,
    /// What ended it, if it failed.
    pub cause: Cause,
    /// Whether that problem is a wrong reply (`--expect`) or a wrong number of replies.
    pub wrong_reply: bool,
}

impl<M> Call<M> {
    /// A call that is being sent.
    pub fn new(ticket: Ticket, mark: M, expected: Arc<Expected>) -> Self {
        Self {
            ticket,
            mark,
            expected,
            replies: 0,
            first: 0,
            last_ns: ticket.sent_ns,
            splitter: Splitter::default(),
            encoding: Encoding::default(),
            answered: false,
            enough: false,
            status: None,
            fault: None,
            cause: Cause::Answer,
            wrong_reply: false,
        }
    }

    /// Records a problem, unless there was one before.
    #[cold]
    pub fn blame(&mut self, code: Code, message: String) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(Status { code, message }));
        }
    }

    /// The same for what ended it: the first such cause counts, whatever was wrong before.
    #[cold]
    pub fn blame_for(&mut self, cause: Cause, code: Code, message: String) {
        if self.cause == Cause::Answer {
            self.cause = cause;
        }
        self.blame(code, message);
    }

    /// Records a wrong reply.
    #[cold]
    pub fn wrong(&mut self, mismatch: &Mismatch) {
        if self.fault.is_some() {
            return;
        }
        // A reply that is not protobuf is a server error; a wrong reply arrived whole but is wrong.
        let code = match mismatch {
            Mismatch::Malformed { .. } => Code::Internal,
            Mismatch::Value { .. } | Mismatch::NoRequest { .. } => Code::DataLoss,
        };
        self.blame(code, mismatch.to_string());
        self.wrong_reply = true;
    }

    /// Whether the server has given it this status.
    #[inline]
    pub fn has_code(&self, code: Code) -> bool {
        self.status
            .as_ref()
            .is_some_and(|status| status.code == code)
    }

    /// What an open call waits for.
    pub fn awaits(&self) -> Awaits {
        let all = self.expected.replies();
        match self.replies {
            0 => Awaits::FirstReply,
            replies if all == Some(replies) => Awaits::End,
            _ => Awaits::NextReply {
                since_ns: self.last_ns,
            },
        }
    }

    /// Looks for problems in how the call ended.
    pub fn judge(&mut self, why: Closed) {
        if self.fault.is_none() && !self.enough {
            self.judge_end(why);
        }
    }

    /// The call's outcome; call `judge` first.
    pub fn outcome(&self) -> Outcome {
        match (&self.fault, &self.status) {
            (Some(fault), _) => failed(fault, self.cause),
            (None, Some(status)) if status.code != Code::Ok => failed(status, self.cause),
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
            Some(_) if !self.splitter.is_between_messages() => {
                self.blame(
                    Code::Internal,
                    "the stream ended in the middle of a message".to_owned(),
                );
                self.wrong_reply = true;
            }
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

/// The outcome of a call with a status other than OK.
pub fn failed(status: &Status, cause: Cause) -> Outcome {
    Outcome::Failed {
        code: status.code,
        error: status.to_string(),
        cause,
    }
}
