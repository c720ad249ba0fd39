//! Loads: which scenarios run, how often, and for how long.

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::{OneOrMany, Phase as Written, Ramp, Share, Time};
use crate::plan::{AtEnd, Load, Phase, Phases, Scenario};

/// What a load is made of.
struct Parts<'a> {
    phases: Option<&'a OneOrMany<Written>>,
    at: Path,
    start_after: Option<Time>,
    pace: Option<Time>,
}

impl Compiler<'_> {
    /// One load for each scenario that has its own, and one for the others.
    pub(super) fn loads(&mut self, root: &Path, compiled: &[Scenario]) -> Vec<Load> {
        let file = self.file;
        let mut loads = Vec::new();
        let mut shared = Vec::new();
        let is_alone = file
            .scenarios
            .iter()
            .filter(|(_, scenario)| scenario.load.is_none())
            .count()
            == 1;
        let mut top = Parts {
            phases: file.load.as_ref(),
            at: root.key("load"),
            start_after: file.start_after,
            pace: file.pace,
        };
        for (index, (name, scenario)) in file.scenarios.iter().enumerate() {
            let at = root.key("scenarios").key(name);
            if scenario.weight == Some(0) {
                self.wrong(
                    &at.key("weight"),
                    "it is at least 1: give a load of its own, or drop the scenario",
                );
            }
            let Some(load) = &scenario.load else {
                shared.push((index, scenario.weight.unwrap_or(1)));
                if is_alone {
                    top.start_after = scenario.start_after.or(top.start_after);
                    top.pace = scenario.pace.or(top.pace);
                } else {
                    self.refuse(
                        &at,
                        &["start_after", "pace"],
                        &[],
                        "needs a `load` of the scenario's own: add one, or write it at the top",
                    );
                }
                continue;
            };
            if scenario.weight.is_some() {
                self.wrong(
                    &at.key("weight"),
                    "the scenario has a load of its own: drop one of them",
                );
            }
            let has_users = load.iter().all(|phase| phase.rate.is_none());
            let parts = Parts {
                phases: Some(load),
                at: at.key("load"),
                start_after: scenario.start_after,
                pace: scenario.pace.or(file.pace.filter(|_| has_users)),
            };
            loads.extend(self.load(parts, vec![(index, 1)], compiled));
        }
        if !shared.is_empty() {
            loads.extend(self.load(top, shared, compiled));
        } else if file.load.is_some() && !file.scenarios.is_empty() {
            self.wrong(
                &root.key("load"),
                "every scenario has a load of its own: drop this one",
            );
        }
        loads
    }

    fn load(
        &mut self,
        parts: Parts<'_>,
        scenarios: Vec<(usize, u32)>,
        compiled: &[Scenario],
    ) -> Option<Load> {
        let at = &parts.at;
        let shares_requests = self.file.share == Share::Requests;
        let runs_out = scenarios
            .iter()
            .filter_map(|(index, _)| compiled.get(*index))
            .flat_map(|scenario| &scenario.draws)
            .filter_map(|feed| self.feeds.get(*feed))
            .any(|draft| draft.feed.at_end == AtEnd::Stop);
        let load = |phases, iterations| Load {
            scenarios,
            shares_requests,
            phases,
            iterations,
            start_after_ns: parts.start_after.map_or(0, |time| time.0),
            pace_ns: parts.pace.map_or(0, |time| time.0),
        };
        let Some(phases) = parts.phases else {
            return Some(load(Phases::Users(vec![Phase::constant(1)]), Some(1)));
        };
        let before = self.mistakes.len();
        let all: Vec<(Path, &Written)> = phases.at(at).collect();
        let iterations: Vec<(&Path, u64)> = all
            .iter()
            .filter_map(|(at, phase)| Some((at, phase.iterations?)))
            .collect();
        match iterations[..] {
            [_, (at, _), ..] => self.wrong(at, "`iterations` is for the whole load: give it once"),
            [(at, 0)] => self.wrong(&at.key("iterations"), "it is at least 1"),
            _ => {}
        }
        let iterations = iterations.first().map(|(_, number)| *number);
        let has_rate = all.iter().any(|(_, phase)| phase.rate.is_some());
        let has_users = all.iter().any(|(_, phase)| phase.users.is_some());
        let both = |(_, phase): &&(Path, &Written)| phase.rate.is_some() && phase.users.is_some();
        if let Some((at, _)) = all.iter().find(both) {
            return self.none(at, "a phase has `rate` or `users`: keep one of them");
        }
        if has_rate && has_users {
            return self.none(at, "the phases of a load are all `rate` or all `users`: give one of the scenarios a load of its own");
        }
        if has_rate && parts.pace.is_some() {
            self.wrong(
                at,
                "`pace` is for `users`: a `rate` already sets when iterations begin, so drop one",
            );
        }
        let mut list = Vec::new();
        let last = all
            .iter()
            .rposition(|(_, phase)| phase.rate.is_some() || phase.users.is_some());
        for (index, (at, phase)) in all.iter().enumerate() {
            let ramp = match (phase.rate, phase.users) {
                (Some(rate), _) => rate.0,
                (_, Some(users)) => users.0,
                (None, None) if phase.iterations.is_some() && phase.length.is_none() => continue,
                (None, None) => {
                    self.wrong(
                        at,
                        "a phase has `rate` or `users`: add one, such as `users: 10`",
                    );
                    continue;
                }
            };
            let ends = iterations.is_some() || runs_out;
            self.phase(at, phase, ramp, Some(index) == last, ends);
            list.push(Phase {
                from: ramp.from,
                to: ramp.to,
                length_ns: phase.length.map(|time| time.0),
            });
        }
        if all.is_empty() {
            self.wrong(
                at,
                "the load is empty: add a phase such as `{users: 10, for: 1m}`, or drop it",
            );
        } else if !list.is_empty() && list.iter().all(|phase| phase.from == 0 && phase.to == 0) {
            self.wrong(at, "the load is 0 all the time: raise it");
        }
        if list.is_empty() {
            list.push(Phase::constant(1));
        }
        (self.mistakes.len() == before).then(|| {
            let phases = if has_rate {
                Phases::Rate(list)
            } else {
                Phases::Users(list)
            };
            load(phases, iterations)
        })
    }

    fn phase(&mut self, at: &Path, phase: &Written, ramp: Ramp, is_last: bool, ends: bool) {
        match phase.length {
            Some(length) if length.0 == 0 => self.wrong(
                &at.key("for"),
                "it leaves no time: give a time such as `1m`",
            ),
            Some(_) => {}
            None if !is_last => self.wrong(
                at,
                "no `for`: only the last phase may go on until the run ends",
            ),
            None if ramp.from != ramp.to => {
                self.wrong(at, "no `for`: a ramp has a length, such as `30s`")
            }
            None if ends => {}
            None => self.wrong(
                at,
                "it never ends: add `for`, such as `1m`, or `iterations`",
            ),
        }
    }
}
