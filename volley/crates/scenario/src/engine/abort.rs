//! Thresholds that end a load: `abort_after`.

use std::time::Duration;

use super::control::{Control, Order};
use crate::plan::{Goal, Plan};
use crate::report::live::Progress;
use crate::report::{EndedBy, Names, Report};
use volley_report::report::Verdict;

/// Looks at the thresholds of a run each second.
pub struct AbortWatch<'a> {
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
    /// The length of the window that it is judged over.
    window: Duration,
}

impl<'a> AbortWatch<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let goals = plan.thresholds.iter().enumerate();
        let watched = |(place, goal): (usize, &'a Goal)| {
            let window = Duration::from_nanos(goal.abort_after_ns?);
            Some(Watched {
                place,
                goal,
                window,
            })
        };
        Self {
            names: Names::from(plan),
            goals: goals.filter_map(watched).collect(),
            aborted: None,
        }
    }

    /// Ends the load if the window of a threshold, which ends now, has failed it.
    pub fn look(&mut self, progress: &mut Progress, elapsed: Duration, control: &Control) {
        for Watched {
            place,
            goal,
            window,
        } in &self.goals
        {
            let verdict = progress.verdict(&self.names, goal, elapsed, *window);
            // A load that ends already needs no order.
            if self.aborted.is_none()
                && let Some(verdict) = verdict.filter(Verdict::is_beyond)
                && control.ask(Order::Abort(*place)).is_ok()
            {
                let window_ns = goal.abort_after_ns;
                self.aborted = Some((
                    *place,
                    Verdict {
                        window_ns,
                        ..verdict
                    },
                ));
            }
        }
        let longest = self.goals.iter().map(|one| one.window).max();
        progress.mark(elapsed, longest.unwrap_or_default());
    }

    /// What ended the load is what its window was, not the whole run.
    pub fn judge(self, report: &mut Report) {
        if let Some((place, verdict)) = self.aborted
            && report.facts.ended_by == EndedBy::Threshold(place)
            && let Some(own) = report.thresholds.get_mut(place)
        {
            *own = verdict;
        }
    }
}
