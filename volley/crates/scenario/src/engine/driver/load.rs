//! What makes iterations begin: users, and schedules.

use super::quota::{Dealt, LoadQuota, Permit};
use super::{Driver, Timer};
use crate::data::Undrawn;
use crate::engine::RunError;
use crate::engine::control::Control;
use crate::engine::iteration::Course;
use crate::mix::Mix;
use crate::plan::{Load, Phases, Scenario, WhenFull};
use crate::report::EndedBy;
use crate::report::live::Stage;
use volley_load::pace::{Agenda, Lane, PhasedRate, PhasedUsers};

/// While too many iterations are open, or another thread holds the last permit, a thread looks again after this time.
const LOOK_AGAIN_NS: u64 = 1_000_000;

/// A load on one thread.
pub(super) struct LoadState {
    pub(super) begins_ns: u64,
    ends_ns: u64,
    pub(super) kind: Kind,
    /// Deals out scenarios, to iterations and to those that are dropped.
    mix: Deck,
    dropped: Deck,
    /// How many orders changed its weights.
    pub(super) weights: u64,
    /// The next moment at which the number of users changes, or the load ends.
    pub(super) next_change_ns: u64,
    /// No iteration of it begins any more on this thread, and what was due is counted.
    is_closed: bool,
}

pub(super) enum Kind {
    Users(Users),
    Rate(Box<Agenda<PhasedRate>>),
}

/// Which scenario each number is.
struct Deck {
    /// The number of its weights.
    weights: u64,
    mix: Mix,
}

/// Users of a load.
pub(super) struct Users {
    pub(super) number: PhasedUsers,
    /// By own user: an iteration of it is open or planned, or it has stopped for good.
    pub(super) busy: Vec<bool>,
    /// Users below this one were called, and are busy.
    called: u64,
}

impl Deck {
    fn new(mix: Mix) -> Self {
        Self { weights: 0, mix }
    }

    /// The scenario of a number of a load's iterations.
    #[inline]
    fn scenario(
        &mut self,
        dealt: Dealt,
        of: (&Control, usize),
        scenarios: &[Scenario],
    ) -> Option<usize> {
        self.weigh(dealt.weights, of, scenarios);
        self.mix.scenario(dealt.number)
    }

    /// Weights of this number count.
    #[inline]
    fn weigh(&mut self, weights: u64, of: (&Control, usize), scenarios: &[Scenario]) {
        if weights != self.weights {
            self.reweigh(weights, of, scenarios);
        }
    }

    #[cold]
    fn reweigh(&mut self, weights: u64, (control, at): (&Control, usize), scenarios: &[Scenario]) {
        if let Some(load) = control.weighted(at, weights) {
            (self.weights, self.mix) = (weights, Mix::of(&load, scenarios));
        }
    }
}

impl LoadState {
    /// The next moment after `now_ns` at which something changes.
    fn change_after(&self, now_ns: u64) -> u64 {
        if now_ns < self.begins_ns {
            return self.begins_ns;
        }
        let next_ns = match &self.kind {
            Kind::Users(users) => users.number.next_change_after(now_ns - self.begins_ns),
            Kind::Rate(_) => None,
        };
        let next_ns = next_ns.map_or(self.ends_ns, |ns| self.begins_ns.saturating_add(ns));
        if next_ns > now_ns { next_ns } else { u64::MAX }
    }
}

impl Driver<'_> {
    /// Prepares the loads, which begin at a moment.
    pub(super) fn begin_loads(&mut self, start_ns: u64) {
        let plan = self.common.plan;
        self.loads = plan
            .loads
            .iter()
            .map(|load| self.load_state(load, start_ns))
            .collect();
    }

    fn load_state(&self, load: &Load, start_ns: u64) -> LoadState {
        let begins_ns = start_ns.saturating_add(load.start_after_ns);
        let lane = self.lane();
        let (kind, length_ns) = match &load.phases {
            Phases::Users(phases) => {
                let number = PhasedUsers::new(phases);
                let own = usize::try_from(lane.count(number.most())).unwrap_or(0);
                let length_ns = number.end_ns();
                let users = Users {
                    number,
                    busy: vec![false; own],
                    called: 0,
                };
                (Kind::Users(users), length_ns)
            }
            Phases::Rate(phases) => {
                let rate = PhasedRate::new(phases);
                let length_ns = rate.end_ns();
                let agenda = Agenda::new(&rate, lane, begins_ns);
                (Kind::Rate(Box::new(agenda)), length_ns)
            }
        };
        let mix = Mix::of(load, &self.common.plan.scenarios);
        LoadState {
            begins_ns,
            ends_ns: begins_ns.saturating_add(length_ns.unwrap_or(u64::MAX)),
            kind,
            dropped: Deck::new(mix.clone()),
            mix: Deck::new(mix),
            weights: 0,
            next_change_ns: begins_ns,
            is_closed: false,
        }
    }

    /// The users, iterations and connections of this thread.
    pub(super) fn lane(&self) -> Lane {
        Lane { first: 0, every: 1 }.part(self.index.into(), self.common.threads.into())
    }

    fn shared(&self, at: usize) -> Option<&LoadQuota> {
        self.common.quota.load(at)
    }

    /// The next moment at which the number of users changes, or a load ends.
    pub(super) fn next_change_ns(&self) -> u64 {
        let open = self.loads.iter().filter(|state| !state.is_closed);
        let changes = open.map(|state| state.next_change_ns);
        changes.min().unwrap_or(u64::MAX)
    }

    /// Lets the users begin that should work by now.
    pub(super) fn call_users(&mut self, now_ns: u64) {
        let threads = u64::from(self.common.threads.max(1));
        for at in 0..self.loads.len() {
            let wanted = self.wanted_users(at, now_ns);
            let Some(state) = self.loads.get_mut(at) else {
                continue;
            };
            if now_ns < state.next_change_ns {
                continue;
            }
            state.next_change_ns = state.change_after(now_ns);
            self.judge_users(at, now_ns);
            let Some(Kind::Users(users)) = self.loads.get_mut(at).map(|state| &mut state.kind)
            else {
                continue;
            };
            let from = std::mem::replace(&mut users.called, wanted).min(wanted);
            let own = from.saturating_sub(self.index.into()).div_ceil(threads);
            for own in own.. {
                let user = own * threads + u64::from(self.index);
                if user >= wanted {
                    break;
                }
                if self.set_busy(at, user, true) == Some(false) {
                    self.begin_user(at, user, now_ns);
                }
            }
        }
    }

    /// Ends a load whose users have all stopped.
    fn judge_users(&self, at: usize, now_ns: u64) {
        if let Some((state, shared)) = self.loads.get(at).zip(self.shared(at))
            && let Kind::Users(users) = &state.kind
        {
            let most = users
                .number
                .most_from(now_ns.saturating_sub(state.begins_ns));
            shared.judge_users(most, now_ns);
        }
    }

    /// How many users of a load work at a moment, over all threads.
    fn wanted_users(&self, at: usize, now_ns: u64) -> u64 {
        match self.loads.get(at) {
            Some(state)
                if !self.is_stopping
                    && !self.is_paused
                    && !state.is_closed
                    && (state.begins_ns..state.ends_ns).contains(&now_ns)
                    && !self.shared(at).is_none_or(LoadQuota::is_over) =>
            {
                match &state.kind {
                    Kind::Users(users) => users.number.active_at(now_ns - state.begins_ns),
                    Kind::Rate(..) => 0,
                }
            }
            _ => 0,
        }
    }

    /// A user begins an iteration, if it still should.
    pub(super) fn begin_user(&mut self, at: usize, user: u64, now_ns: u64) {
        let quota = self.common.quota;
        let shared = quota.load(at);
        let Some(shared) = shared.filter(|_| user < self.wanted_users(at, now_ns)) else {
            self.set_busy(at, user, false);
            return;
        };
        match shared.permit() {
            Permit::Over => {
                self.set_busy(at, user, false);
            }
            Permit::Later => {
                let then_ns = now_ns.saturating_add(LOOK_AGAIN_NS);
                self.timers.set(then_ns, Timer::User(at, user));
            }
            Permit::Given => {
                self.begin_of(at, user, now_ns, now_ns);
            }
        }
    }

    /// Begins an iteration that has a permit. `false`: a feed had nothing for it.
    fn begin_of(&mut self, at: usize, user: u64, due_ns: u64, now_ns: u64) -> bool {
        let (quota, plan) = (self.common.quota, self.common.plan);
        let (Some(state), Some(shared)) = (self.loads.get_mut(at), quota.load(at)) else {
            return false;
        };
        let of = (self.common.control, at);
        let scenario = state.mix.scenario(shared.deal(), of, &plan.scenarios);
        let has_begun = scenario.is_some_and(|scenario| {
            self.begin(Course::Scenario(scenario), (at, user), due_ns, now_ns)
        });
        match has_begun {
            true => shared.begun(),
            false => shared.give_back(),
        }
        has_begun
    }

    /// A feed has nothing for an iteration of a load: its user stops, or the load, or the run.
    pub(super) fn undrawn(
        &mut self,
        (at, user): (usize, u64),
        (scenario, feed): (usize, usize),
        why: Undrawn,
        now_ns: u64,
    ) {
        let is_of_users = matches!(
            self.loads.get(at).map(|state| &state.kind),
            Some(Kind::Users(_))
        );
        match why {
            Undrawn::Stop(_) => {
                let Some(shared) = self.shared(at) else {
                    return;
                };
                shared.dried(feed);
                match is_of_users && !self.common.store.has_one_position(feed) {
                    true => {
                        shared.user_stopped(user);
                        self.judge_users(at, now_ns);
                    }
                    false => shared.ran_out(now_ns),
                }
            }
            why => {
                let place = format!("scenario `{}`", self.common.plan.scenario_name(scenario));
                self.failure.get_or_insert(RunError::Undrawn { place, why });
                self.halt(now_ns);
            }
        }
    }

    /// An iteration of a user is over. It begins the next one, at `from_ns` at the earliest.
    pub(super) fn user_is_free(
        &mut self,
        (at, user): (usize, u64),
        began_ns: u64,
        from_ns: u64,
        now_ns: u64,
    ) {
        let load = self.common.plan.loads.get(at);
        let pace_ns = load.map_or(0, |load| load.pace_ns);
        let next_ns = from_ns.max(began_ns.saturating_add(pace_ns));
        match next_ns > now_ns {
            true => self.timers.set(next_ns, Timer::User(at, user)),
            false => self.begin_user(at, user, now_ns),
        }
    }

    /// Notes whether a user is busy; what it was before.
    fn set_busy(&mut self, at: usize, user: u64, is_busy: bool) -> Option<bool> {
        let own = usize::try_from(user / u64::from(self.common.threads.max(1))).ok()?;
        let Kind::Users(users) = &mut self.loads.get_mut(at)?.kind else {
            return None;
        };
        if !is_busy {
            users.called = users.called.min(user);
        }
        let place = users.busy.get_mut(own)?;
        Some(std::mem::replace(place, is_busy))
    }

    /// When the next iteration of a schedule can begin.
    pub(super) fn next_arrival_ns(&self) -> Option<u64> {
        if self.is_stopping || self.is_paused {
            return None;
        }
        let next = |state: &LoadState| match &state.kind {
            Kind::Rate(agenda) if !state.is_closed => {
                agenda.next_ns().filter(|ns| *ns < state.ends_ns)
            }
            _ => None,
        };
        let next_ns = self.loads.iter().filter_map(next).min();
        next_ns.map(|ns| ns.max(self.look_again_ns))
    }

    /// Begins the iterations that are due.
    pub(super) fn arrive(&mut self, now_ns: u64) {
        if self.is_stopping || self.is_paused {
            return;
        }
        for at in 0..self.loads.len() {
            while self.arrive_one(at, now_ns) {}
        }
    }

    /// Begins or drops the next iteration of a schedule; `false`: none is due, or it must wait.
    fn arrive_one(&mut self, at: usize, now_ns: u64) -> bool {
        let (quota, limits) = (self.common.quota, &self.common.plan.limits);
        let (Some(state), Some(shared)) = (self.loads.get_mut(at), quota.load(at)) else {
            return false;
        };
        let Kind::Rate(agenda) = &mut state.kind else {
            return false;
        };
        let next_ns = agenda.next_ns().filter(|ns| *ns < state.ends_ns);
        let Some(due_ns) = next_ns.filter(|ns| *ns <= now_ns) else {
            return false;
        };
        if state.is_closed || shared.is_over() {
            return false;
        }
        if !quota.enter(limits.iterations_open) {
            if limits.when_full == WhenFull::Wait {
                self.look_again_ns = now_ns.saturating_add(LOOK_AGAIN_NS);
                return false;
            }
            agenda.take();
            let of = (self.common.control, at);
            let scenarios = &self.common.plan.scenarios;
            let dropped = state.dropped.scenario(shared.deal_dropped(), of, scenarios);
            if let Some(scenario) = dropped {
                self.core.tally.dropped(scenario, 1, due_ns, now_ns);
            }
            return true;
        }
        if shared.permit() != Permit::Given {
            quota.leave();
            self.look_again_ns = now_ns.saturating_add(LOOK_AGAIN_NS);
            return false;
        }
        agenda.take();
        if !self.begin_of(at, 0, due_ns, now_ns) {
            quota.leave();
        }
        true
    }

    /// An iteration of a schedule is over: another one may begin in its place.
    pub(super) fn iteration_over(&mut self) {
        self.common.quota.leave();
        self.look_again_ns = 0;
    }

    /// No iteration of a load begins any more. Counts those that were due and did not begin.
    fn close(&mut self, at: usize, now_ns: u64) {
        let quota = self.common.quota;
        let (Some(state), Some(shared)) = (self.loads.get_mut(at), quota.load(at)) else {
            return;
        };
        if std::mem::replace(&mut state.is_closed, true) {
            return;
        }
        let ran_out_ns = shared.ran_out_ns();
        if ran_out_ns.is_none() && shared.is_done() {
            return;
        }
        let over_ns = ran_out_ns.unwrap_or(now_ns).min(now_ns);
        self.active_ns = self.active_ns.max(over_ns.min(state.ends_ns));
        let Kind::Rate(agenda) = &mut state.kind else {
            return;
        };
        let until_ns = over_ns.saturating_add(1).min(state.ends_ns);
        let (of, scenarios) = ((self.common.control, at), &self.common.plan.scenarios);
        while let Some(due_ns) = agenda.next_ns().filter(|ns| *ns < until_ns) {
            agenda.take();
            let dropped = state.dropped.scenario(shared.deal_dropped(), of, scenarios);
            match (dropped, ran_out_ns) {
                (Some(scenario), None) => self.core.tally.dropped(scenario, 1, due_ns, now_ns),
                (Some(scenario), Some(_)) => self.core.tally.unfed(scenario, 1),
                (None, _) => {}
            }
        }
    }

    /// Something ends the load before its own end: no iteration begins any more, and those that are open may end. Those
    /// of a load that has ended are cut.
    pub(super) fn end_by(&mut self, by: EndedBy, now_ns: u64) {
        if let Some(before) = self.stopped_by {
            // After another cause, a signal cuts what is open.
            if by == EndedBy::Signal && before != by {
                self.ends_ns = now_ns;
            }
            return;
        }
        self.stopped_by = Some(by);
        // What was due before this moment begins.
        self.arrive(now_ns);
        let was_stopping = std::mem::replace(&mut self.is_stopping, true);
        self.stopped_ns = self.stopped_ns.min(now_ns);
        self.ends_ns = match was_stopping {
            true => now_ns,
            false => now_ns.saturating_add(self.common.plan.limits.drain_ns),
        };
        for at in 0..self.loads.len() {
            self.close(at, now_ns);
        }
        if by == EndedBy::Signal && !was_stopping {
            // Somebody wants to know now how many iterations are open.
            self.stage = Stage::Waits;
            self.report(now_ns);
        }
    }

    /// All loads have ended. Iterations that are open may end until a load's time is over, and some time longer.
    fn drain(&mut self, now_ns: u64) {
        (self.is_stopping, self.stopped_ns) = (true, now_ns);
        self.common.control.drain();
        let ends_ns = self.loads.iter().map(|state| state.ends_ns).max();
        let drain_ns = self.common.plan.limits.drain_ns;
        self.ends_ns = ends_ns.unwrap_or(0).saturating_add(drain_ns);
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&mut self, now_ns: u64) -> bool {
        if !self.is_stopping {
            let quota = self.common.quota;
            for at in 0..self.loads.len() {
                let ends_ns = self.loads.get(at).map_or(0, |state| state.ends_ns);
                if now_ns >= ends_ns || quota.load(at).is_none_or(LoadQuota::is_over) {
                    self.close(at, now_ns);
                }
            }
            if self.loads.iter().all(|state| state.is_closed) {
                self.drain(now_ns);
            }
        }
        self.is_stopping && (self.has_ended() || now_ns >= self.ends_ns)
    }
}
