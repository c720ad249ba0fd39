//! Runs a plan: threads, each with its own connections, iterations and counters.

mod abort;
pub mod control;
mod driver;
pub mod flight;
pub(crate) mod heads;
mod iteration;
pub(crate) mod lost;
mod pool;
mod prepared_call;
mod prepared_request;
mod record;
pub(crate) mod site;
mod sites;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use thiserror::Error;

use crate::data::{Crowd, DataError, Store, Undrawn};
use crate::plan::{Load, MAX_BODY, Phases, Plan};
use crate::record::Records;
use crate::report::live::{Progress, Stage};
use crate::report::{EndedBy, Facts, Names, Report, judge, overload};
use crate::response::ReadingError;
use crate::script::{self, OpenScripts, Trouble};
use crate::tally::{Passed, Tally};
use abort::AbortWatch;
use control::Control;
use driver::{Board, Common, Done, Driver, Harvest, LoadQuota, Note, Quota, refresh};
pub use heads::with_agent;
use iteration::Course;
use site::Site;
use sites::Sites;
use volley_base::budget::{self, Budget, MAX_MEMORY};
use volley_base::units::numbers::duration;
use volley_base::units::timestamp::unix_ns;
use volley_load::pace::PhasedUsers;
use volley_load::spec::Share;
use volley_net::{Clock, NetError, allow_sockets, spare_cpus};
use volley_report::measure::process;
use volley_request::RequestError;

/// A run that could not be made, or came to nothing.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Reading(#[from] ReadingError),
    #[error(transparent)]
    Data(#[from] DataError),
    /// The load ended early, and is counted; or setup or teardown did.
    #[error("{place}: {why}")]
    Undrawn {
        /// Such as: scenario `crud`.
        place: String,
        why: Undrawn,
    },
    /// The load ended early, and is counted.
    #[error(
        "scenario `{scenario}`: step `{step}` failed and ended the run (`on_failure: end_run`): {words}"
    )]
    EndedByStep {
        scenario: String,
        step: String,
        words: String,
    },
    /// A script took too much time or memory: the load ended early, and is counted; or setup or teardown did.
    #[error("step `{step}` ended the run: {words}")]
    Broken { step: String, words: String },
    /// A script of the file has an error.
    #[error("{0}")]
    Script(String),
    /// A program has an error, or took too much time or memory: the load ended early, and is counted.
    #[error("{0}")]
    Program(String),
    /// The load did not begin.
    #[error("setup: step `{step}` failed: {words}")]
    Setup { step: String, words: String },
    /// The load is over, and counted.
    #[error("teardown: step `{step}` failed: {words}")]
    Teardown { step: String, words: String },
}

/// What a run is to be called, and how it is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For the report.
    pub name: String,
    /// Threads that send; `None`: half of the CPUs, but all to which this process is confined. There are at most as many
    /// as the target with the fewest connections has, because each thread has its own to every target.
    pub threads: Option<u32>,
    /// Where the load takes orders.
    pub control: Option<Arc<Control>>,
    /// Takes single requests, for a log.
    pub records: Option<Arc<Records>>,
    /// Makes scripts ready; `None`: they are refused.
    pub scripts: Option<OpenScripts>,
    /// They may use files.
    pub allow_io: bool,
    /// Somebody looks at the figures while the load goes on: the ages of what is open are among them.
    pub is_watched: bool,
    /// The memory, in bytes, of bodies and replies that have not come whole, or are inflated; `None`: [`MAX_MEMORY`].
    /// A larger `limits.body` raises it.
    pub max_memory: Option<u32>,
}

impl From<Trouble> for RunError {
    fn from(trouble: Trouble) -> Self {
        Self::Script(trouble.into_words())
    }
}

/// What came of a run.
pub struct Finished {
    pub report: Report,
    /// What ended the load early, or went wrong after it.
    pub failure: Option<RunError>,
}

/// Receives what is known of a run, each second and when a signal has ended the load, and how long it has gone on.
pub type OnProgress<'a> = &'a mut dyn FnMut(&mut Progress, Duration);

/// Reads the files of TLS and of data that a run needs: those that cannot be used, or have too few rows.
#[must_use]
pub fn check(plan: &Plan) -> Vec<RunError> {
    let tls = plan
        .targets
        .iter()
        .filter_map(|target| site::check_tls(target).err());
    let crowd = crowd(plan, 1);
    let data = Store::check(&plan.feeds, &plan.folder, &crowd);
    let tls = tls.map(RunError::from);
    tls.chain(data.map(RunError::from)).collect()
}

/// Runs a plan: setup, load and teardown. The load ends early if `signal` is set. Teardown then runs all the same; it
/// ends early only if `signal` is set while it runs.
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
    let sites = Sites::new(&plan.targets)?;
    let connections = sites.named.iter().map(|site| site.connections);
    let connections = connections.fold(0, u32::saturating_add);
    allow_sockets(sites.connections());
    let (threads, warning) = threads(options, &sites.named);
    let coalesce_ns = plan.limits.coalesce_ns;
    let coalesced = (coalesce_ns > 0).then(|| {
        let grain = duration(coalesce_ns);
        format!(
            "iterations can begin up to {grain} late, and latencies be too long by as much, as `limits.coalesce` asks for"
        )
    });
    let store = Store::open(&plan.feeds, &plan.folder, crowd(plan, threads))?;
    let seed = fastrand::u64(..);
    let (quota, clock) = (Quota::new(plan), Clock::start());
    if let Some(records) = &options.records {
        records.begin(unix_ns(SystemTime::now()).saturating_sub(clock.now_ns()));
    }
    let (budget, raised) = budget(plan, options);
    let blank = Board::default();
    let control = options.control.clone();
    let control = control.unwrap_or_else(|| Arc::new(Control::new(plan, Arc::clone(signal))));
    let common = Common {
        plan,
        sites: &sites,
        clock,
        signal: signal.as_ref(),
        control: &control,
        threads,
        quota: &quota,
        board: &blank,
        store: &store,
        seed,
        records: options.records.as_deref(),
        budget: &budget,
        scripts: options.scripts.unwrap_or(script::none),
        allow_io: options.allow_io,
        tells_ages: options.is_watched
            || plan
                .thresholds
                .iter()
                .any(|goal| goal.abort_after_ns.is_some()),
        post: None,
    };
    // One connection to each target is enough for these.
    let once = |course, board: &Board, signal: &AtomicBool| {
        let common = Common {
            threads: u32::MAX,
            board,
            signal,
            // Other random values than those of the load.
            seed: fastrand::u64(..),
            ..common.clone()
        };
        let mut driver = Driver::new(common, 0)?;
        driver.connect()?;
        Ok::<_, RunError>(driver.once(course)?)
    };
    let mut board = Board::default();
    let mut tally = Tally::new(plan.scenarios.len(), plan.steps.len(), 0);
    let (mut hasty, mut before) = (Vec::new(), Passed::default());
    if !plan.setup.is_empty() {
        let done = set_up(plan, once(Course::Setup, &board, signal)?)?;
        hasty = refresh::hasty(plan, &done.known.values);
        board = Board::new(done.known, plan.common_slots);
        tally.merge(done.tally);
        before = done.passed;
    }
    let mut facts = Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: options.name.clone(),
        tags: plan.tags.clone(),
        started_unix_ns: unix_ns(SystemTime::now()),
        ended_by: EndedBy::Finished,
        threads,
        connections,
        warnings: { warning.into_iter().chain(coalesced).chain(raised) }
            .chain(hasty)
            .collect(),
        ..Facts::default()
    };
    let (cpu_s, mut failure) = (process::cpu_s(), None);
    let of_load = Common {
        board: &board,
        ..common.clone()
    };
    let mut watch = AbortWatch::new(plan);
    let loaded = load(&of_load, before, &mut watch, on_progress);
    control.end();
    facts.events = control.events();
    (facts.cost.cpu_s, facts.cost.cpu_total_s) = (process::cpu_s() - cpu_s, process::cpu_s());
    facts.cost.peak_bytes = process::peak_bytes();
    let mut torn = None;
    if !plan.teardown.is_empty() && control.is_cut() {
        let warning = "the load was cut by a second signal: teardown did not run";
        facts.warnings.push(warning.to_owned());
    } else if !plan.teardown.is_empty() {
        // What ended the load does not end the teardown.
        let calm = AtomicBool::new(false);
        let signal = match signal.load(Ordering::Relaxed) {
            true => &calm,
            false => &**signal,
        };
        torn = match once(Course::Teardown, &board.again(), signal) {
            Err(error) => Some(error),
            Ok(mut done) => {
                let failure = done.failure(plan, |step, words| RunError::Teardown {
                    step: plan.step_name(step),
                    words,
                });
                tally.merge(done.tally);
                failure
            }
        };
    }
    for harvest in loaded? {
        tally.merge(harvest.tally);
        failure = failure.or(harvest.failure);
        facts.warnings.extend(harvest.stale.map(|(step, fault)| {
            let (step, words) = (plan.step_name(step), fault.words);
            format!("setup's step `{step}` failed when its value was asked for again: {words}")
        }));
        facts.elapsed_ns = facts.elapsed_ns.max(harvest.elapsed_ns);
        facts.load_ns = facts.load_ns.max(harvest.load_ns);
        facts.ended_by = facts.ended_by.max(harvest.ended_by);
        facts.cost.busiest_thread_s = facts.cost.busiest_thread_s.max(harvest.cpu_s);
    }
    ran_out(plan, &quota, &mut facts);
    let mut finished = Finished {
        report: Report::new(tally, &Names::from(plan), facts),
        failure: failure.or(torn),
    };
    let warnings = overload(plan, &finished.report);
    finished.report.facts.warnings.extend(warnings);
    finished.report.thresholds = judge(&finished.report, &plan.thresholds);
    watch.judge(&mut finished.report);
    Ok(finished)
}

/// The memory of a run, and a note if `limits.body` asks for more than it may have.
fn budget(plan: &Plan, options: &Options) -> (Arc<Budget>, Option<String>) {
    let most = options.max_memory.unwrap_or(MAX_MEMORY);
    let longest = Some(plan.limits.body).filter(|body| *body > MAX_BODY);
    let raised = longest.and_then(|longest| budget::raised(most, longest));
    let note = raised.map(|bytes| budget::raised_words(bytes, ("body", "limits.body")));
    (Arc::new(Budget::new(raised.unwrap_or(most as usize))), note)
}

/// Notes which data ended loads, with a warning for each load that has an end of its own.
fn ran_out(plan: &Plan, quota: &Quota, facts: &mut Facts) {
    for (at, load) in plan.loads.iter().enumerate() {
        let feed = quota.load(at).and_then(LoadQuota::ended_by_feed);
        let Some(feed) = feed.and_then(|feed| plan.feeds.get(feed)) else {
            continue;
        };
        let words = format!("`{}` has no more rows", feed.name);
        if load.phases.end_ns().is_some() || load.iterations.is_some() {
            let scenarios = load.scenarios.iter();
            let names = scenarios.map(|(one, _)| format!("`{}`", plan.scenario_name(*one)));
            let names = names.collect::<Vec<_>>().join(", ");
            let warning = format!("the load of {names} ended early: {words} (`at_end: stop`)");
            facts.warnings.push(warning);
        }
        if !facts.ran_out.contains(&words) {
            facts.ran_out.push(words);
        }
    }
    if facts.ended_by == EndedBy::Finished && !facts.ran_out.is_empty() {
        facts.ended_by = EndedBy::Data;
    }
}

/// How many threads there are, and a warning if those are fewer than wanted.
fn threads(options: &Options, sites: &[Site]) -> (u32, Option<String>) {
    let wanted = options.threads.unwrap_or_else(spare_cpus).max(1);
    let used = sites.iter().filter(|site| site.connections > 0);
    let fewest = used.min_by_key(|site| site.connections);
    let Some(site) = fewest.filter(|site| site.connections < wanted) else {
        return (wanted, None);
    };
    let threads = site.connections;
    let warning = format!(
        "{threads} of {wanted} threads send, because target `{}` has {} connections: raise its `connections`",
        site.name, site.connections
    );
    (threads, Some(warning))
}

/// What setup came to, if nothing is wrong with it.
fn set_up(plan: &Plan, done: Done) -> Result<Done, RunError> {
    let failed = |step, words| RunError::Setup {
        step: plan.step_name(step),
        words,
    };
    let mut done = done;
    if let Some(failure) = done.failure(plan, failed) {
        return Err(failure);
    }
    for refresh in &plan.refreshes {
        if let Err(fault) = refresh::age_ns(refresh, &done.known.values) {
            let step = refresh::steps(plan, refresh).next();
            return Err(failed(step.unwrap_or_default(), fault.words));
        }
    }
    Ok(done)
}

/// Among whom rows are divided.
fn crowd(plan: &Plan, threads: u32) -> Crowd {
    Crowd {
        threads: threads.into(),
        users: users(plan),
        share: Share::default(),
    }
}

/// By feed and by load: the most users that draw.
fn users(plan: &Plan) -> Vec<Vec<u64>> {
    let of = |load: &Load, feed| {
        let scenarios = load.scenarios.iter();
        let mut scenarios = scenarios.filter_map(|(at, _)| plan.scenarios.get(*at));
        let draws = scenarios.any(|scenario| scenario.draws.contains(&feed));
        match &load.phases {
            Phases::Users(phases) if draws => PhasedUsers::new(phases).most(),
            _ => 0,
        }
    };
    let of_all = |feed| plan.loads.iter().map(|load| of(load, feed)).collect();
    (0..plan.feeds.len()).map(of_all).collect()
}

/// The load itself: what each thread has counted. `before`: what setup has.
fn load(
    common: &Common<'_>,
    before: Passed,
    watch: &mut AbortWatch<'_>,
    on_progress: OnProgress<'_>,
) -> Result<Vec<Harvest>, RunError> {
    let (threads, clock, control) = (common.threads, common.clock, common.control);
    let (post, notes) = mpsc::channel();
    let barrier = Barrier::new(threads as usize);
    let (start, has_failed) = (OnceLock::new(), AtomicBool::new(false));
    let work = |index, post: Sender<Note>| {
        let common = Common {
            post: Some(post),
            ..common.clone()
        };
        let connected = Driver::new(common, index).and_then(|mut driver| {
            driver.connect()?;
            Ok(driver)
        });
        has_failed.fetch_or(connected.is_err(), Ordering::Relaxed);
        // All begin at one moment, or none.
        barrier.wait();
        match connected? {
            _ if has_failed.load(Ordering::Relaxed) => Err(NetError::Interrupted.into()),
            driver => {
                let start_ns = *start.get_or_init(|| {
                    let start_ns = clock.now_ns();
                    control.begin(clock, start_ns);
                    start_ns
                });
                Ok(driver.run(start_ns)?)
            }
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
        let mut progress = Progress::new(threads as usize, common.plan.steps.len(), before);
        // By thread: its reports, of which the first one is that of the start.
        let mut reports = vec![0; threads as usize];
        let mut looked = 1;
        for (thread, passed, stage) in notes {
            let thread = thread as usize;
            if let Some(number) = reports.get_mut(thread) {
                *number = match stage {
                    Stage::Ended => u64::MAX,
                    _ => *number + 1,
                };
            }
            let waited = progress.is_waiting();
            progress.add(thread, passed, stage);
            let start_ns = start.get().copied().unwrap_or_default();
            let elapsed = Duration::from_nanos(clock.now_ns().saturating_sub(start_ns));
            // All threads that go on have reported one more second.
            let least = reports.iter().copied().min().unwrap_or_default();
            let is_later = least > looked && least < u64::MAX;
            if is_later {
                looked = least;
                // The first report of a thread is that of the start.
                watch.look(&mut progress, Duration::from_secs(least - 1), control);
            }
            if is_later || !waited && progress.is_waiting() {
                on_progress(&mut progress, elapsed);
            }
        }
        let done = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let done: Vec<_> = done.collect();
        // The error of the thread that failed is of more use than those of the others.
        let is_own =
            |done: &Result<_, _>| !matches!(done, Err(RunError::Net(NetError::Interrupted)));
        let (own, rest): (Vec<_>, Vec<_>) = done.into_iter().partition(is_own);
        own.into_iter().chain(rest).collect()
    })
}
