//! A run from its plan to its report: starts the threads, signals the start, and merges their tallies.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, SystemTime};

use super::driver::Driver;
use super::orders::{Change, Line, Note, Order, Refusal, Session, StartAt, agenda};
use super::plan::Plan;
use super::recorder::Recorder;
use super::report::{self, Finished};
use super::script::{Plain, Script};
use super::shared::Shared;
use super::stage::{self, Opener, Stage};
use super::{LoadError, MOST_WORKERS};
use volley_load::pace::{Agenda, whole_ns};
use volley_load::spec::{Command, Spec};
use volley_net as net;
use volley_net::{Clock, NetError};
use volley_report::measure::{Chronicle, EndedBy, Tally, TallyOptions, Told, process};
use volley_report::report::Report;
use volley_request::{Method, RequestError};

/// How often the conductor looks whether a line on stdin came.
const LOOK: Duration = Duration::from_millis(10);

/// From an event to the moment when it takes effect: long enough that all threads know of it before.
const LEAD: Duration = Duration::from_millis(20);

/// The report lists at most this many changes.
const MOST_CHANGES: usize = 10_000;

/// What becomes known during a run.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// All connections are ready, and the load starts at an agreed moment.
    Ready,
    /// The warm-up that a line on stdin ends has taken its planned time.
    Warm,
    /// The load starts, in its warm-up or with its window; or the window opens.
    Begun(Stage),
    /// A second that all threads have passed, and how many calls were due in it.
    Second(&'a Told),
    /// The load will change in a moment.
    Changed(Command),
}

/// Receives the news of a run.
pub type OnNews<'a> = &'a mut dyn FnMut(News<'_>);

/// Makes a run and returns its report.
///
/// # Errors
///
/// [`LoadError`] if the load could not be started. A run in which calls fail still gives a report.
pub fn run(spec: &Spec, session: Session, on_news: OnNews<'_>) -> Result<Report, LoadError> {
    run_script(spec, Plain::new, session, on_news)
}

/// Makes a run whose calls follow a script; `script` makes the one after which all threads make theirs.
///
/// # Errors
///
/// As [`run`].
pub fn run_script<S: Script + Sync>(
    spec: &Spec,
    script: impl FnOnce(&Spec, &Method) -> Result<S, RequestError>,
    session: Session,
    on_news: OnNews<'_>,
) -> Result<Report, LoadError> {
    let plan = Plan::new(spec, &session.signal)?;
    let script = script(spec, &plan.method)?;
    net::allow_sockets(plan.own_connections());
    let mut shared = Shared::new(Arc::clone(&session.signal));
    shared.is_watched = session.is_watched;
    let clock = Clock::start();
    let counting = TallyOptions {
        count: spec.count.clone(),
        open_loop: plan.schedule.is_some(),
        start_ns: 0,
        wall_start: SystemTime::now(),
    };
    let hire = |index: u32| {
        let tally = Tally::new(&counting.of_lane(plan.lane_of(index)));
        Driver::new(
            &plan,
            index,
            clock,
            &shared,
            tally,
            script.again(spec, &plan.method)?,
        )
    };
    let work = |driver: Driver<'_, Tally, S>, orders: &Receiver<Order>, post: &Sender<Note>| {
        let index = driver.index();
        // The receiver outlives all threads, unless another one failed.
        let result = driver.run(orders, &mut |passed| {
            let _ = post.send(Note::Passed(index, passed));
        });
        if let Some(result) = result.transpose() {
            if result.is_err() {
                shared.stop(); // the others too
            }
            let _ = post.send(Note::Done(index, Box::new(result)));
        }
    };
    let finished = crew(plan.threads, &shared, &session.post, hire, work, |lines| {
        Watch::new(&plan, clock, &shared, lines).conduct(&session, on_news)
    })?;
    Ok(report::report(&plan, &counting, finished))
}

/// Starts threads. Each has its own driver; all are connected before any gets an order.
///
/// `hire` makes the driver of a thread. `work` runs on the thread, with its orders and a channel for its results.
/// `conduct` sends the orders once all threads are ready, and gathers the results.
///
/// # Errors
///
/// The reason why a thread could not connect, or the error of `conduct`.
pub(crate) fn crew<'a, B: Recorder, S: Script, O: Send, R: Send, T>(
    threads: u32,
    shared: &Shared,
    post: &Sender<R>,
    hire: impl Fn(u32) -> Result<Driver<'a, B, S>, LoadError> + Sync,
    work: impl Fn(Driver<'a, B, S>, &Receiver<O>, &Sender<R>) + Sync,
    conduct: impl FnOnce(&[Line<O>]) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let (hire, work) = (&hire, &work);
    thread::scope(|scope| {
        let (ready, readiness) = mpsc::channel();
        let mut orders = Vec::new();
        for index in 0..threads {
            let (order, its_orders) = mpsc::channel();
            orders.push(order);
            let (ready, post) = (ready.clone(), post.clone());
            scope.spawn(move || {
                let connected =
                    hire(index).and_then(|mut driver| driver.connect().map(|()| driver));
                let (told, driver) = match connected {
                    Ok(driver) => (Ok((index, driver.waker())), Some(driver)),
                    Err(error) => (Err(error), None),
                };
                ready.send(told).ok()?;
                work(driver?, &its_orders, &post);
                Some(())
            });
        }
        drop(ready);
        // A failure drops `orders`, which ends every thread that waits for one. The signal ends those that are still
        // connecting.
        let stop = |_: &LoadError| shared.stop();
        let ready = readiness.iter().take(orders.len());
        let mut ready = ready.collect::<Result<Vec<_>, _>>().inspect_err(stop)?;
        ready.sort_by_key(|(index, _)| *index);
        shared.set_wakers(ready.iter().map(|(_, waker)| Arc::clone(waker)).collect());
        let lines = orders.into_iter().zip(ready);
        let lines: Vec<_> = lines
            .map(|(orders, (_, waker))| Line::new(orders, waker))
            .collect();
        conduct(&lines).inspect_err(stop)
    })
}

/// What the conductor of a run watches while its threads work.
struct Watch<'a> {
    plan: &'a Plan,
    clock: Clock,
    shared: &'a Shared,
    lines: &'a [Line<Order>],
    chronicle: Chronicle,
    changes: Vec<Change>,
    /// When the load starts, and when its window opens, if that is known.
    started_ns: u64,
    opened_ns: Option<u64>,
}

impl<'a> Watch<'a> {
    fn new(plan: &'a Plan, clock: Clock, shared: &'a Shared, lines: &'a [Line<Order>]) -> Self {
        let window_ns = plan.window.length_ns.unwrap_or(0);
        Self {
            plan,
            clock,
            shared,
            lines,
            chronicle: Chronicle::new(plan.threads, window_ns, plan.spec.load.share.is_part()),
            changes: Vec::new(),
            started_ns: u64::MAX,
            opened_ns: None,
        }
    }

    /// Starts all threads at the same moment, watches them, and gathers their results.
    fn conduct(mut self, session: &Session, on_news: OnNews<'_>) -> Result<Finished, LoadError> {
        self.started_ns = self.agree(session.start_at, on_news)?;
        let mut opener = Opener::new(&self.plan.window, self.clock, self.started_ns, LEAD);
        for line in self.lines {
            line.send(Order::Start {
                at_ns: self.started_ns,
                opening: opener.opening(),
            });
        }
        session.gate.open();
        self.opened_ns = opener.planned_ns();
        let mut opening_cpu_s = None;
        let mut begun = None;
        let mut look_ns = 0;
        let mut results = Vec::new();
        while results.len() < self.lines.len() {
            let now_ns = self.clock.now_ns();
            if self.opened_ns.is_none() && now_ns >= look_ns {
                self.opened_ns = opener.look(|| on_news(News::Warm))?;
                look_ns = now_ns + whole_ns(LOOK);
            }
            let stage = self.stage_at(now_ns);
            if begun != stage {
                begun = stage;
                if let Some(stage) = stage {
                    on_news(News::Begun(stage));
                }
            }
            if stage == Some(Stage::Window) {
                opening_cpu_s.get_or_insert_with(process::cpu_s);
            }
            let wake_ns = match (stage, self.opened_ns) {
                (None, _) => self.started_ns,
                (Some(Stage::Window), _) => u64::MAX,
                (_, Some(opens_ns)) => opens_ns,
                (_, None) => look_ns,
            };
            let wait = Duration::from_nanos(wake_ns.saturating_sub(now_ns));
            // It times out, and nothing else: the session itself could send a note.
            let Ok(note) = session.notes.recv_timeout(wait) else {
                continue;
            };
            let passed = match note {
                Note::Passed(thread, passed) => self.chronicle.take(thread, passed),
                Note::Done(thread, result) => {
                    let mut result = (*result)?;
                    let ages = std::mem::take(&mut result.ages);
                    let last = result.recorder.last(result.ended_ns, ages);
                    results.push(result);
                    self.chronicle.leave(thread, last)
                }
                Note::Asked(command, answer) => {
                    let done = self.obey(command);
                    if done.is_ok() {
                        on_news(News::Changed(command));
                    }
                    // Nobody waits for an answer that took too long.
                    let _ = answer.send(done);
                    Vec::new()
                }
            };
            self.tell(passed, u64::MAX, on_news);
        }
        let cpu_s = process::cpu_s();
        let ended_ns = results.iter().map(|thread| thread.ended_ns).max();
        let ended_ns = ended_ns.unwrap_or_else(|| self.clock.now_ns());
        let is_stopped = results
            .iter()
            .any(|thread| thread.ended_by == EndedBy::Signal);
        if is_stopped && self.opened_ns.is_none_or(|opens_ns| ended_ns <= opens_ns) {
            return Err(NetError::Interrupted.into());
        }
        let opened_ns = self.opened_ns.unwrap_or(ended_ns);
        let passed = self.chronicle.end(ended_ns.saturating_sub(opened_ns));
        self.tell(passed, ended_ns, on_news);
        Ok(Finished {
            agenda: self.agenda(opened_ns),
            results,
            chronicle: self.chronicle,
            changes: self.changes,
            started_ns: self.started_ns,
            opened_ns,
            opened_monotonic_ns: self.clock.shown_at(opened_ns),
            cpu_s: (opening_cpu_s.unwrap_or(cpu_s), cpu_s),
        })
    }

    /// What has begun by then.
    fn stage_at(&self, now_ns: u64) -> Option<Stage> {
        if now_ns < self.started_ns {
            None
        } else if self.opened_ns.is_some_and(|opens_ns| opens_ns <= now_ns) {
            Some(Stage::Window)
        } else {
            Some(Stage::Warmup)
        }
    }

    /// When the load starts.
    fn agree(&self, start_at: StartAt, on_news: OnNews<'_>) -> Result<u64, LoadError> {
        let monotonic_ns = match start_at {
            StartAt::Ready => return Ok(self.clock.now_ns()),
            StartAt::Monotonic(ns) => {
                on_news(News::Ready);
                ns
            }
            StartAt::Stdin => {
                let line = stage::line_on_stdin();
                on_news(News::Ready);
                self.hear(&line)?
            }
        };
        match self.clock.when(monotonic_ns) {
            Some(at_ns) if at_ns > self.clock.now_ns() => Ok(at_ns),
            _ => Err(LoadError::StartPassed),
        }
    }

    /// The number on a line.
    fn hear(&self, line: &Receiver<Option<String>>) -> Result<u64, LoadError> {
        loop {
            match line.recv_timeout(LOOK) {
                Ok(Some(line)) => return line.trim().parse().map_err(|_| LoadError::NoStart),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => return Err(LoadError::NoStart),
                Err(RecvTimeoutError::Timeout) if self.shared.is_stopped() => {
                    return Err(NetError::Interrupted.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// When this process's calls were due, from the warm-up's start or the window's opening on.
    fn agenda(&self, from_ns: u64) -> Option<Agenda> {
        let schedule = self.plan.schedule.as_ref()?;
        let start_ns = match self.plan.window.flows_on() {
            true => self.started_ns,
            false => from_ns,
        };
        Some(agenda(schedule, self.plan.lane(), start_ns, &self.changes))
    }

    /// Passes seconds on, with what is known of them here. `ended_ns`: when the run ended, if it has.
    fn tell(&self, passed: Vec<Told>, ended_ns: u64, on_news: OnNews<'_>) {
        for mut told in passed {
            self.complete(&mut told, ended_ns);
            on_news(News::Second(&told));
        }
    }

    /// Adds how long a second was, and how many calls were due in it.
    fn complete(&self, told: &mut Told, ended_ns: u64) {
        let (from_ns, closes_ns, until_ns, most) = match self.opened_ns {
            Some(opens_ns) if !told.is_warm_up => {
                let length_ns = self.plan.window.length_ns.unwrap_or(u64::MAX);
                let own = self.plan.spec.load.own_calls();
                (opens_ns, opens_ns.saturating_add(length_ns), ended_ns, own)
            }
            opens_ns => {
                let until_ns = opens_ns.unwrap_or(ended_ns);
                (self.started_ns, until_ns, until_ns, None)
            }
        };
        let edge_ns = |second: u64| {
            let ns = from_ns.saturating_add(whole_ns(Duration::from_secs(second)));
            ns.min(until_ns)
        };
        let (begins_ns, ends_ns) = (edge_ns(told.at), edge_ns(told.at + 1));
        told.length_ns = ends_ns - begins_ns;
        if let Some(agenda) = self.agenda(from_ns) {
            let due_before = |ns: u64| {
                let due = agenda.due_until(ns.min(closes_ns));
                due.min(most.unwrap_or(u64::MAX))
            };
            told.counts.due = due_before(ends_ns) - due_before(begins_ns);
        }
    }

    /// Does what a user asks for, soon enough and late enough that all threads do it at the same moment.
    fn obey(&mut self, command: Command) -> Result<(), Refusal> {
        let at_ns = self.clock.now_ns().saturating_add(whole_ns(LEAD));
        if at_ns < self.started_ns && command == Command::Stop {
            self.shared.stop();
            return Ok(());
        }
        self.check(command, at_ns)?;
        let change = Change { at_ns, command };
        self.changes.push(change);
        for line in self.lines {
            line.send(Order::Change(change));
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        let last = self.changes.last();
        last.is_some_and(|change| change.command == Command::Stop)
    }

    fn is_paused(&self) -> bool {
        let mut latest = self.changes.iter().rev();
        latest
            .find_map(|change| change.command.pauses())
            .unwrap_or(false)
    }

    fn check(&self, command: Command, at_ns: u64) -> Result<(), Refusal> {
        let has_rate = self.plan.schedule.is_some();
        let least = self.plan.least_workers();
        match command {
            _ if at_ns < self.started_ns => Err(Refusal::NotStarted),
            Command::Stop => Ok(()),
            _ if self.is_stopped() => Err(Refusal::Over),
            _ if self.changes.len() >= MOST_CHANGES => Err(Refusal::TooMany(MOST_CHANGES)),
            _ if self.plan.pace.is_some() => Err(Refusal::PacedStreams),
            Command::Rate(_) if !has_rate => Err(Refusal::NoRate),
            Command::Rate(0) => Err(Refusal::Rate),
            Command::Workers(_) if self.plan.is_async => Err(Refusal::NoWorkers),
            Command::Workers(workers) if !(least..=MOST_WORKERS).contains(&workers) => {
                Err(Refusal::Workers { least })
            }
            Command::Pause if self.is_paused() => Err(Refusal::Paused),
            Command::Resume if !self.is_paused() => Err(Refusal::NotPaused),
            _ => Ok(()),
        }
    }
}
