//! A run's live line, updated once a second. It is drawn only on a terminal, never in a log.

use std::io::{self, Write};
use std::time::Duration;

use volley_base::units::numbers::{grouped, rate};
use volley_load::spec::Command;

use crate::measure::Percentile;

/// What happened since the last line, and the run's progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Nothing counts yet.
    pub is_warm_up: bool,
    /// Replies per second since the last line.
    pub messages_per_s: f64,
    /// Calls that ended, ok or failed, per second since the last line.
    pub calls_per_s: f64,
    /// The median and the 99th percentile of the latencies since the last line, with the ages of open calls; `None`
    /// without any.
    pub latency: Option<(Percentile, Percentile)>,
    /// Calls that have failed since the warm-up or the window began.
    pub failed: u64,
    /// Calls that were sent late since then; `None` without a rate.
    pub late: Option<u64>,
    /// The last change of the rate or the workers.
    pub changed: Option<Command>,
    /// No calls are started.
    pub is_paused: bool,
    pub elapsed: Duration,
    /// Until the window closes; `None` if only a number of calls ends the run.
    pub left: Option<Duration>,
}

/// The line, as plain text without line ends.
///
/// `   3 s   3,104,622 messages/s   621 calls/s   p50 1.20 ms   p99 7.31 ms   0 failed   0 late   2 s left`
pub fn line(moment: &Moment) -> String {
    let phase = if moment.is_warm_up { "warm-up " } else { "" };
    let elapsed = clock(moment.elapsed);
    let [messages, calls] = [moment.messages_per_s, moment.calls_per_s].map(rate);
    let mut line = format!("{phase}{elapsed:>4}   {messages} messages/s   {calls} calls/s");
    if let Some((p50, p99)) = moment.latency {
        line += &format!("   p50 {p50}   p99 {p99}");
    }
    line += &format!("   {} failed", grouped(moment.failed));
    if let Some(late) = moment.late {
        line += &format!("   {} late", grouped(late));
    }
    if let Some((what, Some(number))) = moment.changed.map(Command::words) {
        line += &format!("   {what} {}", grouped(number.into()));
    }
    if moment.is_paused {
        line += "   paused";
    }
    if let Some(left) = moment.left {
        line += &format!("   {} left", clock(left));
    }
    line
}

/// `42 s`, `3:07` min, `1:02:09` h.
fn clock(span: Duration) -> String {
    let s = (span + Duration::from_millis(500)).as_secs();
    match s {
        0..100 => format!("{s} s"),
        100..3600 => format!("{}:{:02}", s / 60, s % 60),
        _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

/// Draws each line over the previous one if `out` is a terminal; otherwise writes nothing.
#[derive(Debug)]
pub struct Live<W: Write> {
    out: W,
    is_terminal: bool,
    drawn: usize,
}

impl<W: Write> Live<W> {
    /// `is_terminal`: the result of `std::io::IsTerminal` for `out`; false also for `--quiet`.
    pub fn new(out: W, is_terminal: bool) -> Self {
        Self {
            out,
            is_terminal,
            drawn: 0,
        }
    }

    /// Replaces the previous line.
    ///
    /// # Errors
    ///
    /// Errors of writing to `out`. A run need not end because of one.
    pub fn draw(&mut self, line: &str) -> io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        // Spaces overwrite the rest of a longer line: they work on every terminal.
        let (length, drawn) = (line.chars().count(), self.drawn);
        self.drawn = length;
        let blanks = drawn.saturating_sub(length);
        write!(self.out, "\r{line}{:blanks$}", "")?;
        self.out.flush()
    }

    /// Removes the line, so that whatever follows starts in the first column.
    ///
    /// # Errors
    ///
    /// Errors of writing to `out`.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.drawn == 0 {
            return Ok(());
        }
        let blanks = std::mem::take(&mut self.drawn);
        write!(self.out, "\r{:blanks$}\r", "")?;
        self.out.flush()
    }
}

/// Draws lines over the previous ones if `out` is a terminal; otherwise writes nothing.
#[derive(Debug)]
pub struct LiveTable<W: Write> {
    out: W,
    is_terminal: bool,
    drawn: usize,
}

impl<W: Write> LiveTable<W> {
    /// As [`Live::new`].
    pub fn new(out: W, is_terminal: bool) -> Self {
        Self {
            out,
            is_terminal,
            drawn: 0,
        }
    }

    /// Replaces the previous lines.
    ///
    /// # Errors
    ///
    /// Errors of writing to `out`. A run need not end because of one.
    pub fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        let mut text = self.back();
        // A line that is cut instead of wrapped keeps the count of lines right.
        text += "\x1b[?7l";
        for line in lines {
            text += line;
            text.push('\n');
        }
        text += "\x1b[?7h";
        self.drawn = lines.len();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Removes the lines.
    ///
    /// # Errors
    ///
    /// Errors of writing to `out`.
    pub fn clear(&mut self) -> io::Result<()> {
        let text = self.back();
        self.drawn = 0;
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// To the first of the drawn lines, and empties the screen from there on.
    fn back(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\x1b[{lines}F\x1b[J"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn found(rank_ppm: u32, ns: u64) -> Percentile {
        Percentile {
            rank_ppm,
            ns,
            is_at_least: false,
        }
    }

    const MOMENT: Moment = Moment {
        is_warm_up: false,
        messages_per_s: 3_104_622.4,
        calls_per_s: 620.9,
        latency: Some((found(500_000, 1_200_000), found(990_000, 7_310_000))),
        failed: 1_234,
        late: None,
        changed: None,
        is_paused: false,
        elapsed: Duration::from_millis(3_001),
        left: Some(Duration::from_millis(1_999)),
    };

    #[test]
    fn a_line_tells_rates_failures_and_time() {
        assert_eq!(
            line(&MOMENT),
            " 3 s   3,104,622 messages/s   621 calls/s   p50 1.20 ms   p99 7.31 ms   1,234 failed   2 s left"
        );
        let long = Moment {
            elapsed: Duration::from_secs(3_729),
            latency: None,
            late: Some(5),
            is_paused: true,
            left: None,
            ..MOMENT
        };
        assert_eq!(
            line(&long),
            "1:02:09   3,104,622 messages/s   621 calls/s   1,234 failed   5 late   paused"
        );
        assert_eq!(clock(Duration::from_secs(187)), "3:07");
        let warm = Moment {
            is_warm_up: true,
            latency: None,
            changed: Some(Command::Rate(5000)),
            left: None,
            ..MOMENT
        };
        assert_eq!(
            line(&warm),
            "warm-up  3 s   3,104,622 messages/s   621 calls/s   1,234 failed   rps 5,000"
        );
    }

    #[test]
    fn a_shorter_line_covers_the_longer_one_before() {
        let mut out = Vec::new();
        let mut live = Live::new(&mut out, true);
        let shorter = Moment {
            failed: 0,
            ..MOMENT
        };
        let [long, short] = [MOMENT, shorter].map(|moment| line(&moment));
        live.draw(&long).unwrap();
        live.draw(&short).unwrap();
        live.clear().unwrap();
        live.clear().unwrap();
        let blank = " ".repeat(short.len());
        let expected = format!("\r{long}\r{short}    \r{blank}\r");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_is_no_terminal_is_left_alone() {
        let mut out = Vec::new();
        let mut live = Live::new(&mut out, false);
        live.draw(&line(&MOMENT)).unwrap();
        live.clear().unwrap();
        assert_eq!(out, b"");
    }

    #[test]
    fn lines_replace_the_previous_ones_and_leave_nothing() {
        let mut table = LiveTable::new(Vec::new(), true);
        table.draw(&["a".to_owned(), "b".to_owned()]).unwrap();
        table.draw(&["c".to_owned()]).unwrap();
        table.clear().unwrap();
        table.clear().unwrap();
        let text = String::from_utf8(table.out).unwrap();
        let expected = "\x1b[?7la\nb\n\x1b[?7h\x1b[2F\x1b[J\x1b[?7lc\n\x1b[?7h\x1b[1F\x1b[J";
        assert_eq!(text, expected);
        let mut hidden = LiveTable::new(Vec::new(), false);
        hidden.draw(&["a".to_owned()]).unwrap();
        hidden.clear().unwrap();
        assert_eq!(hidden.out, b"");
    }
}
