//! Values of setup that grow old, and are asked for again.

use super::{Driver, Timer};
use crate::Values;
use crate::engine::flight::Fault;
use crate::engine::iteration::Iteration;
use crate::plan::{Action, After, Plan, Refresh};
use crate::tally::Reason;
use volley_base::units::numbers::duration;

/// A value that could not be asked for is asked for again after this time.
const AGAIN_NS: u64 = 1_000_000_000;

/// No value is asked for more often than this.
const LEAST_NS: u64 = 100_000_000;

/// The steps that ask for a value: of an action, those that save how long it is good, or else all.
pub fn steps<'p>(plan: &'p Plan, refresh: &'p Refresh) -> impl Iterator<Item = usize> + 'p {
    let action = plan.setup.get(refresh.action);
    let steps = action.map_or(&[][..], Action::steps);
    let asks = move |step: &usize| match (&refresh.after, plan.steps.get(*step)) {
        (After::Seconds(slot), Some(step)) => step.saves.iter().any(|save| save.slot == *slot),
        _ => true,
    };
    steps.iter().copied().filter(asks)
}

/// How long a value is good, in ns.
///
/// # Errors
///
/// The response said nothing of use.
pub fn age_ns(refresh: &Refresh, values: &Values) -> Result<u64, Fault> {
    let slot = match &refresh.after {
        After::Fixed(ns) => return Ok(*ns),
        After::Seconds(slot) => *slot,
    };
    let text = String::from_utf8_lossy(values.get(slot).unwrap_or_default());
    let seconds = text.trim().parse().ok();
    let seconds = seconds.filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
    seconds
        .map(|seconds| (seconds * 1e9) as u64)
        .ok_or_else(|| {
            let words = format!("`{text}` is no number of seconds above 0 (`refresh.after`)");
            Fault::new(Reason::Save(0), words)
        })
}

/// A warning for each value that is asked for as often as can be, because it does not last longer than `early`.
pub fn hasty(plan: &Plan, values: &Values) -> Vec<String> {
    let warning = |refresh: &Refresh| {
        let age_ns = age_ns(refresh, values).ok()?;
        let step = plan.step_name(steps(plan, refresh).next()?);
        let [lasts, every, early] = [age_ns, LEAST_NS, refresh.early_ns].map(duration);
        (age_ns <= refresh.early_ns).then(|| {
            format!("setup's step `{step}` is done again every {every}: its value lasts {lasts}, and `refresh.early` is {early}")
        })
    };
    plan.refreshes.iter().filter_map(warning).collect()
}

impl Driver<'_> {
    /// Sets the moments at which values of setup are asked for again.
    pub(super) fn plan_refreshes(&mut self) {
        let setup = self.common.board.setup();
        self.core.came_ns.clone_from(&setup.came_ns);
        for at in 0..self.common.plan.refreshes.len() {
            self.plan_refresh(at);
        }
    }

    /// Sets such a moment. The age counts from when the value came.
    fn plan_refresh(&mut self, at: usize) {
        let plan = self.common.plan;
        let Some(refresh) = plan.refreshes.get(at) else {
            return;
        };
        let Ok(age_ns) = age_ns(refresh, &self.values) else {
            return;
        };
        let came_ns = steps(plan, refresh).filter_map(|step| self.core.came_ns.get(step));
        let came_ns = came_ns.min().copied().unwrap_or_default();
        let wait_ns = age_ns.saturating_sub(refresh.early_ns).max(LEAST_NS);
        self.timers
            .set(came_ns.saturating_add(wait_ns), Timer::Refresh(at));
    }

    /// Gives an iteration what setup knew when it asked for a value. Values without rows are made anew.
    pub(super) fn prepare_refresh(&mut self, key: usize, at: usize, now_ns: u64) {
        let plan = self.common.plan;
        let setup = self.common.board.setup();
        if let Some(iteration) = self.core.iterations.get_mut(key) {
            iteration.values.restart(&setup.values);
            iteration.values.add(&self.values);
        }
        let actions = plan.refreshes.get(at).map_or(0, |refresh| refresh.action);
        for action in plan.setup.iter().take(actions) {
            if let Action::Draw(feed) = action
                && !self.common.store.has_rows(*feed)
            {
                self.draw(key, *feed, now_ns);
            }
        }
    }

    /// A value of setup was asked for again.
    pub(super) fn refreshed(&mut self, at: usize, iteration: &Iteration, now_ns: u64) {
        let plan = self.common.plan;
        self.refreshing = self.refreshing.saturating_sub(1);
        let Some(refresh) = plan.refreshes.get(at) else {
            return;
        };
        let age = age_ns(refresh, &iteration.values);
        if iteration.failed || age.is_err() {
            if let (Err(fault), Some(step)) = (age, steps(plan, refresh).next()) {
                self.core.stale.get_or_insert((step, fault));
            }
            self.timers
                .set(now_ns.saturating_add(AGAIN_NS), Timer::Refresh(at));
            return;
        }
        let action = plan.setup.get(refresh.action);
        let steps = action.map_or(&[][..], Action::steps);
        let saves = steps.iter().filter_map(|step| plan.steps.get(*step));
        let board = self.common.board;
        board.change(|values| {
            for step in saves {
                let sets = step.lua.iter().flat_map(|script| &script.sets);
                for slot in step.saves.iter().map(|save| &save.slot).chain(sets) {
                    values.copy(*slot, &iteration.values);
                }
            }
        });
        // The other threads see it at their next glance.
        self.values = board.get();
        self.plan_refresh(at);
    }
}
