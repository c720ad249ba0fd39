//! A Lua state in which scripts can harm nobody: what they may use, and what their errors mean.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{
    Error, FromLuaMulti, Function, IntoLuaMulti, Lua, LuaOptions, StdLib, Table, Thread, Value,
};

use super::limits::{self, Watch};
use super::watchdog::Pulse;
use crate::plan::Script;
use crate::script::Trouble;
use volley_report::measure::capped;
use volley_report::report::write_visible;

/// What is no business of a script: it reaches files, other programs, or the memory of this one.
const FORBIDDEN: [&str; 5] = ["dofile", "loadfile", "newproxy", "gcinfo", "collectgarbage"];

/// The functions of `os` that only know the time.
const OF_TIME: [&str; 4] = ["clock", "date", "difftime", "time"];

/// What a script misses without `--allow-io`, as its name is in errors.
const OF_IO: [(&str, &str); 9] = [
    ("io", "io"),
    ("require", "require"),
    ("package", "package"),
    ("execute", "os.execute"),
    ("getenv", "os.getenv"),
    ("remove", "os.remove"),
    ("rename", "os.rename"),
    ("setlocale", "os.setlocale"),
    ("tmpname", "os.tmpname"),
];

/// The name of volley's own code in errors.
pub const PRELUDE: &str = "volley";

/// Where tracebacks, which mlua appends to errors, begin.
const TRACEBACK: &str = "\nstack traceback:";

/// A state, and its limits.
pub struct State {
    pub lua: Lua,
    /// What the prelude shares with Rust.
    pub host: Table,
    watch: Rc<Watch>,
    /// What sets the limit of memory, if anything does.
    key: Option<&'static str>,
    has_io: bool,
}

/// The memory of a state.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub bytes: usize,
    /// What sets it, in words.
    pub key: Option<&'static str>,
}

impl State {
    /// A state with a limit of memory, for the thread that makes it. `io`: scripts may use files and modules of this
    /// folder. `names`: what its calls are about, in words.
    pub fn new(limit: Limit, io: Option<&Path>, names: Vec<String>) -> mlua::Result<Self> {
        let mut libraries =
            StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::BIT | StdLib::OS;
        if io.is_some() {
            libraries |= StdLib::IO | StdLib::PACKAGE;
        }
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        let pulse = Pulse::new(names).map_err(Error::external)?;
        let watch = Rc::new(Watch::new(limit.bytes, pulse));
        let host = lua.create_table()?;
        host.set("failed", lua.create_table()?)?;
        let print = |_: &Lua, line: mlua::LuaString| {
            let mut out = BufWriter::new(io::stderr().lock());
            // If nobody reads this, the run continues.
            let _ = write_visible(&line.as_bytes(), &mut out).and_then(|()| writeln!(out));
            Ok(())
        };
        host.set("print", lua.create_function(print)?)?;
        let prelude = lua.load(include_str!("prelude.lua"));
        let prelude = prelude.set_name(format!("={PRELUDE}"));
        prelude.call::<()>(&host)?;
        let globals = lua.globals();
        for name in FORBIDDEN {
            globals.set(name, Value::Nil)?;
        }
        globals.get::<Table>("string")?.set("dump", Value::Nil)?;
        let os: Table = globals.get("os")?;
        match io {
            None => {
                let of_time = lua.create_table()?;
                for name in OF_TIME {
                    of_time.set(name, os.get::<Value>(name)?)?;
                }
                globals.set("os", of_time)?;
            }
            Some(folder) => {
                // It would end the run without a report.
                os.set("exit", Value::Nil)?;
                let path = folder.join("?.lua");
                let package: Table = globals.get("package")?;
                package.set("path", path.display().to_string())?;
            }
        }
        limits::install(&lua, &watch)?;
        Ok(Self {
            lua,
            host,
            watch,
            key: limit.key,
            has_io: io.is_some(),
        })
    }

    pub fn watch(&self) -> &Rc<Watch> {
        &self.watch
    }

    /// Compiles a script, and runs it: its functions are in an environment of its own.
    ///
    /// # Errors
    ///
    /// A mistake of its syntax, or an error of its code outside of functions.
    pub fn load(&self, script: &Script) -> Result<Table, Trouble> {
        let (function, names) = self.compile(script)?;
        self.call::<()>(&function, (), script)?;
        Ok(names)
    }

    /// Compiles a script, and does not run it: a function, and the environment that this fills.
    ///
    /// # Errors
    ///
    /// A mistake of its syntax.
    pub fn compile(&self, script: &Script) -> Result<(Function, Table), Trouble> {
        compile(&self.lua, script)
            .map_err(|error| Trouble::Error(placed(words(&error), script, None)))
    }

    /// Calls a function of a script.
    ///
    /// # Errors
    ///
    /// It failed, or it was ended at a limit.
    pub fn call<R: FromLuaMulti>(
        &self,
        function: &Function,
        args: impl IntoLuaMulti,
        script: &Script,
    ) -> Result<R, Trouble> {
        let called = (self.watch).within(&self.lua, args, |args| function.call::<R>(args));
        called.map_err(|error| self.trouble(&error, script, Some(function)))
    }

    /// Lets a coroutine go on.
    ///
    /// # Errors
    ///
    /// It failed, or it was ended at a limit.
    pub fn resume<R: FromLuaMulti>(
        &self,
        thread: &Thread,
        args: impl IntoLuaMulti,
        script: &Script,
    ) -> Result<R, Trouble> {
        let resumed = (self.watch).within(&self.lua, args, |args| thread.resume::<R>(args));
        resumed.map_err(|error| self.trouble(&error, script, None))
    }

    /// What an error means. `function`: what was called.
    #[cold]
    pub fn trouble(&self, error: &Error, script: &Script, function: Option<&Function>) -> Trouble {
        // A function that is called in `return f()` takes the place of its caller, whose line is not known any more.
        let begins = function.and_then(|function| function.info().line_defined);
        let begins = begins.filter(|line| *line > 0);
        let begins = begins.map(|line| format!("{}:{line}", script.name));
        let place = line(error).or(begins);
        if let Some(late) = self.watch.late() {
            return Trouble::Broken(placed(late, script, place));
        }
        if is_memory(error) {
            let most = self.watch.memory() >> 20;
            let words = match self.watch.holds_too_much() {
                true => format!(
                    "what scripts have written for open requests (bodies, paths and headers) has more than {most} MiB in one thread: \
                     raise `limits: {{lua_memory: …}}`, or let fewer iterations be open"
                ),
                false => {
                    let near = self.watch.nearly_full();
                    let key = self.key.map_or(String::new(), |key| format!(" ({key})"));
                    format!("{near}the state of Lua has more than {most} MiB{key}")
                }
            };
            return Trouble::Broken(placed(words, script, place));
        }
        let mut words = placed(words(error), script, place);
        if let Some(name) = missing(&words).filter(|_| !self.has_io) {
            words += &format!(": `{name}` needs `--allow-io`");
        }
        Trouble::Error(words)
    }
}

/// Checks the syntax of a script: the line of its first mistake, and what is wrong there.
///
/// # Errors
///
/// The mistake, as `name:line: …`.
pub fn check(script: &Script) -> Result<(), String> {
    let lua = Lua::new_with(StdLib::NONE, LuaOptions::new());
    let compiled = lua.and_then(|lua| compile(&lua, script).map(|_| ()));
    compiled.map_err(|error| placed(words(&error), script, None))
}

/// A script as a function, and the environment that it fills.
fn compile(lua: &Lua, script: &Script) -> mlua::Result<(Function, Table)> {
    let (names, meta) = (lua.create_table()?, lua.create_table()?);
    meta.set("__index", lua.globals())?;
    names.set_metatable(Some(meta))?;
    let chunk = lua
        .load(&*script.text)
        .set_name(format!("@{}", script.name));
    let chunk = chunk
        .set_mode(ChunkMode::Text)
        .set_environment(names.clone());
    Ok((chunk.into_function()?, names))
}

/// The line of a script that runs, as `name:line: `.
#[cold]
pub fn place(lua: &Lua) -> String {
    let at = |level| {
        lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let line = debug.current_line()?;
            let is_script = source.source.is_some_and(|name| name.starts_with('@'));
            is_script.then(|| format!("{}:{line}: ", source.short_src.unwrap_or_default()))
        })
    };
    let mut levels = (0..).map_while(at);
    levels.find_map(|place| place).unwrap_or_default()
}

/// An error that names the line of the script.
#[cold]
pub fn wrong(lua: &Lua, words: &str) -> Error {
    Error::runtime(format!("{}{}", place(lua), capped(words)))
}

fn is_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } => is_memory(cause),
        _ => false,
    }
}

/// What an error says, without the traceback.
fn words(error: &Error) -> String {
    let text = match error {
        Error::RuntimeError(text) => text.clone(),
        Error::SyntaxError { message, .. } => message.clone(),
        Error::CallbackError { cause, .. } => words(cause),
        Error::BadArgument { cause, .. } => words(cause),
        other => other.to_string(),
    };
    let end = text.find(TRACEBACK).unwrap_or(text.len());
    match text.get(..end).unwrap_or_default() {
        table if table.starts_with("table: 0x") => "the error is a table, and no text".to_owned(),
        words => capped(words).into_owned(),
    }
}

/// The innermost line of a script that the traceback of an error has, as `name:line`.
fn line(error: &Error) -> Option<String> {
    let (text, cause) = match error {
        Error::RuntimeError(text) => (text, None),
        Error::CallbackError { traceback, cause } => (traceback, Some(cause)),
        _ => return None,
    };
    let of_script = |level: &str| {
        let (name, rest) = level.strip_prefix('\t')?.split_once(':')?;
        let (line, _) = rest.split_once(':')?;
        let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let is_script = !name.starts_with('[') && name != PRELUDE;
        (is_line && is_script).then(|| format!("{name}:{line}"))
    };
    let inner = cause.and_then(|cause| line(cause));
    inner.or_else(|| text.lines().find_map(of_script))
}

/// What needs `--allow-io`, if the words of an error say that it is missing.
fn missing(words: &str) -> Option<&'static str> {
    let (_, rest) = words.split_once(": attempt to ")?;
    let (_, name) = rest.strip_suffix("' (a nil value)")?.split_once('\'')?;
    let (_, needs) = OF_IO.iter().find(|(missing, _)| *missing == name)?;
    Some(needs)
}

/// An error with its place in front, or at least the script's name, unless it has both.
fn placed(words: String, script: &Script, place: Option<String>) -> String {
    let is_placed = |(name, rest): (&str, &str)| {
        !name.is_empty() && rest.starts_with(|first: char| first.is_ascii_digit())
    };
    match words.split_once(':').is_some_and(is_placed) {
        true => words,
        false => format!("{}: {words}", place.as_deref().unwrap_or(&script.name)),
    }
}
