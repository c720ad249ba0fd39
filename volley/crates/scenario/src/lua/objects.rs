//! `req`, `res` and `vars`: what `request` and `response` ask for what they need.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use mlua::{BString, Lua, LuaString, Table, Value};

use super::limits::Watch;
use super::state::{State, wrong};
use crate::json::{self, Found, Tree};
use crate::plan::{HttpRequest, Pointer};
use crate::request::{name_fault, value_fault};
use crate::script::{Kept, Rewritten};
use crate::{Slot, Text, Values};
use volley_report::measure::capped;

/// What the call that goes on is about.
#[derive(Default)]
pub struct Context {
    pub values: Values,
    /// The target that values come from which the script sets, if it is not the step's.
    pub elsewhere: Option<usize>,
    pub phase: Phase,
    /// Path and query of the request that is to be sent, and what the script has made of it.
    pub path: Vec<u8>,
    pub rewritten: Rewritten,
    /// The response that came.
    pub response: Kept,
    /// Why a check failed.
    pub why: Option<String>,
    /// By pointer.
    trees: HashMap<Vec<u8>, Tree>,
    found: Found,
    room: Vec<u8>,
}

/// Which object is there.
#[derive(Default)]
pub enum Phase {
    #[default]
    None,
    Request(Rc<HttpRequest>),
    Response,
}

/// What the functions of a state share.
pub struct Shared {
    pub context: RefCell<Context>,
    watch: Rc<Watch>,
    slots: HashMap<Vec<u8>, Slot>,
    /// Names of headers that scripts have sent: as they write them, and in lower case.
    names: RefCell<HashMap<Vec<u8>, Rc<str>>>,
}

impl Shared {
    /// The name of a header that a script sends, in lower case.
    ///
    /// # Errors
    ///
    /// Why it cannot be sent.
    pub fn field(&self, name: &[u8], value: Option<&[u8]>) -> Result<Rc<str>, String> {
        let of_value = value.and_then(value_fault);
        if let Some(fault) = of_value {
            return Err(format!(
                "header `{}`: {fault}",
                String::from_utf8_lossy(name)
            ));
        }
        if let Some(known) = self.names.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let text = String::from_utf8_lossy(name);
        if let Some(fault) = name_fault(&text) {
            return Err(fault);
        }
        let lower: Rc<str> = text.to_ascii_lowercase().into();
        let mut names = self.names.borrow_mut();
        if names.len() >= MOST_NAMES {
            names.clear();
        }
        if name.len() <= MOST_NAME {
            names.insert(name.to_vec(), Rc::clone(&lower));
        }
        Ok(lower)
    }
}

/// What makes the objects that functions of scripts are called with.
pub struct Objects {
    pub shared: Rc<Shared>,
    /// The metatables of `req` and `res`.
    req: Table,
    res: Table,
}

/// The longest number that is one in Lua, too.
const MOST_DIGITS: usize = 15;

/// The most names of headers that are kept, and the longest.
const MOST_NAMES: usize = 256;
const MOST_NAME: usize = 256;

/// What is wrong with a script that changes more headers than it may.
pub const MANY: &str = "a script may change 1000 headers of a request";

/// The most different pointers that are kept ready, and the longest that there may be.
const MOST_TREES: usize = 256;
const MOST_POINTER: usize = 1024;

/// The longest value that a script gives to an iteration, which keeps it.
const MOST_VALUE: usize = 1 << 20;

impl Objects {
    /// Gives scripts their objects. `slots`: the names of all values.
    pub fn new(state: &State, slots: &[String]) -> mlua::Result<Self> {
        let lua = &state.lua;
        let slot = |(at, name): (usize, &String)| {
            let slot = Slot(u16::try_from(at).unwrap_or(u16::MAX));
            (name.clone().into_bytes(), slot)
        };
        let shared = Rc::new(Shared {
            context: RefCell::default(),
            watch: Rc::clone(state.watch()),
            slots: slots.iter().enumerate().map(slot).collect(),
            names: RefCell::default(),
        });
        let fail = Rc::clone(&shared);
        let fail = lua.create_function(move |_, why: LuaString| {
            fail.context.borrow_mut().why = Some(capped(&why.to_string_lossy()).into_owned());
            Ok(())
        })?;
        state.host.set("fail", fail)?;
        lua.globals().set("vars", vars(lua, &shared)?)?;
        Ok(Self {
            req: lua.create_table_from([("__index", req(lua, &shared)?)])?,
            res: lua.create_table_from([("__index", res(lua, &shared)?)])?,
            shared,
        })
    }

    /// The `req` of a step.
    pub fn req(&self, lua: &Lua, method: &str) -> mlua::Result<Table> {
        let object = lua.create_table_from([("method", method)])?;
        object.set_metatable(Some(self.req.clone()))?;
        Ok(object)
    }

    /// The `res` of a step, without its status.
    pub fn res(&self, lua: &Lua) -> mlua::Result<Table> {
        let object = lua.create_table()?;
        object.set_metatable(Some(self.res.clone()))?;
        Ok(object)
    }
}

fn res(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let methods = lua.create_table()?;
    let s = Rc::clone(shared);
    let header = move |lua: &Lua, (_, name): (bool, BString)| {
        let context = s.context.borrow();
        let response = context.response(lua)?;
        let _free = s.watch.unlimited(lua);
        let value = match response.fields.get(&name) {
            None => response.fields.get(&name.to_ascii_lowercase()),
            value => value,
        };
        value.map(|value| lua.create_string(value)).transpose()
    };
    methods.set("header", lua.create_function(header)?)?;
    let s = Rc::clone(shared);
    let headers = move |lua: &Lua, _: bool| {
        let context = s.context.borrow();
        let response = context.response(lua)?;
        let _free = s.watch.unlimited(lua);
        let fields = response.fields.iter();
        let fields = fields.filter(|(name, _)| !name.starts_with(b":"));
        let text = |(name, value)| Ok((lua.create_string(name)?, lua.create_string(value)?));
        let fields: mlua::Result<Vec<_>> = fields.map(text).collect();
        lua.create_table_from(fields?)
    };
    methods.set("headers", lua.create_function(headers)?)?;
    let s = Rc::clone(shared);
    let body = move |lua: &Lua, _: bool| {
        let context = s.context.borrow();
        let _free = s.watch.unlimited(lua);
        lua.create_string(&context.response(lua)?.body)
    };
    methods.set("body", lua.create_function(body)?)?;
    let s = Rc::clone(shared);
    let json = move |lua: &Lua, (_, pointer): (bool, BString)| {
        let mut context = s.context.borrow_mut();
        let _free = s.watch.unlimited(lua);
        context.json(lua, &pointer)
    };
    methods.set("json", lua.create_function(json)?)?;
    Ok(methods)
}

fn req(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let methods = lua.create_table()?;
    let s = Rc::clone(shared);
    let path = move |lua: &Lua, _: bool| {
        let context = s.context.borrow();
        context.request(lua)?;
        let _free = s.watch.unlimited(lua);
        lua.create_string(context.rewritten.url().unwrap_or(&context.path))
    };
    methods.set("path", lua.create_function(path)?)?;
    let s = Rc::clone(shared);
    let header = move |lua: &Lua, (_, name): (bool, BString)| {
        let context = s.context.borrow();
        let request = context.request(lua)?;
        let _free = s.watch.unlimited(lua);
        let name = String::from_utf8_lossy(&name).to_ascii_lowercase();
        if let Some(changed) = context.rewritten.field(&name) {
            return changed.map(|value| lua.create_string(value)).transpose();
        }
        let mut fields = request.headers.iter();
        let field = fields.find(|(known, _)| **known == *name);
        field.map(|(_, text)| context.text(lua, text)).transpose()
    };
    methods.set("header", lua.create_function(header)?)?;
    let s = Rc::clone(shared);
    let body = move |lua: &Lua, _: bool| {
        let context = s.context.borrow();
        let request = context.request(lua)?;
        let _free = s.watch.unlimited(lua);
        match (context.rewritten.body(), &request.body) {
            (Some(body), _) => lua.create_string(body),
            (None, Some(text)) => context.text(lua, text),
            (None, None) => lua.create_string(""),
        }
    };
    methods.set("body", lua.create_function(body)?)?;
    let s = Rc::clone(shared);
    let set_path = move |lua: &Lua, (_, path): (bool, BString)| {
        let mut context = s.context.borrow_mut();
        context.request(lua)?;
        context.rewritten.set_url(&[&path]);
        s.watch.count(lua, &mut context.rewritten)
    };
    methods.set("set_path", lua.create_function(set_path)?)?;
    let s = Rc::clone(shared);
    let set_header = move |lua: &Lua, (_, name, value): (bool, BString, Option<BString>)| {
        let mut context = s.context.borrow_mut();
        context.request(lua)?;
        if context.rewritten.is_full() {
            return Err(wrong(lua, MANY));
        }
        let value = value.as_ref().map(|value| value.as_slice());
        let name = s.field(&name, value);
        let name = name.map_err(|fault| wrong(lua, &fault))?;
        context.rewritten.set(name, value);
        s.watch.count(lua, &mut context.rewritten)
    };
    methods.set("set_header", lua.create_function(set_header)?)?;
    let s = Rc::clone(shared);
    let set_body = move |lua: &Lua, (_, body): (bool, BString)| {
        let mut context = s.context.borrow_mut();
        context.request(lua)?;
        context.rewritten.set_body(&body);
        s.watch.count(lua, &mut context.rewritten)
    };
    methods.set("set_body", lua.create_function(set_body)?)?;
    Ok(methods)
}

/// The values of the iteration, by their names.
fn vars(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let (vars, meta) = (lua.create_table()?, lua.create_table()?);
    let s = Rc::clone(shared);
    let get = move |lua: &Lua, (_, name): (bool, BString)| {
        let context = s.context.borrow();
        let _free = s.watch.unlimited(lua);
        let slot = s.slots.get(name.as_slice());
        let value = slot.and_then(|slot| context.values.get(*slot));
        value.map(|value| lua.create_string(value)).transpose()
    };
    meta.set("__index", lua.create_function(get)?)?;
    let s = Rc::clone(shared);
    let set = move |lua: &Lua, (_, name, value): (bool, BString, Value)| {
        let mut context = s.context.borrow_mut();
        let Some(slot) = s.slots.get(name.as_slice()) else {
            let name = String::from_utf8_lossy(&name);
            let words = format!("no step has the value `{name}`: write `vars.{name}` in a script");
            return Err(wrong(lua, &words));
        };
        match &value {
            Value::Nil => context.values.unset(*slot),
            Value::Boolean(is) => context.values.set(*slot, is.to_string().as_bytes()),
            value => {
                let text = lua.coerce_string(value.clone())?;
                let Some(text) = text else {
                    let words = format!("a value is text, and not a {}", value.type_name());
                    return Err(wrong(lua, &words));
                };
                if text.as_bytes().len() > MOST_VALUE {
                    let most = MOST_VALUE >> 20;
                    return Err(wrong(lua, &format!("a value has at most {most} MiB")));
                }
                context.values.set(*slot, &text.as_bytes());
            }
        }
        let elsewhere = context.elsewhere;
        context.values.came_from(*slot, elsewhere);
        Ok(())
    };
    meta.set("__newindex", lua.create_function(set)?)?;
    vars.set_metatable(Some(meta))?;
    Ok(vars)
}

impl Context {
    fn response(&self, lua: &Lua) -> mlua::Result<&Kept> {
        match self.phase {
            Phase::Response => Ok(&self.response),
            _ => Err(wrong(lua, "`res` is there in `response` only")),
        }
    }

    fn request(&self, lua: &Lua) -> mlua::Result<&HttpRequest> {
        match &self.phase {
            Phase::Request(request) => Ok(request),
            _ => Err(wrong(lua, "`req` is there in `request` only")),
        }
    }

    /// What a text of the step says.
    fn text(&self, lua: &Lua, text: &Text) -> mlua::Result<LuaString> {
        let mut out = Vec::new();
        match text.render(&self.values, &mut out) {
            Ok(()) => lua.create_string(&out),
            Err(_) => Err(wrong(
                lua,
                "a value of the step's text is missing, or cannot stand there",
            )),
        }
    }

    /// A value of the body: text, a number or a boolean; lists and objects as JSON.
    fn json(&mut self, lua: &Lua, pointer: &[u8]) -> mlua::Result<Value> {
        self.response(lua)?;
        if !self.trees.contains_key(pointer) {
            if pointer.len() > MOST_POINTER {
                let words = format!("a JSON pointer has at most {MOST_POINTER} bytes");
                return Err(wrong(lua, &words));
            }
            let text = String::from_utf8_lossy(pointer);
            let Some(made) = Pointer::parse(&text) else {
                let words = format!("`{text}` is no JSON pointer, such as `/items/0/id`");
                return Err(wrong(lua, &words));
            };
            if self.trees.len() >= MOST_TREES {
                self.trees.clear();
            }
            self.trees.insert(pointer.to_vec(), Tree::new([&made]));
        }
        let Some(tree) = self.trees.get(pointer) else {
            return Ok(Value::Nil);
        };
        if let Err(fault) = tree.find(&self.response.body, &mut self.found) {
            return Err(wrong(lua, &format!("the body is no JSON: {fault}")));
        }
        let Some(value) = self.found.get(tree, 0, &self.response.body) else {
            return Ok(Value::Nil);
        };
        Ok(match value {
            b"null" => Value::Nil,
            b"true" => Value::Boolean(true),
            b"false" => Value::Boolean(false),
            // A longer one is text, as Lua's numbers would change it.
            [b'-' | b'0'..=b'9', ..] if value.len() <= MOST_DIGITS => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                Value::Number(text.parse().unwrap_or(f64::NAN))
            }
            value => match json::text(value, &mut self.room) {
                Some(text) => Value::String(lua.create_string(text)?),
                None => return Err(wrong(lua, "the text has half of a surrogate pair")),
            },
        })
    }
}
