//! What must hold.

use std::collections::HashSet;

use super::Compiler;
use crate::file::mistake::Path;
use crate::plan::{Goal, Load, Scenario, Step};
use crate::report::StepNames;
use volley_load::spec::threshold::{Count, Figure, Selected, ThresholdError, Times};
use volley_request::schema::suggest;

/// What a text is that is no threshold: what must hold is the opposite of what must not.
const FORM: &str =
    "write a figure, one of < <= > >=, and a limit, such as `p99 < 20ms` or `failed < 0.1%`";

impl Compiler<'_> {
    pub(super) fn goals(&mut self, at: &Path, loads: &[Load], scenarios: &[Scenario]) -> Vec<Goal> {
        let file = self.file;
        let mut goals = Vec::new();
        let loads_are_known = self.mistakes.is_empty();
        for (index, written) in file.thresholds.iter().enumerate() {
            let at = at.index(index);
            let parsed = written.0.that.parse::<Selected>();
            let parsed = parsed.map_err(|error| match error {
                ThresholdError::Form => FORM.to_owned(),
                error => error.to_string(),
            });
            let Some(selected) = self.noted(&at, parsed) else {
                continue;
            };
            // Of a step that is wrong, not all parts are known.
            let is_of = |name: &String| {
                let rest = selected.of.as_deref().and_then(|of| of.strip_prefix(name));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if !self.unplanned.iter().any(is_of) {
                let unplanned = self.unplanned.iter().map(String::as_str);
                let names = file.scenarios.iter().map(|(name, _)| name);
                let checked = check_part(
                    &selected,
                    names.chain(unplanned),
                    &self.steps,
                    &self.names.slots,
                );
                self.noted(&at, checked);
            }
            if loads_are_known {
                let checked = check_samples(&selected, loads, scenarios, &self.steps);
                self.noted(&at, checked);
            }
            let figure = selected.threshold.figure;
            if written.0.abort_after.is_some() && !figure.is_known_early() {
                let problem =
                    format!("`{figure}` is known only when the run is over: drop `abort_after`");
                self.wrong(&at.key("abort_after"), problem);
            }
            goals.push(Goal {
                fails_if: selected.threshold.opposite(),
                text: written.0.that.clone(),
                of: selected.of,
                abort_after_ns: written.0.abort_after.map(|time| time.0),
            });
        }
        goals
    }
}

/// Checks that a run has the part that a condition is about. `slots`: the names of all values.
///
/// # Errors
///
/// It has not. The message has the nearest name.
pub fn check_part<'a>(
    condition: &Selected,
    scenarios: impl Iterator<Item = &'a str>,
    steps: &[Step],
    slots: &[String],
) -> Result<(), String> {
    let Some(of) = &condition.of else {
        return Ok(());
    };
    let figure = condition.threshold.figure;
    let mut known: Vec<String> = scenarios.map(str::to_owned).collect();
    let named = || steps.iter().map(|step| StepNames::new(step, slots));
    if !figure.is_of_iterations() {
        known.extend(named().flat_map(|names| [names.label(), names.name]));
    }
    if figure == Figure::Count(Count::Checks) {
        known.extend(named().flat_map(|names| {
            let label = names.label();
            let full = |(_, name)| format!("{label}.{name}");
            names.conditions().map(full).collect::<Vec<_>>()
        }));
    }
    if known.contains(of) {
        return Ok(());
    }
    let is_step = |step: &&Step| {
        let name = of.strip_prefix(step.scenario.as_str());
        let name = name.and_then(|rest| rest.strip_prefix('.'));
        !step.scenario.is_empty() && name.unwrap_or(of) == step.name
    };
    if figure.is_of_iterations()
        && let Some(Step { scenario, .. }) = steps.iter().find(is_step)
    {
        return Err(format!(
            "`{of}` is a step, and `{figure}` is about iterations: name a scenario, such as `{scenario}`"
        ));
    }
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(name.clone()));
    let hint = suggest::hint(of, &known, "there are none");
    Err(format!("no scenario or step is named `{of}`; {hint}"))
}

/// Checks that the loads can make as many requests, or iterations, as a condition on a percentile needs.
///
/// # Errors
///
/// They cannot. The message has both numbers.
pub fn check_samples(
    condition: &Selected,
    loads: &[Load],
    scenarios: &[Scenario],
    steps: &[Step],
) -> Result<(), String> {
    let Figure::Time(times, statistic) = condition.threshold.figure else {
        return Ok(());
    };
    let most_of = |(index, scenario): (usize, &Scenario)| {
        let iterations = most_iterations(index, loads);
        if matches!(times, Times::Iteration | Times::Delay) {
            let is_of = condition.of.as_ref().is_none_or(|of| *of == scenario.name);
            return if is_of { iterations } else { 0 };
        }
        let own = scenario.actions.iter().flat_map(|action| action.steps());
        let is_of = |step: &&Step| {
            let label = || format!("{}.{}", step.scenario, step.name);
            let is_named = |of: &String| *of == step.scenario || *of == step.name || *of == label();
            condition.of.as_ref().is_none_or(is_named)
        };
        let chosen = own
            .filter_map(|step| steps.get(*step))
            .filter(is_of)
            .count() as u64;
        iterations
            .saturating_mul(chosen)
            .saturating_mul(scenario.repeat.into())
    };
    let most = scenarios.iter().enumerate().map(most_of);
    let most = most.fold(0, u64::saturating_add);
    let needed = statistic.samples_needed();
    // Steps of setup and teardown belong to no scenario.
    if most == 0 || most >= needed {
        return Ok(());
    }
    Err(format!(
        "`{}` needs {needed} samples, ten of them beyond it, and this load makes at most {most}: make it longer, or name a \
         lower percentile, or `max`",
        condition.threshold.figure
    ))
}

/// The most iterations of a scenario that can begin; without a limit, the greatest number.
fn most_iterations(scenario: usize, loads: &[Load]) -> u64 {
    let of_load = |load: &Load| {
        let (_, weight) = load
            .scenarios
            .iter()
            .find(|(index, _)| *index == scenario)?;
        let all = load
            .iterations
            .unwrap_or(u64::MAX)
            .min(load.phases.most_iterations());
        let weights: u64 = load
            .scenarios
            .iter()
            .map(|(_, weight)| u64::from(*weight))
            .sum();
        let is_exact = all < u64::MAX && !load.shares_requests;
        let share = u128::from(all) * u128::from(*weight) / u128::from(weights.max(1)) + 1;
        Some(if is_exact {
            u64::try_from(share).unwrap_or(all).min(all)
        } else {
            all
        })
    };
    loads
        .iter()
        .filter_map(of_load)
        .fold(0, u64::saturating_add)
}
