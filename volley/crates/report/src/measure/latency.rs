//! Latencies as data: percentiles, bars and the encoded histogram.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use volley_base::units::numbers::{at_least, duration};

use super::estimate::Estimate;

/// The start of a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatencyKind {
    /// From when a call was really sent. The only kind in a closed loop, where it cannot show a
    /// stall (coordinated omission).
    #[default]
    Service,
    /// From when a call was due.
    Response,
}

impl LatencyKind {
    /// `service` or `response`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Response => "response",
        }
    }

    /// `Service` or `Response`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Service => "Service",
            Self::Response => "Response",
        }
    }
}

/// The distribution of one kind of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    pub kind: LatencyKind,
    /// Times that ended. If 0, `mean_ns`, `min_ns` and `max_ns` are 0, and bars, buckets and histogram are empty.
    pub samples: u64,
    /// Times that had not ended.
    pub open: u64,
    /// The age of the oldest of them.
    pub oldest_ns: u64,
    /// Their mean age.
    pub open_mean_ns: u64,
    /// Exact: sum over count, rounded.
    pub mean_ns: u64,
    /// Exact.
    pub min_ns: u64,
    /// Exact.
    pub max_ns: u64,
    /// One value for each of [`RANKS_PPM`], ascending in both members: an [`Estimate`] over ended and open times.
    pub percentiles: Vec<Percentile>,
    /// The same of the ended ones alone, as ghz has them. Empty if nothing was open: then they are the same.
    pub ended: Vec<Percentile>,
    /// ghz's histogram: [`linear_marks`], filled by [`bars`]. Empty without samples, or for times
    /// that have no histogram.
    pub bars: Vec<Bar>,
    /// The same samples at [`fixed_marks`], which are the same for every run. Empty without
    /// samples, or where it is not shown.
    pub buckets: Vec<Bar>,
    /// The HdrHistogram in V2 format, deflated, base64 (values in ns).
    pub histogram: String,
    /// The ages of what was open, in the same format. Empty if nothing was.
    pub ages: String,
    /// Whether failed calls are among the samples: `--count-errors`.
    pub includes_failed: bool,
}

/// The value that `rank_ppm` millionths of the times do not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    pub rank_ppm: u32,
    pub ns: u64,
    /// It is only a lower bound: too much was still open.
    pub is_at_least: bool,
}

/// For people: `12.3 ms`, `≥ 2.00 s`.
impl fmt::Display for Percentile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&at_least(&duration(self.ns), self.is_at_least))
    }
}

/// The same, or `–` if there is none.
pub fn shown(found: Option<Percentile>) -> String {
    found.map_or_else(|| "–".to_owned(), |found| found.to_string())
}

/// The number of samples above the previous bar, up to and including `up_to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    pub up_to_ns: u64,
    pub count: u64,
}

/// The ranks that every [`Latency`] has, in millionths: p50 is 500,000, p99.99 is 999,900.
pub const RANKS_PPM: [u32; 32] = [
    50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 450_000, 500_000,
    550_000, 600_000, 650_000, 700_000, 750_000, 800_000, 850_000, 900_000, 925_000, 950_000,
    965_000, 980_000, 990_000, 993_500, 996_500, 998_000, 999_000, 999_500, 999_900, 999_950,
    999_990, 999_999,
];

/// The upper ends of ghz's eleven bars: the fastest sample, then ten equal steps to the slowest.
pub fn linear_marks(min_ns: u64, max_ns: u64) -> Vec<u64> {
    let span = u128::from(max_ns.saturating_sub(min_ns));
    let marks = (0..=10).map(|step| min_ns + (span * step / 10) as u64);
    marks.collect()
}

/// Ten marks per decade (the R10 preferred numbers of ISO 3) from 1 µs to 1 h; the same for every
/// run.
pub fn fixed_marks() -> Vec<u64> {
    const STEPS: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
    const HOUR_NS: u64 = 3_600_000_000_000;
    let decades = (0..10).map(|exponent| 10 * 10u64.pow(exponent));
    let marks = decades.flat_map(|decade| STEPS.map(|step| decade * step));
    let mut marks: Vec<u64> = marks.take_while(|mark| *mark < HOUR_NS).collect();
    marks.push(HOUR_NS);
    marks
}

/// Counts (value in ns, count) into bars that end at `marks`. Values above the last mark go into
/// the last bar.
pub fn bars(marks: &[u64], recorded: impl IntoIterator<Item = (u64, u64)>) -> Vec<Bar> {
    let empty = |mark: &u64| Bar {
        up_to_ns: *mark,
        count: 0,
    };
    let mut bars: Vec<Bar> = marks.iter().map(empty).collect();
    let last = marks.len().saturating_sub(1);
    for (ns, count) in recorded {
        let place = marks.partition_point(|mark| *mark < ns);
        if let Some(bar) = bars.get_mut(place.min(last)) {
            bar.count += count;
        }
    }
    bars
}

impl Latency {
    /// A distribution without samples.
    pub fn none(kind: LatencyKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Exact figures from all samples, by nearest rank (Hyndman & Fan 1996, definition 1); without
    /// `histogram`.
    pub fn from_samples(kind: LatencyKind, mut samples_ns: Vec<u64>) -> Self {
        samples_ns.sort_unstable();
        let (Some(&min_ns), Some(&max_ns)) = (samples_ns.first(), samples_ns.last()) else {
            return Self::none(kind);
        };
        let samples = samples_ns.len() as u64;
        let sum: u128 = samples_ns.iter().map(|ns| u128::from(*ns)).sum();
        let recorded: Vec<(u64, u64)> = samples_ns.iter().map(|ns| (*ns, 1)).collect();
        let estimate = Estimate::new(&recorded, &[]);
        let each = || recorded.iter().copied();
        let percentiles = RANKS_PPM.iter().filter_map(|ppm| estimate.at(*ppm));
        Self {
            samples,
            mean_ns: rounded_quotient(sum, u128::from(samples)),
            min_ns,
            max_ns,
            percentiles: percentiles.collect(),
            bars: bars(&linear_marks(min_ns, max_ns), each()),
            buckets: bars(&fixed_marks(), each()),
            ..Self::none(kind)
        }
    }

    /// Whether it has no times at all, ended or open.
    pub fn is_empty(&self) -> bool {
        self.samples == 0 && self.open == 0
    }

    /// The percentile at a rank of [`RANKS_PPM`]; `None` without times.
    pub fn at(&self, rank_ppm: u32) -> Option<Percentile> {
        find(&self.percentiles, rank_ppm)
    }

    /// The same of the times that ended; `None` without any.
    pub fn ended_at(&self, rank_ppm: u32) -> Option<u64> {
        let known = match self.open {
            0 => &self.percentiles,
            _ => &self.ended,
        };
        find(known, rank_ppm).map(|percentile| percentile.ns)
    }

    /// The mean of all times, in which ages count as times; `None` without any. It is a lower bound if p99 is one.
    pub fn mean(&self) -> Option<Percentile> {
        let of = |mean_ns: u64, count: u64| u128::from(mean_ns) * u128::from(count);
        let sum = of(self.mean_ns, self.samples) + of(self.open_mean_ns, self.open);
        let all = u128::from(self.samples) + u128::from(self.open);
        (all > 0).then(|| Percentile {
            rank_ppm: 0,
            ns: rounded_quotient(sum, all),
            is_at_least: self.at(990_000).is_some_and(|p99| p99.is_at_least),
        })
    }

    /// The longest time; `None` without times.
    pub fn longest(&self) -> Option<Percentile> {
        let longest = Percentile {
            rank_ppm: 1_000_000,
            ns: self.max_ns.max(self.oldest_ns),
            is_at_least: self.open > 0 && self.oldest_ns >= self.max_ns,
        };
        (!self.is_empty()).then_some(longest)
    }

    /// The percentile at any rank, if need be from the histograms; `None` without times.
    pub fn percentile(&self, rank_ppm: u32) -> Option<Percentile> {
        if rank_ppm == 1_000_000 {
            return self.longest();
        }
        self.at(rank_ppm)
            .or_else(|| percentile_of(&[self], rank_ppm))
    }

    /// A percentile that was found among the highest times of buckets, within what was recorded.
    pub fn within(&self, found: Percentile) -> Percentile {
        let lowest_ns = lowest_of(found.ns);
        let ns = match found.is_at_least {
            // What ended is known exactly, and not above it.
            true => lowest_ns.max(self.max_ns),
            false if lowest_ns <= self.min_ns => self.min_ns,
            false => found.ns.min(self.max_ns),
        };
        Percentile { ns, ..found }
    }
}

/// A percentile of several distributions together, from their histograms; `None` without times, or if a histogram is
/// broken.
pub fn percentile_of(latencies: &[&Latency], rank_ppm: u32) -> Option<Percentile> {
    let together = |encoded: fn(&Latency) -> &str| {
        let decoded = latencies.iter().map(|latency| match encoded(latency) {
            "" => Some(Vec::new()),
            encoded => decode(encoded),
        });
        let mut all = decoded.collect::<Option<Vec<_>>>()?.concat();
        all.sort_unstable();
        Some(all)
    };
    let ended = together(|latency| &latency.histogram)?;
    let open = together(|latency| &latency.ages)?;
    let sampled = || latencies.iter().filter(|latency| latency.samples > 0);
    let lowest = sampled().map(|latency| latency.min_ns).min();
    let highest = sampled().map(|latency| latency.max_ns).max();
    let whole = Latency {
        min_ns: lowest.unwrap_or_default(),
        max_ns: highest.unwrap_or_default(),
        ..Latency::default()
    };
    Some(whole.within(Estimate::new(&ended, &open).at(rank_ppm)?))
}

/// The names of those figures that are lower bounds.
pub fn bounds(
    figures: impl IntoIterator<Item = (&'static str, Option<Percentile>)>,
) -> Vec<&'static str> {
    let figures = figures.into_iter();
    let bounds = figures.filter(|(_, found)| found.is_some_and(|found| found.is_at_least));
    bounds.map(|(name, _)| name).collect()
}

fn find(percentiles: &[Percentile], rank_ppm: u32) -> Option<Percentile> {
    let is_it = |percentile: &&Percentile| percentile.rank_ppm == rank_ppm;
    percentiles.iter().find(is_it).copied()
}

/// The lowest time of a bucket of the histograms.
fn lowest_of(ns: u64) -> u64 {
    // Buckets of one value up to 2,048, then 1,024 in each octave.
    let dropped = ns.max(1).ilog2().saturating_sub(10);
    ns >> dropped << dropped
}

/// The buckets of an encoded histogram that are not empty, ascending: the highest time of each, and its count. `None`:
/// it is broken.
pub fn decode(histogram: &str) -> Option<Vec<(u64, u64)>> {
    let bytes = STANDARD.decode(histogram).ok()?;
    let histogram = Deserializer::new().deserialize(&mut &*bytes);
    let histogram: Histogram<u64> = histogram.ok()?;
    let buckets = histogram.iter_recorded();
    let counts = buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()));
    Some(counts.collect())
}

/// Rounds halves to even, as Python's `round` does for the readers of ghz's details.
pub fn rounded_quotient(sum: u128, count: u128) -> u64 {
    let (quotient, twice_rest) = (sum / count, sum % count * 2);
    let up = twice_rest > count || (twice_rest == count && quotient % 2 == 1);
    u64::try_from(quotient + u128::from(up)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let latency = Latency::from_samples(LatencyKind::Service, (1..=1000).rev().collect());
        let at = |ppm| latency.at(ppm).map(|found| found.ns);
        assert_eq!(
            [at(500_000), at(990_000), at(999_000), at(999_999)],
            [500, 990, 999, 1000].map(Some)
        );
        let exact = [latency.min_ns, latency.max_ns, latency.samples];
        assert_eq!(exact, [1, 1000, 1000]);
        assert_eq!(latency.mean_ns, 500, "500.5 rounds to even");
    }

    #[test]
    fn nothing_has_no_percentile() {
        let latency = Latency::from_samples(LatencyKind::Service, Vec::new());
        assert_eq!(latency, Latency::none(LatencyKind::Service));
        assert_eq!(latency.at(500_000), None);
    }

    #[test]
    fn linear_marks_go_from_the_fastest_to_the_slowest() {
        assert_eq!(
            linear_marks(100, 200),
            [100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200]
        );
        assert_eq!(linear_marks(7, 7), [7; 11]);
        assert_eq!(linear_marks(0, u64::MAX).last(), Some(&u64::MAX));
    }

    #[test]
    fn fixed_marks_rise_from_a_microsecond_to_an_hour() {
        let marks = fixed_marks();
        let ends = [marks.first(), marks.last()];
        assert_eq!(ends, [Some(&1_000), Some(&3_600_000_000_000)]);
        assert!(marks.windows(2).all(|pair| pair[0] < pair[1]));
        for decade in 3..12 {
            assert!(marks.contains(&10u64.pow(decade)));
        }
    }

    #[test]
    fn a_bar_holds_what_is_above_the_one_before_and_the_last_one_the_rest() {
        let recorded = [(0, 1), (10, 1), (11, 4), (20, 1), (31, 2), (9_999, 1)];
        let counted = bars(&[10, 20, 30], recorded);
        let counts: Vec<_> = counted.iter().map(|bar| bar.count).collect();
        assert_eq!(counts, [2, 5, 3]);
        assert_eq!(bars(&[], [(1, 1)]), []);
    }

    #[test]
    fn the_longest_time_is_a_bound_if_something_is_older() {
        let mut latency = Latency::from_samples(LatencyKind::Service, vec![3_000_000]);
        (latency.open, latency.oldest_ns) = (1, 2_000_000);
        assert_eq!(latency.longest().unwrap().to_string(), "3.00 ms");
        latency.oldest_ns = 2_000_000_000;
        assert_eq!(latency.longest().unwrap().to_string(), "≥ 2.00 s");
    }

    #[test]
    fn buckets_are_those_of_the_histograms() {
        let histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for ns in (0..5000).chain((12..41).map(|power| (1 << power) + 12_345_678 % (1 << power))) {
            assert_eq!(lowest_of(ns), histogram.lowest_equivalent(ns), "{ns}");
        }
    }

    #[test]
    fn ranks_rise() {
        assert!(RANKS_PPM.is_sorted());
    }
}
