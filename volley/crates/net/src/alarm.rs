//! A timer with nanosecond resolution, for a poll that only has milliseconds.

use std::io;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Wakes a poll at a given moment. It is edge-triggered and never read: setting it again clears it.
pub struct Alarm {
    timer: OwnedFd,
    set_for_ns: Option<u64>,
}

impl Alarm {
    /// An alarm that wakes `registry`'s poll with an event for `token`.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self {
            timer,
            set_for_ns: None,
        })
    }

    /// Sets the alarm to a moment, or to now if it has passed; costs a system call only if the moment has changed.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn set(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        if self.set_for_ns == Some(at_ns) {
            return Ok(());
        }
        // A time of 0 would switch it off.
        let wait_ns = at_ns.saturating_sub(now_ns).max(1);
        let value = Timespec {
            tv_sec: i64::try_from(wait_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (wait_ns % 1_000_000_000) as _,
        };
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        self.set_for_ns = Some(at_ns);
        Ok(())
    }

    /// Notes that it rang, so that the same moment can be set again.
    pub fn rang(&mut self) {
        self.set_for_ns = None;
    }
}
