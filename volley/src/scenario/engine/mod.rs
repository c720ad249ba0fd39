//! Runs a plan: threads, each with its own connections, iterations and counters.

mod driver;
pub mod flight;
mod iteration;
mod letter;
mod pool;
mod shot;
mod site;
#[cfg(test)]
mod tests;
mod timers;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;

use thiserror::Error;

use crate::engine::{Clock, EngineError, allow_sockets};
use crate::request::RequestError;
use crate::scenario::plan::Plan;
use crate::scenario::response::ReadingError;
use crate::scenario::tally::Tally;
use driver::{Board, Common, Driver, Quota};
use iteration::Course;
use site::Site;

/// A run that could not be made, or came to nothing.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Reading(#[from] ReadingError),
    /// The load did not begin.
    #[error("setup: step `{step}` failed: {words}")]
    Setup { step: String, words: String },
    /// The load is over, and counted.
    #[error("teardown: step `{step}` failed: {words}")]
    Teardown { step: String, words: String },
}

/// What came of a run.
#[derive(Default)]
pub struct Finished {
    /// By thread.
    pub tallies: Vec<Tally>,
    /// What went wrong after the load.
    pub teardown: Option<RunError>,
}

/// Runs a plan's load on so many threads.
///
/// # Errors
///
/// A target cannot be reached, a step of setup failed, or the host refused something.
pub fn run(plan: &Plan, threads: u32, signal: &Arc<AtomicBool>) -> Result<Finished, RunError> {
    let sites: Vec<Site> = plan
        .targets
        .iter()
        .map(Site::new)
        .collect::<Result<_, _>>()?;
    let connections = sites.iter().map(|site| site.connections);
    allow_sockets(connections.fold(0, u32::saturating_add));
    let (quota, board, clock) = (Quota::new(plan), Board::default(), Clock::start());
    let common = |threads| Common {
        plan,
        sites: &sites,
        clock,
        signal,
        threads,
        quota: &quota,
        board: &board,
    };
    // One connection to each target is enough for these.
    let once = |course| {
        let mut driver = Driver::new(common(u32::MAX), 0)?;
        driver.connect()?;
        Ok::<_, RunError>(driver.once(course)?)
    };
    if !plan.setup.is_empty() {
        let done = once(Course::Setup)?;
        if let Some((step, fault)) = done.fault {
            let (step, words) = (plan.step_name(step), fault.words);
            return Err(RunError::Setup { step, words });
        }
        board.set(done.values.first(plan.common_slots.into()));
    }
    let mut finished = Finished {
        tallies: load(threads, &common)?,
        teardown: None,
    };
    if !plan.teardown.is_empty() {
        finished.teardown = match once(Course::Teardown) {
            Err(error) => Some(error),
            Ok(done) => done.fault.map(|(step, fault)| RunError::Teardown {
                step: plan.step_name(step),
                words: fault.words,
            }),
        };
    }
    Ok(finished)
}

/// The load itself: what each thread has counted.
fn load<'a>(
    threads: u32,
    common: &(impl Fn(u32) -> Common<'a> + Sync),
) -> Result<Vec<Tally>, RunError> {
    let threads = threads.max(1);
    let barrier = Barrier::new(threads as usize);
    let (start, has_failed) = (OnceLock::new(), AtomicBool::new(false));
    let work = |index| {
        let common = common(threads);
        let clock = common.clock;
        let connected = Driver::new(common, index).and_then(|mut driver| {
            driver.connect()?;
            Ok(driver)
        });
        has_failed.fetch_or(connected.is_err(), Ordering::Relaxed);
        // All begin at one moment, or none.
        barrier.wait();
        match connected? {
            _ if has_failed.load(Ordering::Relaxed) => Err(EngineError::Interrupted.into()),
            driver => Ok(driver.run(*start.get_or_init(|| clock.now_ns()))?),
        }
    };
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|index| scope.spawn(move || work(index)))
            .collect();
        let done = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let done: Vec<_> = done.collect();
        // The error of the thread that failed is of more use than those of the others.
        let is_own =
            |done: &Result<_, _>| !matches!(done, Err(RunError::Engine(EngineError::Interrupted)));
        let (own, rest): (Vec<_>, Vec<_>) = done.into_iter().partition(is_own);
        own.into_iter().chain(rest).collect()
    })
}
