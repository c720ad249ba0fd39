//! The faults that the server injects, and the calls that get them.

use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Faults on demand. The default has none.
///
/// "Every n-th" counts the calls of the whole server from 1, over all connections and threads: of `n · k` calls,
/// exactly `k` are hit. A call that is due for several faults gets the first of: trailers-only, reset, truncate,
/// garbage, close.
///
/// "Mid-stream" means: after the response headers and half of the replies of a `StreamSum`, after the first reply of an
/// `EchoSum`, and before the reply of calls that have only one. An `EchoSum` that ends without a reply is hit at its
/// end.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Stop reading, writing and accepting for a while.
    pub freeze: Option<Freeze>,
    /// `RST_STREAM` with `INTERNAL_ERROR`, mid-stream.
    pub reset_every: Option<NonZeroU64>,
    /// After this many calls on a connection, a graceful GOAWAY: first one with the highest stream number and a PING,
    /// and, once that is answered, the final one (RFC 9113 §6.8). Open calls finish; then the connection is closed.
    pub goaway_after: Option<NonZeroU64>,
    /// The reply with this index (from 0) is one too large, in every call that has such a reply.
    pub wrong_at: Option<u64>,
    /// No reply: one header block with status 13 (INTERNAL), whose message is percent-encoded.
    pub trailers_only_every: Option<NonZeroU64>,
    /// Mid-stream: the prefix of a two-byte message, its first byte, and then the trailers of status OK.
    pub truncate_every: Option<NonZeroU64>,
    /// Mid-stream: bytes that are not a frame (the length they announce exceeds any limit), then silence on the
    /// connection, until the client closes it.
    pub garbage_every: Option<NonZeroU64>,
    /// Mid-stream: the connection is closed, without GOAWAY and, under TLS, without close_notify.
    pub close_every: Option<NonZeroU64>,
    /// How long every answer waits: from the end of the request, or, for `EchoSum`, from its first message.
    pub delay: Duration,
}

/// A stall of the whole server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// Its start, counted from the first call.
    pub at: Duration,
    /// Its length.
    pub length: Duration,
}

/// The fault of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    TrailersOnly,
    Reset,
    Truncate,
    Garbage,
    Close,
}

impl Faults {
    /// The fault of call number `n` of the server (from 1).
    pub(super) fn draw(&self, number: u64) -> Option<Fault> {
        [
            (self.trailers_only_every, Fault::TrailersOnly),
            (self.reset_every, Fault::Reset),
            (self.truncate_every, Fault::Truncate),
            (self.garbage_every, Fault::Garbage),
            (self.close_every, Fault::Close),
        ]
        .into_iter()
        .find(|(every, _)| every.is_some_and(|n| number.is_multiple_of(n.get())))
        .map(|(_, fault)| fault)
    }

    /// Whether any fault needs numbered calls.
    pub(super) fn needs_numbers(&self) -> bool {
        self.trailers_only_every.is_some()
            || self.reset_every.is_some()
            || self.truncate_every.is_some()
            || self.garbage_every.is_some()
            || self.close_every.is_some()
    }
}

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

    #[test]
    fn every_third_call_is_hit_and_no_other() {
        let faults = Faults {
            reset_every: NonZeroU64::new(3),
            ..Faults::default()
        };
        let hit: Vec<u64> = (1..=9).filter(|&n| faults.draw(n).is_some()).collect();
        assert_eq!(hit, [3, 6, 9]);
        assert!(faults.needs_numbers());
    }

    #[test]
    fn a_call_that_two_faults_want_has_the_first() {
        let faults = Faults {
            close_every: NonZeroU64::new(2),
            truncate_every: NonZeroU64::new(3),
            ..Faults::default()
        };
        assert_eq!(faults.draw(2), Some(Fault::Close));
        assert_eq!(faults.draw(6), Some(Fault::Truncate));
        assert_eq!(faults.draw(1), None);
    }

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
