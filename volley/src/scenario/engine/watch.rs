//! Thresholds that end a load: `abort_after`.

use std::time::Duration;

use super::control::{Control, Order};
use crate::pace::whole_ns;
use crate::report::Verdict;
use crate::scenario::plan::{Goal, Plan};
use crate::scenario::report::live::Progress;
use crate::scenario::report::{EndedBy, Names, Report};

/// Looks at the thresholds of a run each second.
pub struct Watch<'a> {
    names: Names,
    goals: Vec<Watched<'a>>,
    /// What ended the load: the threshold's place, and what it was.
    aborted: Option<(usize, Verdict)>,
}

/// A threshold that may end the load.
struct Watched<'a> {
    /// In the plan.
    place: usize,
    goal: &'a Goal,
    patience_ns: u64,
    /// Since when it has failed, in ns after the start.
    since_ns: Option<u64>,
}

impl<'a> Watch<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let goals = plan.thresholds.iter().enumerate();
        let watched = |(place, goal): (usize, &'a Goal)| {
            let patience_ns = goal.abort_after_ns?;
            Some(Watched {
                place,
                goal,
                patience_ns,
                since_ns: None,
            })
        };
        Self {
            names: Names::from(plan),
            goals: goals.filter_map(watched).collect(),
            aborted: None,
        }
    }

    /// Ends the load if a threshold has failed for too long.
    pub fn look(&mut self, progress: &Progress, elapsed: Duration, control: &Control) {
        if self.goals.is_empty() || self.aborted.is_some() {
            return;
        }
        let now_ns = whole_ns(elapsed);
        let goals: Vec<Goal> = self.goals.iter().map(|one| one.goal.clone()).collect();
        let verdicts = progress.verdicts(&self.names, &goals, elapsed);
        for (watched, verdict) in self.goals.iter_mut().zip(verdicts) {
            let fails = verdict.failed && verdict.value.is_some();
            watched.since_ns = watched.since_ns.or(Some(now_ns)).filter(|_| fails);
            let is_too_long = |since_ns| now_ns - since_ns >= watched.patience_ns;
            if self.aborted.is_none() && watched.since_ns.is_some_and(is_too_long) {
                // A load that ends already needs no order.
                if control.ask(Order::Abort(watched.place)).is_ok() {
                    self.aborted = Some((watched.place, verdict));
                }
            }
        }
    }

    /// The threshold that ended the load has failed, whatever became of it while open iterations ended.
    pub fn judge(self, report: &mut Report) {
        if let Some((place, verdict)) = self.aborted
            && report.facts.ended_by == EndedBy::Threshold(place)
            && let Some(own) = report.thresholds.get_mut(place)
            && !own.failed
        {
            *own = verdict;
        }
    }
}
