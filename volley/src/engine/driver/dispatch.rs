//! Starting calls: when a worker becomes free (closed loop), or when the schedule says so (open
//! loop).

use super::{Book, Driver, EngineError, Stage};
use crate::engine::call::{Call, Ticket};
use crate::engine::wire::Phase;
use crate::pace::Cursor;

/// With `--async` and no rate: the maximum number of open calls on each connection.
const ASYNC_OPEN_MOST: usize = 10_000;

impl<B: Book> Driver<'_, B> {
    /// Starts all calls that can start now and that no read will trigger.
    pub(super) fn dispatch(&mut self, now_ns: u64) -> Result<(), EngineError> {
        if self.cursor.is_some() {
            self.follow_schedule(now_ns)?;
        }
        let active = self.active_workers(now_ns);
        let changed = std::mem::replace(&mut self.active, active) != active;
        if !std::mem::take(&mut self.stirred) && !changed {
            return Ok(());
        }
        for at in 0..self.links.len() {
            self.fill(at, now_ns)?;
            if let Some(key) = self.links.get(at).and_then(|link| link.wire) {
                self.flush(key, now_ns);
            }
        }
        Ok(())
    }

    /// Starts calls on one link: first those to be sent again, even after the window; then, in a
    /// closed loop, new ones.
    pub(super) fn fill(&mut self, at: usize, now_ns: u64) -> Result<(), EngineError> {
        let Some(key) = self.ready_wire(at) else {
            return Ok(());
        };
        while self
            .links
            .get(at)
            .is_some_and(|link| !link.again.is_empty())
            && self.has_room(key)
        {
            if let Some(ticket) = self.links.get_mut(at).and_then(|link| link.again.pop()) {
                self.begin(key, ticket, now_ns)?;
            }
        }
        if !self.stage.sends() || self.cursor.is_some() {
            return Ok(());
        }
        let active = self.active_workers(now_ns);
        while self.quota != Some(0) && self.has_worker(at, active) && self.has_room(key) {
            let Some(worker) = self.free_worker(at, key, active) else {
                break;
            };
            self.send_new(key, worker, now_ns, now_ns)?;
        }
        Ok(())
    }

    /// Starts every call of the window that is due, in order, as long as a worker is free.
    pub(super) fn follow_schedule(&mut self, now_ns: u64) -> Result<(), EngineError> {
        if !self.stage.sends() {
            return Ok(());
        }
        let active = self.active_workers(now_ns);
        while self.quota != Some(0) {
            let Some(intended_ns) = self.next_call_ns() else {
                break;
            };
            if intended_ns > now_ns || intended_ns >= self.closes_ns {
                break;
            }
            let Some((key, worker)) = self.next_free(active) else {
                break;
            };
            if let Some(cursor) = &mut self.cursor {
                cursor.next();
            }
            self.send_new(key, worker, intended_ns, now_ns)?;
            self.touched.push(key);
        }
        while let Some(key) = self.touched.pop() {
            self.flush(key, now_ns);
        }
        Ok(())
    }

    /// The next link, in turn, that can take a call, and a worker for it.
    fn next_free(&mut self, active: u32) -> Option<(usize, u32)> {
        for _ in 0..self.links.len() {
            let at = self.turn;
            self.turn = (self.turn + 1) % self.links.len();
            let Some(key) = self.ready_wire(at) else {
                continue;
            };
            if !self.has_worker(at, active) || !self.has_room(key) {
                continue;
            }
            if let Some(worker) = self.free_worker(at, key, active) {
                return Some((key, worker));
            }
        }
        None
    }

    /// Whether a link would start a call, if the server has room for it.
    pub(super) fn has_worker(&self, at: usize, active: u32) -> bool {
        self.plan.is_async
            || self.links.get(at).is_some_and(|link| {
                let all = active >= self.plan.most_workers && !link.idle.is_empty();
                all || link.idle.iter().any(|worker| *worker < active)
            })
    }

    /// Takes a worker of a link that has no call, if the concurrency schedule lets it work now.
    fn free_worker(&mut self, at: usize, key: usize, active: u32) -> Option<u32> {
        if self.plan.is_async {
            // Calls do not wait for a worker; they carry the workers' numbers in turn.
            let open = self.wires.get(key)?.http.open_streams();
            self.links.get_mut(at)?.idle.clear();
            let workers = u64::from(self.plan.most_workers.max(1));
            let worker = u32::try_from(self.next_number % workers).ok()?;
            let free = self.cursor.is_some() || open < ASYNC_OPEN_MOST;
            return free.then_some(worker);
        }
        let idle = &mut self.links.get_mut(at)?.idle;
        if active >= self.plan.most_workers {
            return idle.pop();
        }
        let place = idle.iter().rposition(|worker| *worker < active)?;
        Some(idle.swap_remove(place))
    }

    pub(super) fn active_workers(&self, now_ns: u64) -> u32 {
        self.plan.workers.active_at(self.since_start(now_ns))
    }

    /// Time on the schedules: since the window opened, or, in the warm-up, since the warm-up
    /// started.
    pub(super) fn since_start(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.schedule_base())
    }

    pub(super) fn schedule_base(&self) -> u64 {
        match self.stage {
            Stage::Warmup => self.started_ns,
            _ => self.opens_ns,
        }
    }

    fn ready_wire(&self, at: usize) -> Option<usize> {
        let key = self.links.get(at)?.wire?;
        (self.wires.get(key)?.phase == Phase::Ready).then_some(key)
    }

    /// Whether the server allows another stream; if not, that is noted.
    fn has_room(&mut self, key: usize) -> bool {
        let Some(wire) = self.wires.get(key) else {
            return false;
        };
        if wire.http.capacity() > 0 {
            return true;
        }
        if !wire.http.is_draining() {
            let open = u32::try_from(wire.http.open_streams()).unwrap_or(u32::MAX);
            self.stream_limit = Some(self.stream_limit.map_or(open, |limit| limit.min(open)));
        }
        false
    }

    fn send_new(
        &mut self,
        key: usize,
        worker: u32,
        intended_ns: u64,
        now_ns: u64,
    ) -> Result<(), EngineError> {
        let ticket = Ticket {
            worker,
            number: self.next_number,
            intended_ns,
            sent_ns: now_ns,
            refusals: 0,
        };
        self.next_number += u64::from(self.plan.threads);
        if let Some(quota) = &mut self.quota {
            *quota -= 1;
        }
        self.book.sent(intended_ns, now_ns);
        self.begin(key, ticket, now_ns)
    }

    #[inline]
    fn begin(&mut self, key: usize, ticket: Ticket, now_ns: u64) -> Result<(), EngineError> {
        let request = self.source.next(ticket.worker, ticket.number)?;
        let Some(wire) = self.wires.get_mut(key) else {
            return Ok(());
        };
        let call = Call::new(ticket, request.expected);
        let stream = wire.http.open(call, &request.head, false);
        if !self.plan.streaming.is_paced {
            wire.http.send(stream, &request.body.bytes, true);
        }
        if self.plan.streaming.needs_time() {
            self.arrange(key, stream, &request.body, now_ns);
        }
        Ok(())
    }

    /// This thread's part of the schedule, from its start; `None` for a closed loop.
    pub(super) fn new_cursor(&self) -> Option<Cursor> {
        let schedule = self.plan.schedule.as_ref()?;
        Some(schedule.cursor(u64::from(self.index), u64::from(self.plan.threads)))
    }

    /// When the schedule's next call is due; `None` without one.
    pub(super) fn next_call_ns(&self) -> Option<u64> {
        let after_ns = self.cursor.as_ref()?.next_ns()?;
        Some(self.schedule_base().saturating_add(after_ns))
    }

    /// Counts the calls that were due inside the window and were never sent.
    pub(super) fn count_missed(&mut self) {
        let Some(cursor) = self.cursor.take() else {
            return;
        };
        let due = cursor.count_until(self.closes_ns - self.opens_ns);
        let missed = due.min(self.quota.unwrap_or(u64::MAX));
        self.book.missed(missed);
        self.quota = Some(0);
    }
}
