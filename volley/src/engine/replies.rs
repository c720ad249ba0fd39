//! Replies on their way from the load to a reader, which prints or saves them.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use prost_reflect::MessageDescriptor;

use super::call::Ticket;
use super::script::{Plain, Script};
use crate::grpc::Status;
use crate::measure::Outcome;
use crate::request::{Method, Request, RequestError};
use crate::spec::Spec;

/// The most bytes that wait for the reader.
const MOST_BYTES: usize = 16 << 20;

/// What a record takes beside its message.
const RECORD_BYTES: usize = mem::size_of::<Record>();

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

/// What has come since the last time.
#[derive(Debug, Default)]
pub struct Taken {
    pub records: Vec<Record>,
    /// Nothing comes any more.
    pub is_over: bool,
}

/// The place where the load leaves replies, and their reader takes them.
#[derive(Debug)]
pub struct Replies {
    most_printed: u64,
    /// All are wanted, so that the load waits for a slow reader. Otherwise it goes on without it.
    saves: bool,
    printed: AtomicU64,
    kind: OnceLock<MessageDescriptor>,
    waiting: Mutex<Waiting>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    taken: Taken,
    bytes: usize,
    /// The reader takes no more.
    is_deaf: bool,
    dropped: u64,
    held_up: Duration,
}

impl Replies {
    /// The first `most_printed` are printed; all are saved if `saves`.
    #[must_use]
    pub fn new(most_printed: u64, saves: bool) -> Self {
        Self {
            most_printed,
            saves,
            printed: AtomicU64::new(0),
            kind: OnceLock::new(),
            waiting: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    /// The type of the replies, once there is one.
    pub fn kind(&self) -> Option<&MessageDescriptor> {
        self.kind.get()
    }

    /// Waits for records, and takes them all.
    pub fn take(&self) -> Taken {
        let mut waiting = self.lock();
        while waiting.taken.records.is_empty() && !waiting.taken.is_over {
            waiting = self
                .filled
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes = 0;
        self.emptied.notify_all();
        let is_over = waiting.taken.is_over;
        mem::replace(
            &mut waiting.taken,
            Taken {
                records: Vec::new(),
                is_over,
            },
        )
    }

    /// The reader takes no more: nobody waits for it.
    pub fn give_up(&self) {
        self.lock().is_deaf = true;
        self.emptied.notify_all();
    }

    /// Nothing comes any more.
    pub fn close(&self) {
        self.lock().taken.is_over = true;
        self.filled.notify_all();
    }

    /// How many replies were not printed because the reader was slow, and how long the load waited for it, all threads
    /// together.
    pub fn lost(&self) -> (u64, Duration) {
        let waiting = self.lock();
        (waiting.dropped, waiting.held_up)
    }

    /// Whether the next reply is one of the first.
    fn is_printed(&self) -> bool {
        self.printed.load(Ordering::Relaxed) < self.most_printed
            && self.printed.fetch_add(1, Ordering::Relaxed) < self.most_printed
    }

    /// Leaves a record to the reader. Waits for room only if all are to be saved.
    fn push(&self, record: Record) {
        let bytes = RECORD_BYTES
            + match &record {
                Record::Reply { message, .. } => message.len(),
                Record::Ended { .. } => 0,
            };
        let mut waiting = self.lock();
        let mut began = None;
        while waiting.bytes > 0 && waiting.bytes + bytes > MOST_BYTES && !waiting.is_deaf {
            if !self.saves {
                waiting.dropped += 1;
                return;
            }
            began.get_or_insert_with(Instant::now);
            waiting = self
                .emptied
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.held_up += began.map_or(Duration::ZERO, |began: Instant| began.elapsed());
        if waiting.is_deaf {
            return;
        }
        waiting.bytes += bytes;
        waiting.taken.records.push(record);
        if waiting.taken.records.len() == 1 {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // It is always whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
        if is_printed || self.replies.saves {
            self.replies.push(Record::Reply {
                call,
                index,
                message: message.to_vec(),
                is_printed,
            });
        }
    }

    fn ended(&mut self, ticket: &Ticket, outcome: &Outcome) {
        if self.replies.saves {
            let (call, outcome) = (ticket.number, outcome.clone());
            self.replies.push(Record::Ended { call, outcome });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn reply(length: usize) -> Record {
        Record::Reply {
            call: 0,
            index: 0,
            message: vec![0; length],
            is_printed: false,
        }
    }

    #[test]
    fn without_room_what_is_only_printed_is_dropped_and_counted() {
        let replies = Replies::new(9, false);
        replies.push(reply(MOST_BYTES));
        replies.push(reply(1));
        replies.push(reply(1));
        assert_eq!(replies.lost(), (2, Duration::ZERO));
        assert_eq!(replies.take().records.len(), 1);
    }

    #[test]
    fn without_room_what_is_saved_waits_for_the_reader() {
        let replies = Replies::new(0, true);
        replies.push(reply(MOST_BYTES));
        thread::scope(|scope| {
            let second = scope.spawn(|| replies.push(reply(1)));
            // The second cannot have been left here before the first is taken.
            assert_eq!(replies.take().records.len(), 1);
            second.join().unwrap();
            assert_eq!(replies.take().records.len(), 1);
        });
        assert_eq!(replies.lost().0, 0);
    }

    #[test]
    fn nobody_waits_for_a_reader_that_gave_up() {
        let replies = Replies::new(0, true);
        replies.push(reply(MOST_BYTES));
        replies.give_up();
        replies.push(reply(1));
        replies.close();
        assert_eq!(replies.take().records.len(), 1);
        assert!(replies.take().is_over);
    }

    #[test]
    fn only_the_first_are_printed() {
        let replies = Replies::new(2, false);
        let printed: Vec<bool> = (0..4).map(|_| replies.is_printed()).collect();
        assert_eq!(printed, [true, true, false, false]);
    }
}
