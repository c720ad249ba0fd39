//! What counters stand for, in words.

use super::super::plan::{Plan, Request};
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
}

impl From<&Plan> for Names {
    fn from(plan: &Plan) -> Self {
        let slot = |slot: usize| plan.slots.get(slot).cloned().unwrap_or_default();
        let steps = plan.steps.iter().map(|step| StepNames {
            name: step.name.clone(),
            scenario: step.scenario.clone(),
            is_grpc: matches!(step.request, Request::Grpc(_)),
            checks: step
                .expect
                .checks
                .iter()
                .map(|check| check.name.clone())
                .collect(),
            saves: step
                .saves
                .iter()
                .map(|save| slot(save.slot.0.into()))
                .collect(),
            each: step.expect.each.clone(),
        });
        Self {
            scenarios: plan.scenarios.iter().map(|one| one.name.clone()).collect(),
            steps: steps.collect(),
        }
    }
}

impl StepNames {
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
