//! The stages of a thread's run, from its start to its result, and the changes of its load.

use std::sync::Arc;

use super::{Driver, Recorder, Script, ThreadResult};
use crate::link::Down;
use crate::orders::Change;
use crate::stage::{Opening, Stage};
use volley_http::http2::ErrorCode;
use volley_load::pace::{Agenda, SECOND_NS};
use volley_load::spec::{Command, DurationStop};
use volley_report::measure::{Ages, Awaits, Cut, EndedBy, process};

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    pub(super) fn start(&mut self, start_ns: u64, opening: Arc<Opening>) {
        self.started_ns = start_ns;
        self.opening = opening;
        self.net.coalesce(self.plan.coalesce_ns);
        self.net.spin(self.plan.spec.load.spin);
        self.next_check_ns = start_ns.saturating_add(self.check_every_ns());
        self.stirred = true;
        if let Some(pacer) = &mut self.context.pacer {
            pacer.start(start_ns);
        }
        if self.opening.at_ns() > start_ns {
            self.stage = Stage::Warmup;
            self.context.recorder.start(start_ns);
            self.agenda = self.new_agenda(start_ns);
        } else {
            self.open_window(start_ns);
        }
    }

    /// Everything that depends only on time: stages, changes, timeouts.
    pub(super) fn advance(&mut self, now_ns: u64) {
        while let Some(change) = self.changes.get(self.in_force)
            && change.at_ns <= now_ns
        {
            let change = *change;
            self.in_force += 1;
            self.obey(change);
        }
        if self.stage == Stage::Warmup && now_ns >= self.opening.at_ns() {
            self.open_window(self.opening.at_ns());
        }
        let is_closed = self.stage == Stage::Window && self.closes_ns <= self.stops_ns;
        if self.stage.goes_on() && now_ns >= self.stops_ns && !is_closed {
            self.finish(self.stops_ns, EndedBy::Signal);
        }
        if self.stage == Stage::Window {
            if now_ns >= self.closes_ns {
                self.close_window(now_ns);
            } else {
                self.finish_if_idle(now_ns);
            }
        }
        if self.stage == Stage::Drain {
            if self.open_calls() == 0 {
                self.finish(now_ns, EndedBy::Window);
            } else if now_ns >= self.drained_ns {
                self.left_open = self.open_calls() as u64;
                self.finish(now_ns, EndedBy::Window);
            }
        }
        if self.stage.goes_on() && now_ns >= self.next_check_ns {
            self.check_timeouts(now_ns);
        }
    }

    /// The next moment at which the stage changes. What is read after it belongs to the next stage.
    pub(super) fn next_edge_ns(&self) -> u64 {
        let planned_ns = match self.stage {
            Stage::Warmup => self.opening.at_ns(),
            Stage::Window => self.closes_ns,
            Stage::Drain => self.drained_ns,
            Stage::Setup | Stage::Blast | Stage::Over => return u64::MAX,
        };
        planned_ns.min(self.stops_ns)
    }

    /// Puts a change in force. Its agenda knows it already.
    fn obey(&mut self, Change { at_ns, command }: Change) {
        self.stirred = true;
        if self.is_paused && command == Command::Resume && self.stage == Stage::Window {
            let agenda = self.agenda.as_ref();
            self.waited += agenda.map_or(0, |agenda| agenda.left_until(at_ns));
        }
        self.is_paused = command.pauses().unwrap_or(self.is_paused);
        if let Command::Workers(workers) = command {
            self.hire_up_to(workers);
            self.workers = Some(workers);
        }
    }

    /// Makes the workers that this run did not have before.
    fn hire_up_to(&mut self, workers: u32) {
        let links = self.plan.links_of(self.index);
        for (link, number) in self.links.iter_mut().zip(links) {
            let all = self.plan.workers_of(number, workers);
            link.idle
                .extend(all.filter(|worker| *worker >= self.most_workers));
        }
        self.most_workers = self.most_workers.max(workers);
    }

    /// From here on everything counts. Schedules start again, but not the rate of a window that a line has opened: its calls
    /// are due as if no window had opened.
    fn open_window(&mut self, opens_ns: u64) {
        self.stage = Stage::Window;
        self.opens_ns = opens_ns;
        let length_ns = self.plan.window.length_ns;
        self.closes_ns = length_ns.map_or(u64::MAX, |length| opens_ns.saturating_add(length));
        if self.plan.counts_by_begin() {
            self.context.counted_from_ns = self.opens_ns;
        }
        self.opening_cpu_s = process::thread_cpu_s();
        self.context.recorder.reset(self.opens_ns);
        if let Some(pacer) = &mut self.context.pacer {
            (pacer.opens_ns, pacer.closes_ns) = (self.opens_ns, self.closes_ns);
        }
        self.count_streams(false);
        self.planned_reconnects = 0;
        self.count_uses();
        self.quota = self.plan.quota_of(self.index);
        if !self.plan.window.flows_on() {
            self.agenda = self.new_agenda(opens_ns);
        }
        self.stirred = true;
    }

    fn close_window(&mut self, now_ns: u64) {
        if self.plan.window.stop == DurationStop::Wait {
            // This thread may have woken a little late for the last calls that were due.
            self.follow_schedule(now_ns);
            self.end_schedule();
            self.net.spin(false);
            self.count_streams(true);
            self.end_paced_streams(now_ns);
            self.stage = Stage::Drain;
            self.drained_ns = now_ns.saturating_add(self.plan.window.drain_ns);
        } else {
            self.finish(self.closes_ns, EndedBy::Window);
        }
    }

    /// Counts the calls that were cut or never sent, and stops.
    pub(super) fn finish(&mut self, at_ns: u64, why: EndedBy) {
        match self.stage {
            Stage::Warmup => {
                self.opens_ns = at_ns;
                self.opening_cpu_s = process::thread_cpu_s();
                self.context.counted_from_ns = at_ns;
                self.context.recorder.reset(at_ns);
            }
            Stage::Window => {
                self.closes_ns = self.closes_ns.min(at_ns);
                self.count_streams(true);
                self.end_schedule();
            }
            Stage::Setup | Stage::Drain | Stage::Blast | Stage::Over => {}
        }
        self.count_missed();
        self.cut_open_calls(at_ns);
        self.ended_by = why;
        self.drained_ns = at_ns;
        self.stage = Stage::Over;
        // The others need not wait for this one's connections.
        self.turn_gone(true);
        self.spend(true);
    }

    /// Calls that are still open are neither a success nor an error of the server.
    fn cut_open_calls(&mut self, at_ns: u64) {
        let wires = self.net.wires.iter_mut();
        let open = wires.flat_map(|(_, wire)| {
            wire.http.shut_down(ErrorCode::NoError);
            wire.http.take_calls()
        });
        let times_first = self.context.rules.times_first;
        let open = open.map(|call| (call.ticket, call.awaits(), call.first + call.replies));
        let again = self.links.iter_mut().flat_map(|link| link.again.drain(..));
        let again = again.map(|ticket| (ticket, Awaits::FirstReply, u64::MAX));
        for (ticket, awaits, answered) in open.chain(again) {
            self.context.leave_unanswered(&ticket, answered, at_ns);
            if ticket.intended_ns >= self.context.counted_from_ns {
                self.context.recorder.cut_call(&Cut {
                    intended_ns: ticket.intended_ns,
                    sent_ns: ticket.sent_ns,
                    at_ns,
                    awaits: if times_first { awaits } else { Awaits::End },
                });
                if let Some(ages) = &mut self.ages {
                    ages.record(at_ns.saturating_sub(ticket.intended_ns), 1);
                }
            }
        }
    }

    pub(super) fn result(mut self) -> ThreadResult<B> {
        self.hang_up();
        let keys: Vec<usize> = self.net.wires.iter().map(|(key, _)| key).collect();
        for key in keys {
            self.drop_wire(key);
        }
        let down = self.links.into_iter().filter_map(|link| link.down);
        // Not those that were only just lost.
        let ended_ns = self.drained_ns;
        let is_old = |down: &Down| ended_ns.saturating_sub(down.since_ns) >= SECOND_NS;
        let down = down.filter(|down| down.rounds > 0 || is_old(down));
        let down = down.map(|down| (down.since_ns, down.reason));
        let down = down.collect();
        ThreadResult {
            recorder: self.context.recorder,
            late_ns: self.late_ns,
            ended_ns: self.drained_ns,
            ended_by: self.ended_by,
            reconnects: self.reconnects,
            planned_reconnects: self.planned_reconnects,
            uses: self.uses,
            addresses: self.plan.in_turn.then_some(self.most_routes),
            without_alpn: self.without_alpn,
            stream_limit: self.stream_limit,
            left_open: self.left_open,
            waited: self.waited,
            gave_up: self.gave_up,
            down,
            ages: self.ages.as_mut().map_or_else(Vec::new, Ages::take),
            cpu_s: process::thread_cpu_s() - self.opening_cpu_s,
        }
    }

    /// Ends the load if nothing is left to send and no call is open. Meanwhile another thread may lose its connections,
    /// and leave its part of a schedule to this one.
    fn finish_if_idle(&mut self, now_ns: u64) {
        if !self.own_sent() || self.open_calls() > 0 {
            self.idle_since_ns = None;
            return;
        }
        let since_ns = *self.idle_since_ns.get_or_insert(now_ns);
        if self.agenda.is_none() || self.shared.all_spent() && !self.shared.adrift.any() {
            self.finish(since_ns, EndedBy::Finished);
        }
    }

    /// Whether every call has been started: those of this thread's share, and those that others have left to it.
    pub(super) fn all_sent(&mut self) -> bool {
        self.own_sent() && !self.shared.adrift.any()
    }

    /// Whether every call of this thread's share has been started, or left to another thread.
    fn own_sent(&mut self) -> bool {
        let is_over = self.agenda.as_ref().is_some_and(Agenda::is_over);
        self.spend(self.quota == Some(0) || is_over);
        self.is_spent
    }

    /// Notes whether anything is left of this thread's share.
    fn spend(&mut self, is_spent: bool) {
        if std::mem::replace(&mut self.is_spent, is_spent) != is_spent {
            self.shared.turn_spent(is_spent);
        }
    }

    pub(super) fn open_calls(&self) -> usize {
        let open: usize = self
            .net
            .wires
            .iter()
            .map(|(_, wire)| wire.http.open_streams())
            .sum();
        open + self
            .links
            .iter()
            .map(|link| link.again.len())
            .sum::<usize>()
    }
}
