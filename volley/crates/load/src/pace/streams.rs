//! When the messages of streams that live are due.

use super::SECOND_NS;

/// So many streams send so many messages a second each, spread evenly: with N streams, one message is due in each N-th of
/// the time between two messages of a stream. Nothing is rounded until a time is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPace {
    /// Messages a second of each stream; at least 1.
    rate: u32,
    /// Streams; at least 1.
    streams: u32,
}

impl StreamPace {
    /// A rate of 0 counts as 1, and so does no stream.
    #[must_use]
    pub fn new(rate: u32, streams: u32) -> Self {
        let (rate, streams) = (rate.max(1), streams.max(1));
        Self { rate, streams }
    }

    /// When message `n` of a stream is due, in ns since the start. Both count from 0.
    #[must_use]
    pub fn due_ns(&self, stream: u32, n: u64) -> u64 {
        let place = u128::from(n) * u128::from(self.streams) + u128::from(stream);
        let ns = place * u128::from(SECOND_NS) / self.a_second();
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// How many messages of a stream are due before a moment.
    #[must_use]
    pub fn due_before(&self, stream: u32, ns: u64) -> u64 {
        let all = (u128::from(ns) * self.a_second()).div_ceil(u128::from(SECOND_NS));
        let own = all.saturating_sub(stream.into());
        u64::try_from(own.div_ceil(self.streams.into())).unwrap_or(u64::MAX)
    }

    /// Messages a second of all streams.
    fn a_second(&self) -> u128 {
        u128::from(self.rate) * u128::from(self.streams)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn streams_are_spread_evenly_over_the_time_between_two_messages() {
        let pace = StreamPace::new(2, 4);
        let first = [0, 1, 2, 3].map(|stream| pace.due_ns(stream, 0));
        assert_eq!(first, [0, 125_000_000, 250_000_000, 375_000_000]);
        assert_eq!(pace.due_ns(3, 10), 5_375_000_000);
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_loses_nothing() {
        let pace = StreamPace::new(3, 7);
        let due = (0..7).map(|stream| pace.due_before(stream, 1000 * SECOND_NS));
        assert_eq!(due.sum::<u64>(), 21_000);
    }

    proptest! {
        #[test]
        fn as_many_are_due_before_a_moment_as_have_an_earlier_time(
            rate in 1..200_u32, streams in 1..50_u32, ns in 0..3 * SECOND_NS,
        ) {
            let pace = StreamPace::new(rate, streams);
            for stream in 0..streams {
                let due = (0..).take_while(|n| pace.due_ns(stream, *n) < ns).count() as u64;
                prop_assert_eq!(pace.due_before(stream, ns), due);
            }
        }
    }
}
