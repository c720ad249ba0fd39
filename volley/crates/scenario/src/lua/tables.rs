//! h2loadrunner's functions, whose arguments are whole tables of headers.
//!
//! A table that Rust fills field by field costs more than all else in a request. So for each list of names that responses
//! have, a function is made that has the table as a constructor, and takes the values as one text with the places where
//! each of them ends.

use std::fmt::Write as _;

use mlua::{BString, Function, Lua, LuaString, MultiValue, Value};

use super::objects::{MANY, Shared};
use super::state::State;
use crate::plan::{HttpRequest, Script};
use crate::request::is_token;
use crate::script::{Kept, Rewritten, Sketch, Trouble};
use crate::{Text, Values};

/// The most header fields of a response, as a function of Lua has a limit of arguments.
const MOST_FIELDS: usize = 150;

/// The most lists of names that are kept ready.
const MOST_SHAPES: usize = 64;

/// Headers that volley makes itself, so that scripts may leave them as they are.
const OWN: [&str; 4] = ["content-length", "host", "connection", "transfer-encoding"];

/// The value of a header that `make_request` has taken away.
const GONE: &[u8] = b"\n";

/// One of the functions.
pub struct Hook {
    function: Function,
    /// The request's table, if it has one.
    request: Option<Request>,
    /// By the names of a response's fields, and what else never changes: the function that makes the tables.
    shapes: Vec<(Vec<u8>, Function)>,
    names: Vec<u8>,
    body: Vec<u8>,
    packed: Vec<u8>,
    ends: Vec<usize>,
}

/// The request that `make_request` changes.
struct Request {
    method: String,
    headers: Vec<(Box<str>, Text)>,
    body: Option<Text>,
    /// The same, if it never changes.
    constant: Option<LuaString>,
}

impl Hook {
    /// A `validate_response`.
    pub fn new(function: Function) -> Self {
        Self {
            function,
            request: None,
            shapes: Vec::new(),
            names: Vec::new(),
            body: Vec::new(),
            packed: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// A `make_request` for these requests.
    pub fn of_request(lua: &Lua, function: Function, request: &HttpRequest) -> mlua::Result<Self> {
        let constant = request.body.as_ref().map_or(Some(&[][..]), Text::constant);
        let body = constant.unwrap_or_default().to_vec();
        let constant = constant.map(|body| lua.create_string(body));
        Ok(Self {
            request: Some(Request {
                method: request.method.to_string(),
                headers: request.headers.clone(),
                body: request.body.clone(),
                constant: constant.transpose()?,
            }),
            body,
            ..Self::new(function)
        })
    }

    /// Calls `validate_response`.
    pub fn validate(&mut self, state: &State, script: &Script, kept: &Kept) -> Result<(), Trouble> {
        self.pack(Some(kept), None, script)?;
        let args = self.args(state, Some(kept));
        let args = args.map_err(|error| Trouble::Error(error.to_string()))?;
        let shape = self.shape(state, Some(kept), None, script)?;
        match state.call::<Value>(shape, args, script)? {
            Value::Boolean(true) => Ok(()),
            Value::Boolean(false) => {
                let words = format!("{}: validate_response returned false", script.name);
                Err(Trouble::Failed(words))
            }
            other => {
                let kind = other.type_name();
                let words = format!(
                    "{}: validate_response returned {kind}, no boolean",
                    script.name
                );
                Err(Trouble::Error(words))
            }
        }
    }

    /// Calls `make_request`.
    pub fn make(
        &mut self,
        (state, shared, script): (&State, &Shared, &Script),
        last: Option<&Kept>,
        sketch: Sketch<'_>,
        values: &mut Values,
        rewritten: &mut Rewritten,
    ) -> Result<(), Trouble> {
        let error = |words: &str| error(script, words);
        self.pack(last, Some((sketch, values)), script)?;
        if let Some(own) = &self.request
            && own.constant.is_none()
            && let Some(text) = &own.body
        {
            self.body.clear();
            let rendered = text.render(values, &mut self.body);
            rendered.map_err(|_| error("a value of the step's body is missing"))?;
        }
        let args = self.args(state, last);
        let args = args.map_err(|fault| error(&fault.to_string()))?;
        let shape = self.shape(state, last, Some(sketch), script)?;
        std::mem::swap(&mut shared.context.borrow_mut().values, values);
        let called = state.call::<(BString, Option<BString>)>(shape, args, script);
        std::mem::swap(&mut shared.context.borrow_mut().values, values);
        let (headers, body) = called?;
        if let Some(body) = body.filter(|body| *body.as_slice() != *self.body) {
            rewritten.set_body(&body);
        }
        let (mut scheme, mut authority, mut path) = (None, None, None);
        // Behind the last NUL, there is nothing.
        let mut parts = headers.split(|byte| *byte == 0);
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            match name {
                b":path" => path = Some(value).filter(|path| *path != sketch.path),
                b":scheme" => scheme = Some(value),
                b":authority" => authority = Some(value),
                b":method" => {
                    let method = String::from_utf8_lossy(value);
                    if !is_token(&method) {
                        return Err(error(&format!(
                            "make_request returned the method `{method}`"
                        )));
                    }
                    rewritten.method = Some(method.into_owned());
                }
                name if OWN
                    .iter()
                    .any(|own| name.eq_ignore_ascii_case(own.as_bytes())) => {}
                _ if rewritten.is_full() => return Err(error(MANY)),
                name => {
                    let value = Some(value).filter(|value| *value != GONE);
                    let name = shared.field(name, value);
                    let name = name.map_err(|fault| {
                        error(&format!("make_request returned headers, but {fault}"))
                    })?;
                    rewritten.set(name, value);
                }
            }
        }
        if scheme.is_some() || authority.is_some() {
            let scheme = scheme.unwrap_or(sketch.scheme.as_bytes());
            let authority = authority.unwrap_or(sketch.authority.as_bytes());
            let path = path.unwrap_or(sketch.path);
            rewritten.set_url(&[scheme, b"://", authority, path]);
        } else if let Some(path) = path {
            rewritten.set_url(&[path]);
        }
        let counted = state.watch().count(&state.lua, rewritten);
        counted.map_err(|fault| state.trouble(&fault, script, Some(&self.function)))
    }

    /// Puts all values that vary into one text.
    fn pack(
        &mut self,
        response: Option<&Kept>,
        request: Option<(Sketch<'_>, &Values)>,
        script: &Script,
    ) -> Result<(), Trouble> {
        self.names.clear();
        self.packed.clear();
        self.ends.clear();
        for (name, value) in response.iter().flat_map(|kept| kept.fields.iter()) {
            self.names.extend_from_slice(name);
            self.names.push(0);
            self.packed.extend_from_slice(value);
            self.ends.push(self.packed.len());
        }
        let error = |words: &str| error(script, words);
        if let (Some(own), Some((sketch, values))) = (&self.request, request) {
            for constant in [sketch.scheme, sketch.authority] {
                self.names.extend_from_slice(constant.as_bytes());
                self.names.push(0);
            }
            self.packed.extend_from_slice(sketch.path);
            self.ends.push(self.packed.len());
            for (name, value) in own.varying() {
                let rendered = value.render(values, &mut self.packed);
                rendered.map_err(|_| error(&format!("a value of header `{name}` is missing")))?;
                self.ends.push(self.packed.len());
            }
        }
        match self.ends.len() > MOST_FIELDS {
            true => Err(error("the response has more than 150 header fields")),
            false => Ok(()),
        }
    }

    fn args(&self, state: &State, response: Option<&Kept>) -> mlua::Result<MultiValue> {
        let lua = &state.lua;
        // The shape knows what an empty body is, and the request's own one, if that never changes.
        let of_response = match response {
            Some(kept) if !kept.body.is_empty() => Value::String(lua.create_string(&kept.body)?),
            _ => Value::Boolean(false),
        };
        let mut args = Vec::with_capacity(3 + self.ends.len());
        args.push(Value::String(lua.create_string(&self.packed)?));
        args.push(of_response);
        if self.has_varying_body() {
            args.push(Value::String(lua.create_string(&self.body)?));
        }
        let ends = self.ends.iter();
        args.extend(ends.map(|end| Value::Integer(i64::try_from(*end).unwrap_or(i64::MAX))));
        Ok(MultiValue::from_vec(args))
    }

    /// The function that makes the tables of a response with these names.
    fn shape(
        &mut self,
        state: &State,
        response: Option<&Kept>,
        sketch: Option<Sketch<'_>>,
        script: &Script,
    ) -> Result<&Function, Trouble> {
        let mut shapes = self.shapes.iter();
        let at = match shapes.position(|(names, _)| *names == self.names) {
            Some(at) => at,
            None => {
                let made = self.new_shape(state, response, sketch);
                let made = made.map_err(|fault| error(script, &fault.to_string()))?;
                if self.shapes.len() >= MOST_SHAPES {
                    self.shapes.clear();
                }
                self.shapes.push((self.names.clone(), made));
                self.shapes.len() - 1
            }
        };
        let shape = self.shapes.get(at).map(|(_, shape)| shape);
        shape.ok_or_else(|| error(script, "it has no function"))
    }

    fn has_varying_body(&self) -> bool {
        let request = self.request.as_ref();
        request.is_some_and(|request| request.constant.is_none())
    }

    #[cold]
    fn new_shape(
        &self,
        state: &State,
        response: Option<&Kept>,
        sketch: Option<Sketch<'_>>,
    ) -> mlua::Result<Function> {
        let mut number = 0;
        let mut value = || {
            number += 1;
            match number {
                1 => "sub(all,1,e1)".to_owned(),
                _ => format!("sub(all,e{}+1,e{number})", number - 1),
            }
        };
        let mut headers = String::new();
        let names = response.iter().flat_map(|kept| kept.fields.iter());
        for (name, _) in names {
            let _ = write!(headers, "[{}]={},", quoted(name), value());
        }
        let known = state.lua.create_table()?;
        let mut count = 0;
        let call = match (&self.request, sketch) {
            (Some(request), Some(sketch)) => {
                let mut own = String::new();
                let mut add = |name: &str, constant: Option<&[u8]>| {
                    count += 1;
                    let quoted_name = quoted(name.as_bytes());
                    let _ = match constant {
                        Some(text) => write!(own, "[{quoted_name}]={},", quoted(text)),
                        None => write!(own, "[{quoted_name}]={},", value()),
                    };
                    match constant {
                        Some(text) => known.set(name, state.lua.create_string(text)?),
                        None => known.set(name, true),
                    }
                };
                add(":path", None)?;
                for (name, _) in request.varying() {
                    add(name, None)?;
                }
                add(":method", Some(request.method.as_bytes()))?;
                add(":scheme", Some(sketch.scheme.as_bytes()))?;
                add(":authority", Some(sketch.authority.as_bytes()))?;
                for (name, text) in &request.headers {
                    if let Some(text) = text.constant() {
                        add(name, Some(text))?;
                    }
                }
                format!("return flat(known,count,f({{{headers}}},body or '',{{{own}}},own_body))")
            }
            _ => format!("return f({{{headers}}},body or '')"),
        };
        let own_body = if self.has_varying_body() {
            ",own_body"
        } else {
            ""
        };
        let ends: Vec<String> = (1..=number).map(|end| format!(",e{end}")).collect();
        let text = format!(
            "local f,sub,flat,known,count,own_body=... return function(all,body{own_body}{}) {call} end",
            ends.concat()
        );
        let chunk = state.lua.load(text).set_name("=volley");
        let (sub, flat) = (
            state.host.get::<Function>("sub")?,
            state.host.get::<Function>("flat")?,
        );
        let own = self.request.as_ref();
        let own = own.and_then(|request| request.constant.clone());
        chunk.call((&self.function, sub, flat, known, count, own))
    }
}

impl Request {
    /// The headers whose values differ from request to request.
    fn varying(&self) -> impl Iterator<Item = (&str, &Text)> {
        let headers = self
            .headers
            .iter()
            .filter(|(_, value)| value.constant().is_none());
        headers.map(|(name, value)| (&**name, value))
    }
}

/// An error that the line of a function does not explain.
fn error(script: &Script, words: &str) -> Trouble {
    Trouble::Error(format!("{}: {words}", script.name))
}

/// A text as Lua writes it.
fn quoted(text: &[u8]) -> String {
    let mut out = "\"".to_owned();
    for byte in text {
        match byte {
            b' '..=b'~' if !matches!(byte, b'"' | b'\\') => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\{byte:03}");
            }
        }
    }
    out.push('"');
    out
}
