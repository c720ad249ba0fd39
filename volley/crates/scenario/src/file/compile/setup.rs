//! Setup and teardown.

use super::Compiler;
use super::names::Scope;
use crate::file::mistake::Path;
use crate::file::model::Step;
use crate::plan::Action;
use crate::secrets::lifetime_name;

impl Compiler<'_> {
    /// Gives the first slots to what setup saves. Returns their number.
    pub(super) fn read_common(&mut self, at: &Path) -> u16 {
        let file = self.file;
        for (index, step) in file.setup.iter().enumerate() {
            let at = at.index(index);
            for (name, save) in step.all().flat_map(|step| step.save.iter()) {
                self.slot(&at, name);
                let refresh = save.0.refresh.as_ref();
                if refresh.is_some_and(|refresh| refresh.after.starts_with('/')) {
                    self.slot(&at, &lifetime_name(name));
                }
            }
            let assigned: Vec<_> = step.all().flat_map(|step| self.assigned(step)).collect();
            for name in assigned {
                self.slot(&at, &name);
            }
        }
        u16::try_from(self.names.slots.len()).unwrap_or(u16::MAX)
    }

    /// The steps of setup, and what scenarios know from them.
    pub(super) fn setup(&mut self, at: &Path) -> (Vec<Action>, Scope) {
        let file = self.file;
        self.scope = Scope::new("", &Scope::default(), &file.setup, file.redirects);
        self.scope.is_setup = true;
        let actions = self.once(at, &file.setup);
        let scope = std::mem::take(&mut self.scope);
        let common = Scope {
            common: scope.saved.keys().cloned().collect(),
            saved: scope.saved,
            names: scope.names,
            ..Scope::default()
        };
        (actions, common)
    }

    pub(super) fn teardown(&mut self, at: &Path, common: &Scope) -> Vec<Action> {
        let file = self.file;
        self.scope = Scope::new("", common, &file.teardown, file.redirects);
        // In reports, nothing else tells steps of setup and teardown apart.
        self.scope.names.clone_from(&common.names);
        self.once(at, &file.teardown)
    }

    /// Steps that belong to no iteration draw what they need first.
    fn once(&mut self, at: &Path, steps: &[Step]) -> Vec<Action> {
        let first = self.refreshes.len();
        let actions = self.actions(at, steps);
        self.keep_responses(&actions, false);
        self.refuse_slices(at);
        for refresh in self.refreshes.iter_mut().skip(first) {
            refresh.action += self.scope.draws.len();
        }
        let draws = self.scope.draws.iter().copied().map(Action::Draw);
        draws.chain(actions).collect()
    }
}
