//! Scripts: they write requests, and look at responses.

use super::Core;
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::prepared_request::Aim;
use crate::engine::record;
use crate::plan::Request;
use crate::script::{Kept, Sketch, Trouble};
use crate::secrets::Secrets;
use crate::tally::Reason;
use volley_http::http2::hpack::HeaderList;

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
        let own = self.plan.steps.get(step).map(|step| step.url.target());
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
            elsewhere: Some(target).filter(|target| own != Some(*target)),
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
            Err(Trouble::Failed(words)) => Err(self.fault(key, Reason::Lua, Trouble::Error(words))),
            Err(trouble) => Err(self.fault(key, Reason::Lua, trouble)),
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
        let own = self.plan.steps.get(step).map(|step| step.url.target());
        kept.elsewhere = Some(flight.target).filter(|target| own != Some(*target));
        let looked = lua.look(step, &mut kept, &mut iteration.values);
        match self.plan.steps.get(step) {
            Some(step) if step.keeps_response => {
                let before = iteration.last.replace(kept);
                self.spare_kept.extend(before.map(Kept::emptied));
            }
            _ => self.spare_kept.push(kept.emptied()),
        }
        if let Err(trouble) = looked {
            let fault = self.fault(key, Reason::LuaResponse, trouble);
            // What the file itself expects says more.
            if let Some(flight) = self.flights.get_mut(key)
                && flight.verdicts.failures().is_empty()
            {
                flight.failure.get_or_insert_with(|| Box::new(fault));
            }
        }
    }

    /// Why a step failed. `error`: the reason if its script has an error. The words show no secret.
    #[cold]
    fn fault(&mut self, key: usize, error: Reason, trouble: Trouble) -> Fault {
        let flight = self.flights.get(key);
        let iteration = flight.and_then(|flight| self.iterations.get(flight.iteration));
        let mut hidden = Secrets::default();
        for (_, secret) in iteration.map_or_else(Vec::new, |iteration| {
            record::secrets(self.plan, &iteration.values)
        }) {
            hidden.add(&String::from_utf8_lossy(&secret));
        }
        let step = flight.map_or(usize::MAX, |flight| flight.step);
        let mut fault = |reason, words: String| {
            hidden.add_named(&words);
            Fault::new(reason, hidden.masked(&words))
        };
        match trouble {
            Trouble::Failed(words) => fault(Reason::LuaCheck, words),
            Trouble::Error(words) => fault(error, words),
            Trouble::Broken(words) => {
                let fault = fault(error, words);
                self.broken.get_or_insert_with(|| (step, fault.clone()));
                fault
            }
        }
    }
}
