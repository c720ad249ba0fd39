//! What makes iterations begin: users, and schedules.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Driver, Timer};
use crate::pace::{Agenda, Lane, PhasedRate, PhasedUsers};
use crate::scenario::engine::iteration::Course;
use crate::scenario::mix::Mix;
use crate::scenario::plan::{Load, Phases, Plan, WhenFull};

/// For each load: how many iterations have begun, over all threads.
#[derive(Debug, Default)]
pub struct Quota {
    pub begun: Vec<AtomicU64>,
}

impl Quota {
    /// For the loads of a plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            begun: plan.loads.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// A load on one thread.
pub(super) struct LoadState {
    begins_ns: u64,
    ends_ns: u64,
    kind: Kind,
    /// Deals out scenarios.
    mix: Mix,
    is_over: bool,
}

enum Kind {
    /// By own user: an iteration of it is open or planned.
    Users(PhasedUsers, Vec<bool>),
    /// The schedule, and the number of its next iteration.
    Rate(Box<Agenda<PhasedRate>>, u64),
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
                let users = PhasedUsers::new(phases);
                let own = usize::try_from(lane.count(users.most())).unwrap_or(0);
                let length_ns = users.end_ns();
                (Kind::Users(users, vec![false; own]), length_ns)
            }
            Phases::Rate(phases) => {
                let rate = PhasedRate::new(phases);
                let length_ns = rate.end_ns();
                let agenda = Agenda::new(&rate, lane, begins_ns);
                (Kind::Rate(Box::new(agenda), lane.first), length_ns)
            }
        };
        LoadState {
            begins_ns,
            ends_ns: begins_ns.saturating_add(length_ns.unwrap_or(u64::MAX)),
            kind,
            mix: Mix::of(load, &self.common.plan.scenarios),
            is_over: false,
        }
    }

    /// The users and iterations of this thread.
    fn lane(&self) -> Lane {
        Lane { first: 0, every: 1 }.part(self.index.into(), self.common.threads.into())
    }

    /// Lets the users begin that should work by now.
    pub(super) fn call_users(&mut self, now_ns: u64) {
        for at in 0..self.loads.len() {
            let wanted = self.wanted_users(at, now_ns);
            let threads = u64::from(self.common.threads);
            let Some(LoadState {
                kind: Kind::Users(_, users),
                ..
            }) = self.loads.get_mut(at)
            else {
                continue;
            };
            let mut idle = Vec::new();
            for (own, is_busy) in users.iter_mut().enumerate() {
                let user = own as u64 * threads + u64::from(self.index);
                if !*is_busy && user < wanted {
                    *is_busy = true;
                    idle.push(user);
                }
            }
            for user in idle {
                self.begin_user(at, user, now_ns);
            }
        }
    }

    /// How many users of a load work at a moment, over all threads.
    fn wanted_users(&self, at: usize, now_ns: u64) -> u64 {
        match self.loads.get(at) {
            Some(state)
                if !self.is_stopping
                    && !state.is_over
                    && (state.begins_ns..state.ends_ns).contains(&now_ns) =>
            {
                match &state.kind {
                    Kind::Users(users, _) => users.active_at(now_ns - state.begins_ns),
                    Kind::Rate(..) => 0,
                }
            }
            _ => 0,
        }
    }

    /// A user begins an iteration, if it still should.
    pub(super) fn begin_user(&mut self, at: usize, user: u64, now_ns: u64) {
        let is_wanted = user < self.wanted_users(at, now_ns);
        match is_wanted.then(|| self.take_quota(at)).flatten() {
            Some(_) => self.begin_of(at, user, now_ns, now_ns),
            None => self.set_busy(at, user, false),
        }
    }

    /// Takes one of the iterations that a load may begin: its number.
    fn take_quota(&mut self, at: usize) -> Option<u64> {
        let load = self.common.plan.loads.get(at)?;
        let number = self
            .common
            .quota
            .begun
            .get(at)?
            .fetch_add(1, Ordering::Relaxed);
        let is_left = load.iterations.is_none_or(|most| number < most);
        if !is_left && let Some(state) = self.loads.get_mut(at) {
            state.is_over = true;
        }
        is_left.then_some(number)
    }

    fn begin_of(&mut self, at: usize, user: u64, due_ns: u64, now_ns: u64) {
        if let Some(scenario) = self.deal(at) {
            self.begin(Course::Scenario(scenario), (at, user), due_ns, now_ns);
        }
    }

    /// An iteration of a load is over. Its user begins the next one, at `from_ns` at the earliest.
    pub(super) fn user_is_free(
        &mut self,
        at: usize,
        user: u64,
        began_ns: u64,
        from_ns: u64,
        now_ns: u64,
    ) {
        let pace_ns = self
            .common
            .plan
            .loads
            .get(at)
            .map_or(0, |load| load.pace_ns);
        if !matches!(
            self.loads.get(at),
            Some(LoadState {
                kind: Kind::Users(..),
                ..
            })
        ) {
            return;
        }
        let next_ns = from_ns.max(began_ns.saturating_add(pace_ns));
        match next_ns > now_ns {
            true => self.timers.set(next_ns, Timer::User(at, user)),
            false => self.begin_user(at, user, now_ns),
        }
    }

    fn set_busy(&mut self, at: usize, user: u64, is_busy: bool) {
        let own = user / u64::from(self.common.threads.max(1));
        if let Some(LoadState {
            kind: Kind::Users(_, users),
            ..
        }) = self.loads.get_mut(at)
            && let Some(place) = usize::try_from(own).ok().and_then(|own| users.get_mut(own))
        {
            *place = is_busy;
        }
    }

    /// When the next iteration of a schedule is due.
    pub(super) fn next_arrival_ns(&self) -> Option<u64> {
        if self.is_stopping {
            return None;
        }
        let next = |state: &LoadState| match &state.kind {
            Kind::Rate(agenda, _) if !state.is_over => {
                agenda.next_ns().filter(|ns| *ns < state.ends_ns)
            }
            _ => None,
        };
        self.loads.iter().filter_map(next).min()
    }

    /// Begins the iterations that are due.
    pub(super) fn arrive(&mut self, now_ns: u64) {
        if self.is_stopping {
            return;
        }
        let limits = &self.common.plan.limits;
        let most = (limits.iterations_open / self.common.threads.max(1)).max(1) as usize;
        for at in 0..self.loads.len() {
            while let Some(state) = self.loads.get_mut(at)
                && !state.is_over
                && let Kind::Rate(agenda, next) = &mut state.kind
                && let Some(due_ns) = agenda.next_ns()
                && due_ns <= now_ns
                && due_ns < state.ends_ns
            {
                let is_full = self.core.iterations.len() >= most;
                if is_full && limits.when_full == WhenFull::Wait {
                    break;
                }
                agenda.take();
                let number = *next;
                *next += u64::from(self.common.threads);
                if self.take_quota(at).is_none() {
                    break;
                }
                match is_full {
                    true => self.drop_one(at, now_ns),
                    false => self.begin_of(at, number, due_ns, now_ns),
                }
            }
        }
    }

    /// The scenario of the next iteration of a load.
    fn deal(&mut self, at: usize) -> Option<usize> {
        self.loads.get_mut(at)?.mix.next()
    }

    /// No iteration of a load begins any more on this thread.
    pub(super) fn end_load(&mut self, at: usize) {
        if let Some(state) = self.loads.get_mut(at) {
            state.is_over = true;
        }
    }

    fn drop_one(&mut self, at: usize, now_ns: u64) {
        if let Some(scenario) = self.deal(at) {
            self.core.tally.dropped(scenario, 1, now_ns);
        }
    }

    /// No iteration begins any more; those that are open may end.
    pub(super) fn stop(&mut self, now_ns: u64) {
        if !std::mem::replace(&mut self.is_stopping, true) {
            self.ends_ns = now_ns.saturating_add(self.common.plan.limits.drain_ns);
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&mut self, now_ns: u64) -> bool {
        if !self.is_stopping {
            let is_over = |state: &LoadState| {
                state.is_over
                    || now_ns >= state.ends_ns
                    || matches!(&state.kind, Kind::Rate(agenda, _) if agenda.is_over())
            };
            if self.loads.iter().all(is_over) {
                self.stop(now_ns);
            }
        }
        self.is_stopping && (self.core.iterations.is_empty() || now_ns >= self.ends_ns)
    }
}
