//! Orders: each is obeyed at its moment, which is the same for all threads.

use super::Driver;
use super::load::Kind;
use crate::engine::control::Order;
use crate::plan::{Phase, Phases};
use crate::report::EndedBy;
use volley_load::pace::{PhasedRate, PhasedUsers};

impl Driver<'_> {
    /// Takes the orders that are new. Setup and teardown have none.
    pub(super) fn hear_orders(&mut self) {
        let control = self.common.control;
        if self.common.post.is_some() && control.length() > self.known_orders {
            let new = control.after(self.known_orders);
            self.known_orders += new.len();
            self.orders.extend(new);
        }
    }

    /// When the next order is to be obeyed.
    pub(super) fn next_order_ns(&self) -> Option<u64> {
        self.orders.front().map(|next| next.at_ns)
    }

    /// Obeys the orders whose moment has come.
    #[inline]
    pub(super) fn obey(&mut self, now_ns: u64) {
        while self.next_order_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            if let Some(change) = self.orders.pop_front() {
                self.obey_one(&change.order, change.at_ns, now_ns);
            }
        }
    }

    #[cold]
    fn obey_one(&mut self, order: &Order, at_ns: u64, now_ns: u64) {
        match order {
            Order::Rate(load, rate) => self.set_rate(*load, at_ns, Some(*rate)),
            Order::Users(load, users) => self.set_users(*load, now_ns, Some(*users)),
            Order::Phases(load) => {
                self.set_rate(*load, at_ns, None);
                self.set_users(*load, now_ns, None);
            }
            Order::Weights(load, _) => {
                if let Some((state, shared)) =
                    self.loads.get_mut(*load).zip(self.common.quota.load(*load))
                {
                    state.weights += 1;
                    shared.reweigh(state.weights);
                }
            }
            Order::Pause => self.pause(at_ns, now_ns),
            Order::Resume => self.resume(at_ns, now_ns),
            Order::Stop => self.end_by(EndedBy::Order, now_ns),
            Order::Abort(goal) => self.end_by(EndedBy::Threshold(*goal), now_ns),
        }
    }

    /// Another rate, in millionths a second; `None`: that of the phases.
    fn set_rate(&mut self, load: usize, at_ns: u64, rate: Option<u64>) {
        let plan = self.common.plan.loads.get(load);
        let Some((state, plan)) = self.loads.get_mut(load).zip(plan) else {
            return;
        };
        let (Kind::Rate(agenda), Phases::Rate(phases)) = (&mut state.kind, &plan.phases) else {
            return;
        };
        let at_ns = at_ns.max(state.begins_ns);
        match rate {
            Some(rate) => agenda.change(at_ns, &PhasedRate::constant(rate)),
            None => agenda.return_to(at_ns, &PhasedRate::new(phases), state.begins_ns),
        }
    }

    /// Another number of users; `None`: that of the phases.
    fn set_users(&mut self, load: usize, now_ns: u64, users: Option<u64>) {
        let (lane, plan) = (self.lane(), self.common.plan.loads.get(load));
        let Some((state, plan)) = self.loads.get_mut(load).zip(plan) else {
            return;
        };
        let (Kind::Users(own), Phases::Users(phases)) = (&mut state.kind, &plan.phases) else {
            return;
        };
        own.number = match users {
            None => PhasedUsers::new(phases),
            Some(users) => PhasedUsers::new(&[Phase::constant(users)]),
        };
        let places = usize::try_from(lane.count(own.number.most())).unwrap_or(0);
        if places > own.busy.len() {
            own.busy.resize(places, false);
        }
        state.next_change_ns = now_ns.max(state.begins_ns);
    }

    /// No iteration begins any more but those that were due.
    fn pause(&mut self, at_ns: u64, now_ns: u64) {
        for state in &mut self.loads {
            if let Kind::Rate(agenda) = &mut state.kind {
                agenda.pause(at_ns.max(state.begins_ns));
            }
        }
        self.arrive(now_ns);
        self.is_paused = true;
    }

    fn resume(&mut self, at_ns: u64, now_ns: u64) {
        self.is_paused = false;
        self.look_again_ns = 0;
        for state in &mut self.loads {
            match &mut state.kind {
                Kind::Rate(agenda) => agenda.resume(at_ns.max(state.begins_ns)),
                Kind::Users(_) => state.next_change_ns = now_ns.max(state.begins_ns),
            }
        }
    }
}
