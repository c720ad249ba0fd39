//! Single requests on their way to a reader: what was sent, what came back, and what was wrong.

mod line;
mod mask;
mod page;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::{Plan, Request};
use super::report::{Names, StepNames};
use super::secrets::Secrets;
use super::tally::{Reason, Timing};
pub use line::line;
pub use page::page;
use volley_base::excerpt::excerpt;
use volley_base::outbox::Outbox;
use volley_protobuf::Message;

/// So many failed requests are kept with all that was sent and received.
const MOST_FAILURES: u64 = 1_000;

/// So much of a body stands in a message, in characters.
const MOST_SAID: usize = 200;

/// So much of a body is kept, in bytes.
const MOST_BODY: usize = 64 * 1024;

/// What is kept of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeps {
    /// When it was sent, how long it took, and what came of it.
    pub outcomes: bool,
    pub contents: Contents,
}

/// Of which requests all is kept that was sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Nothing,
    /// The first that fail.
    Failures,
    Everything,
}

/// The place where a run leaves its requests, and their reader takes them.
#[derive(Debug)]
pub struct Records {
    keeps: Keeps,
    outbox: Outbox<Record>,
    failed: AtomicU64,
    /// When the run's clock began, in ns since 1970.
    epoch_ns: OnceLock<u64>,
    labels: Vec<Label>,
}

/// What a reader must know of a step.
#[derive(Debug)]
struct Label {
    names: StepNames,
    /// The type of the replies of a gRPC call.
    replies: Option<Message>,
}

/// A request that is over.
#[derive(Debug)]
pub struct Record {
    /// Index into the plan's steps.
    pub step: usize,
    /// Its iteration's number, unique in the load; `None` for setup and teardown.
    pub iteration: Option<u64>,
    /// In ns since the beginning of the run's clock.
    pub timing: Timing,
    pub was_sent: bool,
    /// HTTP status or gRPC code.
    pub status: Option<u16>,
    /// Bytes of the response's body.
    pub received: u64,
    pub redirects: u8,
    /// Why it failed. With an exchange, all that was wrong; the first one counts.
    pub faults: Vec<(Reason, String)>,
    pub exchange: Option<Box<Exchange>>,
    /// It is kept with all that there is of it.
    pub is_whole: bool,
}

/// All that was sent and received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    pub method: String,
    pub url: Vec<u8>,
    pub headers: Fields,
    pub body: Kept,
    /// Whether a response came, and its headers.
    pub is_answered: bool,
    pub fields: Fields,
    pub trailers: Fields,
    /// The response's body as it came; gRPC: the last reply.
    pub reply: Kept,
    /// gRPC: how many replies came.
    pub replies: u64,
    /// What the step saved.
    pub saved: Fields,
    /// What was wrong with it after the first thing, each reason once.
    pub later: Vec<(Reason, String)>,
    /// Values of the iteration whose names promise a secret. They are never shown.
    pub secrets: Fields,
}

/// Names and values.
pub type Fields = Vec<(String, Vec<u8>)>;

/// The beginning of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub bytes: Vec<u8>,
    /// How long the whole is.
    pub length: u64,
}

impl Exchange {
    /// All names and values of it.
    fn fields(&self) -> [&Fields; 5] {
        [
            &self.headers,
            &self.fields,
            &self.trailers,
            &self.saved,
            &self.secrets,
        ]
    }

    /// The beginning of a response's body for a message, without secrets.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        let reply = line::reply_text(self, None);
        let reply = Secrets::of(self, &reply).masked(&reply);
        (!reply.is_empty()).then(|| format!("`{}`", excerpt(&reply, MOST_SAID)))
    }
}

impl Kept {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        let room = MOST_BODY.saturating_sub(self.bytes.len());
        self.bytes.extend(piece.iter().take(room));
    }

    /// Whether something is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len() as u64
    }
}

impl From<&[u8]> for Kept {
    fn from(bytes: &[u8]) -> Self {
        let mut kept = Self::default();
        kept.push(bytes);
        kept
    }
}

impl Records {
    /// For the runs of a plan.
    #[must_use]
    pub fn new(plan: &Plan, keeps: Keeps) -> Self {
        let steps = Names::from(plan).steps.into_iter().zip(&plan.steps);
        let labels = steps.map(|(names, step)| Label {
            names,
            replies: match &step.request {
                Request::Grpc(request) => Some(request.method.output.clone()),
                Request::Http(_) => None,
            },
        });
        Self {
            keeps,
            outbox: Outbox::new(true),
            failed: AtomicU64::new(0),
            epoch_ns: OnceLock::new(),
            labels: labels.collect(),
        }
    }

    /// Notes when the run's clock began, in ns since 1970.
    pub fn begin(&self, epoch_ns: u64) {
        self.epoch_ns.get_or_init(|| epoch_ns);
    }

    /// Where their reader finds them.
    pub fn outbox(&self) -> &Outbox<Record> {
        &self.outbox
    }

    /// Whether requests and responses must be kept while they are open.
    #[inline]
    pub fn keeps_contents(&self) -> bool {
        self.keeps.contents != Contents::Nothing
    }

    /// Leaves a request to the reader, as far as it is to be kept. Waits for a reader that is slow.
    pub fn push(&self, mut record: Record) {
        let is_whole = match self.keeps.contents {
            Contents::Nothing => false,
            Contents::Failures => {
                !record.faults.is_empty()
                    && self.failed.fetch_add(1, Ordering::Relaxed) < MOST_FAILURES
            }
            Contents::Everything => true,
        };
        if !is_whole && !self.keeps.outcomes {
            return;
        }
        record.is_whole = is_whole;
        record.exchange = record.exchange.filter(|_| is_whole);
        let bytes = record.bytes();
        self.outbox.push(record, bytes);
    }

    /// How many failed requests were not kept whole because there were too many.
    pub fn left_out(&self) -> u64 {
        let failed = self.failed.load(Ordering::Relaxed);
        failed.saturating_sub(MOST_FAILURES)
    }
}

impl Record {
    /// Memory that it takes.
    fn bytes(&self) -> usize {
        let fields = |fields: &Fields| {
            let bytes = fields.iter().map(|(name, value)| name.len() + value.len());
            bytes.sum::<usize>()
        };
        let exchange = self.exchange.as_ref().map_or(0, |one| {
            let lists = one.fields().map(fields).iter().sum::<usize>();
            lists + one.url.len() + one.body.bytes.len() + one.reply.bytes.len()
        });
        let words: usize = self.faults.iter().map(|(_, words)| words.len()).sum();
        size_of::<Self>() + words + exchange
    }
}
