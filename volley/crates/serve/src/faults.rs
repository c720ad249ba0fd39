//! The faults that the server injects, and the calls that get them.

use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Faults on demand. The default has none.
///
/// "Every n-th" counts the calls of the whole server from 1, over all connections and threads: of `n · k` calls,
/// exactly `k` are hit. A call that is due for several faults gets the first of: trailers-only, a status, unanswered,
/// reset, truncate, garbage, close, a missing location, a duplicate, a wrong value, bad JSON.
///
/// Faults of items count only requests that they can hit: those for a new item (`no_location_every`,
/// `duplicate_every`), and those that are answered by an item (`truncate_every`, `wrong_value_every`,
/// `bad_json_every`). A request that gets no answer, or a status on purpose, is not carried out.
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
    /// Mid-stream: the prefix of a two-byte message, its first byte, and then the trailers of status OK. Of an item:
    /// half of the body, and the end.
    pub truncate_every: Option<NonZeroU64>,
    /// Mid-stream: bytes that are not a frame (the length they announce exceeds any limit), then silence on the
    /// connection, until the client closes it.
    pub garbage_every: Option<NonZeroU64>,
    /// Mid-stream: the connection is closed, without GOAWAY and, under TLS, without close_notify.
    pub close_every: Option<NonZeroU64>,
    /// How long every answer waits: from the end of the request, or, for `EchoSum`, from its first message.
    pub delay: Duration,
    /// Only every n-th answer waits.
    pub delay_every: Option<NonZeroU64>,
    /// No answer, until the client gives up.
    pub unanswered_every: Option<NonZeroU64>,
    /// HTTP statuses, 200 to 599, that requests of items get on purpose.
    pub statuses: Vec<(u16, NonZeroU64)>,
    /// A new item without its `location`.
    pub no_location_every: Option<NonZeroU64>,
    /// A new item with the id of the one before it.
    pub duplicate_every: Option<NonZeroU64>,
    /// An item whose `sku` is `wrong`.
    pub wrong_value_every: Option<NonZeroU64>,
    /// An item without its last brace.
    pub bad_json_every: Option<NonZeroU64>,
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
    Unanswered,
    Status(u16),
    NoLocation,
    Duplicate,
    WrongValue,
    BadJson,
}

/// What can hit a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// The faults of gRPC.
    Rpc,
    /// Those of any request of items.
    Request,
    /// Those of an answer with an item, too.
    Item,
    /// Those of a new item, too.
    Create,
}

/// The numbers of a call, from 1; 0: it is not one of those that are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// Among all calls.
    pub(super) call: u64,
    /// Among those that are answered by an item.
    pub(super) item: u64,
    /// Among those for a new item.
    pub(super) create: u64,
}

impl Faults {
    /// The fault of a call.
    pub(super) fn draw(&self, hit: Hit, numbers: Numbers) -> Option<Fault> {
        let Numbers { call, item, .. } = numbers;
        let (rpc, truncatable) = match hit {
            Hit::Rpc => (call, call),
            Hit::Request | Hit::Item | Hit::Create => (0, item),
        };
        let is_due = |number: u64, every: Option<NonZeroU64>| {
            number > 0 && every.is_some_and(|n| number.is_multiple_of(n.get()))
        };
        if is_due(rpc, self.trailers_only_every) {
            return Some(Fault::TrailersOnly);
        }
        if hit != Hit::Rpc {
            let mut statuses = self.statuses.iter();
            if let Some((status, _)) = statuses.find(|(_, every)| is_due(call, Some(*every))) {
                return Some(Fault::Status(*status));
            }
        }
        self.others(numbers, truncatable)
            .into_iter()
            .find(|(number, every, _)| is_due(*number, *every))
            .map(|(_, _, fault)| fault)
    }

    /// The faults after the first two, each with the number of which every n-th is hit.
    fn others(
        &self,
        Numbers { call, item, create }: Numbers,
        truncatable: u64,
    ) -> [(u64, Option<NonZeroU64>, Fault); 9] {
        [
            (call, self.unanswered_every, Fault::Unanswered),
            (call, self.reset_every, Fault::Reset),
            (truncatable, self.truncate_every, Fault::Truncate),
            (call, self.garbage_every, Fault::Garbage),
            (call, self.close_every, Fault::Close),
            (create, self.no_location_every, Fault::NoLocation),
            (create, self.duplicate_every, Fault::Duplicate),
            (item, self.wrong_value_every, Fault::WrongValue),
            (item, self.bad_json_every, Fault::BadJson),
        ]
    }

    /// Whether the answer to this call waits.
    pub(super) fn delays(&self, numbers: Numbers) -> bool {
        self.delay_every
            .is_none_or(|n| numbers.call > 0 && numbers.call.is_multiple_of(n.get()))
    }

    /// Whether any fault needs numbered calls.
    pub(super) fn needs_numbers(&self) -> bool {
        let others = self
            .others(Numbers::default(), 0)
            .map(|(_, every, _)| every);
        let first = [self.trailers_only_every, self.delay_every];
        !self.statuses.is_empty() || first.iter().chain(&others).any(Option::is_some)
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

    fn draw(faults: &Faults, call: u64) -> Option<Fault> {
        let (item, create) = (0, 0);
        faults.draw(Hit::Rpc, Numbers { call, item, create })
    }

    #[test]
    fn every_third_call_is_hit_and_no_other() {
        let faults = Faults {
            reset_every: NonZeroU64::new(3),
            ..Faults::default()
        };
        let hit: Vec<u64> = (1..=9).filter(|&n| draw(&faults, n).is_some()).collect();
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
        assert_eq!(draw(&faults, 2), Some(Fault::Close));
        assert_eq!(draw(&faults, 6), Some(Fault::Truncate));
        assert_eq!(draw(&faults, 1), None);
    }

    #[test]
    fn a_fault_of_items_counts_only_requests_that_it_can_hit() {
        let faults = Faults {
            trailers_only_every: NonZeroU64::new(1),
            statuses: vec![(503, NonZeroU64::new(5).unwrap())],
            no_location_every: NonZeroU64::new(2),
            bad_json_every: NonZeroU64::new(3),
            ..Faults::default()
        };
        let draw =
            |hit, [call, item, create]: [u64; 3]| faults.draw(hit, Numbers { call, item, create });
        assert_eq!(draw(Hit::Create, [4, 3, 2]), Some(Fault::NoLocation));
        assert_eq!(draw(Hit::Item, [4, 3, 0]), Some(Fault::BadJson));
        assert_eq!(draw(Hit::Request, [5, 0, 0]), Some(Fault::Status(503)));
        assert_eq!(draw(Hit::Request, [6, 0, 0]), None);
        assert_eq!(draw(Hit::Rpc, [5, 0, 0]), Some(Fault::TrailersOnly));
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
