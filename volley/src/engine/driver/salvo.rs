//! Calls that leave together: laid ready on their connections, then let go at one moment.

use mio::Events;

use super::{Book, Driver, EngineError, Stage};
use crate::engine::call::{self, Ticket};
use crate::engine::sink::MOST_REFUSALS;
use crate::grpc::{Code, Status};

impl<B: Book> Driver<'_, B> {
    /// Make all connections fit for the next salvo, after [`connect`](Self::connect) or an earlier one: take in what
    /// came meanwhile, and open those anew that are gone. One that cannot be opened stays down.
    pub(crate) fn mend(&mut self, events: &mut Events) -> Result<(), EngineError> {
        self.stage = Stage::Salvo;
        self.turn(events, 0)?;
        self.close_retired(self.clock.now_ns());
        if self.links.iter().all(|link| link.wire.is_some()) {
            return Ok(());
        }
        let deadline_ns = self.begin_to_connect();
        loop {
            self.next_address();
            let mut links = self.links.iter();
            if links.all(|link| link.down.is_some() || self.is_ready(link.wire)) {
                return Ok(());
            }
            let now_ns = self.clock.now_ns();
            if now_ns >= deadline_ns || self.is_interrupted() {
                self.expect_greetings(now_ns);
                return Ok(());
            }
            self.turn(events, deadline_ns)?;
        }
    }

    /// Lay the calls of link `at` ready: encoded, as far as the server has room for them, and not sent. `calls` are
    /// pairs of a place in the book and the call's number.
    pub(crate) fn lay(
        &mut self,
        at: usize,
        calls: impl DoubleEndedIterator<Item = (u32, u64)>,
    ) -> Result<(), EngineError> {
        let now_ns = self.clock.now_ns();
        if let Some(link) = self.links.get_mut(at) {
            // They are taken from the end. None is sent a second time: a refusal is a failure here.
            link.again.extend(calls.rev().map(|(place, number)| Ticket {
                worker: place,
                number,
                intended_ns: now_ns,
                sent_ns: now_ns,
                refusals: MOST_REFUSALS,
            }));
        }
        self.fill(at, now_ns)
    }

    /// Let the calls of these links go; when the first did.
    pub(crate) fn let_go(&mut self, links: impl Iterator<Item = usize>) -> u64 {
        let now_ns = self.clock.now_ns();
        for at in links {
            match self.links.get(at).and_then(|link| link.wire) {
                Some(key) => self.flush(key, now_ns),
                None => self.broken = true,
            }
        }
        self.fail_stranded(now_ns);
        now_ns
    }

    /// Take what comes until a moment, or for as long as nothing comes.
    pub(crate) fn take(&mut self, events: &mut Events, until_ns: u64) -> Result<(), EngineError> {
        self.turn(events, until_ns)?;
        self.fail_stranded(self.clock.now_ns());
        Ok(())
    }

    /// End all calls that are open or wait: they took too long.
    pub(crate) fn end_all(&mut self) {
        let now_ns = self.clock.now_ns();
        self.end_late(now_ns, 0);
        self.end_unsent(now_ns, 0);
        for at in 0..self.links.len() {
            if let Some(key) = self.links.get(at).and_then(|link| link.wire) {
                self.flush(key, now_ns);
            }
        }
    }

    /// The calls that wait for room on a connection that is gone will not find any.
    fn fail_stranded(&mut self, now_ns: u64) {
        if !std::mem::take(&mut self.broken) {
            return;
        }
        for at in 0..self.links.len() {
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            if link.wire.is_some() || link.again.is_empty() {
                continue;
            }
            let reason = match &link.down {
                Some(down) => format!("there is no connection: {}", down.reason),
                None => "there is no connection".to_owned(),
            };
            let status = Status::new(Code::Unavailable, reason);
            for ticket in std::mem::take(&mut link.again) {
                if let Some(mut sink) = self.sink(at, now_ns) {
                    sink.over(ticket, call::failed(&status));
                }
            }
        }
    }

    /// The thread's book.
    pub(crate) fn book(&mut self) -> &mut B {
        &mut self.book
    }

    /// Which thread this is, from 0.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// The clock that all threads share.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Connections opened anew after the first ones.
    pub(crate) fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// The fewest streams a server allowed, where that held calls back.
    pub(crate) fn stream_limit(&self) -> Option<u32> {
        self.stream_limit
    }
}
