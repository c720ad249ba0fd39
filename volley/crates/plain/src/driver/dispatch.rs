//! Starting calls: when a worker becomes free (closed loop), or when the schedule says so (open
//! loop).

use std::sync::Arc;

use super::{Driver, Recorder, Script, Stage};
use crate::call::{self, Call, Ticket};
use crate::orders;
use crate::shared::DueCall;
use volley_http::grpc::Status;
use volley_http::http2::{Content, Own};
use volley_load::pace::Agenda;
use volley_net::Phase;
use volley_report::measure::Cause;

/// With `--async` and no rate: the maximum number of open calls on each connection.
const ASYNC_OPEN_MOST: usize = 10_000;

/// Calls of a link that may fail before they are sent, until the sockets get their turn.
const UNSENT_AT_ONCE: u32 = 64;

/// So many missed calls are counted one by one. More are counted in as many groups: their ages are a little less exact.
const MISSED_SINGLY: u64 = 100_000;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Starts all calls that can start now and that no read will trigger.
    pub(super) fn dispatch(&mut self, now_ns: u64) {
        let active = self.active_workers(now_ns);
        let has_changed = std::mem::replace(&mut self.active, active) != active;
        let is_stirred = std::mem::take(&mut self.stirred) || has_changed;
        if self.agenda.is_some() {
            if is_stirred {
                (0..self.links.len()).for_each(|at| self.list(at));
            }
            self.follow_schedule(now_ns);
        }
        if !is_stirred {
            return;
        }
        for at in 0..self.links.len() {
            self.fill(at, now_ns);
            if let Some(key) = self.links.get(at).and_then(|link| link.place.wire) {
                self.net.flush(key);
            }
        }
    }

    /// Starts calls on one link: first those to be sent again, even after the window; then, in a
    /// closed loop, new ones.
    pub(super) fn fill(&mut self, at: usize, now_ns: u64) {
        let Some(key) = self.ready_wire(at) else {
            return;
        };
        while self
            .links
            .get(at)
            .is_some_and(|link| !link.again.is_empty())
            && self.has_room(key)
        {
            if let Some(ticket) = self.links.get_mut(at).and_then(|link| link.again.pop()) {
                self.begin(key, ticket, now_ns);
            }
        }
        if !self.stage.sends() || self.agenda.is_some() {
            return;
        }
        let active = self.active_workers(now_ns);
        let (mut unsent, mut room) = (0, 0);
        while self.quota != Some(0) && self.has_worker(at, active) {
            if room == 0 {
                room = self.room(key);
            }
            if room == 0 {
                break;
            }
            let Some(worker) = self.free_worker(at, key, active) else {
                break;
            };
            let due = DueCall {
                intended_ns: now_ns,
                number: self.next_number(),
            };
            let is_sent = self.send(key, worker, due, now_ns);
            room -= usize::from(is_sent);
            unsent += u32::from(!is_sent);
            if unsent == UNSENT_AT_ONCE {
                self.stirred = true;
                break;
            }
        }
    }

    /// Starts every call of the window that is due, in order, as long as a worker is free.
    pub(super) fn follow_schedule(&mut self, now_ns: u64) {
        if !self.stage.sends() {
            return;
        }
        let active = self.active_workers(now_ns);
        while let Some(intended_ns) = self.due_call(now_ns)
            && let Some((key, worker)) = self.next_free(active)
        {
            let due = self.take_due(intended_ns);
            self.send(key, worker, due, now_ns);
            self.net.touch(key);
        }
        if self.ready == 0 || self.is_gone {
            self.hand_over(now_ns);
        } else if self.shared.adrift.any() {
            self.adopt(active, now_ns);
        }
        self.net.flush_touched();
    }

    /// When the call that is due now was due.
    fn due_call(&self, now_ns: u64) -> Option<u64> {
        let intended_ns = self.next_call_ns()?;
        let is_due = intended_ns <= now_ns && intended_ns < self.closes_ns;
        (is_due && self.quota != Some(0)).then_some(intended_ns)
    }

    /// Whether a call of the schedule could be sent, as far as is known.
    pub(super) fn may_send(&self) -> bool {
        !self.listed.is_empty() && self.quota != Some(0)
    }

    /// Takes that call from this thread's share.
    fn take_due(&mut self, intended_ns: u64) -> DueCall {
        if let Some(agenda) = &mut self.agenda {
            agenda.take();
        }
        DueCall {
            intended_ns,
            number: self.next_number(),
        }
    }

    /// Without a connection, this thread leaves its calls to the others.
    #[cold]
    fn hand_over(&mut self, now_ns: u64) {
        let mut any = false;
        while self.plan.threads > 1
            && self.shared.adrift.has_room()
            && let Some(intended_ns) = self.due_call(now_ns)
        {
            let due = self.take_due(intended_ns);
            self.shared.adrift.push(due);
            any = true;
        }
        if any {
            self.shared.wake();
        }
    }

    /// Sends the calls of threads that have no connection.
    #[cold]
    fn adopt(&mut self, active: u32, now_ns: u64) {
        while let Some((key, worker)) = self.next_free(active) {
            let Some(due) = self.shared.adrift.pop(self.opens_ns) else {
                // The worker goes on waiting.
                let link = self.net.wires.get(key).map(|wire| wire.owner.link);
                if let Some(link) = link.and_then(|at| self.links.get_mut(at)) {
                    link.idle.push(worker);
                }
                break;
            };
            self.idle_since_ns = None;
            self.send(key, worker, due, now_ns);
            self.net.touch(key);
        }
    }

    /// The next link, in turn, that can take a call, and a worker for it. A link that cannot take one is left out until
    /// something happens on it.
    fn next_free(&mut self, active: u32) -> Option<(usize, u32)> {
        while let Some(at) = self.listed.pop_front() {
            if let Some(key) = self.ready_wire(at)
                && self.has_worker(at, active)
                && self.has_room(key)
                && let Some(worker) = self.free_worker(at, key, active)
            {
                self.listed.push_back(at);
                return Some((key, worker));
            }
            if let Some(link) = self.links.get_mut(at) {
                link.is_listed = false;
            }
        }
        None
    }

    /// Puts a link among those that may take a call of the schedule.
    #[inline]
    pub(super) fn list(&mut self, at: usize) {
        if self.agenda.is_some()
            && let Some(link) = self.links.get_mut(at)
            && !std::mem::replace(&mut link.is_listed, true)
        {
            self.listed.push_back(at);
        }
    }

    /// Whether a link would start a call, if the server has room for it.
    pub(super) fn has_worker(&self, at: usize, active: u32) -> bool {
        if self.plan.is_async {
            return !self.is_paused;
        }
        self.links.get(at).is_some_and(|link| {
            let all = active >= self.most_workers && !link.idle.is_empty();
            all || link.idle.iter().any(|worker| *worker < active)
        })
    }

    /// Takes a worker of a link that has no call, if the concurrency schedule lets it work now.
    fn free_worker(&mut self, at: usize, key: usize, active: u32) -> Option<u32> {
        if self.plan.is_async {
            // Calls do not wait for a worker; they carry the workers' numbers in turn.
            let open = self.net.wires.get(key)?.http.open_streams();
            self.links.get_mut(at)?.idle.clear();
            let workers = u64::from(self.most_workers.max(1));
            let worker = u32::try_from(self.next_number % workers).ok()?;
            let free = self.agenda.is_some() || open < ASYNC_OPEN_MOST;
            return free.then_some(worker);
        }
        let idle = &mut self.links.get_mut(at)?.idle;
        if active >= self.most_workers {
            return idle.pop();
        }
        let place = idle.iter().rposition(|worker| *worker < active)?;
        Some(idle.swap_remove(place))
    }

    /// How many workers may work now.
    pub(super) fn active_workers(&self, now_ns: u64) -> u32 {
        match self.workers {
            _ if self.is_paused => 0,
            Some(workers) => workers,
            None => self.plan.workers.active_at(self.since_start(now_ns)),
        }
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
        let key = self.links.get(at)?.place.wire?;
        (self.net.wires.get(key)?.phase == Phase::Ready).then_some(key)
    }

    fn has_room(&mut self, key: usize) -> bool {
        self.room(key) > 0
    }

    /// How many streams the server allows in addition; if none, that is noted.
    fn room(&mut self, key: usize) -> usize {
        let Some(wire) = self.net.wires.get(key) else {
            return 0;
        };
        let room = wire.http.capacity();
        if room > 0 {
            return room;
        }
        if wire.is_ending {
            // It is lost once all is read.
        } else if wire.http.is_draining() {
            (self.broken, self.stirred) = (true, true);
            self.spent.push(key);
        } else {
            let open = u32::try_from(wire.http.open_streams()).unwrap_or(u32::MAX);
            self.stream_limit = Some(self.stream_limit.map_or(open, |limit| limit.min(open)));
        }
        0
    }

    /// The number of this thread's next call, which it thereby has made.
    fn next_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += self.lane.every;
        if let Some(quota) = &mut self.quota {
            *quota -= 1;
        }
        number
    }

    /// Starts a call. Returns whether it could be sent.
    fn send(&mut self, key: usize, worker: u32, due: DueCall, now_ns: u64) -> bool {
        let ticket = Ticket {
            worker,
            number: due.number,
            intended_ns: due.intended_ns,
            sent_ns: now_ns,
            refusals: 0,
        };
        // What was due in the warm-up may be sent after it.
        if due.intended_ns >= self.context.counted_from_ns {
            self.context.recorder.sent(due.intended_ns, now_ns);
        }
        self.begin(key, ticket, now_ns)
    }

    #[inline]
    fn begin(&mut self, key: usize, ticket: Ticket, now_ns: u64) -> bool {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return false;
        };
        let (request, mark) = match self.context.script.request(&ticket) {
            Ok(planned) => planned,
            Err(status) => {
                let at = wire.owner.link;
                self.fail(at, ticket, (&status, Cause::Own), now_ns);
                return false;
            }
        };
        let call = Call::new(ticket, mark, Arc::clone(&request.expected));
        let own = Own {
            last: &request.literals,
            ..Own::default()
        };
        let (http, head) = (&mut wire.http, &request.head);
        let stream = match self.plan.streaming.is_paced {
            true => http.open_with(call, head, own, false),
            false => http.open_whole(call, head, own, Content::Shared(&request.body.bytes)),
        };
        if self.plan.streaming.needs_time() {
            let body = Arc::clone(&request.body);
            self.arrange(key, stream, &body, now_ns);
        }
        true
    }

    /// Counts a call that could not be sent.
    #[cold]
    pub(super) fn fail(
        &mut self,
        at: usize,
        ticket: Ticket,
        (status, cause): (&Status, Cause),
        now_ns: u64,
    ) {
        if let Some(mut sink) = self.sink(at, now_ns) {
            sink.over(ticket, call::failed(status, cause));
        }
    }

    /// This thread's part of the schedule, from its start; `None` for a closed loop.
    pub(super) fn new_agenda(&self, start_ns: u64) -> Option<Agenda> {
        let schedule = self.plan.schedule.as_ref()?;
        Some(orders::agenda(schedule, self.lane, start_ns, &self.changes))
    }

    /// When the schedule's next call is due; `None` without one.
    pub(super) fn next_call_ns(&self) -> Option<u64> {
        self.agenda.as_ref()?.next_ns()
    }

    /// From here on, no call of the schedule is sent. [`count_missed`](Self::count_missed) counts those that are left.
    pub(super) fn end_schedule(&mut self) {
        if let Some(agenda) = self.agenda.take() {
            let most = self.quota.replace(0).unwrap_or(u64::MAX);
            self.unsent = Some((agenda, most));
        }
    }

    /// Counts the calls that were due inside the window and were never sent. It takes time, so it comes after the drain.
    pub(super) fn count_missed(&mut self) {
        let Some((mut agenda, most)) = self.unsent.take() else {
            return;
        };
        let (shared, opens_ns, at_ns) = (self.shared, self.opens_ns, self.closes_ns);
        while agenda.next_ns().is_some_and(|due_ns| due_ns < opens_ns) {
            agenda.take();
        }
        let own = agenda.left_in_groups(at_ns, most, MISSED_SINGLY);
        let adrift = std::iter::from_fn(|| shared.adrift.pop(opens_ns));
        let adrift = adrift.map(|due| (due.intended_ns, 1));
        // After a drain, they are no news any more.
        let mut ages = self.ages.as_mut().filter(|_| self.stage == Stage::Window);
        for (intended_ns, calls) in own.chain(adrift) {
            self.context.recorder.missed(intended_ns, at_ns, calls);
            if let Some(ages) = &mut ages {
                ages.record(at_ns.saturating_sub(intended_ns), calls);
            }
        }
    }
}
