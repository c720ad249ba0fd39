//! A run from its plan to its report: starts the threads, signals the start, and merges their tallies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, SystemTime};

use super::EngineError;
use super::book::Book;
use super::clock::Clock;
use super::driver::{Driver, Harvest};
use super::live::Gauge;
use super::outcome::{self, Finished};
use super::plan::Plan;
use super::signals;
use crate::cli::Options;
use crate::measure::{Progress, Tally, TallyOptions, process};
use crate::pace::whole_ns;
use crate::report::Report;

/// How often the live line is drawn.
const TICK: Duration = Duration::from_secs(1);

/// Reports a run's progress once a second: the counts so far, and the seconds since the window opened (negative before
/// it opens).
pub type OnTick<'a> = &'a mut dyn FnMut(&Progress, f64);

/// Makes a run and returns its report.
///
/// # Errors
///
/// [`EngineError`] if the load could not be started. A run in which calls fail still gives a report.
pub fn run(options: &Options, on_tick: OnTick<'_>) -> Result<Report, EngineError> {
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
    let work = |driver: Driver<'_, Tally>, start: &Receiver<u64>, done: &Sender<_>| {
        if let Ok(start_ns) = start.recv() {
            let harvest = driver.run(start_ns);
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
        watch.conduct(starts, results, on_tick)
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
        conduct(&orders, &results)
    })
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
        starts: &[Sender<u64>],
        results: &Receiver<Result<Harvest<Tally>, EngineError>>,
        on_tick: OnTick<'_>,
    ) -> Result<Finished, EngineError> {
        let start_ns = self.clock.now_ns();
        let opened_ns = start_ns + self.plan.window.warmup_ns;
        for start in starts {
            // A thread that is gone has sent its error to `results`.
            let _ = start.send(start_ns);
        }
        let mut opening_cpu_s = (start_ns == opened_ns).then(process::cpu_s);
        let mut harvests = Vec::new();
        let mut next_tick_ns = opened_ns + whole_ns(TICK);
        while harvests.len() < starts.len() {
            let now_ns = self.clock.now_ns();
            let wake_ns = if opening_cpu_s.is_none() {
                opened_ns
            } else {
                next_tick_ns
            };
            let wait = Duration::from_nanos(wake_ns.saturating_sub(now_ns));
            match results.recv_timeout(wait) {
                Ok(harvest) => harvests.push(harvest?),
                Err(RecvTimeoutError::Timeout) if opening_cpu_s.is_none() => {
                    opening_cpu_s = Some(process::cpu_s());
                }
                Err(RecvTimeoutError::Timeout) => {
                    let elapsed_s = next_tick_ns.saturating_sub(opened_ns) as f64 / 1e9;
                    on_tick(&self.progress(), elapsed_s);
                    next_tick_ns += whole_ns(TICK);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let cpu_s = process::cpu_s();
        Ok(Finished {
            harvests,
            opened_ns,
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
