//! What counters stand for, in words.

use super::super::plan::{Plan, Request, Save, Script, Step};
use super::super::tally::Reason;

/// The names of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub scenarios: Vec<String>,
    pub steps: Vec<StepNames>,
}

/// The names of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepNames {
    pub name: String,
    /// Empty for a step of setup or teardown.
    pub scenario: String,
    /// Its statuses are gRPC codes.
    pub is_grpc: bool,
    pub checks: Vec<String>,
    /// What it saves.
    pub saves: Vec<String>,
    /// Rules for each reply.
    pub each: Vec<String>,
    /// Conditions without a name of their own: `replies`, that of a script, `first_within` and `within`.
    pub limits: Vec<Reason>,
}

impl From<&Plan> for Names {
    fn from(plan: &Plan) -> Self {
        let steps = plan.steps.iter();
        Self {
            scenarios: plan.scenarios.iter().map(|one| one.name.clone()).collect(),
            steps: steps
                .map(|step| StepNames::new(step, &plan.slots))
                .collect(),
        }
    }
}

impl StepNames {
    /// The names of a step. `slots`: those of all values.
    pub(crate) fn new(step: &Step, slots: &[String]) -> Self {
        let expect = &step.expect;
        let slot = |save: &Save| slots.get(usize::from(save.slot.0)).cloned();
        let has_replies = match &step.request {
            Request::Http(_) => false,
            // Some calls have one reply by their type.
            Request::Grpc(call) => expect.replies.is_some() || !call.method.shape.streams_replies(),
        };
        let limits = [
            (has_replies, Reason::Replies),
            (
                step.lua.as_ref().is_some_and(Script::looks),
                Reason::LuaCheck,
            ),
            (expect.first_within_ns.is_some(), Reason::FirstLate),
            (expect.within_ns.is_some(), Reason::Late),
        ];
        Self {
            name: step.name.clone(),
            scenario: step.scenario.clone(),
            is_grpc: matches!(step.request, Request::Grpc(_)),
            checks: expect
                .checks
                .iter()
                .map(|check| check.name.clone())
                .collect(),
            saves: step
                .saves
                .iter()
                .map(|save| slot(save).unwrap_or_default())
                .collect(),
            each: expect.each.clone(),
            limits: limits
                .into_iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, limit)| limit)
                .collect(),
        }
    }

    /// What its responses are held against, with the names of the table `Checks`.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = (Reason, String)> {
        let list = |names: &'_ [String], of: fn(u16) -> Reason, key: &str| -> Vec<_> {
            let names = (0..).zip(names);
            names
                .map(|(at, name)| (of(at), format!("{key}{name}")))
                .collect()
        };
        let limits = self.limits.iter().map(|limit| {
            let key = match limit {
                Reason::FirstLate => "first_within",
                Reason::Late => "within",
                Reason::LuaCheck => "lua",
                _ => "replies",
            };
            (*limit, key.to_owned())
        });
        std::iter::once((Reason::Status, "status".to_owned()))
            .chain(list(&self.checks, Reason::Check, ""))
            .chain(limits)
            .chain(list(&self.each, Reason::Each, "each "))
            .chain(list(&self.saves, Reason::Save, "save "))
    }

    /// `crud.create`; of setup and teardown only the step's own name.
    #[must_use]
    pub fn label(&self) -> String {
        if self.scenario.is_empty() {
            return self.name.clone();
        }
        format!("{}.{}", self.scenario, self.name)
    }

    /// A reason of this step: `check json /item/sku`, `missing value url`.
    #[must_use]
    pub fn reason(&self, reason: Reason) -> String {
        let list = match reason {
            Reason::Check(_) => &self.checks,
            Reason::Save(_) => &self.saves,
            Reason::Each(_) => &self.each,
            _ => return reason.to_string(),
        };
        let name = reason.index().and_then(|index| list.get(index));
        name.map_or_else(
            || reason.to_string(),
            |name| format!("{} {name}", reason.name()),
        )
    }
}
