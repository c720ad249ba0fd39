//! Scripts: they write requests, and look at responses.

use super::Core;
use crate::http2::hpack::HeaderList;
use crate::scenario::engine::flight::{Fault, FlightKey};
use crate::scenario::engine::shot::Aim;
use crate::scenario::lua::{Sketch, Trouble};
use crate::scenario::plan::{Request, Url};
use crate::scenario::tally::Reason;

impl Core<'_> {
    /// Lets the script of a request that is to be sent change it.
    pub(super) fn rewrite(&mut self, key: usize, path: &mut Vec<u8>) -> Result<(), Fault> {
        let step = self
            .flights
            .get(key)
            .map_or(usize::MAX, |flight| flight.step);
        if !self.lua.as_ref().is_some_and(|lua| lua.asks(step)) {
            return Ok(());
        }
        // A value may be missing that the script gives.
        let target = self.aim(key, path);
        if target.is_err() {
            path.clear();
        }
        let (Some(lua), Some(flight)) = (&mut self.lua, self.flights.get_mut(key)) else {
            return Ok(());
        };
        let Some(iteration) = self.iterations.get_mut(flight.iteration) else {
            return Ok(());
        };
        let own = self.plan.steps.get(step).map(|step| match &step.url {
            Url::Target { target, .. } => *target,
            Url::Value { relative_to, .. } => *relative_to,
        });
        let target = target.ok().or(own).unwrap_or_default();
        let site = self.sites.get(target);
        let aim = site.map(|site| Aim {
            target,
            host: 0,
            site,
            moved: None,
            rewritten: None,
        });
        let sketch = Sketch {
            scheme: site.map_or("http", |site| site.scheme()),
            authority: aim.as_ref().map_or("", Aim::authority),
            path,
        };
        let mut rewritten = self.spare_rewritten.pop().unwrap_or_default();
        let asked = lua.ask(
            step,
            sketch,
            iteration.last.as_deref(),
            &mut iteration.values,
            &mut rewritten,
        );
        match asked {
            Ok(()) => {
                rewritten.target = target;
                match rewritten.is_empty() {
                    true => self.spare_rewritten.push(rewritten),
                    false => flight.rewritten = Some(rewritten),
                }
                Ok(())
            }
            // There is no response that a check could be about.
            Err(Trouble::Failed(words)) => Err(Fault::new(Reason::Lua, words)),
            Err(trouble) => Err(self.fault(step, trouble)),
        }
    }

    /// Keeps the head of a response that a script looks at.
    pub(super) fn keep_head(&mut self, key: FlightKey, fields: &HeaderList) {
        let (Some(lua), Some(flight)) = (&self.lua, self.flights.get_mut(key.0 as usize)) else {
            return;
        };
        let Some(step) = self.plan.steps.get(flight.step) else {
            return;
        };
        let Request::Http(request) = &step.request else {
            return;
        };
        if !step.keeps_response && !lua.looks(flight.step) {
            return;
        }
        let mut kept = self.spare_kept.pop().unwrap_or_default();
        kept.fields.copy(fields);
        if step.keeps_response {
            // As h2loadrunner's `make_request` has them.
            kept.fields.push(b":method", request.method.as_bytes());
            kept.fields.push(b":path", &flight.path);
        }
        flight.kept = Some(kept);
    }

    /// Lets the script of a response that is over look at it, and keeps it for the script of the next step.
    pub(super) fn look(&mut self, key: usize) {
        let (Some(lua), Some(flight)) = (&mut self.lua, self.flights.get_mut(key)) else {
            return;
        };
        let (Some(mut kept), Some(iteration)) = (
            flight.kept.take(),
            self.iterations.get_mut(flight.iteration),
        ) else {
            return;
        };
        if flight.failure.is_some() {
            return;
        }
        kept.status = flight.status.unwrap_or_default();
        std::mem::swap(&mut kept.body, &mut flight.body);
        let step = flight.step;
        let looked = lua.look(step, &mut kept, &mut iteration.values);
        match self.plan.steps.get(step) {
            Some(step) if step.keeps_response => {
                self.spare_kept.extend(iteration.last.replace(kept));
            }
            _ => self.spare_kept.push(kept),
        }
        if let Err(trouble) = looked {
            let fault = self.fault(step, trouble);
            // What the file itself expects says more.
            if let Some(flight) = self.flights.get_mut(key)
                && flight.verdicts.failures().is_empty()
            {
                flight.failure.get_or_insert_with(|| Box::new(fault));
            }
        }
    }

    /// Why a step failed.
    #[cold]
    fn fault(&mut self, step: usize, trouble: Trouble) -> Fault {
        match trouble {
            Trouble::Failed(words) => Fault::new(Reason::LuaCheck, words),
            Trouble::Error(words) => Fault::new(Reason::Lua, words),
            Trouble::Broken(words) => {
                let fault = Fault::new(Reason::Lua, words);
                self.broken.get_or_insert_with(|| (step, fault.clone()));
                fault
            }
        }
    }
}
