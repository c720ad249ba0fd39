//! Iterations: they begin, do one action after another, and end.

use std::time::Duration;

use super::{Core, Driver, Timer};
use crate::engine::RunError;
use crate::engine::flight::{Fault, Flight, MOST_KEPT, is_open};
use crate::engine::iteration::{Bond, Course, Iteration};
use crate::engine::record;
use crate::plan::{Action, OnFailure, Phases};
use crate::script::Kept;
use crate::tally::{End, Failure, Reason};
use volley_base::units::duration::GoDuration;
use volley_base::units::numbers;

/// A user whose actions failed before they could send anything waits so long before it does them again.
const NOTHING_SENT_NS: u64 = 100_000_000;

impl Driver<'_> {
    /// Begins an iteration. Its first action is taken in this turn. `false`: a feed had nothing for it.
    pub(super) fn begin(
        &mut self,
        course: Course,
        (load, user): (usize, u64),
        due_ns: u64,
        now_ns: u64,
    ) -> bool {
        let core = &mut self.core;
        core.serial += 1;
        let slots = core.plan.slots.len();
        let mut iteration = core
            .spare
            .pop()
            .unwrap_or_else(|| Box::new(Iteration::new(slots)));
        iteration.values.restart(&self.values);
        iteration.restart(core.serial, course, (load, user), due_ns, now_ns);
        let key = core.iterations.insert(iteration);
        match course {
            Course::Scenario(scenario) if !self.begin_scenario(key, scenario, now_ns) => {
                return false;
            }
            Course::Refresh(at) => {
                self.refreshing += 1;
                self.prepare_refresh(key, at, now_ns);
            }
            _ => {}
        }
        self.core.ready.push(key);
        true
    }

    /// Draws what an iteration needs, and counts its beginning.
    fn begin_scenario(&mut self, key: usize, scenario: usize, now_ns: u64) -> bool {
        let plan = self.common.plan;
        let Some(iteration) = self.core.iterations.get_mut(key) else {
            return false;
        };
        let load = plan.loads.get(iteration.load);
        let is_scheduled = load.is_some_and(|load| matches!(load.phases, Phases::Rate(_)));
        (iteration.is_scheduled, iteration.is_due) = (is_scheduled, is_scheduled);
        if is_scheduled {
            // A sequential feed has a position for each user: of a schedule, those are the iterations that are open together.
            iteration.user = key as u64 * u64::from(self.common.threads) + u64::from(self.index);
        }
        let due_ns = is_scheduled.then_some(iteration.due_ns);
        let draws = plan.scenarios.get(scenario);
        if let Some(connections) = draws.and_then(|scenario| scenario.keeps_to) {
            self.keep_to_link(key, scenario, connections);
        }
        for feed in draws.map_or(&[][..], |scenario| &scenario.draws) {
            if self.draw(key, *feed, now_ns) {
                continue;
            }
            if let Some(iteration) = self.core.iterations.try_remove(key) {
                self.core.recycle(iteration);
            }
            if is_scheduled {
                self.core.tally.unfed(scenario, 1);
            }
            return false;
        }
        let tally = &mut self.core.tally;
        tally.iteration_began(scenario, due_ns, now_ns);
        true
    }

    /// Chooses the link of each target that takes all requests of an iteration: that of its user, or of a schedule, the
    /// next one.
    fn keep_to_link(&mut self, key: usize, scenario: usize, connections: u32) {
        let links = self.lane().count(connections.into()).max(1);
        let Some(iteration) = self.core.iterations.get_mut(key) else {
            return;
        };
        let number = match self.next_links.get_mut(scenario) {
            Some(next) if iteration.is_scheduled => {
                *next += 1;
                *next - 1
            }
            _ => iteration.user / u64::from(self.common.threads.max(1)),
        };
        iteration.bond = Bond::Kept(usize::try_from(number % links).unwrap_or(0));
    }

    /// Lets the iterations go on that can.
    pub(super) fn go_on(&mut self, now_ns: u64) {
        // What waits for a connection was there before what comes now.
        self.use_freed(now_ns);
        // Those that begin or end meanwhile are added to the list.
        let mut at = 0;
        while let Some(key) = self.core.ready.get(at) {
            self.act(*key, now_ns);
            at += 1;
        }
        self.core.ready.clear();
        for (flight, serial) in std::mem::take(&mut self.core.again) {
            if is_open(&self.core.flights, flight, serial) {
                self.send(flight, now_ns);
            }
        }
    }

    /// Links that can take a request again take those that wait.
    fn use_freed(&mut self, now_ns: u64) {
        let mut at = 0;
        while let Some((target, link)) = self.core.freed.get(at).copied() {
            at += 1;
            let Some(pool) = self.pools.get_mut(target) else {
                continue;
            };
            pool.list(link);
            if pool.is_awaited(link) {
                self.send_waiting(target, link, now_ns);
            }
        }
        self.core.freed.clear();
    }

    /// Does an iteration's actions until it must wait, or is over.
    fn act(&mut self, key: usize, now_ns: u64) {
        let plan = self.core.plan;
        loop {
            let Some(iteration) = self.core.iterations.get_mut(key) else {
                return;
            };
            if iteration.open > 0 || iteration.thinks {
                return;
            }
            if iteration.out_of_data {
                return self.end(key, now_ns);
            }
            if iteration.failed {
                let on_failure = match self.core.broken {
                    Some(_) => OnFailure::EndRun,
                    None => iteration.course.on_failure(plan),
                };
                match on_failure {
                    OnFailure::Continue => {}
                    OnFailure::EndIteration => return self.end(key, now_ns),
                    OnFailure::EndRun => {
                        self.halt(now_ns);
                        return self.end(key, now_ns);
                    }
                }
            }
            let Some(action) = iteration.course.actions(plan).get(iteration.at) else {
                iteration.round += 1;
                if iteration.round >= iteration.course.rounds(plan) {
                    return self.end(key, now_ns);
                }
                iteration.at = 0;
                let from_ns = free_from(iteration.failed, iteration.round_ns, now_ns);
                iteration.round_ns = from_ns;
                if from_ns > now_ns {
                    iteration.thinks = true;
                    self.timers.set(from_ns, Timer::Go(key, iteration.serial));
                    return;
                }
                continue;
            };
            iteration.at += 1;
            match action {
                Action::Step(step) => self.start_steps(key, std::slice::from_ref(step), now_ns),
                Action::Together(steps) => self.start_steps(key, steps, now_ns),
                Action::Think { least_ns, most_ns } => {
                    let ns = fastrand::u64(*least_ns..=*most_ns.max(least_ns));
                    let serial = iteration.serial;
                    iteration.thinks = true;
                    iteration.due_ns = iteration.due_ns.saturating_add(ns);
                    self.timers
                        .set(now_ns.saturating_add(ns), Timer::Go(key, serial));
                    return;
                }
                Action::Draw(feed) => {
                    self.draw(key, *feed, now_ns);
                }
            }
        }
    }

    /// Draws from a feed; `false`: it had nothing, and the iteration must end.
    pub(super) fn draw(&mut self, key: usize, feed: usize, now_ns: u64) -> bool {
        let lane = self.lane();
        let Some(iteration) = self.core.iterations.get_mut(key) else {
            return false;
        };
        let connection = match iteration.bond {
            Bond::Kept(link) => lane.first + link as u64 * lane.every,
            Bond::Free | Bond::Last(_) => 0,
        };
        let who = (iteration.load, iteration.user, connection);
        let drawn = self.feeds.draw(feed, who, &mut iteration.values);
        let Err(why) = drawn else {
            return true;
        };
        (iteration.failed, iteration.out_of_data) = (true, true);
        let place = match iteration.course {
            Course::Scenario(scenario) => {
                let who = (iteration.load, iteration.user);
                self.undrawn(who, (scenario, feed), why, now_ns);
                return false;
            }
            Course::Setup | Course::Refresh(_) => "setup".to_owned(),
            Course::Teardown => "teardown".to_owned(),
        };
        self.failure.get_or_insert(RunError::Undrawn { place, why });
        false
    }

    /// Starts steps at the same time. The first requests of an iteration that was due are due when it was.
    fn start_steps(&mut self, key: usize, steps: &[usize], now_ns: u64) {
        for step in steps {
            self.start_step(key, *step, now_ns);
        }
        if let Some(iteration) = self.core.iterations.get_mut(key) {
            iteration.is_due = false;
        }
    }

    /// Makes the request of a step, and sends it if a connection takes it.
    fn start_step(&mut self, key: usize, step: usize, now_ns: u64) {
        let core = &mut self.core;
        let Some(iteration) = core.iterations.get_mut(key) else {
            return;
        };
        core.serial += 1;
        let due_ns = iteration.is_due.then_some(iteration.due_ns);
        iteration.open += 1;
        let mut flight = core.spare_flights.pop().unwrap_or_default();
        (flight.serial, flight.iteration, flight.step) = (core.serial, key, step);
        flight.due_ns = due_ns;
        (flight.asked_ns, flight.sent_ns) = (now_ns, now_ns);
        let flight = core.flights.insert(flight);
        let flight = u32::try_from(flight).unwrap_or(u32::MAX);
        if let Some(limit_ns) = core.plan.steps.get(step).and_then(|step| step.timeout_ns) {
            let is_open = |key, serial| is_open(&core.flights, key, serial);
            self.deadlines
                .add(limit_ns, now_ns, flight, core.serial, is_open);
        }
        if self.core.lua.is_some()
            && let Err(fault) = self.core.rewrite(flight as usize, &mut self.scratch.path)
        {
            return self.core.finish(flight as usize, Err(fault), now_ns);
        }
        self.send(flight, now_ns);
    }

    /// An iteration is over.
    fn end(&mut self, key: usize, now_ns: u64) {
        let Some(iteration) = self.core.iterations.try_remove(key) else {
            return;
        };
        let scenario = match iteration.course {
            Course::Scenario(scenario) => scenario,
            Course::Refresh(at) => return self.refreshed(at, &iteration, now_ns),
            Course::Setup | Course::Teardown => {
                self.done = Some(iteration.values);
                return;
            }
        };
        let failed = iteration.failed;
        let end = match (iteration.out_of_data, failed) {
            (true, _) => End::OutOfData,
            (false, true) => End::Failed,
            (false, false) => End::Ok,
        };
        let timing = (iteration.delay_ns, iteration.began_ns, now_ns);
        self.core.tally.iteration_ended(scenario, timing, end);
        self.active_ns = now_ns;
        let (load, user) = (iteration.load, iteration.user);
        let (began_ns, round_ns) = (iteration.began_ns, iteration.round_ns);
        let is_scheduled = iteration.is_scheduled;
        self.core.recycle(iteration);
        if is_scheduled {
            self.iteration_over();
            return;
        }
        if end != End::OutOfData {
            let from_ns = free_from(failed, round_ns, now_ns);
            self.user_is_free((load, user), began_ns, from_ns, now_ns);
        }
    }

    /// Counts what is still open when the run is over.
    pub(super) fn cut(&mut self, now_ns: u64) {
        let core = &mut self.core;
        for (_, flight) in &core.flights {
            let timing = flight.timing(now_ns);
            core.tally.left_open(flight.step, &timing, flight.was_sent);
        }
        for (_, iteration) in &core.iterations {
            if let Course::Scenario(scenario) = iteration.course {
                let timing = (iteration.delay_ns, iteration.began_ns, now_ns);
                core.tally.iteration_left_open(scenario, timing);
            }
        }
        core.tally.close(now_ns);
    }
}

impl Core<'_> {
    /// Keeps the memory of an iteration for the next one.
    fn recycle(&mut self, mut iteration: Box<Iteration>) {
        if iteration.values.capacity() <= MOST_KEPT {
            self.spare_kept
                .extend(iteration.last.take().map(Kept::emptied));
            self.spare.push(iteration);
        }
    }

    /// A request is over; its iteration may go on.
    pub(super) fn finish(&mut self, key: usize, verdict: Result<(), Fault>, now_ns: u64) {
        let Some(mut flight) = self.flights.try_remove(key) else {
            return;
        };
        let mut late = self.late(&flight, now_ns);
        let mut overdue = || self.overdue(&flight, now_ns).or_else(|| late.next());
        let verdict = verdict.and_then(|()| overdue().map_or(Ok(()), Err));
        let timing = flight.timing(now_ns);
        let fault = verdict.as_ref().err();
        let said = fault.and_then(|fault| self.said(&mut flight, fault));
        if let Some(records) = self.records {
            let iteration = self.iterations.get(flight.iteration);
            let of_load = iteration.filter(|one| matches!(one.course, Course::Scenario(_)));
            let number =
                of_load.map(|one| one.serial * u64::from(self.threads) + u64::from(self.index));
            let values = iteration.map(|one| &one.values);
            let mut faults: Vec<Fault> = verdict.as_ref().err().cloned().into_iter().collect();
            if !faults.is_empty() && flight.exchange.is_some() {
                flight.add_others(late, &mut faults);
            }
            let iteration = (number, values);
            records.push(record::over(
                self.plan,
                &mut flight,
                iteration,
                timing,
                faults,
            ));
        }
        let failure = verdict.as_ref().err().map(|fault| Failure {
            reason: fault.reason,
            what: &fault.words,
        });
        match &failure {
            Some(failure) if !flight.was_sent => self.tally.unsent(flight.step, &timing, failure),
            _ => self.tally.ended(
                flight.step,
                &timing,
                flight.status,
                flight.received,
                failure.as_ref().map_or(Ok(()), Err),
            ),
        }
        if let Some(step) = self
            .plan
            .steps
            .get(flight.step)
            .filter(|_| flight.is_checked)
        {
            for check in 0..step.expect.checks.len() {
                let passed = !flight.verdicts.has_failed(check);
                self.tally.check(flight.step, flight.sent_ns, check, passed);
            }
        }
        if flight.replies > 0 {
            self.tally
                .replies(flight.step, flight.sent_ns, flight.replies, now_ns);
        }
        if let Some(iteration) = self.iterations.get_mut(flight.iteration) {
            if let Some(step) = self.plan.steps.get(flight.step)
                && flight.answered
            {
                // Paths in these values lead back to where they came from.
                for save in &step.saves {
                    let elsewhere = flight.target != step.url.target();
                    let target = elsewhere.then_some(flight.target);
                    iteration.values.came_from(save.slot, target);
                }
            }
            iteration.open = iteration.open.saturating_sub(1);
            iteration.failed |= verdict.is_err();
            match (iteration.course, verdict) {
                (Course::Scenario(_), Ok(())) => {}
                (_, Ok(())) => {
                    if let Some(came_ns) = self.came_ns.get_mut(flight.step) {
                        *came_ns = now_ns;
                    }
                }
                (Course::Refresh(_), Err(fault)) => {
                    self.stale.get_or_insert((flight.step, fault));
                }
                (course, Err(mut fault)) => {
                    let is_scenario = matches!(course, Course::Scenario(_));
                    if !is_scenario || course.on_failure(self.plan) == OnFailure::EndRun {
                        let said = said.map(|said| format!("; the response is {said}"));
                        fault.words += &said.unwrap_or_default();
                        self.fault.get_or_insert((flight.step, fault));
                    }
                }
            }
            self.ready.push(flight.iteration);
        }
        if let Some(mut rewritten) = flight.rewritten.take() {
            rewritten.clear();
            self.spare_rewritten.push(rewritten);
        }
        flight.renew();
        self.spare_flights.push(flight);
    }

    /// What the response was whose status ends the run: nothing else may show it.
    #[cold]
    fn said(&self, flight: &mut Flight, fault: &Fault) -> Option<String> {
        let iteration = self.iterations.get(flight.iteration)?;
        let course = iteration.course;
        let is_scenario = matches!(course, Course::Scenario(_));
        let is_http = flight.expected.is_none();
        let ends = !is_scenario || course.on_failure(self.plan) == OnFailure::EndRun;
        let is_shown = is_http && ends && fault.reason == Reason::Status;
        let exchange = flight.exchange.as_mut().filter(|_| is_shown)?;
        record::said(self.plan, exchange, &iteration.values)
    }

    /// What a response is that came after its `timeout`, before the request was given up.
    #[inline]
    fn overdue(&self, flight: &Flight, now_ns: u64) -> Option<Fault> {
        let limit_ns = self.plan.steps.get(flight.step)?.timeout_ns?;
        let is_late = now_ns.saturating_sub(flight.asked_ns) >= limit_ns;
        is_late.then(|| no_response(limit_ns))
    }

    /// What came slower than it must.
    #[inline]
    fn late(&self, flight: &Flight, now_ns: u64) -> impl Iterator<Item = Fault> + use<> {
        let expect = self.plan.steps.get(flight.step).map(|step| &step.expect);
        let (within_ns, first_within_ns) =
            expect.map_or((None, None), |it| (it.within_ns, it.first_within_ns));
        let (asked_ns, sent_ns) = (flight.asked_ns, flight.sent_ns);
        let limits = [
            (within_ns, (asked_ns, now_ns), Reason::Late),
            (
                first_within_ns,
                (sent_ns, flight.first_ns.unwrap_or(now_ns)),
                Reason::FirstLate,
            ),
        ];
        limits
            .into_iter()
            .filter_map(move |(limit_ns, (from_ns, end_ns), reason)| {
                let took_ns = end_ns.saturating_sub(from_ns);
                let limit_ns = limit_ns.filter(|limit_ns| took_ns > *limit_ns)?;
                Some(late(reason, took_ns, limit_ns))
            })
    }
}

/// When a user may do its actions again that it began at a moment.
fn free_from(failed: bool, began_ns: u64, now_ns: u64) -> u64 {
    match (now_ns == began_ns, failed) {
        (false, _) => now_ns,
        (true, true) => now_ns.saturating_add(NOTHING_SENT_NS),
        // Nothing took any time: others get their turn.
        (true, false) => now_ns.saturating_add(1),
    }
}

/// What is said of a request that has taken longer than its `timeout`.
#[cold]
pub(super) fn no_response(limit_ns: u64) -> Fault {
    let limit = GoDuration(Duration::from_nanos(limit_ns));
    Fault::new(
        Reason::Timeout,
        format!("no response in {limit} (`timeout`)"),
    )
}

#[cold]
fn late(reason: Reason, took_ns: u64, limit_ns: u64) -> Fault {
    let took = numbers::duration(took_ns);
    let limit = GoDuration(Duration::from_nanos(limit_ns));
    Fault::new(reason, format!("it took {took}, the limit is {limit}"))
}
