//! A Lua state in which scripts can harm nobody: what they may use, how long, and how much memory.
//!
//! LuaJIT calls a hook after every few instructions, but not in code that it has compiled: a loop there would never
//! end. So the library that starts its compiler is left out, and its interpreter, which is fast, does all of the work.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::debug::HookTriggers;
use mlua::state::{GcIncParams, GcMode};
use mlua::{
    Error, FromLuaMulti, Function, IntoLuaMulti, Lua, LuaOptions, MultiValue, StdLib, Table,
    Thread, Value, VmState,
};

use rustix::time::{ClockId, clock_gettime};

use super::{Trouble, strings};
use crate::measure::process;
use crate::scenario::plan::Script;

/// The longest time of one call, in ms.
const MOST_MS: i64 = 500;

/// A look at the clock after so many instructions.
const INSTRUCTIONS: u32 = 200;

/// The collector waits until there is so much of what there was after its last cycle, in per cent. Cycles cost much in a
/// small state: it waits longer there, but not so long that garbage reaches the limit of memory.
const PAUSE: i32 = 200;
const PAUSE_WHEN_SMALL: i32 = 400;

/// A state with more bytes is not small any more.
const SMALL: usize = 4 << 20;

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

/// The limits of the call that goes on.
#[derive(Default)]
pub struct Watch {
    /// In bytes.
    memory: usize,
    /// By [`now_ms`].
    began: Cell<Option<i64>>,
    /// Half of the time is over: the CPU seconds of the thread at that moment.
    half_s: Cell<Option<f64>>,
    is_large: Cell<bool>,
    /// The line that ran when memory was last seen nearly full, as `name:line: `: an error of memory has none.
    nearly_full: RefCell<String>,
    /// The call has taken too long: its error, which comes again and again until the call is over.
    late: RefCell<Option<String>>,
}

impl State {
    /// A state with a limit of memory. `io`: scripts may use files and modules of this folder.
    pub fn new(limit: Limit, io: Option<&Path>) -> mlua::Result<Self> {
        let mut libraries =
            StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::BIT | StdLib::OS;
        if io.is_some() {
            libraries |= StdLib::IO | StdLib::PACKAGE;
        }
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        let watch = Rc::new(Watch {
            memory: limit.bytes,
            ..Watch::default()
        });
        let host = lua.create_table()?;
        host.set("failed", lua.create_table()?)?;
        let print = |_: &Lua, line: mlua::LuaString| {
            eprintln!("{}", line.to_string_lossy());
            Ok(())
        };
        host.set("print", lua.create_function(print)?)?;
        strings::install(&lua, &watch)?;
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
        pause(&lua, PAUSE_WHEN_SMALL);
        arm(&lua, INSTRUCTIONS, Rc::clone(&watch))?;
        Ok(Self {
            lua,
            host,
            watch,
            key: limit.key,
            has_io: io.is_some(),
        })
    }

    pub fn watch(&self) -> Rc<Watch> {
        Rc::clone(&self.watch)
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
        let called = self.within_limits(args, |args| function.call::<R>(args));
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
        let resumed = self.within_limits(args, |args| thread.resume::<R>(args));
        resumed.map_err(|error| self.trouble(&error, script, None))
    }

    #[inline]
    fn within_limits<R>(
        &self,
        args: impl IntoLuaMulti,
        run: impl FnOnce(MultiValue) -> mlua::Result<R>,
    ) -> mlua::Result<R> {
        let done = args.into_lua_multi(&self.lua).and_then(|args| {
            self.watch.began.set(Some(now_ms()));
            self.watch.half_s.set(None);
            self.lua.set_memory_limit(self.watch.memory)?;
            let done = run(args);
            self.lua.set_memory_limit(0)?;
            done
        });
        self.watch.began.set(None);
        done
    }

    /// What an error means. `function`: what was called.
    #[cold]
    pub fn trouble(&self, error: &Error, script: &Script, function: Option<&Function>) -> Trouble {
        // A function that is called in `return f()` takes the place of its caller, whose line is not known any more.
        let begins = function.and_then(|function| function.info().line_defined);
        let begins = begins.filter(|line| *line > 0);
        let begins = begins.map(|line| format!("{}:{line}", script.name));
        let place = line(error).or(begins);
        if let Some(late) = &*self.watch.late.borrow() {
            return Trouble::Broken(placed(late.clone(), script, place));
        }
        if is_memory(error) {
            let most = self.watch.memory >> 20;
            let key = self.key.map_or(String::new(), |key| format!(" ({key})"));
            let near = self.watch.nearly_full.borrow();
            let words = format!("{near}the state of Lua has more than {most} MiB{key}");
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

/// Lets the clock be looked at.
fn arm(lua: &Lua, every: u32, watch: Rc<Watch>) -> mlua::Result<()> {
    let triggers = HookTriggers::new().every_nth_instruction(every);
    lua.set_global_hook(triggers, move |lua, _| {
        if !watch.is_large.get() && lua.used_memory() > SMALL {
            watch.is_large.set(true);
            pause(lua, PAUSE);
        }
        if watch.is_large.get() && lua.used_memory() > watch.memory / 4 * 3 {
            *watch.nearly_full.borrow_mut() = place(lua);
        }
        if watch.is_late(lua)? {
            let late = watch.late.borrow().clone();
            return Err(Error::runtime(late.unwrap_or_default()));
        }
        Ok(VmState::Continue)
    })
}

/// How long the collector waits.
fn pause(lua: &Lua, per_cent: i32) {
    lua.gc_set_mode(GcMode::Incremental(GcIncParams::default().pause(per_cent)));
}

/// A clock that is read in a few ns, to 4 ms or so.
fn now_ms() -> i64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

impl Watch {
    /// Whether the call that goes on has taken too long.
    pub fn is_late(self: &Rc<Self>, lua: &Lua) -> mlua::Result<bool> {
        if self.late.borrow().is_some() {
            return Ok(true);
        }
        let began = self.began.get();
        let took_ms = began.map_or(0, |began| now_ms() - began);
        if took_ms < MOST_MS / 2 {
            return Ok(false);
        }
        // Of a thread that did not run, the time says nothing: the second half must be one of work.
        let cpu_s = process::thread_cpu_s();
        let half_s = self.half_s.get().unwrap_or(cpu_s);
        self.half_s.set(Some(half_s));
        if took_ms < MOST_MS || cpu_s - half_s < MOST_MS as f64 / 2e3 {
            return Ok(false);
        }
        let place = place(lua);
        *self.late.borrow_mut() = Some(format!("{place}the script ran longer than {MOST_MS} ms"));
        // Whatever catches the error meets it again at once.
        arm(lua, 1, Rc::clone(self))?;
        Ok(true)
    }

    /// Takes the limit of memory away while Rust makes values: mlua would protect each of them from it, which takes longer
    /// than making it.
    pub fn unlimited<'a>(&'a self, lua: &'a Lua) -> Unlimited<'a> {
        // Of a state that mlua made, it is there.
        let _ = lua.set_memory_limit(0);
        Unlimited(lua, self.memory)
    }
}

/// While it is there, memory has no limit.
pub struct Unlimited<'a>(&'a Lua, usize);

impl Drop for Unlimited<'_> {
    fn drop(&mut self) {
        let _ = self.0.set_memory_limit(self.1);
    }
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
    Error::runtime(format!("{}{words}", place(lua)))
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
        words => words.to_owned(),
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
