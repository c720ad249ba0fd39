//! A run from its plan to its report: starts the threads, signals the start, and merges their tallies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, SystemTime};

use super::EngineError;
use super::book::Book;
use super::clock::Clock;
use super::driver::{Driver, Harvest};
use super::live::Gauge;
use super::opening::{self, Opening};
use super::outcome::{self, Finished};
use super::plan::{Plan, Window};
use super::signals;
use crate::cli::Options;
use crate::measure::{Progress, Tally, TallyOptions, process};
use crate::pace::whole_ns;
use crate::report::Report;

/// How often the live line is drawn.
const TICK: Duration = Duration::from_secs(1);

/// How often the conductor looks whether a line on stdin came.
const LOOK: Duration = Duration::from_millis(10);

/// From a line on stdin to the opening: long enough that all threads know of it before it comes.
const LEAD: Duration = Duration::from_millis(20);

/// What becomes known during a run.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// The warm-up that a line on stdin ends has taken its planned time.
    Warm,
    /// Once a second: the counts so far, and the seconds since the window opened.
    Tick(&'a Progress, f64),
}

/// Receives the news of a run.
pub type OnNews<'a> = &'a mut dyn FnMut(News<'_>);

/// Makes a run and returns its report.
///
/// # Errors
///
/// [`EngineError`] if the load could not be started. A run in which calls fail still gives a report.
pub fn run(options: &Options, on_news: OnNews<'_>) -> Result<Report, EngineError> {
    let plan = Plan::new(options)?;
    super::limits::allow_sockets(plan.connections);
    let signal = signals::watch()?;
    let gauges: Vec<Gauge> = (0..plan.threads).map(|_| Gauge::default()).collect();
    let clock = Clock::start();
    let counting = TallyOptions {
        skip_first: options.skip_first,
        count_errors: options.count_errors,
        open_loop: plan.schedule.is_some(),
        details: usize::try_from(options.details).unwrap_or(usize::MAX),
        start_ns: 0,
        window_ns: plan.window.length_ns,
        wall_start: SystemTime::now(),
    };
    let hire = |index: u32| {
        let gauge = gauges.get(index as usize)?;
        let tally = Tally::new(&counting.for_thread(index, plan.threads));
        Some(Driver::new(&plan, index, clock, &signal, gauge, tally))
    };
    let work = |driver: Driver<'_, Tally>, start: &Receiver<Start>, done: &Sender<_>| {
        if let Ok(start) = start.recv() {
            let harvest = driver.run(start.at_ns, start.opening);
            if harvest.is_err() {
                signal.store(true, Ordering::Relaxed); // the others stop too
            }
            // The receiver outlives all threads, unless another one failed.
            let _ = done.send(harvest);
        }
    };
    let finished = crew(plan.threads, &signal, hire, work, |starts, results| {
        let watch = Watch {
            plan: &plan,
            clock,
            gauges: &gauges,
        };
        watch.conduct(starts, results, on_news)
    })?;
    Ok(outcome::report(options, &plan, &counting, finished))
}

/// Starts threads. Each has its own driver; all are connected before any gets an order.
///
/// `hire` makes the driver of a thread. `work` runs on the thread, with its orders and a channel for its results.
/// `conduct` sends the orders once all threads are ready, and gathers the results.
///
/// # Errors
///
/// The reason why a thread could not connect, or the error of `conduct`.
pub(crate) fn crew<'a, B: Book, O: Send, R: Send, T>(
    threads: u32,
    signal: &AtomicBool,
    hire: impl Fn(u32) -> Option<Result<Driver<'a, B>, EngineError>> + Sync,
    work: impl Fn(Driver<'a, B>, &Receiver<O>, &Sender<R>) + Sync,
    conduct: impl FnOnce(&[Sender<O>], &Receiver<R>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let (hire, work) = (&hire, &work);
    thread::scope(|scope| {
        let (ready, readiness) = mpsc::channel();
        let (done, results) = mpsc::channel();
        let mut orders = Vec::new();
        for index in 0..threads {
            let (order, its_orders) = mpsc::channel();
            orders.push(order);
            let (ready, done) = (ready.clone(), done.clone());
            scope.spawn(move || {
                let connected =
                    hire(index)?.and_then(|mut driver| driver.connect().map(|()| driver));
                let (told, driver) = match connected {
                    Ok(driver) => (Ok(()), Some(driver)),
                    Err(error) => (Err(error), None),
                };
                ready.send(told).ok()?;
                work(driver?, &its_orders, &done);
                Some(())
            });
        }
        drop((ready, done));
        // A failure drops `orders`, which ends every thread that waits for one. The flag ends those that are still
        // connecting.
        for outcome in readiness.iter().take(orders.len()) {
            outcome.inspect_err(|_| signal.store(true, Ordering::Relaxed))?;
        }
        conduct(&orders, &results).inspect_err(|_| signal.store(true, Ordering::Relaxed))
    })
}

/// The order to start the load.
struct Start {
    at_ns: u64,
    opening: Arc<Opening>,
}

/// What the conductor of a run watches while its threads work.
struct Watch<'a> {
    plan: &'a Plan,
    clock: Clock,
    gauges: &'a [Gauge],
}

impl Watch<'_> {
    /// Starts all threads at the same moment, watches them, and gathers their results.
    fn conduct(
        &self,
        starts: &[Sender<Start>],
        results: &Receiver<Result<Harvest<Tally>, EngineError>>,
        on_news: OnNews<'_>,
    ) -> Result<Finished, EngineError> {
        let started_ns = self.clock.now_ns();
        let mut opener = Opener::new(&self.plan.window, self.clock, started_ns);
        for start in starts {
            // A thread that is gone has sent its error to `results`.
            let _ = start.send(Start {
                at_ns: started_ns,
                opening: Arc::clone(&opener.opening),
            });
        }
        let mut opened_ns = opener.planned_ns();
        let mut opening_cpu_s = (opened_ns == Some(started_ns)).then(process::cpu_s);
        let mut harvests = Vec::new();
        let mut ticks: u32 = 1;
        while harvests.len() < starts.len() {
            let now_ns = self.clock.now_ns();
            let tick_ns = opened_ns.map_or(0, |at_ns| at_ns + whole_ns(TICK * ticks));
            let wake_ns = match (opened_ns, opening_cpu_s) {
                (None, _) => now_ns + whole_ns(LOOK),
                (Some(at_ns), None) => at_ns,
                (Some(_), Some(_)) => tick_ns,
            };
            let wait = Duration::from_nanos(wake_ns.saturating_sub(now_ns));
            match results.recv_timeout(wait) {
                Ok(harvest) => harvests.push(harvest?),
                Err(RecvTimeoutError::Timeout) if opened_ns.is_none() => {
                    opened_ns = opener.look(on_news)?;
                }
                Err(RecvTimeoutError::Timeout) if opening_cpu_s.is_none() => {
                    opening_cpu_s = Some(process::cpu_s());
                }
                Err(RecvTimeoutError::Timeout) => {
                    on_news(News::Tick(&self.progress(), (TICK * ticks).as_secs_f64()));
                    ticks += 1;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let cpu_s = process::cpu_s();
        Ok(Finished {
            harvests,
            started_ns,
            opened_ns: opened_ns.unwrap_or_else(|| self.clock.now_ns()),
            cpu_s: (opening_cpu_s.unwrap_or(cpu_s), cpu_s),
        })
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress::default();
        for gauge in self.gauges {
            let part = gauge.get();
            sum.messages += part.messages;
            sum.ok += part.ok;
            sum.failed += part.failed;
        }
        sum
    }
}

/// Decides when the window opens: as planned, or soon after a line came on stdin.
struct Opener {
    clock: Clock,
    opening: Arc<Opening>,
    /// When the planned warm-up is over.
    warm_ns: u64,
    /// What to wait for; `None`: nothing.
    line: Option<Line>,
}

/// The line that opens the window.
struct Line {
    came: Receiver<bool>,
    within: Duration,
    at_latest_ns: u64,
    has_come: bool,
    is_warm: bool,
}

impl Opener {
    fn new(window: &Window, clock: Clock, started_ns: u64) -> Self {
        let warm_ns = started_ns.saturating_add(window.warmup_ns);
        let line = window.told_within_ns.map(|within_ns| Line {
            came: opening::line_on_stdin(),
            within: Duration::from_nanos(within_ns),
            at_latest_ns: started_ns.saturating_add(within_ns),
            has_come: false,
            is_warm: false,
        });
        let at_ns = if line.is_some() { u64::MAX } else { warm_ns };
        Self {
            clock,
            opening: Arc::new(Opening::at(at_ns)),
            warm_ns,
            line,
        }
    }

    /// When the window opens, if no line decides that.
    fn planned_ns(&self) -> Option<u64> {
        self.line.is_none().then_some(self.warm_ns)
    }

    /// When the window opens, if that is known by now. It never opens before the planned warm-up is over.
    fn look(&mut self, on_news: OnNews<'_>) -> Result<Option<u64>, EngineError> {
        let Some(line) = &mut self.line else {
            return Ok(Some(self.warm_ns));
        };
        match line.came.try_recv() {
            Ok(true) => line.has_come = true,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) if line.has_come => {}
            Ok(false) | Err(TryRecvError::Disconnected) => return Err(EngineError::NotOpened),
        }
        let now_ns = self.clock.now_ns();
        if now_ns < self.warm_ns {
            return Ok(None);
        }
        if !std::mem::replace(&mut line.is_warm, true) {
            on_news(News::Warm);
        }
        if line.has_come {
            return self.open().map(Some);
        }
        if now_ns >= line.at_latest_ns {
            let seconds = line.within.as_secs_f64();
            return Err(EngineError::OpenedTooLate { seconds });
        }
        Ok(None)
    }

    fn open(&self) -> Result<u64, EngineError> {
        let at_ns = self.clock.now_ns().saturating_add(whole_ns(LEAD));
        self.opening.decide(at_ns);
        if self.clock.now_ns() >= at_ns {
            return Err(EngineError::StoodStill);
        }
        Ok(at_ns)
    }
}
