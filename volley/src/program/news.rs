//! The news of a run: on the terminal, as lines of JSON, and for those who ask.

use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::live_line;
use crate::cli::Run;
use crate::engine::{News, Session};
use crate::measure::Told;
use crate::report::live::{self, Live, Moment};
use crate::watch::{self, DebugLog, JsonLines, Keys, Stats};

/// Passes the news of a run on.
pub struct NewsDesk {
    line: Live<Stderr>,
    length: Option<Duration>,
    has_rate: bool,
    stats: Arc<Mutex<Stats>>,
    lines: Option<JsonLines>,
    log: Option<DebugLog>,
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
            _keys: keys.flatten(),
        }
    }

    /// Passes an item on. If nobody takes it, the run continues.
    pub fn tell(&mut self, item: News<'_>) {
        if let Some(log) = &mut self.log {
            log.tell(&item);
        }
        match item {
            News::Ready => {
                let _ = writeln!(io::stderr(), "volley: ready");
            }
            News::Warm => {
                let _ = writeln!(io::stderr(), "volley: warm");
            }
            News::Begun(stage) => self.update(|stats| stats.begin(stage)),
            News::Changed(command) => {
                self.update(|stats| stats.change(command));
                if let Some(lines) = &mut self.lines {
                    lines.change(command);
                }
            }
            News::Second(told) => {
                self.update(|stats| stats.tell(told));
                if let Some(lines) = &mut self.lines {
                    lines.tell(told);
                }
                if !told.is_warm_up {
                    self.draw(told);
                }
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

    fn draw(&mut self, told: &Told) {
        let (total, load) = {
            let stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
            (stats.total, stats.load)
        };
        let elapsed = Duration::from_secs(told.at + 1);
        let latency = told.latency;
        let moment = Moment {
            messages_per_s: told.counts.messages as f64,
            calls_per_s: (told.counts.ok + told.counts.failed) as f64,
            latency_ns: (latency.samples > 0).then_some((latency.p50_ns, latency.p99_ns)),
            failed: total.failed,
            late: self.has_rate.then_some(total.late),
            is_paused: load.paused,
            elapsed,
            left: self.length.map(|length| length.saturating_sub(elapsed)),
        };
        let _ = self.line.draw(&live::line(&moment));
    }
}

impl Drop for NewsDesk {
    fn drop(&mut self) {
        let _ = self.line.clear();
    }
}
