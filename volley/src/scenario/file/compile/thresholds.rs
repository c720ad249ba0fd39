//! What must hold.

use super::Compiler;
use crate::request::schema::suggest;
use crate::scenario::file::mistake::Path;
use crate::scenario::plan::Goal;
use crate::spec::threshold::{Count, Figure, Selected, ThresholdError};

impl Compiler<'_> {
    pub(super) fn goals(&mut self, at: &Path) -> Vec<Goal> {
        let file = self.file;
        let mut goals = Vec::new();
        // Steps that are wrong have no names.
        let all_are_named = self.mistakes.is_empty();
        for (index, written) in file.thresholds.iter().enumerate() {
            let at = at.index(index);
            let selected = written
                .0
                .that
                .parse::<Selected>()
                .map_err(|error| match error {
                    ThresholdError::Figure(_) => {
                        format!("{error}; or checks, dropped or iterations")
                    }
                    error => error.to_string(),
                });
            let Some(selected) = self.noted(&at, selected) else {
                continue;
            };
            if let Some(of) = selected.of.as_ref().filter(|_| all_are_named) {
                self.check_selector(&at, &selected, of);
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

    fn check_selector(&mut self, at: &Path, selected: &Selected, of: &str) {
        let whole = [Count::Dropped, Count::Iterations];
        let is_whole = |figure| matches!(figure, Figure::Count(count) if whole.contains(&count));
        let mut known: Vec<String> = self
            .file
            .scenarios
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        if !is_whole(selected.threshold.figure) {
            known.extend(self.steps.iter().flat_map(|step| {
                let full = match step.scenario.as_str() {
                    "" => step.name.clone(),
                    scenario => format!("{scenario}.{}", step.name),
                };
                [full, step.name.clone()]
            }));
        }
        if selected.threshold.figure == Figure::Count(Count::Checks) {
            known.extend(
                self.steps
                    .iter()
                    .filter(|step| !step.scenario.is_empty())
                    .flat_map(|step| {
                        let check = |check: &crate::scenario::plan::Check| {
                            format!("{}.{}.{}", step.scenario, step.name, check.name)
                        };
                        step.expect.checks.iter().map(check)
                    }),
            );
        }
        if known.iter().any(|name| name == of) {
            return;
        }
        known.dedup();
        let hint = suggest::hint(of, &known, "there are none");
        self.wrong(at, format!("no scenario or step is named `{of}`; {hint}"));
    }
}
