//! One thread of a run: it owns its connections, its counters and its histograms.

mod connect;
mod dispatch;
mod due;
mod loss;
mod receive;
mod salvo;
mod wait;

use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mio::{Events, Poll, Token};
use slab::Slab;

use super::EngineError;
use super::alarm::Alarm;
use super::book::Book;
use super::clock::Clock;
use super::link::Link;
use super::live::Gauge;
use super::opening::Opening;
use super::plan::Plan;
use super::stage::Stage;
use super::wire::Wire;
use crate::cli::DurationStop;
use crate::http2::ErrorCode;
use crate::pace::Cursor;
use crate::report::{EndedBy, Warning};
use crate::request::Source;
use due::Due;

/// The maximum size of one read: large enough that a busy link needs few system calls.
const READ_BYTES: usize = 256 * 1024;

/// The alarm's token; connections use the slab's keys.
const ALARM: Token = Token(usize::MAX);

/// The gauge is set, and the signal flag checked, at least this often.
const GLANCE_NS: u64 = 50_000_000;

/// The result of a thread.
pub struct Harvest<B> {
    /// Everything it recorded.
    pub book: B,
    /// When it last counted.
    pub ended_ns: u64,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// Connections reopened during the run.
    pub reconnects: u64,
    /// The lowest stream limit of a server that made calls wait.
    pub stream_limit: Option<u32>,
    /// Calls still open when the drain timeout ended.
    pub left_open: u64,
    /// Why it ended early.
    pub gave_up: Option<Warning>,
    /// For each link that was lost and could not be reopened: why.
    pub down: Vec<String>,
}

/// One thread's load loop.
pub struct Driver<'a, B> {
    plan: &'a Plan,
    index: u32,
    clock: Clock,
    signal: &'a AtomicBool,
    gauge: &'a Gauge,
    poll: Poll,
    alarm: Alarm,
    wires: Slab<Wire>,
    links: Vec<Link>,
    source: Source,
    book: B,
    stage: Stage,
    /// When the load started, warm-up included.
    started_ns: u64,
    /// When the window opens; asked only in the warm-up.
    opening: Arc<Opening>,
    /// When the counted window opens and closes (never: `u64::MAX`).
    opens_ns: u64,
    closes_ns: u64,
    /// When the wait for open calls ends.
    drained_ns: u64,
    /// Calls sent before this moment are not counted.
    counted_from_ns: u64,
    cursor: Option<Cursor>,
    quota: Option<u64>,
    next_number: u64,
    /// The link that gets an open loop's next call first.
    turn: usize,
    dues: BinaryHeap<Due>,
    next_sweep_ns: u64,
    next_glance_ns: u64,
    /// Links have something to send that no read will trigger.
    stirred: bool,
    /// Since when calls were due and none could be opened.
    stuck_since_ns: Option<u64>,
    /// Some links may have no connection.
    broken: bool,
    /// How many workers were allowed to work when the links were last filled.
    active: u32,
    /// Connections that were written to and must be flushed.
    touched: Vec<usize>,
    /// Connections whose socket still holds bytes, because others had their turn; and whether its
    /// end is known, which no event will report again.
    unread: Vec<(usize, bool)>,
    serial: u64,
    buffer: Vec<u8>,
    inflated: Vec<u8>,
    ended_by: EndedBy,
    reconnects: u64,
    stream_limit: Option<u32>,
    left_open: u64,
    gave_up: Option<Warning>,
}

impl<'a, B: Book> Driver<'a, B> {
    /// A thread's loop before its connections are open.
    pub fn new(
        plan: &'a Plan,
        index: u32,
        clock: Clock,
        signal: &'a AtomicBool,
        gauge: &'a Gauge,
        book: B,
    ) -> Result<Self, EngineError> {
        let poll = Poll::new().map_err(host("open a poll"))?;
        let alarm = Alarm::new(poll.registry(), ALARM).map_err(host("open a timer"))?;
        Ok(Self {
            plan,
            index,
            clock,
            signal,
            gauge,
            poll,
            alarm,
            wires: Slab::new(),
            links: plan
                .links_of(index)
                .map(|link| Link::new(plan.workers_of(link)))
                .collect(),
            // Each thread makes its own requests: shared ones would share a reference count.
            source: Source::new(&plan.spec, &plan.method)?,
            book,
            stage: Stage::Setup,
            started_ns: 0,
            opening: Arc::new(Opening::at(0)),
            opens_ns: 0,
            closes_ns: u64::MAX,
            drained_ns: u64::MAX,
            counted_from_ns: 0,
            cursor: None,
            quota: None,
            next_number: u64::from(index),
            turn: 0,
            dues: BinaryHeap::new(),
            next_sweep_ns: u64::MAX,
            next_glance_ns: 0,
            stirred: false,
            stuck_since_ns: None,
            broken: false,
            active: 0,
            touched: Vec::new(),
            unread: Vec::new(),
            serial: 0,
            buffer: vec![0; READ_BYTES],
            inflated: Vec::new(),
            ended_by: EndedBy::Finished,
            reconnects: 0,
            stream_limit: None,
            left_open: 0,
            gave_up: None,
        })
    }

    /// Runs the load from `start_ns` until the run is over, with the window from `opening` on.
    pub fn run(mut self, start_ns: u64, opening: Arc<Opening>) -> Result<Harvest<B>, EngineError> {
        self.start(start_ns, opening);
        let mut events = Events::with_capacity(1024);
        while self.stage.goes_on() {
            let now_ns = self.clock.now_ns();
            self.advance(now_ns)?;
            if !self.stage.goes_on() {
                break;
            }
            self.run_due(now_ns);
            self.reconnect(now_ns);
            self.dispatch(now_ns)?;
            self.wait(&mut events)?;
            self.take_events(&events)?;
        }
        Ok(self.harvest())
    }

    /// Everything that depends only on time: stages, timeouts, the gauge, the signal.
    fn advance(&mut self, now_ns: u64) -> Result<(), EngineError> {
        if now_ns >= self.next_glance_ns {
            self.next_glance_ns = now_ns + GLANCE_NS;
            self.gauge.set(&self.book.progress());
            if self.is_interrupted() {
                self.finish(now_ns, EndedBy::Signal);
                return Ok(());
            }
        }
        if self.stage == Stage::Warmup && now_ns >= self.opening.at_ns() {
            self.open_window(self.opening.at_ns());
        }
        if self.stage == Stage::Window {
            if now_ns >= self.closes_ns {
                self.close_window(now_ns)?;
            } else if self.all_sent() && self.open_calls() == 0 {
                self.finish(now_ns, EndedBy::Finished);
            }
        }
        if self.stage == Stage::Drain {
            if self.open_calls() == 0 {
                self.finish(now_ns, EndedBy::Window);
            } else if now_ns >= self.drained_ns {
                self.left_open = self.open_calls() as u64;
                self.finish(now_ns, EndedBy::Window);
            }
        }
        if self.stage.goes_on() && now_ns >= self.next_sweep_ns {
            self.sweep(now_ns);
        }
        Ok(())
    }

    fn start(&mut self, start_ns: u64, opening: Arc<Opening>) {
        self.started_ns = start_ns;
        self.opening = opening;
        self.next_sweep_ns = start_ns.saturating_add(self.sweep_every_ns());
        self.stirred = true;
        if self.opening.at_ns() > start_ns {
            self.stage = Stage::Warmup;
            self.book.start(start_ns);
            self.cursor = self.new_cursor();
        } else {
            self.open_window(start_ns);
        }
    }

    /// From here on everything counts, and schedules start again.
    fn open_window(&mut self, opens_ns: u64) {
        self.stage = Stage::Window;
        self.opens_ns = opens_ns;
        let length_ns = self.plan.window.length_ns;
        self.closes_ns = length_ns.map_or(u64::MAX, |length| opens_ns.saturating_add(length));
        if self.plan.counts_by_begin() {
            self.counted_from_ns = self.opens_ns;
        }
        self.book.reset(self.opens_ns);
        self.quota = self.plan.quota_of(self.index);
        self.cursor = self.new_cursor();
        self.stirred = true;
    }

    fn close_window(&mut self, now_ns: u64) -> Result<(), EngineError> {
        if self.plan.window.stop == DurationStop::Wait {
            // This thread may have woken a little late for the last calls that were due.
            self.follow_schedule(now_ns)?;
            self.count_missed();
            self.stage = Stage::Drain;
            self.drained_ns = now_ns.saturating_add(self.plan.window.drain_ns);
        } else {
            self.finish(self.closes_ns, EndedBy::Window);
        }
        Ok(())
    }

    /// Counts the cut calls, and stops.
    fn finish(&mut self, at_ns: u64, why: EndedBy) {
        match self.stage {
            Stage::Warmup => {
                self.opens_ns = at_ns;
                self.counted_from_ns = at_ns;
                self.book.reset(at_ns);
            }
            Stage::Window => {
                self.closes_ns = self.closes_ns.min(at_ns);
                self.count_missed();
            }
            Stage::Setup | Stage::Drain | Stage::Salvo | Stage::Over => {}
        }
        self.cut_open_calls(at_ns);
        self.ended_by = why;
        self.drained_ns = at_ns;
        self.stage = Stage::Over;
        self.gauge.set(&self.book.progress());
    }

    /// Calls that are still open are neither a success nor an error of the server.
    fn cut_open_calls(&mut self, at_ns: u64) {
        let wires = self.wires.iter_mut();
        let open = wires.flat_map(|(_, wire)| {
            wire.http.shut_down(ErrorCode::NoError);
            wire.http.take_calls()
        });
        let again = self.links.iter_mut().flat_map(|link| link.again.drain(..));
        for ticket in open.map(|call| call.ticket).chain(again) {
            if ticket.sent_ns >= self.counted_from_ns {
                self.book
                    .cut_call(ticket.intended_ns, ticket.sent_ns, at_ns);
            }
        }
    }

    fn harvest(mut self) -> Harvest<B> {
        self.hang_up();
        let down = self.links.into_iter().filter_map(|link| link.down);
        let down = down.filter(|down| down.tries > 1).map(|down| down.reason);
        let down = down.collect();
        Harvest {
            book: self.book,
            ended_ns: self.drained_ns,
            ended_by: self.ended_by,
            reconnects: self.reconnects,
            stream_limit: self.stream_limit,
            left_open: self.left_open,
            gave_up: self.gave_up,
            down,
        }
    }

    /// Sends GOAWAY on every connection.
    pub(crate) fn hang_up(&mut self) {
        for (_, wire) in &mut self.wires {
            wire.close();
        }
    }

    /// Whether the user has asked to end the run.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.signal.load(Ordering::Relaxed)
    }

    /// The next moment at which the stage changes. What is read after it belongs to the next stage.
    fn next_edge_ns(&self) -> u64 {
        match self.stage {
            Stage::Warmup => self.opening.at_ns(),
            Stage::Window => self.closes_ns,
            Stage::Drain => self.drained_ns,
            Stage::Setup | Stage::Salvo | Stage::Over => u64::MAX,
        }
    }

    /// Whether every call of this thread's share has been started.
    fn all_sent(&self) -> bool {
        let scheduled = self
            .cursor
            .as_ref()
            .is_some_and(|cursor| cursor.next_ns().is_none());
        self.quota == Some(0) || scheduled
    }

    fn open_calls(&self) -> usize {
        let open: usize = self
            .wires
            .iter()
            .map(|(_, wire)| wire.http.open_streams())
            .sum();
        open + self
            .links
            .iter()
            .map(|link| link.again.len())
            .sum::<usize>()
    }
}

/// Names what the host refused.
fn host(doing: &'static str) -> impl FnOnce(std::io::Error) -> EngineError {
    move |error| EngineError::Host { doing, error }
}
