//! One thread of a run: its connections, its iterations and its counters.

mod board;
mod connect;
mod iterate;
mod load;
mod loss;
mod lua;
mod obey;
mod quota;
mod receive;
mod redirect;
pub mod refresh;
mod reply;
mod send;
mod turn;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use slab::Slab;

use super::RunError;
use super::control::{Change, Control};
use super::flight::{Fault, Flight};
use super::iteration::{Course, Iteration};
use super::pool::Pool;
use super::prepared_call::PreparedCall;
use super::prepared_request::{PreparedRequest, Scratch};
use super::site::Site;
use super::sites::Sites;
use super::wire::Net;
use crate::Values;
use crate::data::{Feeds, Store};
use crate::plan::{Plan, Request};
use crate::record::Records;
use crate::report::EndedBy;
use crate::report::live::Stage;
use crate::response::Reading;
use crate::script::{Kept, OpenScripts, Rewritten, Scripts};
use crate::tally::{Passed, Tally};
pub use board::{Board, Done, Known};
use load::LoadState;
pub use quota::{LoadQuota, Quota};
use volley_base::budget::{Budget, Buffer};
use volley_load::pace::SECOND_NS;
use volley_net::timers::{Deadlines, Timers};
use volley_net::{Clock, NetError, Sockets};
use volley_report::measure::process;
use volley_request::RequestError;

/// Signals, users and connections are looked at so often.
pub const GLANCE_NS: u64 = 50_000_000;

/// What all threads of a run share.
#[derive(Clone)]
pub struct Common<'a> {
    pub plan: &'a Plan,
    pub sites: &'a Sites<'a>,
    pub clock: Clock,
    pub signal: &'a AtomicBool,
    pub control: &'a Control,
    pub threads: u32,
    pub quota: &'a Quota,
    pub board: &'a Board,
    /// The rows of all feeds, and the seed of random values.
    pub store: &'a Arc<Store>,
    pub seed: u64,
    pub records: Option<&'a Records>,
    pub budget: &'a Arc<Budget>,
    /// Makes scripts ready, which may use files if so.
    pub scripts: OpenScripts,
    pub allow_io: bool,
    /// The ages of open requests are told each second, too.
    pub tells_ages: bool,
    /// Takes what is known each second.
    pub post: Option<Sender<Note>>,
}

/// A thread, what it has counted so far, and what it does.
pub type Note = (u32, Passed, Stage);

/// What came of a thread.
pub struct Harvest {
    pub tally: Tally,
    /// From the start to the end, in ns.
    pub elapsed_ns: u64,
    /// From the start to the moment from which on no iteration began, in ns.
    pub load_ns: u64,
    pub ended_by: EndedBy,
    /// CPU seconds of the thread since the start.
    pub cpu_s: f64,
    /// What ended the run as failed.
    pub failure: Option<RunError>,
    /// The step of setup that first failed when it was done again, and why.
    pub stale: Option<(usize, Fault)>,
}

/// What goes off at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// An iteration's thought ends: key and serial.
    Go(usize, u64),
    /// A user may begin: load and user.
    User(usize, u64),
    /// A value of setup grows old: index into the plan's refreshes.
    Refresh(usize),
}

/// A step's request, ready to be rendered.
enum Prepared {
    Http(PreparedRequest),
    Grpc(Box<PreparedCall>),
}

/// The part of a driver that knows no sockets.
struct Core<'a> {
    plan: &'a Plan,
    sites: &'a Sites<'a>,
    records: Option<&'a Records>,
    /// Of this thread, to number iterations: of `threads`, number `index`.
    threads: u32,
    index: u32,
    iterations: Slab<Box<Iteration>>,
    /// Iterations that are over, for their memory.
    #[expect(clippy::vec_box, reason = "an iteration is large, and never moves")]
    spare: Vec<Box<Iteration>>,
    flights: Slab<Box<Flight>>,
    /// Flights that are over, for their memory.
    #[expect(clippy::vec_box, reason = "a flight is large, and never moves")]
    spare_flights: Vec<Box<Flight>>,
    /// By step.
    readings: Vec<Reading>,
    /// The scripts, if there are any.
    lua: Option<Box<dyn Scripts>>,
    /// Requests and responses that no script needs any more, for their memory.
    #[expect(clippy::vec_box, reason = "boxes go to flights and come back")]
    spare_rewritten: Vec<Box<Rewritten>>,
    #[expect(clippy::vec_box, reason = "boxes go to flights and come back")]
    spare_kept: Vec<Box<Kept>>,
    /// What a script did wrong that ends the run: the step, and why.
    broken: Option<(usize, Fault)>,
    serial: u64,
    /// Iterations that can go on.
    ready: Vec<usize>,
    /// Flights that the server refused before it began, to be sent again; with their serials.
    again: Vec<(u32, u64)>,
    /// Links that can take a request again: target and link.
    freed: Vec<(usize, usize)>,
    tally: Tally,
    /// The first step that failed in setup or teardown, or ended the run by its failure, and why.
    fault: Option<(usize, Fault)>,
    /// The first step that failed when a value of setup was asked for again, and why.
    stale: Option<(usize, Fault)>,
    /// By step of setup: when its last good response came, in ns.
    came_ns: Vec<u64>,
    /// Memory for a URL.
    url: Vec<u8>,
    /// For bodies and replies that come in several pieces, and for compressed ones.
    budget: &'a Arc<Budget>,
    inflated: Buffer,
}

/// One thread's loop.
pub struct Driver<'a> {
    common: Common<'a>,
    index: u32,
    net: Net,
    core: Core<'a>,
    pools: Vec<Pool>,
    prepared: Vec<Prepared>,
    scratch: Scratch,
    feeds: Feeds,
    loads: Vec<LoadState>,
    timers: Timers<Timer>,
    deadlines: Deadlines,
    next_glance_ns: u64,
    next_note_ns: u64,
    is_stopping: bool,
    /// Since when; before that, the greatest number.
    stopped_ns: u64,
    stage: Stage,
    /// Who ended the load, if it is not its own end.
    stopped_by: Option<EndedBy>,
    /// How many orders are known, and those that are to be obeyed later.
    known_orders: usize,
    orders: VecDeque<Change>,
    is_paused: bool,
    ends_ns: u64,
    /// The values of setup, and their version.
    values: Arc<Values>,
    version: u64,
    /// The iteration of setup or teardown that is over.
    done: Option<Values>,
    /// A feed had nothing, which ends the run as failed.
    failure: Option<RunError>,
    /// When an iteration last ended, or could last begin, in ns.
    active_ns: u64,
    /// By scenario: its iterations of a schedule that keep to a link take one after another.
    next_links: Vec<u64>,
    /// While it is full, a schedule looks again at this moment, in ns.
    look_again_ns: u64,
    /// Iterations that ask for values of setup again.
    refreshing: usize,
    /// A link may have lost its connection; else, none is opened again before this moment, in ns.
    links_changed: bool,
    next_retry_ns: u64,
}

impl<'a> Driver<'a> {
    /// A thread's loop before its connections are open.
    ///
    /// # Errors
    ///
    /// What the host refused, or a step that cannot be made ready.
    pub fn new(common: Common<'a>, index: u32) -> Result<Self, RunError> {
        let plan = common.plan;
        let net = Sockets::new(common.clock)?;
        let pool = |site: &Site| pool(site, index, common.threads);
        let prepared = plan.steps.iter().map(|step| {
            Ok(match &step.request {
                Request::Http(request) => Prepared::Http(PreparedRequest::new(step, request)),
                Request::Grpc(request) => {
                    Prepared::Grpc(Box::new(PreparedCall::new(step, request)?))
                }
            })
        });
        let prepared = prepared.collect::<Result<_, RequestError>>()?;
        let reading = |step| Reading::new(step, &plan.slots);
        let lua = (common.scripts)(plan, common.allow_io)?;
        let readings = plan.steps.iter().map(reading).collect::<Result<_, _>>()?;
        Ok(Self {
            index,
            net,
            core: Core {
                plan,
                sites: common.sites,
                records: common.records,
                threads: common.threads,
                index,
                iterations: Slab::new(),
                spare: Vec::new(),
                flights: Slab::new(),
                spare_flights: Vec::new(),
                readings,
                lua,
                spare_rewritten: Vec::new(),
                spare_kept: Vec::new(),
                broken: None,
                serial: 0,
                ready: Vec::new(),
                again: Vec::new(),
                freed: Vec::new(),
                tally: Tally::new(plan.scenarios.len(), plan.steps.len(), 0),
                fault: None,
                stale: None,
                came_ns: vec![0; common.plan.steps.len()],
                url: Vec::new(),
                budget: common.budget,
                inflated: Buffer::default(),
            },
            pools: common.sites.named.iter().map(pool).collect(),
            prepared,
            scratch: Scratch::default(),
            feeds: Feeds::new(common.store, index.into(), common.seed),
            loads: Vec::new(),
            timers: Timers::default(),
            deadlines: Deadlines::default(),
            next_glance_ns: 0,
            next_note_ns: u64::MAX,
            is_stopping: false,
            stopped_ns: u64::MAX,
            stage: Stage::default(),
            stopped_by: None,
            known_orders: 0,
            orders: VecDeque::new(),
            is_paused: false,
            ends_ns: u64::MAX,
            values: common.board.get(),
            version: common.board.version(),
            done: None,
            failure: None,
            active_ns: 0,
            next_links: vec![0; plan.scenarios.len()],
            look_again_ns: 0,
            refreshing: 0,
            links_changed: true,
            next_retry_ns: u64::MAX,
            common,
        })
    }

    /// Runs the load, which begins at a moment, until it is over, and gives up what this thread counted.
    ///
    /// # Errors
    ///
    /// What the host refused.
    pub fn run(mut self, start_ns: u64) -> Result<Harvest, NetError> {
        let cpu_s = process::thread_cpu_s();
        self.net.coalesce(self.common.plan.limits.coalesce_ns);
        self.core.tally.reset(start_ns);
        // From now on, each second is reported.
        self.report(start_ns);
        self.next_note_ns = start_ns.saturating_add(SECOND_NS);
        (self.next_glance_ns, self.active_ns) = (start_ns, start_ns);
        self.begin_loads(start_ns);
        if self.index == 0 {
            self.plan_refreshes();
        }
        while !self.round(Self::is_over)? {}
        let (ended_by, last_ns) = match (self.stopped_by, self.has_ended()) {
            (Some(by), _) => (by, self.now_ns()),
            (None, true) => (EndedBy::Finished, self.active_ns),
            (None, false) => (EndedBy::Time, self.now_ns()),
        };
        let broken = self.broken_by_script();
        let failure = broken.or(self.failure.take());
        let failure = failure.or_else(|| self.ended_by_step());
        // Other threads may go on for long.
        self.stage = Stage::Ended;
        self.report(last_ns);
        self.cut(last_ns);
        self.net.close_all();
        Ok(Harvest {
            tally: self.core.tally,
            elapsed_ns: last_ns.saturating_sub(start_ns),
            load_ns: self.stopped_ns.min(last_ns).saturating_sub(start_ns),
            ended_by,
            cpu_s: process::thread_cpu_s() - cpu_s,
            failure,
            stale: self.core.stale,
        })
    }

    /// No iteration of a scenario is open.
    fn has_ended(&self) -> bool {
        self.core.iterations.len() <= self.refreshing
    }

    /// A script took too much time or memory.
    fn broken_by_script(&mut self) -> Option<RunError> {
        let (step, fault) = self.core.broken.take()?;
        let step = self.common.plan.step_name(step);
        let words = fault.words;
        Some(RunError::Broken { step, words })
    }

    /// A step failed, and `on_failure: end_run` ended the run.
    fn ended_by_step(&mut self) -> Option<RunError> {
        let fault = self.core.fault.take();
        // Others may have failed while they ended after something else.
        let (step, fault) = fault.filter(|_| self.stopped_by == Some(EndedBy::Failure))?;
        let plan = self.common.plan;
        let words = fault.named(plan, step);
        let step = plan.steps.get(step)?;
        Some(RunError::EndedByStep {
            scenario: step.scenario.clone(),
            step: step.name.clone(),
            words,
        })
    }

    /// Runs the steps of setup or of teardown, with the values that everybody has.
    ///
    /// # Errors
    ///
    /// What the host refused, or a signal came.
    pub fn once(mut self, course: Course) -> Result<Done, NetError> {
        let now_ns = self.now_ns();
        self.feeds.take_singly();
        self.core.tally.reset(now_ns);
        // From now on, each second is reported.
        self.core.tally.passed(now_ns);
        self.begin(course, (0, 0), now_ns, now_ns);
        let is_done = |driver: &mut Self, _| driver.done.is_some() || driver.is_stopping;
        while !self.round(is_done)? {}
        self.net.close_all();
        // The present second is over, too.
        let passed = self
            .core
            .tally
            .passed(self.now_ns().saturating_add(SECOND_NS));
        Ok(Done {
            passed,
            tally: self.core.tally.without_seconds(),
            known: Known {
                values: self.done.ok_or(NetError::Interrupted)?,
                came_ns: self.core.came_ns,
            },
            fault: self.core.fault,
            undrawn: self.failure,
        })
    }

    fn now_ns(&self) -> u64 {
        self.common.clock.now_ns()
    }
}

/// A thread's links to a site.
fn pool(site: &Site, index: u32, threads: u32) -> Pool {
    Pool::new((index..site.connections).step_by(threads.max(1) as usize))
}
