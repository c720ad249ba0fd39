//! What all threads of a program share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::mock::Servers;
use super::rows::Rows;
use super::store::Store;
use super::{MOST_COROUTINES, MOST_THREADS, Options, Program};
use crate::plan::Script;
use volley_base::budget::{Budget, MAX_MEMORY};
use volley_load::pace::whole_ns;
use volley_net::Clock;

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
    /// What the program asks for.
    ///
    /// # Errors
    ///
    /// It cannot be.
    pub fn new(threads: f64, connections: f64, coroutines: f64) -> Result<Self, String> {
        let is_count = |number: f64, most: f64| number >= 1.0 && number <= most;
        let most = MOST_COROUTINES as f64;
        let wrong = |words: String| Err(format!("setup_parallel_test: {words}"));
        if !is_count(threads, MOST_THREADS.into()) {
            return wrong(format!("1 to {MOST_THREADS} threads"));
        }
        if !is_count(connections, 65_536.0) {
            return wrong("1 to 65536 connections to each host".to_owned());
        }
        if !is_count(coroutines, most * threads) {
            return wrong(format!("1 to {MOST_COROUTINES} coroutines for each thread"));
        }
        Ok(Self {
            threads: threads as u32,
            connections: connections as u32,
            coroutines: coroutines as u64,
        })
    }

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
    /// For bodies that have not come whole, and for those that nobody has taken yet.
    pub budget: Arc<Budget>,
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
        let most = options.max_memory.unwrap_or(MAX_MEMORY);
        let budget = Arc::new(Budget::new(most as usize));
        Self {
            script: program.script.clone(),
            folder: program.folder.clone(),
            options: options.clone(),
            servers: Servers::new(&budget),
            budget,
            clock: Clock::start(),
            signal,
            ends_ns: options.duration.map_or(u64::MAX, whole_ns),
            failed: AtomicBool::new(false),
            rows: Rows::default(),
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
