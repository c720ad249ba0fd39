//! Keys on the terminal: `+` and `-` change the load by a tenth, `p` pauses and resumes, `q` ends the run.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::stats::{LoadNow, Stats};
use crate::plain::Handle;
use crate::spec::Command;

/// How often it is looked whether a signal ends the run. The second one ends the program at once: by then the terminal
/// must be as it was.
const LOOK: Duration = Duration::from_millis(100);

/// Single keys are read until this is dropped.
pub struct Keys {
    before: Termios,
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

/// Listens to keys, if somebody can press any: stdin is a terminal, and this program has it.
#[must_use]
pub fn listen(control: Handle, stats: Arc<Mutex<Stats>>) -> Option<Keys> {
    if !io::stdin().is_terminal() || !has_terminal() {
        return None;
    }
    let before = tcgetattr(io::stdin()).ok()?;
    let mut single = before.clone();
    single.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    tcsetattr(io::stdin(), OptionalActions::Now, &single).ok()?;
    let original = before.clone();
    thread::spawn(move || {
        while let Some(key) = next_key(&control) {
            let now = stats.lock().unwrap_or_else(PoisonError::into_inner).load;
            let command = match key {
                b'+' | b'=' => more(&now, 11),
                b'-' | b'_' => more(&now, 9),
                b'p' | b' ' if now.paused => Some(Command::Resume),
                b'p' | b' ' => Some(Command::Pause),
                b'q' => Some(Command::Stop),
                _ => None,
            };
            if let Some(command) = command {
                // A run that cannot do it goes on as before.
                let _ = control.ask(command);
            }
        }
        restore(&original);
    });
    Some(Keys { before })
}

/// Waits for a key. `None`: a signal ends the run, or nobody can press keys any more.
fn next_key(control: &Handle) -> Option<u8> {
    let stdin = io::stdin();
    let wait = Timespec::try_from(LOOK).ok()?;
    while !control.is_interrupted() {
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        let is_ready = match poll(&mut polled, Some(&wait)) {
            Ok(ready) => ready > 0,
            Err(Errno::INTR) => false,
            Err(_) => return None,
        };
        if !is_ready {
            continue;
        }
        if has_terminal() {
            let mut key = [0];
            let read = rustix::io::read(&stdin, &mut key).ok()?;
            return (read == 1).then_some(key[0]);
        }
        // A read in the background would stop the program.
        thread::sleep(LOOK);
    }
    None
}

/// In the background this would stop the program.
fn restore(before: &Termios) {
    if has_terminal() {
        // The terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
    }
}

/// So many tenths of the rate, or of the workers if they set the pace; a change is at least 1. `None`: a schedule sets it.
fn more(now: &LoadNow, tenths: u64) -> Option<Command> {
    let changed = |number: u32| {
        let scaled = u64::from(number) * tenths;
        let scaled = match tenths > 10 {
            true => scaled.div_ceil(10),
            false => scaled / 10,
        };
        u32::try_from(scaled.max(1)).unwrap_or(u32::MAX)
    };
    match now.has_rate {
        true => now.rps.map(changed).map(Command::Rate),
        false => now.concurrency.map(changed).map(Command::Workers),
    }
}

fn has_terminal() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_the_load_by_a_tenth_and_by_one_at_least() {
        let paced = |rps| LoadNow {
            rps,
            has_rate: true,
            concurrency: Some(50),
            ..LoadNow::default()
        };
        for (rps, tenths, changed) in [
            (1000, 11, 1100),
            (1000, 9, 900),
            (1, 11, 2),
            (1, 9, 1),
            (u32::MAX, 11, u32::MAX),
        ] {
            let command = more(&paced(Some(rps)), tenths);
            assert_eq!(command, Some(Command::Rate(changed)));
        }
        let unpaced = LoadNow {
            concurrency: Some(50),
            ..LoadNow::default()
        };
        assert_eq!(more(&unpaced, 11), Some(Command::Workers(55)));
        // A schedule.
        assert_eq!(more(&paced(None), 11), None);
        assert_eq!(more(&LoadNow::default(), 11), None);
    }
}
