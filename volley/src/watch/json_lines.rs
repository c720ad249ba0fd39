//! `--live-json`: a line of JSON for each second.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::stats::SecondNow;
use crate::measure::Told;
use crate::report::json_line;
use crate::spec::Command;

const FLAG: &str = "--live-json";

/// How many lines may wait for their reader: a quarter of an hour.
const MOST_WAITING: usize = 1000;

/// How long the last lines may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes a line for each second that is over, and for each change of the load, in a thread of its own: a reader that
/// stands still holds nobody up.
pub struct JsonLines {
    /// `None` once nobody takes lines any more.
    lines: Option<SyncSender<Vec<u8>>>,
    written: Receiver<io::Result<()>>,
}

#[derive(Serialize)]
struct Line {
    second: u64,
    phase: &'static str,
    /// 1, unless the phase ended in it.
    length_s: f64,
    #[serde(flatten)]
    counts: SecondNow,
}

#[derive(Serialize)]
struct Changed {
    changed: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
}

impl JsonLines {
    /// Writes to `out`.
    #[must_use]
    pub fn new(mut out: Box<dyn Write + Send>) -> Self {
        let (lines, waiting) = sync_channel::<Vec<u8>>(MOST_WAITING);
        let (result, written) = channel();
        thread::spawn(move || {
            let all = waiting.iter().try_for_each(|line| {
                out.write_all(&line)?;
                out.flush()
            });
            // The run may not have waited.
            let _ = result.send(all);
        });
        Self {
            lines: Some(lines),
            written,
        }
    }

    /// A second is over.
    pub fn tell(&mut self, told: &Told) {
        self.write(&Line {
            second: told.at,
            phase: if told.is_warm_up { "warmup" } else { "window" },
            length_s: told.length_ns as f64 / 1e9,
            counts: SecondNow::of(told),
        });
    }

    /// The load was changed.
    pub fn change(&mut self, command: Command) {
        let (changed, value) = command.words();
        self.write(&Changed { changed, value });
    }

    /// If nobody takes the lines any more, the run goes on without them.
    fn write(&mut self, line: &impl Serialize) {
        let Some(lines) = &self.lines else {
            return;
        };
        match lines.try_send(json_line(line)) {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => warn(FLAG, "its reader is too slow"),
            Err(TrySendError::Disconnected(_)) => self.finish(),
        }
        self.lines = None;
    }

    /// Waits until all lines are written.
    fn finish(&self) {
        match self.written.recv_timeout(PATIENCE) {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                warn(FLAG, &error.to_string());
            }
            Ok(_) => {}
            Err(_) => warn(FLAG, "its reader is too slow"),
        }
    }
}

impl Drop for JsonLines {
    fn drop(&mut self) {
        if self.lines.take().is_some() {
            self.finish();
        }
    }
}

/// Says that the file of a flag takes no more.
pub(super) fn warn(flag: &str, reason: &str) {
    let line = format!("warning: `{flag}`: {reason}; the last lines are missing there");
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that stands still until the other end of its channel is gone.
    struct Still(Receiver<()>);

    impl Write for Still {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_holds_nobody_up() {
        let (go_on, still) = channel();
        let mut lines = JsonLines::new(Box::new(Still(still)));
        for at in 0..MOST_WAITING as u64 + 2 {
            lines.tell(&Told {
                at,
                ..Told::default()
            });
        }
        assert!(lines.lines.is_none());
        drop(go_on);
    }
}
