//! One request on its way: what its response is held against, and what is known of it so far.

use std::sync::Arc;

use slab::Slab;

use crate::plan::Plan;
use crate::record::Exchange;
use crate::report::StepNames;
use crate::response::{Culprit, Failure, Verdicts};
use crate::script::{Kept, Rewritten};
use crate::tally::{Reason, Timing};
use volley_base::budget::Buffer;
use volley_http::grpc::Splitter;
use volley_http::grpc::encoding::Encoding;
use volley_http::http::Follow;
use volley_http::http2::hpack::HeaderList;
use volley_request::Expected;

/// The key of a flight; a connection keeps it for each open request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlightKey(pub u32);

/// Memory of what is over is used again if it is at most so many bytes.
pub const MOST_KEPT: usize = 16 * 1024;

/// Whether a flight is not over, and no later one has its key.
#[inline]
pub fn is_open(flights: &Slab<Box<Flight>>, key: u32, serial: u64) -> bool {
    let flight = flights.get(key as usize);
    flight.is_some_and(|flight| flight.serial == serial)
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub reason: Reason,
    /// What was wrong, for people.
    pub words: String,
}

impl Fault {
    pub fn new(reason: Reason, words: String) -> Self {
        Self { reason, words }
    }

    /// The words, behind the name of the check or of the value that they are about.
    #[cold]
    pub fn named(self, plan: &Plan, step: usize) -> String {
        match plan.steps.get(step) {
            Some(step) if self.reason.index().is_some() => {
                let names = StepNames::new(step, &plan.slots);
                format!("{}: {}", names.reason(self.reason), self.words)
            }
            _ => self.words,
        }
    }
}

impl From<&Failure> for Fault {
    #[cold]
    fn from(failure: &Failure) -> Self {
        let reason = match failure.culprit {
            Culprit::Status => Reason::Status,
            Culprit::Check(at) => Reason::Check(index(at)),
            Culprit::Save(at) => Reason::Save(index(at)),
        };
        Self::new(reason, failure.words.clone())
    }
}

/// A place in a list of the step.
pub fn index(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}

impl Flight {
    /// Makes it the flight of another request. The memory of its buffers stays, unless it is much.
    pub fn renew(&mut self) {
        // All fields are named: none is forgotten.
        let Self {
            serial,
            iteration,
            step,
            place,
            was_sent,
            due_ns,
            asked_ns,
            sent_ns,
            first_ns,
            heard_ns,
            status,
            answered,
            coding,
            stated,
            is_checked,
            failure,
            verdicts,
            body,
            received,
            expected,
            encoding,
            splitter,
            keeps_reply,
            replies,
            refusals,
            path,
            target,
            host,
            redirects,
            moved,
            moves,
            rewritten,
            kept,
            exchange,
        } = self;
        (*serial, *iteration, *step) = (0, 0, 0);
        (*place, *was_sent) = (None, false);
        (*due_ns, *asked_ns, *sent_ns, *first_ns, *heard_ns) = (None, 0, 0, None, 0);
        (*status, *answered, *is_checked) = (None, false, false);
        (*coding, *stated, *failure) = (None, None, None);
        verdicts.clear();
        body.clear();
        *received = 0;
        (*expected, *encoding, *splitter) = (None, Encoding::default(), Splitter::default());
        (*keeps_reply, *replies, *refusals) = (false, 0, 0);
        path.clear();
        if path.capacity() > MOST_KEPT {
            path.shrink_to(MOST_KEPT);
        }
        (*target, *host, *redirects) = (0, 0, 0);
        (*moved, *moves) = (None, None);
        (*rewritten, *kept, *exchange) = (None, None, None);
    }

    /// Whether all went well.
    pub fn verdict(&mut self) -> Result<(), Fault> {
        if let Some(failure) = self.failure.take() {
            return Err(*failure);
        }
        // The code of a gRPC call is known last, and says most.
        let failures = self.verdicts.failures().iter();
        let Some(failure) = failures.min_by_key(|failure| failure.culprit != Culprit::Status)
        else {
            return Ok(());
        };
        Err(failure.into())
    }

    /// Its moments, up to the present.
    pub fn timing(&self, now_ns: u64) -> Timing {
        Timing {
            due_ns: self.due_ns,
            asked_ns: self.asked_ns,
            sent_ns: self.sent_ns,
            first_ns: self.first_ns,
            heard_ns: self.heard_ns,
            end_ns: now_ns,
        }
    }

    /// Adds what else was wrong, each reason once.
    #[cold]
    pub fn add_others(&mut self, late: impl Iterator<Item = Fault>, faults: &mut Vec<Fault>) {
        let later = self.exchange.iter_mut().flat_map(|it| it.later.drain(..));
        let later = later.map(|(reason, words)| Fault::new(reason, words));
        let verdicts = self.verdicts.failures().iter().map(Fault::from);
        for fault in later.chain(verdicts).chain(late) {
            if faults.iter().all(|known| known.reason != fault.reason) {
                faults.push(fault);
            }
        }
    }
}

/// A request that was sent, or waits for a connection.
#[derive(Debug, Default)]
pub struct Flight {
    /// Told apart from an earlier flight with the same key.
    pub serial: u64,
    /// The iteration that it belongs to.
    pub iteration: usize,
    /// Index into the plan's steps.
    pub step: usize,
    /// The connection and the stream that carry it; `None`: it waits.
    pub place: Option<OpenOn>,
    /// It was sent, perhaps not for the last time.
    pub was_sent: bool,
    /// When it was due, if it had such a moment, when it was asked for, and when it was first sent, in ns. Until then it
    /// is the same as asked for.
    pub due_ns: Option<u64>,
    pub asked_ns: u64,
    pub sent_ns: u64,
    /// When the head, or the first reply of a stream, came.
    pub first_ns: Option<u64>,
    /// When its last bytes came; 0: none have.
    pub heard_ns: u64,
    /// HTTP status, or gRPC code once that is known.
    pub status: Option<u16>,
    /// Whether the head came: the next fields are trailers.
    pub answered: bool,
    /// The body's `content-encoding`, if it has one and the body is read.
    pub coding: Option<Box<[u8]>>,
    /// The head of a call that states its status there: trailers may follow, and say more.
    pub stated: Option<Box<HeaderList>>,
    /// The body was checked as it came.
    pub is_checked: bool,
    /// The first thing that went wrong on its way.
    pub failure: Option<Box<Fault>>,
    /// What became of its step's checks and saves.
    pub verdicts: Verdicts,
    /// The body so far, if the step reads it.
    pub body: Buffer,
    /// Bytes of the body so far, read or not.
    pub received: u64,
    /// gRPC: what its replies must be.
    pub expected: Option<Arc<Expected>>,
    /// How compressed replies are compressed.
    pub encoding: Encoding,
    /// Splits a gRPC body into replies.
    pub splitter: Splitter,
    /// Something of the last reply is looked at: it is kept in `body`.
    pub keeps_reply: bool,
    /// gRPC replies so far.
    pub replies: u64,
    /// How often its server refused it before it began.
    pub refusals: u8,
    /// Path and query that it was sent with, to which target, and to which of its hosts.
    pub path: Vec<u8>,
    pub target: usize,
    pub host: usize,
    /// How many redirects it has followed, where the last one led, and where the next one leads.
    pub redirects: u8,
    pub moved: Option<Box<Moved>>,
    pub moves: Option<Box<Moved>>,
    /// What a script has made of the request.
    pub rewritten: Option<Box<Rewritten>>,
    /// The head of the response, for a script.
    pub kept: Option<Box<Kept>>,
    /// What is sent and received, if it is to be kept.
    pub exchange: Option<Box<Exchange>>,
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub target: usize,
    /// Path and query.
    pub path: Vec<u8>,
    pub follow: Follow,
    /// It leads to another origin, which gets no secrets.
    pub is_foreign: bool,
}

/// Where a request is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOn {
    /// The connection's key.
    pub wire: usize,
    /// Its stream; HTTP/1.1: 0.
    pub stream: u32,
}
