//! The functions of `string` that look for patterns, so that none of them takes longer than a script may.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use memchr::memmem;
use mlua::{IntoLua, Lua, LuaString, MultiValue, Table, Value};

use super::pattern::{Capture, Match, Pattern, Stop};
use super::state::{Watch, wrong};

/// The most patterns that are kept ready.
const MOST_PATTERNS: usize = 256;

/// Patterns that were used.
type Ready = RefCell<HashMap<Vec<u8>, Rc<Pattern>>>;

/// Puts the functions in the place of LuaJIT's. The prelude makes `gmatch` and `gsub` of `find`.
pub fn install(lua: &Lua, watch: &Rc<Watch>) -> mlua::Result<()> {
    let ready = Rc::new(Ready::default());
    let search = |answer: fn(&Lua, &[u8], Option<Match>) -> mlua::Result<MultiValue>| {
        let (ready, watch) = (Rc::clone(&ready), Rc::clone(watch));
        lua.create_function(
            move |lua, (text, pattern, from, plain): (LuaString, LuaString, Option<f64>, bool)| {
                let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
                let from = place(from.unwrap_or(1.0), text.len());
                let found = match plain {
                    true => plainly(&text, &pattern, from),
                    false => {
                        let pattern = compiled(&ready, lua, &pattern)?;
                        matched(&watch, lua, &pattern, &text, from)?
                    }
                };
                let _free = watch.unlimited(lua);
                answer(lua, &text, found)
            },
        )
    };
    let string: Table = lua.globals().get("string")?;
    string.set("find", search(positions)?)?;
    string.set("match", search(texts)?)
}

/// A place as Rust counts.
fn place(from: f64, length: usize) -> usize {
    let from = match from < 0.0 {
        true => from + length as f64,
        false => from - 1.0,
    };
    // A cast of what is below 0 is 0.
    (from as usize).min(length)
}

fn plainly(text: &[u8], wanted: &[u8], from: usize) -> Option<Match> {
    let rest = text.get(from..)?;
    let start = from + memmem::find(rest, wanted)?;
    Some(Match {
        start,
        end: start + wanted.len(),
        captures: Vec::new(),
    })
}

fn compiled(ready: &Ready, lua: &Lua, pattern: &[u8]) -> mlua::Result<Rc<Pattern>> {
    if let Some(known) = ready.borrow().get(pattern) {
        return Ok(Rc::clone(known));
    }
    let made = Rc::new(Pattern::new(pattern).map_err(|fault| wrong(lua, fault))?);
    let mut ready = ready.borrow_mut();
    if ready.len() >= MOST_PATTERNS {
        ready.clear();
    }
    ready.insert(pattern.to_vec(), Rc::clone(&made));
    Ok(made)
}

fn matched(
    watch: &Rc<Watch>,
    lua: &Lua,
    pattern: &Pattern,
    text: &[u8],
    from: usize,
) -> mlua::Result<Option<Match>> {
    let mut is_late = || watch.is_late(lua).unwrap_or(true);
    pattern
        .find(text, from, &mut is_late)
        .map_err(|stop| match stop {
            Stop::Late => wrong(lua, "the search for a pattern takes too long"),
            Stop::Complex => wrong(lua, "pattern too complex"),
            Stop::Capture => wrong(lua, "invalid capture in the pattern"),
        })
}

/// As `string.find`: the first and the last place, and captures.
fn positions(lua: &Lua, text: &[u8], found: Option<Match>) -> mlua::Result<MultiValue> {
    let Some(found) = found else {
        return Ok(MultiValue::from_vec(vec![Value::Nil]));
    };
    let mut values = vec![number(found.start + 1), number(found.end)];
    for capture in &found.captures {
        values.push(value(lua, text, *capture)?);
    }
    Ok(MultiValue::from_vec(values))
}

/// As `string.match`: captures, or all of the match.
fn texts(lua: &Lua, text: &[u8], found: Option<Match>) -> mlua::Result<MultiValue> {
    let Some(found) = found else {
        return Ok(MultiValue::from_vec(vec![Value::Nil]));
    };
    let whole = [Capture::Text(found.start, found.end)];
    let captures = match &found.captures[..] {
        [] => &whole[..],
        captures => captures,
    };
    let values = captures.iter().map(|capture| value(lua, text, *capture));
    values.collect()
}

fn value(lua: &Lua, text: &[u8], capture: Capture) -> mlua::Result<Value> {
    match capture {
        Capture::Text(from, to) => {
            let text = text.get(from..to).unwrap_or_default();
            lua.create_string(text)?.into_lua(lua)
        }
        Capture::Position(at) | Capture::Open(at) => Ok(number(at + 1)),
    }
}

fn number(place: usize) -> Value {
    Value::Integer(i64::try_from(place).unwrap_or(i64::MAX))
}
