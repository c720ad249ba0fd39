//! A time series: counts for each 100 ms since the window opened.

use super::SECOND_NS;

/// The initial length of a bin.
const BIN_NS: u64 = SECOND_NS / 10;
/// If there are more bins than this (an hour), pairs are folded into bins of twice the length. That
/// limits the memory of an endless run.
const MOST_BINS: usize = 36_000;

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
    fn a_year_takes_no_more_room_than_an_hour() {
        let year = 365 * 86_400 * SECOND_NS;
        let (_, bins) = of(&[0, year]).finish(year);
        assert!(bins.len() <= MOST_BINS);
    }
}
