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

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use crate::engine::{Clock, EngineError};
use crate::scenario::plan::Plan;
use crate::scenario::tally::Tally;
use driver::{Common, Driver, Quota};
use site::Site;

/// Runs a plan's load on so many threads, and returns what each has counted.
///
/// # Errors
///
/// A target cannot be reached, or the host refused something.
pub fn run(plan: &Plan, threads: u32, signal: &Arc<AtomicBool>) -> Result<Vec<Tally>, EngineError> {
    let sites: Vec<Site> = plan
        .targets
        .iter()
        .map(Site::new)
        .collect::<Result<_, _>>()?;
    let quota = Quota::new(plan);
    let clock = Clock::start();
    let common = || Common {
        plan,
        sites: &sites,
        clock,
        signal,
        threads,
        quota: &quota,
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|index| {
                let common = common();
                scope.spawn(move || {
                    let mut driver = Driver::new(common, index)?;
                    driver.connect()?;
                    driver.run()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}
