//! What all threads of a program share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::mock::Servers;
use super::rows::Rows;
use super::store::Store;
use super::{Options, Program};
use crate::engine::Clock;
use crate::pace::whole_ns;
use crate::scenario::plan::Script;

/// What `setup_parallel_test` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub threads: u32,
    /// Of a thread, to each host.
    pub connections: u32,
    /// Over all threads.
    pub coroutines: u64,
}

impl Group {
    /// Without it: one coroutine.
    pub fn single() -> Self {
        Self {
            threads: 1,
            connections: 1,
            coroutines: 1,
        }
    }

    /// The numbers of a thread's coroutines.
    pub fn of(self, thread: u32) -> impl Iterator<Item = u64> {
        (thread.into()..self.coroutines).step_by(self.threads.max(1) as usize)
    }
}

/// A program that runs.
pub struct Shared {
    pub script: Script,
    pub folder: PathBuf,
    pub options: Options,
    pub clock: Clock,
    pub signal: Arc<AtomicBool>,
    /// When its time is over, in ns.
    pub ends_ns: u64,
    /// A coroutine has failed in a way that ends all.
    pub failed: AtomicBool,
    pub rows: Rows,
    pub servers: Servers,
    /// The program's coroutines that are not over, of all threads.
    open: AtomicUsize,
    values: Mutex<Store>,
}

impl Shared {
    pub fn new(program: &Program, options: &Options, signal: Arc<AtomicBool>) -> Self {
        Self {
            script: program.script.clone(),
            folder: program.folder.clone(),
            options: options.clone(),
            clock: Clock::start(),
            signal,
            ends_ns: options.duration.map_or(u64::MAX, whole_ns),
            failed: AtomicBool::new(false),
            rows: Rows::default(),
            servers: Servers::default(),
            open: AtomicUsize::new(0),
            values: Mutex::default(),
        }
    }

    /// The store that all threads share.
    pub fn values(&self) -> MutexGuard<'_, Store> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn began(&self, coroutines: usize) {
        self.open.fetch_add(coroutines, Ordering::Relaxed);
    }

    pub fn ended(&self, coroutines: usize) {
        self.open.fetch_sub(coroutines, Ordering::Relaxed);
    }

    /// Whether nothing can happen any more: no coroutine goes on, and no server hands out requests.
    pub fn is_over(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0 && !self.servers.any()
    }
}
