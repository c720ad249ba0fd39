//! The limits of a script's calls: time, memory, and how deep functions of C call each other.
//!
//! LuaJIT calls a hook after every few instructions, but not in code that it has compiled: a loop there would never
//! end. So the library that starts its compiler is left out, and its interpreter, which is fast, does all of the work.
//! What one instruction does, no hook ends: a [`Pulse`] shows it to the watchdog.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use mlua::debug::HookTriggers;
use mlua::state::{GcIncParams, GcMode};
use mlua::{Error, IntoLuaMulti, Lua, MultiValue, VmState};
use rustix::time::{ClockId, clock_gettime};

use super::state::{place, wrong};
use super::watchdog::Pulse;
use crate::script::{Held, Rewritten};
use volley_report::measure::process;

/// The longest time of one call, in ms.
pub const MOST_MS: i64 = 500;

/// The limits are looked at after so many instructions.
const INSTRUCTIONS: u32 = 200;

/// Instructions that took longer than so many ms had a slow function among them. So many looks follow after one instruction
/// each, as there may be more of them.
const SLOW_MS: i64 = 50;
const SLOW_LOOKS: u32 = 1000;

/// The most bytes of the thread's stack that a call may take. Between two looks, it takes less than as much again:
/// functions of C that call Lua have frames of up to 10 KiB, and a thread has 2 MiB.
const MOST_STACK: usize = 512 << 10;

/// The collector waits until there is so much of what there was after its last cycle, in per cent. Cycles cost much in a
/// small state: it waits longer there, but not so long that garbage reaches the limit of memory.
const PAUSE: i32 = 200;
const PAUSE_WHEN_SMALL: i32 = 400;

/// A state with more bytes is not small any more.
const SMALL: usize = 4 << 20;

/// The limits of a state, and the call that goes on.
pub struct Watch {
    /// In bytes.
    memory: usize,
    pulse: Arc<Pulse>,
    call: Cell<Option<Call>>,
    /// Half of the time is over: the CPU seconds of the thread at that moment.
    half_s: Cell<Option<f64>>,
    /// Instructions between two looks.
    every: Cell<u32>,
    /// The last look, by [`now_ms`].
    looked: Cell<i64>,
    /// Looks after one instruction each that are left.
    slow: Cell<u32>,
    is_large: Cell<bool>,
    /// The line that ran when memory was last seen nearly full, as `name:line: `: an error of memory has none.
    nearly_full: RefCell<String>,
    /// The call has taken too long: its error, which comes again and again until the call is over.
    late: RefCell<Option<String>>,
    /// Bytes that Rust keeps for scripts.
    outside: Rc<Cell<usize>>,
}

/// A call that goes on.
#[derive(Clone, Copy)]
struct Call {
    /// By [`now_ms`].
    began: i64,
    /// The address that the stack of the thread had reached.
    stack: usize,
}

/// While it is there, memory has no limit.
pub struct Unlimited<'a>(&'a Lua, usize);

/// Begins to look at a state.
pub fn install(lua: &Lua, watch: &Rc<Watch>) -> mlua::Result<()> {
    pause(lua, PAUSE_WHEN_SMALL);
    watch.arm(lua, INSTRUCTIONS)
}

impl Watch {
    pub fn new(memory: usize, pulse: Arc<Pulse>) -> Self {
        Self {
            memory,
            pulse,
            call: Cell::default(),
            half_s: Cell::default(),
            every: Cell::default(),
            looked: Cell::default(),
            slow: Cell::default(),
            is_large: Cell::default(),
            nearly_full: RefCell::default(),
            late: RefCell::default(),
            outside: Rc::default(),
        }
    }

    /// The limit of memory, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// The line that ran when memory was last seen nearly full, as `name:line: `.
    pub fn nearly_full(&self) -> String {
        self.nearly_full.borrow().clone()
    }

    /// The error of a call that has taken too long.
    pub fn late(&self) -> Option<String> {
        self.late.borrow().clone()
    }

    /// Whether Rust keeps more bytes for scripts than it may.
    pub fn holds_too_much(&self) -> bool {
        self.outside.get() > self.memory
    }

    /// What the next calls are about, by the number of its name.
    pub fn about(&self, name: usize) {
        self.pulse.about(name);
    }

    /// Runs Lua code within the limits.
    ///
    /// # Errors
    ///
    /// It failed, or it was ended at a limit.
    #[inline]
    pub fn within<R>(
        &self,
        lua: &Lua,
        args: impl IntoLuaMulti,
        run: impl FnOnce(MultiValue) -> mlua::Result<R>,
    ) -> mlua::Result<R> {
        let args = args.into_lua_multi(lua)?;
        let began = now_ms();
        self.looked.set(began);
        let stack = stack();
        self.call.set(Some(Call { began, stack }));
        self.half_s.set(None);
        self.pulse.beat();
        let done = lua.set_memory_limit(self.memory).and_then(|_| {
            let done = run(args);
            lua.set_memory_limit(0)?;
            done
        });
        self.pulse.beat();
        self.call.set(None);
        done
    }

    /// Lets the limits be looked at.
    fn arm(self: &Rc<Self>, lua: &Lua, every: u32) -> mlua::Result<()> {
        self.every.set(every);
        let (triggers, watch) = (
            HookTriggers::new().every_nth_instruction(every),
            Rc::clone(self),
        );
        lua.set_global_hook(triggers, move |lua, _| {
            watch.look(lua)?;
            Ok(VmState::Continue)
        })
    }

    fn look(self: &Rc<Self>, lua: &Lua) -> mlua::Result<()> {
        let Some(call) = self.call.get() else {
            return Ok(());
        };
        if !self.is_large.get() && lua.used_memory() > SMALL {
            self.is_large.set(true);
            pause(lua, PAUSE);
        }
        if self.is_large.get() && lua.used_memory() > self.memory / 4 * 3 {
            *self.nearly_full.borrow_mut() = place(lua);
        }
        let now = now_ms();
        if self.is_late(lua, now - call.began)? {
            return Err(Error::runtime(self.late().unwrap_or_default()));
        }
        let is_deep = call.stack.abs_diff(stack()) > MOST_STACK;
        let slow = match now - self.looked.replace(now) > SLOW_MS {
            true => SLOW_LOOKS,
            false => self.slow.get().saturating_sub(1),
        };
        self.slow.set(slow);
        // Whatever catches an error of depth meets it again at once, until the stack is shorter.
        let every = if is_deep || slow > 0 { 1 } else { INSTRUCTIONS };
        if self.every.get() != every {
            self.arm(lua, every)?;
        }
        match is_deep {
            true => Err(wrong(lua, "C stack overflow")),
            false => self.check(lua),
        }
    }

    /// Whether the call that goes on has taken too long.
    fn is_late(self: &Rc<Self>, lua: &Lua, took_ms: i64) -> mlua::Result<bool> {
        if self.late.borrow().is_some() {
            return Ok(true);
        }
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
        self.arm(lua, 1)?;
        Ok(true)
    }

    /// Takes the limit of memory away while Rust makes values: mlua would protect each of them from it, which takes longer
    /// than making it.
    pub fn unlimited<'a>(&'a self, lua: &'a Lua) -> Unlimited<'a> {
        // Of a state that mlua made, it is there.
        let _ = lua.set_memory_limit(0);
        Unlimited(lua, self.memory)
    }

    /// Counts bytes that Rust keeps for a script, in place of those that `held` counted.
    ///
    /// # Errors
    ///
    /// The state has more memory than it may, or Rust keeps more bytes than that.
    pub fn hold(&self, lua: &Lua, held: &mut Option<Held>, bytes: usize) -> mlua::Result<()> {
        *held = Some(Held::new(bytes, &self.outside));
        self.check(lua)
    }

    /// Counts the memory of what a script has written as kept for scripts.
    ///
    /// # Errors
    ///
    /// As [`Self::hold`].
    pub fn count(&self, lua: &Lua, rewritten: &mut Rewritten) -> mlua::Result<()> {
        let bytes = rewritten.size();
        self.hold(lua, &mut rewritten.held, bytes)
    }

    /// Checks what the allocator does not know: values that Rust made, and bytes that it keeps.
    fn check(&self, lua: &Lua) -> mlua::Result<()> {
        match lua.used_memory() > self.memory || self.holds_too_much() {
            true => Err(Error::MemoryError("not enough memory".to_owned())),
            false => Ok(()),
        }
    }
}

impl Drop for Unlimited<'_> {
    fn drop(&mut self) {
        let _ = self.0.set_memory_limit(self.1);
    }
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

/// The address that the stack of this thread has reached.
fn stack() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(black_box(&here)).addr()
}
