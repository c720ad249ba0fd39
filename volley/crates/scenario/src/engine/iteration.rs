//! One pass of a user through a scenario.

use crate::Values;
use crate::plan::{Action, OnFailure, Plan, Scenario};
use crate::script::Kept;
use volley_http::http::Jar;

/// What an iteration works through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// The steps before the load.
    Setup,
    /// The steps after it.
    Teardown,
    /// One action of the setup again: index into the plan's refreshes.
    Refresh(usize),
    /// Index into the plan's scenarios.
    Scenario(usize),
}

/// An iteration; its memory is used again for the next one.
#[derive(Debug)]
pub struct Iteration {
    /// Told apart from an earlier iteration with the same key.
    pub serial: u64,
    pub course: Course,
    /// The load that began it, and its user; of a schedule: a number that no other open iteration has.
    pub load: usize,
    pub user: u64,
    /// The next action, and how often the actions were done.
    pub at: usize,
    pub round: u32,
    /// How many requests it waits for.
    pub open: u32,
    /// It waits for the end of a thought.
    pub thinks: bool,
    /// When it, or its first request after a thought, was due, and when it began, in ns.
    pub due_ns: u64,
    pub began_ns: u64,
    /// How much later than due it began, in ns.
    pub delay_ns: u64,
    /// When it began to do its actions for this round, in ns.
    pub round_ns: u64,
    /// Its beginning was due at a moment, whatever became of others.
    pub is_scheduled: bool,
    /// A feed had no more rows for it.
    pub out_of_data: bool,
    /// A step has failed.
    pub failed: bool,
    /// Its next request is the first one, and was due at that moment.
    pub is_due: bool,
    pub values: Values,
    pub jar: Jar,
    pub bond: Bond,
    /// The last response, for the script of the next step.
    pub last: Option<Box<Kept>>,
}

/// Which connection takes an iteration's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bond {
    /// Any.
    Free,
    /// The one that took its last request, if it is of the right target and has room; or else any.
    Last(usize),
    /// That of one link of each target: it draws from the link's slice of rows.
    Kept(usize),
}

impl Course {
    /// Its actions.
    pub fn actions(self, plan: &Plan) -> &[Action] {
        match self {
            Self::Setup => &plan.setup,
            Self::Teardown => &plan.teardown,
            Self::Refresh(at) => {
                let refresh = plan.refreshes.get(at);
                let action = refresh.and_then(|refresh| plan.setup.get(refresh.action));
                action.map_or(&[], std::slice::from_ref)
            }
            Self::Scenario(_) => self.of(plan).map_or(&[], |scenario| &scenario.actions),
        }
    }

    /// The scenario, if it is one.
    fn of(self, plan: &Plan) -> Option<&Scenario> {
        match self {
            Self::Scenario(at) => plan.scenarios.get(at),
            _ => None,
        }
    }

    /// How often they are done.
    pub fn rounds(self, plan: &Plan) -> u32 {
        self.of(plan).map_or(1, |scenario| scenario.repeat)
    }

    /// Whether it sends the cookies that it gets.
    pub fn keeps_cookies(self, plan: &Plan) -> bool {
        let scenario = self.of(plan);
        scenario.is_none_or(|scenario| scenario.keeps_cookies)
    }

    /// What a failed step does.
    pub fn on_failure(self, plan: &Plan) -> OnFailure {
        let scenario = self.of(plan);
        scenario.map_or(OnFailure::EndIteration, |scenario| scenario.on_failure)
    }
}

impl Iteration {
    /// Makes it a new one, which keeps its values.
    pub fn restart(
        &mut self,
        of_serial: u64,
        of_course: Course,
        of_user: (usize, u64),
        was_due_ns: u64,
        now_ns: u64,
    ) {
        // All fields are named: none is forgotten.
        let Self {
            serial,
            course,
            load,
            user,
            at,
            round,
            open,
            thinks,
            due_ns,
            began_ns,
            delay_ns,
            round_ns,
            is_scheduled,
            out_of_data,
            failed,
            is_due,
            values: _,
            jar,
            bond,
            last,
        } = self;
        (*serial, *course, (*load, *user)) = (of_serial, of_course, of_user);
        (*at, *round, *open, *thinks) = (0, 0, 0, false);
        (*due_ns, *began_ns, *round_ns) = (was_due_ns, now_ns, now_ns);
        *delay_ns = now_ns.saturating_sub(was_due_ns);
        (*is_scheduled, *out_of_data, *failed, *is_due) = (false, false, false, false);
        (*bond, *last) = (Bond::Free, None);
        jar.clear();
    }

    /// One without values.
    pub fn new(slots: usize) -> Self {
        Self {
            serial: 0,
            course: Course::Setup,
            load: 0,
            user: 0,
            at: 0,
            round: 0,
            open: 0,
            thinks: false,
            due_ns: 0,
            began_ns: 0,
            delay_ns: 0,
            round_ns: 0,
            is_scheduled: false,
            out_of_data: false,
            failed: false,
            is_due: false,
            values: Values::new(slots),
            jar: Jar::default(),
            bond: Bond::Free,
            last: None,
        }
    }
}
