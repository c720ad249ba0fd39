//! The scripts of a plan, ready to be called.

use std::path::Path;
use std::rc::Rc;

use mlua::{Function, Table, Value};

use super::objects::{Objects, Phase};
use super::state::{Limit, State};
use super::tables::Hook;
use crate::Values;
use crate::engine::with_agent;
use crate::plan::{HttpRequest, Plan, Request, Script, Step};
use crate::script::{Kept, Rewritten, Scripts, Sketch, Trouble};

/// A thread's state, and by step, its script.
struct Machine {
    state: State,
    objects: Objects,
    steps: Vec<Option<Hooked>>,
}

/// A step's script.
struct Hooked {
    script: Script,
    request: Rc<HttpRequest>,
    ask: Option<Ask>,
    look: Option<Look>,
}

/// What is called before the request is sent.
enum Ask {
    /// With its `req`.
    Lazy(Function, Table),
    Tables(Box<Hook>),
}

/// What is called when the response is there.
enum Look {
    /// With its `res`, and the status that this has.
    Lazy(Function, Table, u16),
    Tables(Box<Hook>),
}

/// Runs all scripts of a plan once, so that their functions are there. `None`: it has none. `allow_io`: they may use
/// files.
///
/// # Errors
///
/// A script has an error, or none of the functions.
pub fn open_scripts(plan: &Plan, allow_io: bool) -> Result<Option<Box<dyn Scripts>>, Trouble> {
    if plan.steps.iter().all(|step| step.lua.is_none()) {
        return Ok(None);
    }
    let io = allow_io.then_some(&*plan.folder);
    let made = Machine::empty(plan, io);
    let mut made = made.map_err(|error| Trouble::Error(format!("Lua: {error}")))?;
    for (at, step) in plan.steps.iter().enumerate() {
        made.state.watch().about(at);
        let hooked = made.hooked(step)?;
        made.steps.push(hooked);
    }
    Ok(Some(Box::new(made)))
}

impl Machine {
    fn empty(plan: &Plan, io: Option<&Path>) -> mlua::Result<Self> {
        let limit = Limit {
            bytes: plan.limits.lua_memory,
            key: Some("`limits.lua_memory`"),
        };
        let names = plan.steps.iter().enumerate().map(|(at, step)| {
            let script = step.lua.as_ref().map_or("", |script| &script.name);
            format!("step `{}` ended the run: {script}", plan.step_name(at))
        });
        let state = State::new(limit, io, names.collect())?;
        Ok(Self {
            objects: Objects::new(&state, &plan.slots)?,
            state,
            steps: Vec::new(),
        })
    }

    fn hooked(&self, step: &Step) -> Result<Option<Hooked>, Trouble> {
        let (Some(script), Request::Http(request)) = (&step.lua, &step.request) else {
            return Ok(None);
        };
        let request = Rc::new(with_agent(request));
        let names = self.state.load(script)?;
        let hooked = self.functions(&names, script, request);
        let hooked = hooked.map_err(|error| Trouble::Error(format!("{}: {error}", script.name)))?;
        if hooked.ask.is_none() && hooked.look.is_none() {
            let words = format!("{}: {}", script.name, super::NO_FUNCTION);
            return Err(Trouble::Error(words));
        }
        Ok(Some(hooked))
    }

    fn functions(
        &self,
        names: &Table,
        script: &Script,
        request: Rc<HttpRequest>,
    ) -> mlua::Result<Hooked> {
        let (lua, objects) = (&self.state.lua, &self.objects);
        let get = |name| function(names, name);
        let ask = match (get("request"), get("make_request")) {
            (Some(function), _) => Some(Ask::Lazy(function, objects.req(lua, &request.method)?)),
            (None, Some(function)) => Some(Ask::Tables(Box::new(Hook::of_request(
                lua, function, &request,
            )?))),
            (None, None) => None,
        };
        let look = match (get("response"), get("validate_response")) {
            (Some(function), _) => Some(Look::Lazy(function, objects.res(lua)?, 0)),
            (None, Some(function)) => Some(Look::Tables(Box::new(Hook::new(function)))),
            (None, None) => None,
        };
        Ok(Hooked {
            script: script.clone(),
            request,
            ask,
            look,
        })
    }
}

impl Scripts for Machine {
    fn looks(&self, step: usize) -> bool {
        let hooked = self.steps.get(step).and_then(Option::as_ref);
        hooked.is_some_and(|hooked| hooked.look.is_some())
    }

    fn asks(&self, step: usize) -> bool {
        let hooked = self.steps.get(step).and_then(Option::as_ref);
        hooked.is_some_and(|hooked| hooked.ask.is_some())
    }

    fn ask(
        &mut self,
        step: usize,
        sketch: Sketch<'_>,
        last: Option<&Kept>,
        values: &mut Values,
        rewritten: &mut Rewritten,
    ) -> Result<(), Trouble> {
        rewritten.clear();
        let Some(Some(hooked)) = self.steps.get_mut(step) else {
            return Ok(());
        };
        let (state, shared) = (&self.state, &self.objects.shared);
        state.watch().about(step);
        shared.context.borrow_mut().elsewhere = sketch.elsewhere;
        let (function, req) = match &mut hooked.ask {
            None => return Ok(()),
            Some(Ask::Tables(hook)) => {
                let made = hook.make(
                    (state, shared, &hooked.script),
                    last,
                    sketch,
                    values,
                    rewritten,
                );
                let why = shared.context.borrow_mut().why.take();
                return verdict(made.map(|()| Value::Nil), why, &hooked.script, "");
            }
            Some(Ask::Lazy(function, req)) => (&*function, &*req),
        };
        {
            let mut context = shared.context.borrow_mut();
            std::mem::swap(&mut context.values, values);
            std::mem::swap(&mut context.rewritten, rewritten);
            context.phase = Phase::Request(Rc::clone(&hooked.request));
            context.path.clear();
            context.path.extend_from_slice(sketch.path);
        }
        let called = state.call::<Value>(function, req, &hooked.script);
        let mut context = shared.context.borrow_mut();
        std::mem::swap(&mut context.values, values);
        std::mem::swap(&mut context.rewritten, rewritten);
        context.phase = Phase::None;
        verdict(called, context.why.take(), &hooked.script, "request")
    }

    fn look(&mut self, step: usize, kept: &mut Kept, values: &mut Values) -> Result<(), Trouble> {
        let Some(Some(hooked)) = self.steps.get_mut(step) else {
            return Ok(());
        };
        let (state, shared) = (&self.state, &self.objects.shared);
        state.watch().about(step);
        {
            let mut context = shared.context.borrow_mut();
            context.elsewhere = kept.elsewhere;
            std::mem::swap(&mut context.values, values);
        }
        let done = match &mut hooked.look {
            None => Ok(()),
            Some(Look::Tables(hook)) => {
                let done = hook.validate(state, &hooked.script, kept);
                let why = shared.context.borrow_mut().why.take();
                verdict(done.map(|()| Value::Nil), why, &hooked.script, "")
            }
            Some(Look::Lazy(function, res, status)) => {
                if *status != kept.status && res.raw_set("status", kept.status).is_ok() {
                    *status = kept.status;
                }
                let mut context = shared.context.borrow_mut();
                context.phase = Phase::Response;
                context.response = std::mem::take(kept);
                drop(context);
                let called = state.call::<Value>(function, &*res, &hooked.script);
                let mut context = shared.context.borrow_mut();
                context.phase = Phase::None;
                *kept = std::mem::take(&mut context.response);
                verdict(called, context.why.take(), &hooked.script, "response")
            }
        };
        std::mem::swap(&mut shared.context.borrow_mut().values, values);
        done
    }
}

/// What came of a call. `why`: a check that failed in it.
fn verdict(
    called: Result<Value, Trouble>,
    why: Option<String>,
    script: &Script,
    name: &str,
) -> Result<(), Trouble> {
    match (called, why) {
        (Err(Trouble::Broken(words)), _) => Err(Trouble::Broken(words)),
        (_, Some(why)) => Err(Trouble::Failed(why)),
        (Err(trouble), None) => Err(trouble),
        (Ok(Value::Boolean(false)), None) => Err(Trouble::Failed(format!(
            "{}: {name} returned false",
            script.name
        ))),
        (Ok(_), None) => Ok(()),
    }
}

/// A function of a script's own: the state has some of the same names.
fn function(names: &Table, name: &str) -> Option<Function> {
    names.raw_get::<Option<Function>>(name).ok().flatten()
}
