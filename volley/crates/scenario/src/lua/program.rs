//! `volley run x.lua`: a program is the load, with the functions that h2loadrunner gives its programs.
//!
//! A thread has one state. Its coroutines run the same program and share its globals; one that waits lets the others go on.
//! A server that the program starts has a thread of its own, and hands requests to the threads that have a function for them.

mod answer;
mod ask;
mod kept;
mod links;
mod mock;
mod names;
mod offers;
mod open_request;
mod report;
mod requests;
mod rows;
mod shared;
mod store;
mod task;
mod turn;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::check;
use crate::engine::{Finished, RunError};
use crate::plan::{Script, TlsFiles};
use shared::{Group, Shared};
use volley_base::input;
use volley_net::allow_sockets;
use volley_report::measure::process;
use worker::{Harvest, Worker};

/// The most coroutines of the program itself that a thread has; the functions that answer requests may have as many again.
const MOST_COROUTINES: u64 = 30_000;

/// The most threads.
const MOST_THREADS: u32 = 256;

/// The bytes that a thread's state may have.
const MEMORY: usize = 256 << 20;

/// A program, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    pub script: Script,
    /// Files that it names are relative to this.
    pub folder: PathBuf,
}

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For the report.
    pub name: String,
    /// The load ends then, if the program does not end before.
    pub duration: Option<Duration>,
    /// It may use files, modules and other programs.
    pub allow_io: bool,
    pub tls: TlsFiles,
    /// The memory of bodies, in bytes; `None`: [`MAX_MEMORY`](volley_base::budget::MAX_MEMORY).
    pub max_memory: Option<u32>,
}

/// Reads a program, and checks its syntax.
///
/// # Errors
///
/// What is wrong with it, in one line.
pub fn read(file: &Path) -> Result<Program, String> {
    let name = file.display().to_string();
    let text =
        input::text(file, input::TEXT).map_err(|error| format!("cannot read `{name}`: {error}"))?;
    // As lua does.
    let text = match text.starts_with('#') {
        true => format!("--{text}"),
        false => text,
    };
    let script = Script {
        name,
        text: text.into(),
        sets: Vec::new(),
    };
    check(&script)?;
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Ok(Program {
        script,
        folder: folder.unwrap_or(Path::new(".")).to_owned(),
    })
}

/// Runs a program until it is over, its time is over, or `signal` is set.
///
/// # Errors
///
/// The program cannot begin, or the host refused something.
pub fn run(
    program: &Program,
    options: &Options,
    signal: &Arc<AtomicBool>,
) -> Result<Finished, RunError> {
    allow_sockets(u32::MAX);
    let started = SystemTime::now();
    let shared = Arc::new(Shared::new(program, options, Arc::clone(signal)));
    let cpu_s = process::cpu_s();
    let (first, asked) = Worker::new(&shared, 0, None)?.run()?;
    let mut harvests = vec![first];
    if let Some(group) = asked {
        // Their thread is over. All threads of the group register their own.
        shared.servers.forget_handlers();
        harvests.extend(all(&shared, group)?);
    }
    shared.servers.stop_all();
    let group = asked.unwrap_or_else(Group::single);
    let cpu_s = process::cpu_s() - cpu_s;
    Ok(report::finished(&shared, harvests, started, group, cpu_s))
}

/// Runs the threads of a group.
fn all(shared: &Arc<Shared>, group: Group) -> Result<Vec<Harvest>, RunError> {
    let mut outcomes: Vec<_> = (0..group.threads).map(|_| None).collect();
    thread::scope(|scope| {
        for (index, outcome) in (0..).zip(&mut outcomes) {
            scope.spawn(move || {
                let worker = Worker::new(shared, index, Some(group));
                let done = worker.and_then(Worker::run).map(|(harvest, _)| harvest);
                if done.is_err() {
                    shared.failed.store(true, Ordering::Relaxed);
                }
                *outcome = Some(done);
            });
        }
    });
    outcomes.into_iter().flatten().collect()
}
