//! How a run is going, for the live line: written by its threads, read by the main one.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::measure::Progress;

/// One thread's counts, set a few times a second: never on the hot path.
#[derive(Debug, Default)]
pub struct Gauge {
    messages: AtomicU64,
    ok: AtomicU64,
    failed: AtomicU64,
}

impl Gauge {
    /// Replace what is shown. The three may be seen a moment apart.
    pub fn set(&self, progress: &Progress) {
        self.messages.store(progress.messages, Ordering::Relaxed);
        self.ok.store(progress.ok, Ordering::Relaxed);
        self.failed.store(progress.failed, Ordering::Relaxed);
    }

    /// What is shown.
    pub fn get(&self) -> Progress {
        Progress {
            messages: self.messages.load(Ordering::Relaxed),
            ok: self.ok.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}
