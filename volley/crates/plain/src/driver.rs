//! One thread of a run: it owns its connections, its counters and its histograms.

mod ages;
mod connect;
mod dispatch;
mod loss;
mod receive;
mod release;
#[cfg(test)]
mod samples;
mod stages;
mod streaming;
#[cfg(test)]
mod tests;
mod wait;

use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use mio::Waker;

use super::LoadError;
use super::link::Link;
use super::orders::{self, Change, Order};
use super::pacer::Pacer;
use super::plan::Plan;
use super::recorder::Recorder;
use super::script::Script;
use super::shared::Shared;
use super::sink::CallContext;
use super::stage::{Opening, Stage};
use super::thread_result::ThreadResult;
use super::wire::Net;
use streaming::{FEW_TIMERS, StreamTimer};
use volley_base::budget::Buffer;
use volley_load::pace::{Agenda, Lane, SECOND_NS};
use volley_load::spec::Command;
use volley_net::names::Routes;
use volley_net::{Clock, NetError, Sockets};
use volley_report::measure::{Ages, EndedBy, Passed, Use, Warning};

/// Seconds are reported, and the signal flag checked, at least this often.
const GLANCE_NS: u64 = 50_000_000;

/// One thread's load loop.
pub struct Driver<'a, B, S: Script> {
    plan: &'a Plan,
    index: u32,
    clock: Clock,
    shared: &'a Shared,
    net: Net<S::Mark>,
    links: Vec<Link>,
    /// The target's addresses, as they are used; and which version of them.
    routes: Routes,
    routes_version: u64,
    most_routes: usize,
    /// By address, since the window opened.
    uses: BTreeMap<String, Use>,
    /// Connections that have opened as many streams as they may.
    spent: Vec<usize>,
    without_alpn: bool,
    context: CallContext<B, S>,
    stage: Stage,
    /// When the load started, warm-up included.
    started_ns: u64,
    late_ns: u64,
    /// When the window opens; asked only in the warm-up.
    opening: Arc<Opening>,
    /// When the counted window opens and closes (never: `u64::MAX`).
    opens_ns: u64,
    closes_ns: u64,
    /// When the wait for open calls ends.
    drained_ns: u64,
    /// When a user ends the run (never: `u64::MAX`).
    stops_ns: u64,
    /// This thread's CPU seconds when the window opened.
    opening_cpu_s: f64,
    /// `None` for a closed loop.
    agenda: Option<Agenda>,
    /// All changes of the load so far, and how many of them are in force.
    changes: Vec<Change>,
    in_force: usize,
    /// Workers, if a change set their number.
    workers: Option<u32>,
    most_workers: u32,
    is_paused: bool,
    quota: Option<u64>,
    /// The schedule after its end, and how many of its calls could still have been sent.
    unsent: Option<(Agenda, u64)>,
    /// Only if somebody watches.
    ages: Option<Ages>,
    /// Nothing of its own is left to send, and since when no call is open either.
    is_spent: bool,
    idle_since_ns: Option<u64>,
    lane: Lane,
    next_number: u64,
    /// Links that may take an open loop's next call, in turn.
    listed: VecDeque<usize>,
    timers: BinaryHeap<StreamTimer>,
    /// How many of them there may be before those of calls that are over are removed.
    most_timers: usize,
    /// By connection: those that wait for flow control or for the socket.
    held: HashMap<usize, Vec<StreamTimer>>,
    /// When the first of them must go on anyway.
    held_until_ns: u64,
    next_check_ns: u64,
    next_glance_ns: u64,
    /// Links have something to send that no read will trigger.
    stirred: bool,
    /// Since when calls were due and none could be opened.
    stuck_since_ns: Option<u64>,
    /// Some links may have no connection.
    broken: bool,
    /// How many links can take calls.
    ready: usize,
    /// No link could take calls for as long as connecting may take.
    is_gone: bool,
    /// How many workers were allowed to work when the links were last filled.
    active: u32,
    serial: u64,
    ended_by: EndedBy,
    reconnects: u64,
    planned_reconnects: u64,
    stream_limit: Option<u32>,
    left_open: u64,
    waited: u64,
    gave_up: Option<Warning>,
}

impl<'a, B: Recorder, S: Script> Driver<'a, B, S> {
    /// A thread's loop before its connections are open.
    pub fn new(
        plan: &'a Plan,
        index: u32,
        clock: Clock,
        shared: &'a Shared,
        recorder: B,
        script: S,
    ) -> Result<Self, LoadError> {
        let lane = plan.lane_of(index);
        Ok(Self {
            plan,
            index,
            clock,
            shared,
            net: Sockets::new(clock)?,
            links: plan
                .links_of(index)
                .map(|link| Link::new(link, plan.workers_of(link, plan.most_workers)))
                .collect(),
            routes: Arc::from([]),
            routes_version: 0,
            most_routes: 0,
            uses: BTreeMap::new(),
            spent: Vec::new(),
            without_alpn: false,
            context: CallContext {
                recorder,
                script,
                rules: plan.rules,
                counted_from_ns: 0,
                pacer: plan.pace.map(|pace| Pacer::new(pace, plan.most_workers)),
                inflated: Buffer::default(),
            },
            stage: Stage::Setup,
            started_ns: 0,
            late_ns: 0,
            opening: Arc::new(Opening::at(0)),
            opens_ns: 0,
            closes_ns: u64::MAX,
            drained_ns: u64::MAX,
            stops_ns: u64::MAX,
            opening_cpu_s: 0.0,
            agenda: None,
            changes: Vec::new(),
            in_force: 0,
            workers: None,
            most_workers: plan.most_workers,
            is_paused: false,
            quota: None,
            unsent: None,
            ages: shared.is_watched.then(Ages::default),
            is_spent: false,
            idle_since_ns: None,
            lane,
            next_number: lane.first,
            listed: VecDeque::new(),
            timers: BinaryHeap::new(),
            most_timers: FEW_TIMERS,
            held: HashMap::new(),
            held_until_ns: u64::MAX,
            next_check_ns: u64::MAX,
            next_glance_ns: 0,
            stirred: false,
            stuck_since_ns: None,
            broken: false,
            ready: 0,
            is_gone: false,
            active: 0,
            serial: 0,
            ended_by: EndedBy::Finished,
            reconnects: 0,
            planned_reconnects: 0,
            stream_limit: None,
            left_open: 0,
            waited: 0,
            gave_up: None,
        })
    }

    /// Waits for the order to start, and runs the load until the run is over. `post` takes each second that has passed.
    /// `None`: there was no such order.
    pub fn run(
        mut self,
        orders: &Receiver<Order>,
        post: &mut dyn FnMut(Passed),
    ) -> Result<Option<ThreadResult<B>>, LoadError> {
        // Meanwhile the server may ask for an answer, or retire a connection.
        let (at_ns, opening) = loop {
            match orders.try_recv() {
                Ok(Order::Start { at_ns, opening }) => break (at_ns, opening),
                Ok(Order::Change(_)) | Err(TryRecvError::Empty) => {
                    self.stirred = false; // nothing is sent yet
                    self.turn(u64::MAX)?;
                }
                Err(TryRecvError::Disconnected) => return Ok(None),
            }
        };
        while self.clock.now_ns() < at_ns {
            if self.is_interrupted() {
                return Err(NetError::Interrupted.into());
            }
            self.stirred = false;
            self.turn(at_ns)?;
        }
        self.late_ns = self.clock.now_ns().saturating_sub(at_ns);
        self.start(at_ns, opening);
        while self.stage.goes_on() {
            let now_ns = self.clock.now_ns();
            if now_ns >= self.next_glance_ns {
                self.glance(now_ns, orders, post);
            }
            self.advance(now_ns);
            if !self.stage.goes_on() {
                break;
            }
            self.run_timers(now_ns);
            self.reconnect(now_ns);
            self.dispatch(now_ns);
            self.wait()?;
            self.take_events();
        }
        Ok(Some(self.result()))
    }

    /// What need not be done in each round: orders, seconds, the signal.
    fn glance(&mut self, now_ns: u64, orders: &Receiver<Order>, post: &mut dyn FnMut(Passed)) {
        self.next_glance_ns = now_ns + GLANCE_NS;
        while let Ok(Order::Change(change)) = orders.try_recv() {
            self.changes.push(change);
            if change.command == Command::Stop {
                self.stops_ns = self.stops_ns.min(change.at_ns);
            }
            if let Some(agenda) = &mut self.agenda {
                orders::alter(agenda, &change);
            }
        }
        if let Some(mut passed) = self.context.recorder.passed(now_ns) {
            let over_ns = passed.through.saturating_mul(SECOND_NS);
            passed.ages = self.open_ages(self.schedule_base().saturating_add(over_ns));
            post(passed);
        }
        if self.is_interrupted() {
            self.finish(now_ns, EndedBy::Signal);
        }
    }

    /// Sends GOAWAY on every connection.
    pub(crate) fn hang_up(&mut self) {
        self.net.close_all();
    }

    /// The index of this thread, from 0.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Wakes this thread, so that it looks at its orders.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.net.waker()
    }

    /// Whether the user has asked to end the run.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.shared.is_stopped()
    }
}
