//! The news of a run: on the terminal, as lines of JSON, and for those who ask.

use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::live_line;
use crate::cli::Run;
use crate::measure::{Bin, Told};
use crate::plain::{News, Session};
use crate::report::live::{self, Live, Moment};
use crate::spec::Command;
use crate::watch::{self, DebugLog, JsonLines, Keys, Stats};

/// Passes the news of a run on.
pub struct NewsDesk {
    line: Live<Stderr>,
    length: Option<Duration>,
    has_rate: bool,
    stats: Arc<Mutex<Stats>>,
    lines: Option<JsonLines>,
    log: Option<DebugLog>,
    /// The last second, the counts since its stage began, and the last change of the load.
    second: Told,
    sum: Bin,
    changed: Option<Command>,
    /// Single keys are read as long as this lives.
    _keys: Option<Keys>,
}

impl NewsDesk {
    /// Before the run starts.
    pub fn new(
        run: &Run,
        session: &Session,
        stats: Arc<Mutex<Stats>>,
        lines: Option<JsonLines>,
        log: Option<DebugLog>,
    ) -> Self {
        let is_watched = io::stderr().is_terminal() && !run.output.quiet && !run.needs_stdin;
        let keys = is_watched.then(|| watch::listen(session.handle(), Arc::clone(&stats)));
        Self {
            line: live_line(&run.output),
            length: run.spec.load.length(),
            has_rate: run.spec.load.is_open_loop(),
            stats,
            lines,
            log,
            second: Told::default(),
            sum: Bin::default(),
            changed: None,
            _keys: keys.flatten(),
        }
    }

    /// Passes an item on. If nobody takes it, the run continues.
    pub fn tell(&mut self, item: News<'_>) {
        if let Some(log) = &mut self.log {
            log.tell(&item);
        }
        match item {
            News::Ready => say("ready"),
            News::Warm => say("warm"),
            News::Begun(stage) => self.update(|stats| stats.begin(stage)),
            News::Changed(command) => {
                self.update(|stats| stats.change(command));
                if let Some(lines) = &mut self.lines {
                    lines.change(command);
                }
                if command.words().1.is_some() {
                    self.changed = Some(command);
                }
                self.draw();
            }
            News::Second(told) => {
                self.update(|stats| stats.tell(told));
                if let Some(lines) = &mut self.lines {
                    lines.tell(told);
                }
                if self.second.is_warm_up != told.is_warm_up {
                    self.sum = Bin::default();
                }
                self.sum.add(&told.counts);
                self.second = *told;
                self.draw();
            }
        }
    }

    /// After the run: its log goes on.
    pub fn into_log(mut self) -> Option<DebugLog> {
        self.log.take()
    }

    fn update(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Draws the last second, once there is one.
    fn draw(&mut self) {
        let second = self.second;
        if second.length_ns == 0 {
            return;
        }
        let stats = self.stats.lock();
        let is_paused = stats.unwrap_or_else(PoisonError::into_inner).load.paused;
        let per_s = |count: u64| count as f64 * 1e9 / second.length_ns as f64;
        let elapsed = Duration::from_secs(second.at) + Duration::from_nanos(second.length_ns);
        let left = self.length.map(|length| length.saturating_sub(elapsed));
        let moment = Moment {
            is_warm_up: second.is_warm_up,
            messages_per_s: per_s(second.counts.messages),
            calls_per_s: per_s(second.counts.ok + second.counts.failed),
            latency: second.with_open.p50.zip(second.with_open.p99),
            failed: self.sum.failed,
            late: self.has_rate.then_some(self.sum.late),
            changed: self.changed,
            is_paused,
            elapsed,
            left: left.filter(|_| !second.is_warm_up),
        };
        let _ = self.line.draw(&live::line(&moment));
    }
}

/// Says it to whoever waits for it.
fn say(what: &str) {
    let _ = writeln!(io::stderr(), "volley: {what}");
}

impl Drop for NewsDesk {
    fn drop(&mut self) {
        let _ = self.line.clear();
    }
}
