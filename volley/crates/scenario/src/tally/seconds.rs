//! What happened when: the present second, and the whole run in at most 240 intervals.

use volley_report::measure::{Bin, Current, SecondCounts, highest_of};

/// More intervals than this show nothing more in a picture.
const MOST_INTERVALS: u64 = 240;

/// How many buckets of a second become one: 16 per octave are left, so a value is exact within 7 %.
const COARSE: u16 = 16;

/// The counts of one step or scenario over time. Times are nanoseconds since the window's opening.
#[derive(Default)]
pub(crate) struct Seconds {
    current: Current,
    history: History,
    /// Seconds that are over and were not taken.
    over: Vec<SecondCounts>,
}

/// A whole run in intervals of equal length, which is doubled when there are too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// An interval has 2^this seconds.
    power: u32,
    intervals: Vec<Interval>,
}

/// One interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    pub counts: Bin,
    /// Coarse buckets and their counts, ascending.
    latencies: Vec<(u16, u64)>,
}

impl Seconds {
    /// The counts of a moment.
    #[inline]
    pub fn at(&mut self, ns: u64, tells: bool) -> &mut Bin {
        if self.current.is_over(ns) {
            self.turn(ns, tells);
        }
        self.current.bin()
    }

    /// A time that belongs to that moment.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.current.record(latency_ns);
    }

    /// The seconds that are over by that moment and were not taken before.
    pub fn take(&mut self, ns: u64) -> Vec<SecondCounts> {
        self.at(ns, true);
        std::mem::take(&mut self.over)
    }

    /// The whole, the present second included.
    pub fn into_history(mut self) -> History {
        self.finish();
        self.history
    }

    pub fn clear(&mut self) {
        self.current.clear();
        self.history = History::default();
        self.over.clear();
    }

    pub fn merge(&mut self, mut other: Self) {
        self.finish();
        other.finish();
        self.history.merge(&other.history);
    }

    #[cold]
    fn turn(&mut self, ns: u64, tells: bool) {
        if let Some(second) = self.current.turn(ns) {
            self.history.add(&second);
            if tells {
                self.over.push(second);
            }
        }
    }

    fn finish(&mut self) {
        let last = self.current.finish();
        if !last.is_empty() {
            self.history.add(&last);
        }
    }
}

impl History {
    /// The length of an interval, in seconds.
    #[must_use]
    pub fn interval_s(&self) -> u64 {
        1 << self.power
    }

    /// The intervals from the window's opening on.
    #[must_use]
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    fn add(&mut self, second: &SecondCounts) {
        while second.at >> self.power >= MOST_INTERVALS {
            self.halve();
        }
        let Some(interval) = self.interval(second.at >> self.power) else {
            return;
        };
        interval.counts.add(&second.sum());
        for (bucket, count) in &second.latencies {
            add(&mut interval.latencies, bucket / COARSE, u64::from(*count));
        }
    }

    fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.power < other.power {
            self.halve();
        }
        while other.power < self.power {
            other.halve();
        }
        for (place, interval) in (0..).zip(&other.intervals) {
            if let Some(own) = self.interval(place) {
                own.merge(interval);
            }
        }
    }

    fn interval(&mut self, place: u64) -> Option<&mut Interval> {
        let place = usize::try_from(place).ok()?;
        if self.intervals.len() <= place {
            self.intervals.resize_with(place + 1, Interval::default);
        }
        self.intervals.get_mut(place)
    }

    fn halve(&mut self) {
        self.power += 1;
        let pairs = self.intervals.chunks(2);
        self.intervals = pairs
            .map(|pair| {
                let mut both = Interval::default();
                pair.iter().for_each(|interval| both.merge(interval));
                both
            })
            .collect();
    }
}

impl Interval {
    /// The time that so many millionths of the calls do not exceed, within 7 %; `None` without calls.
    #[must_use]
    pub fn percentile(&self, rank_ppm: u32) -> Option<u64> {
        let all: u128 = self
            .latencies
            .iter()
            .map(|(_, count)| u128::from(*count))
            .sum();
        let rank = (u128::from(rank_ppm) * all).div_ceil(1_000_000);
        let mut seen = 0;
        let at_rank = |(_, count): &&(u16, u64)| {
            seen += u128::from(*count);
            seen >= rank
        };
        let (bucket, _) = self.latencies.iter().find(at_rank)?;
        Some(highest_of(bucket * COARSE + COARSE - 1))
    }

    fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        for (bucket, count) in &other.latencies {
            add(&mut self.latencies, *bucket, *count);
        }
    }
}

/// Adds to the count of a number. There are few of them, ascending: a map would take longer.
#[inline]
pub(super) fn add(counts: &mut Vec<(u16, u64)>, number: u16, count: u64) {
    match counts.binary_search_by_key(&number, |(known, _)| *known) {
        Ok(at) => {
            if let Some((_, sum)) = counts.get_mut(at) {
                *sum = sum.saturating_add(count);
            }
        }
        Err(at) => counts.insert(at, (number, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volley_load::pace::SECOND_NS as S;

    fn seconds(moments: impl Iterator<Item = u64>) -> Seconds {
        let mut seconds = Seconds::default();
        for ns in moments {
            seconds.at(ns, false).ok += 1;
            seconds.record(1_000_000 + ns / S);
        }
        seconds
    }

    fn ok(history: &History) -> Vec<u64> {
        history
            .intervals()
            .iter()
            .map(|interval| interval.counts.ok)
            .collect()
    }

    #[test]
    fn an_hour_has_as_many_intervals_as_a_picture_shows_and_loses_nothing() {
        let history = seconds((0..3600).map(|second| second * S)).into_history();
        assert_eq!((history.interval_s(), history.intervals().len()), (16, 225));
        assert_eq!(ok(&history), [16; 225]);
        let p50 = history.intervals()[0].percentile(500_000).unwrap();
        assert!((1_000_000..1_070_000).contains(&p50), "{p50}");
    }

    #[test]
    fn a_thread_that_ended_early_is_merged_into_the_same_intervals() {
        let mut long = seconds([0, 500 * S].into_iter());
        long.merge(seconds([0, S, 2 * S, 5 * S].into_iter()));
        let mut short = seconds([0, S, 2 * S, 5 * S].into_iter());
        short.merge(seconds([0, 500 * S].into_iter()));
        let history = long.into_history();
        assert_eq!(
            (history.interval_s(), &ok(&history)[..3]),
            (4, &[4, 1, 0][..])
        );
        assert_eq!(history, short.into_history());
    }

    #[test]
    fn each_second_is_taken_once() {
        let mut seconds = seconds([0, S / 2].into_iter());
        assert_eq!(seconds.take(S / 2).len(), 0);
        assert_eq!(
            seconds
                .take(S)
                .iter()
                .map(|second| second.sum().ok)
                .collect::<Vec<_>>(),
            [2]
        );
        assert_eq!(seconds.take(2 * S).len(), 0);
        assert_eq!(ok(&seconds.into_history()), [2]);
    }
}
