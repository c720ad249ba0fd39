//! Calls that leave together: prepared on their connections, then released at one moment.

use super::{Driver, LoadError, Recorder, Script, Stage};
use crate::call::Ticket;
use crate::sink::MOST_REFUSALS;
use volley_http::grpc::{Code, Status};
use volley_report::measure::Cause;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Prepares all connections for the next blast, after [`connect`](Self::connect) or an earlier one: handles what
    /// arrived in between, and reopens lost connections. One that cannot be opened stays down.
    pub(crate) fn mend(&mut self) -> Result<(), LoadError> {
        self.stage = Stage::Blast;
        self.turn(0)?;
        self.close_retired(self.clock.now_ns());
        if self.links.iter().all(|link| link.place.wire.is_some()) {
            return Ok(());
        }
        let deadline_ns = self.begin_to_connect();
        loop {
            self.out_of_addresses();
            let mut links = self.links.iter();
            if links.all(|link| link.is_down_for_good() || link.place.wire.is_some()) {
                return Ok(());
            }
            let now_ns = self.clock.now_ns();
            self.expect_greetings(now_ns);
            if now_ns >= deadline_ns || self.is_interrupted() {
                self.end_attempts(now_ns);
                return Ok(());
            }
            self.turn(deadline_ns)?;
        }
    }

    /// Prepares the calls of link `at`: encodes them, as far as the server has room for them, but does not send them.
    /// `calls` are pairs of the call's place in the recorder and its number.
    pub(crate) fn lay(&mut self, at: usize, calls: impl DoubleEndedIterator<Item = (u32, u64)>) {
        let now_ns = self.clock.now_ns();
        if let Some(link) = self.links.get_mut(at) {
            // They are taken from the end. None is sent twice: here, a refusal is a failure.
            link.again.extend(calls.rev().map(|(place, number)| Ticket {
                worker: place,
                number,
                intended_ns: now_ns,
                sent_ns: now_ns,
                refusals: MOST_REFUSALS,
            }));
        }
        self.fill(at, now_ns);
    }

    /// Releases the calls of these links. Returns when the first was sent.
    pub(crate) fn let_go(&mut self, links: impl Iterator<Item = usize>) -> u64 {
        let now_ns = self.clock.now_ns();
        for at in links {
            match self.links.get(at).and_then(|link| link.place.wire) {
                Some(key) => self.net.flush(key),
                None => self.broken = true,
            }
        }
        self.fail_stranded(now_ns);
        now_ns
    }

    /// Receives until a moment, or until nothing is left to receive.
    pub(crate) fn take(&mut self, until_ns: u64) -> Result<(), LoadError> {
        self.turn(until_ns)?;
        self.fail_stranded(self.clock.now_ns());
        Ok(())
    }

    /// Ends all calls that are open or waiting: they took too long.
    pub(crate) fn end_all(&mut self) {
        let now_ns = self.clock.now_ns();
        self.end_late(now_ns, 0);
        self.end_unsent(now_ns, 0);
        for at in 0..self.links.len() {
            if let Some(key) = self.links.get(at).and_then(|link| link.place.wire) {
                self.net.flush(key);
            }
        }
    }

    /// Calls that wait for room on a lost connection will never be sent.
    fn fail_stranded(&mut self, now_ns: u64) {
        if !std::mem::take(&mut self.broken) {
            return;
        }
        for at in 0..self.links.len() {
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            if link.place.wire.is_some() || link.again.is_empty() {
                continue;
            }
            let reason = match &link.down {
                Some(down) => format!("no connection: {}", down.reason),
                None => "no connection".to_owned(),
            };
            let status = Status::new(Code::Unavailable, reason);
            for ticket in std::mem::take(&mut link.again) {
                self.fail(at, ticket, (&status, Cause::Lost), now_ns);
            }
        }
    }

    /// The thread's recorder.
    pub(crate) fn recorder(&mut self) -> &mut B {
        &mut self.context.recorder
    }

    /// The clock that all threads share.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Connections opened after the first ones.
    pub(crate) fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// The lowest stream limit of a server that made calls wait.
    pub(crate) fn stream_limit(&self) -> Option<u32> {
        self.stream_limit
    }
}
