//! What holds for every connection of a server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::config::Config;
use super::faults::{Fault, Faults};
use super::settings;

/// What all connections of a server have in common.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) faults: Faults,
    pub(super) delay_ns: u64,
    pub(super) window: u32,
    pub(super) max_streams: Option<u32>,
    /// Calls of the whole server; used only where a fault needs their numbers.
    calls: AtomicU64,
}

impl Rules {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            faults: config.faults.clone(),
            delay_ns: nanoseconds(config.faults.delay),
            window: config.window,
            max_streams: config.max_concurrent_streams,
            calls: AtomicU64::new(0),
        }
    }

    /// Numbers a call, and says what is to go wrong with it.
    pub(super) fn draw_fault(&self) -> Option<Fault> {
        if !self.faults.needs_numbers() {
            return None;
        }
        // Relaxed: the numbers have to be different, nothing more.
        self.faults
            .draw(self.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The window of a whole connection, in bytes.
    pub(super) fn connection_window(&self) -> u32 {
        self.window
            .saturating_mul(16)
            .clamp(settings::DEFAULT_WINDOW, settings::MAX_WINDOW)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
