//! The functions of programs that do not wait.

use std::cell::RefCell;
use std::path::{Component, Path};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{AnyUserData, BString, Function, Lua, LuaString, Table, Value};

use super::MEMORY;
use super::answer::{Address, Registered, Reply};
use super::open_request::{Fields, MOST_URL, pairs, prefixed};
use super::shared::{Group, Shared};
use super::worker::Postbox;
use crate::lua::state::{PRELUDE, State, place, wrong};
use crate::request::{RESERVED, is_token, value_fault};
use volley_base::uuid::Uuid;
use volley_http::http::HttpUrl;
use volley_report::measure::capped;

/// Gives a state all functions. Returns the one that makes a coroutine.
pub fn install(
    state: &State,
    shared: &Arc<Shared>,
    postbox: &Postbox,
    why: &Rc<RefCell<Option<String>>>,
) -> mlua::Result<Function> {
    let lua = &state.lua;
    let (failed, name) = (Rc::clone(why), shared.script.name.clone());
    let fail = move |lua: &Lua, words: LuaString| {
        let place = match place(lua) {
            place if place.is_empty() => format!("{name}: "),
            place => place,
        };
        *failed.borrow_mut() = Some(place + &capped(&words.to_string_lossy()));
        Ok(())
    };
    state.host.set("fail", lua.create_function(fail)?)?;
    state.host.set("respond", lua.create_function(respond)?)?;
    let is_group = |lua: &Lua, (threads, connections, coroutines): (f64, f64, f64)| {
        let group = Group::new(threads, connections, coroutines);
        group.map(|_| ()).map_err(|why| wrong(lua, &why))
    };
    state.host.set("is_group", lua.create_function(is_group)?)?;
    let prelude = lua.load(include_str!("prelude.lua"));
    let prelude = prelude.set_name(format!("={PRELUDE}"));
    prelude.call::<()>(&state.host)?;
    let globals = lua.globals();
    let clock = shared.clock;
    let time = move |_: &Lua, ()| Ok(clock.now_ns() / 1_000_000);
    globals.set("time_since_epoch", lua.create_function(time)?)?;
    globals.set("generate_uuid_v4", lua.create_function(|_, ()| Ok(uuid()))?)?;
    globals.set("parse_uri", lua.create_function(parse_uri)?)?;
    values(lua, &globals, shared)?;
    servers(lua, &globals, shared, postbox)?;
    state.host.get("start")
}

/// The store that all threads share.
fn values(lua: &Lua, globals: &Table, shared: &Arc<Shared>) -> mlua::Result<()> {
    let s = Arc::clone(shared);
    let store = move |lua: &Lua, (key, value): (BString, BString)| {
        let is_stored = s.values().insert(key.into(), value.into());
        let words = || format!("store_value: the store has more than {} MiB", MEMORY >> 20);
        is_stored.then_some(()).ok_or_else(|| wrong(lua, &words()))
    };
    globals.set("store_value", lua.create_function(store)?)?;
    let s = Arc::clone(shared);
    let get = move |lua: &Lua, key: BString| {
        let value = s.values().get(&key).map(<[u8]>::to_vec);
        value.map(|value| lua.create_string(value)).transpose()
    };
    globals.set("get_value", lua.create_function(get)?)?;
    let s = Arc::clone(shared);
    let delete = move |lua: &Lua, key: BString| {
        let value = s.values().remove(&key);
        value.map(|value| lua.create_string(value)).transpose()
    };
    globals.set("delete_value", lua.create_function(delete)?)
}

fn servers(
    lua: &Lua,
    globals: &Table,
    shared: &Arc<Shared>,
    postbox: &Postbox,
) -> mlua::Result<()> {
    let s = Arc::clone(shared);
    let start = move |lua: &Lua, (file, _): (String, Value)| {
        let started = match s.options.allow_io || is_inside(Path::new(&file)) {
            true => s.servers.start(&s.folder.join(&file)),
            false => Err("a file outside of the program's folder needs `--allow-io`".to_owned()),
        };
        started.map_err(|why| wrong(lua, &format!("start_server: `{file}`: {why}")))
    };
    globals.set("start_server", lua.create_function(start)?)?;
    let s = Arc::clone(shared);
    let stop = move |_: &Lua, id: String| {
        s.servers.stop(&id);
        Ok(())
    };
    globals.set("stop_server", lua.create_function(stop)?)?;
    let (s, postbox) = (Arc::clone(shared), postbox.clone());
    let register = move |lua: &Lua, (id, service, name, _): (String, String, String, Value)| {
        let place = place(lua);
        let function = Registered { name, place };
        let registered = s.servers.register(&id, &service, function, &postbox);
        registered.map_err(|why| wrong(lua, &format!("register_service_handler: {why}")))
    };
    globals.set("register_service_handler", lua.create_function(register)?)
}

/// Whether a path leads to no other folder than those below this one.
fn is_inside(path: &Path) -> bool {
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(is_below)
}

/// `send_response` and `forward_response`. `is_message`: with trailers, the body becomes one of gRPC.
fn respond(
    lua: &Lua,
    (address, headers, count, body, trailers, trailer_count, is_message): (
        AnyUserData,
        Value,
        usize,
        BString,
        Value,
        usize,
        bool,
    ),
) -> mlua::Result<()> {
    let wrong = |why: &str| wrong(lua, &format!("the response: {why}"));
    let fields = |value: &Value, count| match value {
        Value::String(flat) => fields(&flat.as_bytes(), count).map_err(|why| wrong(&why)),
        _ => Ok(Fields::new()),
    };
    let (mut fields, trailers) = (fields(&headers, count)?, fields(&trailers, trailer_count)?);
    let status = fields.iter().position(|(name, _)| **name == *b":status");
    let status = status.map(|at| fields.swap_remove(at).1);
    let status = status.map_or(Some(200), |status| {
        std::str::from_utf8(&status).ok()?.parse().ok()
    });
    let status = status.filter(|status| (200..600).contains(status));
    let status = status.ok_or_else(|| wrong("`:status` is none of 200 to 599"))?;
    fields.retain(|(name, _)| !name.starts_with(b":"));
    let is_sent = address.borrow_mut::<Address>()?.send(Reply {
        status,
        fields,
        body: match is_message && !trailers.is_empty() {
            true => prefixed(&body),
            false => body.to_vec(),
        },
        trailers,
    });
    match is_sent {
        true => Ok(()),
        false => Err(wrong("it was sent before")),
    }
}

fn fields(flat: &[u8], count: usize) -> Result<Fields, String> {
    let mut fields = Fields::new();
    for (name, value) in pairs(flat, count)? {
        if let Some(fault) = value_fault(value) {
            return Err(format!("header `{name}`: {fault}"));
        }
        match name.strip_prefix(':').unwrap_or(&name) {
            plain if !is_token(plain) => return Err(format!("`{name}` is no name of a header")),
            plain if RESERVED.contains(&plain) => {}
            _ => fields.push((name.into_bytes().into(), value.to_vec())),
        }
    }
    Ok(fields)
}

/// The headers of a URL: with the path only, if that is all that it has.
fn parse_uri(lua: &Lua, url: BString) -> mlua::Result<Option<Table>> {
    let headers = lua.create_table()?;
    if url.starts_with(b"/") {
        headers.set(":path", lua.create_string(url.as_slice())?)?;
        return Ok(Some(headers));
    }
    let Some(parsed) = (url.len() <= MOST_URL)
        .then(|| HttpUrl::parse(&url).ok())
        .flatten()
    else {
        return Ok(None);
    };
    let path = match parsed.target.first() {
        Some(b'/') => parsed.target.to_vec(),
        _ => [b"/", parsed.target].concat(),
    };
    headers.set(":path", lua.create_string(path)?)?;
    headers.set(":scheme", if parsed.is_tls { "https" } else { "http" })?;
    headers.set(":authority", lua.create_string(parsed.authority)?)?;
    Ok(Some(headers))
}

/// A random UUID.
pub fn uuid() -> String {
    let mut text = String::new();
    Uuid::new(&mut fastrand::Rng::new()).render(&mut text);
    text
}
