//! The stall of the server.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::faults::Freeze;

/// The stall of all threads. Its clock starts when the first call comes to any of them.
#[derive(Debug)]
pub(super) struct FreezeClock {
    plan: Option<Freeze>,
    first_call: OnceLock<Instant>,
}

impl FreezeClock {
    pub(super) fn new(plan: Option<Freeze>) -> Self {
        Self {
            plan,
            first_call: OnceLock::new(),
        }
    }

    /// Whether there will be a stall at all.
    #[inline]
    pub(super) fn is_planned(&self) -> bool {
        self.plan.is_some()
    }

    /// A call came: the first one starts the clock.
    pub(super) fn on_call(&self, now: Instant) {
        self.first_call.get_or_init(|| now);
    }

    /// How long the server must stand still from `now` on; `None` if it must not.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let plan = self.plan?;
        let since = now.checked_duration_since(*self.first_call.get()?)?;
        let into = since.checked_sub(plan.at)?;
        plan.length.checked_sub(into).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_stall_is_counted_from_the_first_call() {
        let clock = FreezeClock::new(Some(Freeze {
            at: 2 * SECOND,
            length: SECOND,
        }));
        let start = Instant::now();
        assert_eq!(clock.left(start + 2 * SECOND), None, "no call yet");
        clock.on_call(start);
        clock.on_call(start + SECOND);
        assert_eq!(clock.left(start + SECOND), None);
        assert_eq!(clock.left(start + 2 * SECOND), Some(SECOND));
        assert_eq!(clock.left(start + 5 * SECOND / 2), Some(SECOND / 2));
        assert_eq!(clock.left(start + 3 * SECOND), None);
    }
}
