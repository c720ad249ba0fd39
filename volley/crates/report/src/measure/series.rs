//! A time series: counts for each tenth of a second since the window opened.

use super::SECOND_NS;
use super::second::{BIN_NS, BINS, Bin};

/// If there are more bins than this (half an hour), pairs are folded into bins of twice the length. That limits the memory of
/// an endless run.
const MOST_BINS: usize = 18_000;

/// Bins of equal length.
#[derive(Clone, Debug)]
pub(super) struct Series {
    width_ns: u64,
    bins: Vec<Bin>,
}

impl Series {
    /// With room for a window of that length; the first bins have the length of a thread's own.
    pub fn new(window_ns: u64) -> Self {
        let bins = usize::try_from(window_ns / BIN_NS).unwrap_or(MOST_BINS);
        Self {
            width_ns: BIN_NS,
            bins: Vec::with_capacity(bins.min(MOST_BINS) + BINS),
        }
    }

    /// Adds the parts of a second.
    pub fn add(&mut self, at: u64, parts: &[Bin; BINS]) {
        let begins = (0..).map(|part| at.saturating_mul(SECOND_NS).saturating_add(part * BIN_NS));
        for (begins_ns, part) in begins.zip(parts) {
            if *part != Bin::default() {
                self.bin(begins_ns).add(part);
            }
        }
    }

    /// The length of a bin, and all bins; at least as many as `elapsed_ns` has started.
    pub fn finish(mut self, elapsed_ns: u64) -> (u64, Vec<Bin>) {
        self.bin(elapsed_ns.saturating_sub(1));
        (self.width_ns, self.bins)
    }

    /// Adds the bins of another one, of any length.
    pub fn merge(&mut self, mut other: Self) {
        while self.width_ns < other.width_ns {
            self.fold();
        }
        while other.width_ns < self.width_ns {
            other.fold();
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.add(theirs);
        }
    }

    /// Whether bins may have this length.
    pub fn is_width(width_ns: u64) -> bool {
        width_ns.is_multiple_of(BIN_NS) && (width_ns / BIN_NS).is_power_of_two()
    }

    /// What [`finish`](Self::finish) returned.
    pub fn again(width_ns: u64, bins: Vec<Bin>) -> Self {
        Self { width_ns, bins }
    }

    fn bin(&mut self, ns: u64) -> &mut Bin {
        while ns / self.width_ns >= MOST_BINS as u64 {
            self.fold();
        }
        let place = (ns / self.width_ns) as usize;
        if self.bins.len() <= place {
            self.bins.resize(place + 1, Bin::default());
        }
        &mut self.bins[place]
    }

    /// Doubles the length of bins.
    fn fold(&mut self) {
        self.width_ns *= 2;
        for pair in 0..self.bins.len().div_ceil(2) {
            let mut sum = self.bins[2 * pair];
            sum.add(&self.bins.get(2 * pair + 1).copied().unwrap_or_default());
            self.bins[pair] = sum;
        }
        self.bins.truncate(self.bins.len().div_ceil(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = SECOND_NS;

    fn of(tenths: &[u64]) -> Series {
        let mut series = Series::new(0);
        for tenth in tenths {
            let mut parts = [Bin::default(); BINS];
            parts[(tenth % 10) as usize].ok = 1;
            series.add(tenth / 10, &parts);
        }
        series
    }

    fn ok(series: Series, elapsed_ns: u64) -> (u64, Vec<u64>) {
        let (width_ns, bins) = series.finish(elapsed_ns);
        let ok = bins.iter().map(|bin| bin.ok);
        (width_ns / 1_000_000, ok.collect())
    }

    #[test]
    fn quiet_time_at_the_end_is_part_of_the_series() {
        assert_eq!(ok(of(&[0, 0]), 3 * S / 10 + 1), (100, vec![2, 0, 0, 0]));
        assert_eq!(ok(of(&[]), 0), (100, vec![0]));
    }

    #[test]
    fn calls_after_the_window_get_bins_of_their_own() {
        let (_, bins) = ok(of(&[0, 99]), S / 10);
        assert_eq!((bins.len(), bins[0], bins[99]), (100, 1, 1));
    }

    #[test]
    fn after_half_an_hour_two_bins_become_one() {
        let (width_ms, bins) = ok(of(&[0, 1, 2, 17_999, 18_000]), 0);
        assert_eq!(width_ms, 200);
        assert_eq!((bins[0], bins[1], bins[8_999], bins[9_000]), (2, 1, 1, 1));
        assert_eq!(bins.len(), 9_001);
    }

    #[test]
    fn a_year_takes_no_more_room_than_half_an_hour() {
        let year_s = 365 * 86_400;
        let (_, bins) = of(&[0, 10 * year_s]).finish(year_s * S);
        assert!(bins.len() <= MOST_BINS);
    }
}
