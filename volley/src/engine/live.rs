//! A run's progress, for the live line: its threads write it, the main thread reads it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::measure::Progress;

/// One thread's counts, updated a few times a second and never on the hot path.
#[derive(Debug, Default)]
pub struct Gauge {
    messages: AtomicU64,
    ok: AtomicU64,
    failed: AtomicU64,
}

impl Gauge {
    /// Replaces the counts. A reader may see the three a moment apart.
    pub fn set(&self, progress: &Progress) {
        self.messages.store(progress.messages, Ordering::Relaxed);
        self.ok.store(progress.ok, Ordering::Relaxed);
        self.failed.store(progress.failed, Ordering::Relaxed);
    }

    /// The current counts.
    pub fn get(&self) -> Progress {
        Progress {
            messages: self.messages.load(Ordering::Relaxed),
            ok: self.ok.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}
