//! Settings and state that all connections of a server share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::config::Config;
use super::faults::{Fault, Faults};
use super::settings;

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) faults: Faults,
    pub(super) delay_ns: u64,
    pub(super) window: u32,
    pub(super) max_streams: Option<u32>,
    /// The number of calls of the whole server; used only if a fault needs it.
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

    /// Numbers a call, and returns its fault.
    pub(super) fn draw_fault(&self) -> Option<Fault> {
        if !self.faults.needs_numbers() {
            return None;
        }
        // Relaxed: the numbers only have to be different.
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
