//! Replies on their way from the load to a reader, which prints or saves them.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::call::Ticket;
use super::script::{Plain, Script};
use volley_base::outbox::Outbox;
use volley_http::grpc::Status;
use volley_load::spec::Spec;
use volley_protobuf::Message;
use volley_report::measure::Outcome;
use volley_request::{Method, Request, RequestError};

/// What happened on a call.
#[derive(Debug, PartialEq)]
pub enum Record {
    /// A reply came; `index` counts from 0.
    Reply {
        call: u64,
        index: u64,
        message: Vec<u8>,
        is_printed: bool,
    },
    /// The call ended.
    Ended { call: u64, outcome: Outcome },
}

/// The place where the load leaves replies, and their reader takes them.
#[derive(Debug)]
pub struct Replies {
    most_printed: u64,
    printed: AtomicU64,
    kind: OnceLock<Message>,
    outbox: Outbox<Record>,
}

impl Replies {
    /// The first `most_printed` are printed; all are saved if `saves`.
    #[must_use]
    pub fn new(most_printed: u64, saves: bool) -> Self {
        Self {
            most_printed,
            printed: AtomicU64::new(0),
            kind: OnceLock::new(),
            outbox: Outbox::new(saves),
        }
    }

    /// The type of the replies, once there is one.
    pub fn kind(&self) -> Option<&Message> {
        self.kind.get()
    }

    /// Where their reader finds them.
    pub fn outbox(&self) -> &Outbox<Record> {
        &self.outbox
    }

    /// Whether the next reply is one of the first.
    fn is_printed(&self) -> bool {
        self.printed.load(Ordering::Relaxed) < self.most_printed
            && self.printed.fetch_add(1, Ordering::Relaxed) < self.most_printed
    }

    /// Leaves a record to the reader.
    fn push(&self, record: Record) {
        let bytes = match &record {
            Record::Reply { message, .. } => message.len(),
            Record::Ended { .. } => 0,
        };
        self.outbox.push(record, mem::size_of::<Record>() + bytes);
    }
}

/// Plain calls whose replies are passed on.
pub struct Reading {
    plain: Plain,
    replies: Arc<Replies>,
}

impl Reading {
    /// The script of one thread.
    ///
    /// # Errors
    ///
    /// If no request can be made.
    pub fn new(spec: &Spec, method: &Method, replies: &Arc<Replies>) -> Result<Self, RequestError> {
        replies.kind.get_or_init(|| method.output.clone());
        Ok(Self {
            plain: Plain::new(spec, method)?,
            replies: Arc::clone(replies),
        })
    }
}

impl Script for Reading {
    const READS: bool = true;

    /// The call's number.
    type Mark = u64;

    fn again(&self, spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        Ok(Self {
            plain: self.plain.again(spec, method)?,
            replies: Arc::clone(&self.replies),
        })
    }

    fn request(&mut self, ticket: &Ticket) -> Result<(&Request, u64), Status> {
        let (request, ()) = self.plain.request(ticket)?;
        Ok((request, ticket.number))
    }

    fn message(&mut self, ticket: &Ticket, n: u64) -> Result<Option<&[u8]>, Status> {
        self.plain.message(ticket, n)
    }

    fn reply(&mut self, call: u64, index: u64, message: &[u8]) {
        let is_printed = self.replies.is_printed();
        if is_printed || self.replies.outbox.waits() {
            self.replies.push(Record::Reply {
                call,
                index,
                message: message.to_vec(),
                is_printed,
            });
        }
    }

    fn ended(&mut self, ticket: &Ticket, outcome: &Outcome) {
        if self.replies.outbox.waits() {
            let (call, outcome) = (ticket.number, outcome.clone());
            self.replies.push(Record::Ended { call, outcome });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_are_printed() {
        let replies = Replies::new(2, false);
        let printed: Vec<bool> = (0..4).map(|_| replies.is_printed()).collect();
        assert_eq!(printed, [true, true, false, false]);
    }
}
