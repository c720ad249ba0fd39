//! One thread of a sweep: fires blast after blast over its own connections.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, Sender};

use super::results::CallResults;
use super::way::Blast;
use crate::{Driver, LoadError, Plain, Plan};

/// A thread's result of one blast.
#[derive(Debug)]
pub struct Fired {
    /// What became of its calls.
    pub slots: CallResults,
    /// When it started to write; `None` if it had no calls.
    pub released_ns: Option<u64>,
    /// The sweep ended before the blast was over: some calls are still open.
    pub is_cut: bool,
    /// Connections that it reopened before the blast.
    pub reconnects: u64,
    /// The lowest stream limit of a server that made calls wait.
    pub stream_limit: Option<u32>,
}

/// A thread's driver, and what it shares with the other threads.
pub struct BlastThread<'a> {
    driver: Driver<'a, CallResults, Plain>,
    plan: &'a Plan,
    index: u32,
    barrier: &'a Barrier,
}

impl<'a> BlastThread<'a> {
    pub fn new(
        driver: Driver<'a, CallResults, Plain>,
        plan: &'a Plan,
        barrier: &'a Barrier,
    ) -> Self {
        Self {
            index: driver.index(),
            driver,
            plan,
            barrier,
        }
    }

    /// Fires blasts until no more are ordered.
    pub fn serve(mut self, orders: &Receiver<Blast>, done: &Sender<Result<Fired, LoadError>>) {
        for blast in orders {
            let fired = self.fire(blast);
            let failed = fired.is_err();
            // The receiver outlives all threads, unless another one failed.
            if done.send(fired).is_err() || failed {
                break;
            }
        }
        self.driver.hang_up();
    }

    fn fire(&mut self, blast: Blast) -> Result<Fired, LoadError> {
        let before = self.driver.reconnects();
        let laid = self.lay(blast);
        // Whatever went wrong here, the other threads wait at the barrier.
        self.barrier.wait();
        laid?;
        let parts = blast.parts(self.index, self.plan.threads);
        let released_ns = self.driver.let_go(parts.map(|part| part.link));
        let too_late_ns = match self.plan.timeout_ns {
            Some(timeout_ns) => released_ns.saturating_add(timeout_ns),
            None => u64::MAX,
        };
        let until_ns = too_late_ns.min(blast.ends_ns);
        // Connections that a signal has left unopened say nothing about the server.
        let mut is_cut = self.driver.is_interrupted();
        while self.driver.recorder().any_open() {
            let now_ns = self.driver.now_ns();
            if now_ns >= too_late_ns {
                self.driver.end_all();
                break;
            }
            is_cut = now_ns >= blast.ends_ns || self.driver.is_interrupted();
            if is_cut {
                break;
            }
            self.driver.take(until_ns)?;
        }
        let slots = std::mem::take(self.driver.recorder());
        Ok(Fired {
            released_ns: slots.any().then_some(released_ns),
            slots,
            is_cut,
            reconnects: self.driver.reconnects() - before,
            stream_limit: self.driver.stream_limit(),
        })
    }

    /// Everything that can be done before the calls leave.
    fn lay(&mut self, blast: Blast) -> Result<(), LoadError> {
        self.driver.mend()?;
        let parts = blast.parts(self.index, self.plan.threads);
        let calls = parts.clone().map(|part| part.numbers().len()).sum();
        *self.driver.recorder() = CallResults::for_calls(calls);
        let mut place = 0;
        for part in parts {
            let numbers = part.numbers();
            let places = place..place + numbers.len() as u32;
            place = places.end;
            self.driver
                .lay(part.link, places.zip(numbers.map(u64::from)));
        }
        Ok(())
    }
}
