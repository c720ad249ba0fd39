//! Runs a plan: threads, each with its own connections, iterations and counters.

mod driver;
pub mod flight;
mod heads;
mod iteration;
mod letter;
mod pool;
mod record;
mod shot;
mod site;
#[cfg(test)]
mod tests;
mod timers;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;

use crate::engine::{Clock, EngineError, allow_sockets, spare_cpus};
use crate::measure::process;
use crate::pace::{self, PhasedUsers};
use crate::report::{Cost, EndedBy};
use crate::request::RequestError;
use crate::scenario::data::{Crowd, DataError, Store, Undrawn};
use crate::scenario::plan::{Load, Phases, Plan};
use crate::scenario::record::Records;
use crate::scenario::report::live::Progress;
use crate::scenario::report::{Facts, Names, Report, judge};
use crate::scenario::response::ReadingError;
use crate::scenario::tally::Tally;
use crate::spec::Share;
use driver::{Board, Common, Driver, Harvest, Note, Quota};
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
    #[error(transparent)]
    Data(#[from] DataError),
    /// The load ended early, and is counted.
    #[error(transparent)]
    Undrawn(#[from] Undrawn),
    /// The load did not begin.
    #[error("setup: step `{step}` failed: {words}")]
    Setup { step: String, words: String },
    /// The load is over, and counted.
    #[error("teardown: step `{step}` failed: {words}")]
    Teardown { step: String, words: String },
}

impl RunError {
    /// Whether the file, or what it names, must be mended.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Engine(error) => error.is_usage(),
            Self::Request(_) | Self::Reading(_) | Self::Data(_) => true,
            Self::Undrawn(_) | Self::Setup { .. } | Self::Teardown { .. } => false,
        }
    }
}

/// What a run is to be called, and how it is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For the report.
    pub name: String,
    /// Threads that send; `None`: half of the CPUs, but all to which this process is confined.
    pub threads: Option<u32>,
    /// Takes single requests, for a log.
    pub records: Option<Arc<Records>>,
}

/// What came of a run.
pub struct Finished {
    pub report: Report,
    /// What ended the load early, or went wrong after it.
    pub failure: Option<RunError>,
}

/// Receives what is known of a run, each second, and how long it has gone on.
pub type OnProgress<'a> = &'a mut dyn FnMut(&mut Progress, Duration);

/// Runs a plan: setup, load and teardown. The load ends early if `signal` is set.
///
/// # Errors
///
/// A target cannot be reached, a step of setup failed, or the host refused something.
pub fn run(
    plan: &Plan,
    options: &Options,
    signal: &Arc<AtomicBool>,
    on_progress: OnProgress<'_>,
) -> Result<Finished, RunError> {
    let sites: Vec<Site> = plan
        .targets
        .iter()
        .map(Site::new)
        .collect::<Result<_, _>>()?;
    let connections = sites.iter().map(|site| site.connections);
    let connections = connections.fold(0, u32::saturating_add);
    allow_sockets(connections);
    let fewest = sites.iter().map(|site| site.connections).min().unwrap_or(1);
    let threads = options
        .threads
        .unwrap_or_else(spare_cpus)
        .clamp(1, fewest.max(1));
    let crowd = Crowd {
        threads: threads.into(),
        users: most_users(plan),
        share: Share::default(),
    };
    let store = Store::open(&plan.feeds, &plan.folder, crowd)?;
    let seed = fastrand::u64(..);
    let (quota, board, clock) = (Quota::new(plan), Board::default(), Clock::start());
    if let Some(records) = &options.records {
        records.begin(unix_ns().saturating_sub(clock.now_ns()));
    }
    let common = |threads, post| Common {
        plan,
        sites: &sites,
        clock,
        signal,
        threads,
        quota: &quota,
        board: &board,
        store: &store,
        seed,
        records: options.records.as_deref(),
        post,
    };
    // One connection to each target is enough for these.
    let once = |course| {
        let mut driver = Driver::new(common(u32::MAX, None), 0)?;
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
    let mut tally = Tally::new(plan.scenarios.len(), plan.steps.len(), 0);
    let mut facts = Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: options.name.clone(),
        tags: plan.tags.clone(),
        started_unix_ns: unix_ns(),
        elapsed_ns: 0,
        ended_by: EndedBy::Finished,
        threads,
        connections,
        cost: Cost::default(),
        warnings: Vec::new(),
    };
    let (cpu_s, mut failure) = (process::cpu_s(), None);
    for harvest in load(threads, &common, clock, on_progress)? {
        tally.merge(harvest.tally);
        failure = failure.or(harvest.undrawn.map(RunError::from));
        facts.elapsed_ns = facts.elapsed_ns.max(harvest.elapsed_ns);
        facts.ended_by = facts.ended_by.over(harvest.ended_by);
        facts.cost.busiest_thread_s = facts.cost.busiest_thread_s.max(harvest.cpu_s);
    }
    facts.cost.cpu_s = process::cpu_s() - cpu_s;
    facts.cost.cpu_total_s = process::cpu_s();
    facts.cost.peak_bytes = process::peak_bytes();
    let mut finished = Finished {
        report: Report::new(tally, &Names::from(plan), facts),
        failure,
    };
    finished.report.thresholds = judge(&finished.report, &plan.thresholds);
    if !plan.teardown.is_empty() {
        let failure = match once(Course::Teardown) {
            Err(error) => Some(error),
            Ok(done) => done.fault.map(|(step, fault)| RunError::Teardown {
                step: plan.step_name(step),
                words: fault.words,
            }),
        };
        finished.failure = finished.failure.or(failure);
    }
    Ok(finished)
}

/// The most users, or iterations, that are there at a time.
fn most_users(plan: &Plan) -> u64 {
    let most = |load: &Load| match &load.phases {
        Phases::Users(phases) => PhasedUsers::new(phases).most(),
        Phases::Rate(_) => plan.limits.iterations_open.into(),
    };
    plan.loads.iter().map(most).fold(0, u64::saturating_add)
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, pace::whole_ns)
}

/// The load itself: what each thread has counted.
fn load<'a>(
    threads: u32,
    common: &(impl Fn(u32, Option<Sender<Note>>) -> Common<'a> + Sync),
    clock: Clock,
    on_progress: OnProgress<'_>,
) -> Result<Vec<Harvest>, RunError> {
    let (post, notes) = mpsc::channel();
    let barrier = Barrier::new(threads as usize);
    let (start, has_failed) = (OnceLock::new(), AtomicBool::new(false));
    let work = |index, post| {
        let common = common(threads, Some(post));
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
            .map(|index| {
                let post = post.clone();
                scope.spawn(move || work(index, post))
            })
            .collect();
        drop(post);
        let mut progress = None;
        for (thread, passed) in notes {
            let progress =
                progress.get_or_insert_with(|| Progress::new(threads as usize, passed.steps.len()));
            progress.add(thread as usize, passed);
            let start_ns = start.get().copied().unwrap_or_default();
            if thread == 0 {
                let elapsed_ns = clock.now_ns().saturating_sub(start_ns);
                on_progress(progress, Duration::from_nanos(elapsed_ns));
            }
        }
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
