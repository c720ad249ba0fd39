//! A time series: counts for each 100 ms since the window opened.

use super::SECOND_NS;

/// The initial length of a bin.
const BIN_NS: u64 = SECOND_NS / 10;
/// If there are more bins than this (an hour), pairs are folded into bins of twice the length. That
/// limits the memory of an endless run.
const MOST_BINS: usize = 36_000;
/// For this long, a second is a whole number of bins.
const TOLD_NS: u64 = 2 * MOST_BINS as u64 * BIN_NS;

/// The counts of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bin {
    pub messages: u64,
    pub ok: u64,
    pub failed: u64,
    pub sent: u64,
}

/// Bins of equal length. The current one is kept separately, so that counting is one comparison and
/// one addition.
pub(super) struct Series {
    /// Start of the current bin, since the window opened.
    from_ns: u64,
    width_ns: u64,
    at_hand: Bin,
    bins: Vec<Bin>,
}

/// Messages in each second; nothing if bins got too long to tell (after two hours).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PerSecond(Vec<u64>);

impl PerSecond {
    pub fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// The seconds that `elapsed_ns` has started; `None` if they cannot be told.
    pub fn finish(mut self, elapsed_ns: u64) -> Option<Vec<u64>> {
        let begun = usize::try_from(elapsed_ns.div_ceil(SECOND_NS)).ok()?;
        let told = usize::try_from(TOLD_NS / SECOND_NS).ok()?;
        self.0.resize(begun, 0);
        (1..=told).contains(&begun).then_some(self.0)
    }
}

impl Series {
    /// With room for a window of that length.
    pub fn new(window_ns: u64) -> Self {
        let bins = usize::try_from(window_ns / BIN_NS)
            .unwrap_or(MOST_BINS)
            .min(MOST_BINS);
        Self {
            from_ns: 0,
            width_ns: BIN_NS,
            at_hand: Bin::default(),
            bins: Vec::with_capacity(bins + 10),
        }
    }

    /// The bin of a moment, counted since the window opened.
    #[inline]
    pub fn bin(&mut self, ns: u64) -> &mut Bin {
        if ns.wrapping_sub(self.from_ns) >= self.width_ns {
            self.turn(ns);
        }
        &mut self.at_hand
    }

    pub fn clear(&mut self) {
        self.at_hand = Bin::default();
        self.bins.clear();
        self.width_ns = BIN_NS;
        self.from_ns = 0;
    }

    pub fn merge(&mut self, mut other: Self) {
        self.put_away();
        other.put_away();
        while self.width_ns < other.width_ns {
            self.fold();
        }
        while other.width_ns < self.width_ns {
            other.fold();
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (mine, theirs) in self.bins.iter_mut().zip(other.bins) {
            mine.add(theirs);
        }
        self.turn(self.from_ns);
    }

    /// The length of a bin, and all bins; at least as many as `elapsed_ns` has started.
    pub fn finish(mut self, elapsed_ns: u64) -> (u64, Vec<Bin>) {
        self.put_away();
        if let Some(last_ns) = elapsed_ns.checked_sub(1) {
            self.turn(last_ns);
            self.put_away();
        }
        (self.width_ns, self.bins)
    }

    /// The messages in each second so far.
    pub fn messages_per_second(&mut self) -> PerSecond {
        self.put_away();
        let width = usize::try_from(SECOND_NS / self.width_ns)
            .unwrap_or(1)
            .max(1);
        let seconds = self.bins.chunks(width);
        PerSecond(
            seconds
                .map(|bins| bins.iter().map(|bin| bin.messages).sum())
                .collect(),
        )
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bins.capacity() * size_of::<Bin>()
    }

    /// Stores the current bin and starts the one that contains `ns`.
    #[cold]
    fn turn(&mut self, ns: u64) {
        self.put_away();
        while ns / self.width_ns >= MOST_BINS as u64 {
            self.fold();
        }
        self.from_ns = ns - ns % self.width_ns;
    }

    fn put_away(&mut self) {
        let place = (self.from_ns / self.width_ns) as usize;
        if self.bins.len() <= place {
            self.bins.resize(place + 1, Bin::default());
        }
        if let Some(bin) = self.bins.get_mut(place) {
            bin.add(std::mem::take(&mut self.at_hand));
        }
    }

    /// Doubles the length of bins.
    fn fold(&mut self) {
        self.width_ns *= 2;
        for pair in 0..self.bins.len().div_ceil(2) {
            let mut sum = self.bins[2 * pair];
            sum.add(self.bins.get(2 * pair + 1).copied().unwrap_or_default());
            self.bins[pair] = sum;
        }
        self.bins.truncate(self.bins.len().div_ceil(2));
        self.from_ns -= self.from_ns % self.width_ns;
    }
}

impl Bin {
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.ok += other.ok;
        self.failed += other.failed;
        self.sent += other.sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const S: u64 = SECOND_NS;

    fn of(moments_ns: &[u64]) -> Series {
        let mut series = Series::new(0);
        for ns in moments_ns {
            series.bin(*ns).ok += 1;
        }
        series
    }

    fn ok(series: Series, elapsed_ns: u64) -> (u64, Vec<u64>) {
        let (width_ns, bins) = series.finish(elapsed_ns);
        (width_ns / MS, bins.iter().map(|bin| bin.ok).collect())
    }

    #[test]
    fn a_moment_belongs_to_the_bin_that_it_begins() {
        let series = of(&[0, 99 * MS, 100 * MS, 300 * MS - 1, 300 * MS]);
        assert_eq!(ok(series, 400 * MS), (100, vec![2, 1, 1, 1]));
    }

    #[test]
    fn a_bin_gone_by_can_still_be_counted_in() {
        assert_eq!(
            ok(of(&[250 * MS, 50 * MS, 250 * MS]), 0),
            (100, vec![1, 0, 2])
        );
    }

    #[test]
    fn calls_after_the_window_get_bins_of_their_own() {
        let mut series = Series::new(100 * MS);
        series.bin(50 * MS).ok += 1;
        series.bin(9_950 * MS).ok += 1;
        let (_, bins) = ok(series, 0);
        assert_eq!((bins.len(), bins[0], bins[99]), (100, 1, 1));
    }

    #[test]
    fn quiet_time_at_the_end_is_part_of_the_series() {
        assert_eq!(ok(of(&[0]), 301 * MS), (100, vec![1, 0, 0, 0]));
    }

    #[test]
    fn after_an_hour_two_bins_become_one() {
        let hour = 36_000 * 100 * MS;
        let (width_ms, bins) = ok(of(&[0, 150 * MS, 250 * MS, hour - 1, hour]), 0);
        assert_eq!(width_ms, 200);
        assert_eq!((bins[0], bins[1], bins[17_999], bins[18_000]), (2, 1, 1, 1));
        assert_eq!(bins.len(), 18_001);
    }

    #[test]
    fn messages_are_added_up_by_the_second() {
        let of = |moments_ns: &[u64]| {
            let mut series = Series::new(0);
            for ns in moments_ns {
                series.bin(*ns).messages += 2;
            }
            series.messages_per_second()
        };
        let mut sum = of(&[0, S - 1, S, 3 * S]);
        sum.merge(&of(&[4 * S]));
        sum.merge(&of(&[]));
        assert_eq!(
            sum.clone().finish(6 * S - 1),
            Some(vec![4, 2, 0, 2, 2, 0]),
            "the last second has no messages"
        );
        assert_eq!(sum.finish(5 * S), Some(vec![4, 2, 0, 2, 2]));
        assert_eq!(of(&[]).finish(0), None, "there was no warm-up");
    }

    #[test]
    fn seconds_are_told_for_as_long_as_they_are_whole_bins() {
        let mut series = Series::new(0);
        series.bin(7200 * S - 1).messages += 1;
        let seconds = series.messages_per_second().finish(7200 * S).unwrap();
        assert_eq!((seconds.len(), seconds[7199]), (7200, 1));
        series.bin(7200 * S).messages += 1;
        assert_eq!(series.messages_per_second().finish(7200 * S + 1), None);
    }

    #[test]
    fn a_year_takes_no_more_room_than_an_hour() {
        let year = 365 * 86_400 * SECOND_NS;
        let (_, bins) = of(&[0, year]).finish(year);
        assert!(bins.len() <= MOST_BINS);
    }
}
