//! Distributions of times: a histogram, plus exact sums and extremes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::fine_counts::{FineCounts, highest_like, new_histogram};
use super::latency::{self, Latency, LatencyKind, RANKS_PPM, rounded_quotient};

/// A distribution of times in nanoseconds. It takes about 270 KB, but only the buckets in use are
/// ever touched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Distribution {
    #[serde(rename = "buckets")]
    counts: FineCounts,
    /// Times of 0, the most frequent between messages, are counted separately: one addition.
    zeros: u64,
    #[serde(with = "decimal")]
    sum_ns: u128,
    /// `u64::MAX` without samples.
    min_ns: u64,
    max_ns: u64,
    /// The ages of what had not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<Box<Distribution>>,
}

impl Default for Distribution {
    fn default() -> Self {
        Self::new()
    }
}

impl Distribution {
    pub fn new() -> Self {
        Self {
            counts: FineCounts::new(),
            zeros: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            open: None,
        }
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counts.record(ns, 1);
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// So many times of the same length.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        if count > 0 {
            self.counts.record(ns, count);
            self.sum_ns += u128::from(ns) * u128::from(count);
            self.min_ns = self.min_ns.min(ns);
            self.max_ns = self.max_ns.max(ns);
        }
    }

    /// So many were still open at that age.
    pub fn record_open(&mut self, age_ns: u64, count: u64) {
        if count > 0 {
            let open = self.open.get_or_insert_with(|| Box::new(Self::new()));
            open.record_n(age_ns, count);
        }
    }

    #[inline]
    pub fn record_zeros(&mut self, count: u64) {
        self.zeros += count;
    }

    pub fn clear(&mut self) {
        // Untouched counts stay untouched: writing zeros would make their pages resident.
        if self.min_ns != u64::MAX || self.max_ns > 0 {
            self.counts.clear();
        }
        (self.zeros, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        self.open = None;
    }

    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        match (&mut self.open, &other.open) {
            (Some(open), Some(other)) => open.merge(other),
            (open @ None, other) => open.clone_from(other),
            (Some(_), None) => {}
        }
    }

    /// How many times there are, without those that are open.
    pub fn len(&self) -> u64 {
        self.counts.len() + self.zeros
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.counts.histogram().distinct_values() * size_of::<u64>()
    }

    /// All its figures; `None` without samples.
    pub fn into_latency(mut self, kind: LatencyKind) -> Option<Latency> {
        if self.zeros > 0 {
            self.counts.record(0, self.zeros);
            self.min_ns = 0;
        }
        let mut latency = Latency::none(kind);
        let ended = self.counts();
        if !ended.is_empty() {
            let samples = self.counts.len();
            let marks = latency::linear_marks(self.min_ns, self.max_ns);
            latency = Latency {
                samples,
                mean_ns: rounded_quotient(self.sum_ns, samples.into()),
                min_ns: self.min_ns,
                max_ns: self.max_ns,
                bars: latency::bars(&marks, self.recorded()),
                buckets: latency::bars(&latency::fixed_marks(), self.recorded()),
                histogram: self.encoded(),
                ..latency
            };
        }
        let percentiles = |open: &[(u64, u64)]| -> Vec<_> {
            let estimate = Estimate::new(&ended, open);
            let found = RANKS_PPM.iter().filter_map(|ppm| estimate.at(*ppm));
            found.map(|found| latency.within(found)).collect()
        };
        let latency = match &self.open {
            None => Latency {
                percentiles: percentiles(&[]),
                ..latency
            },
            Some(open) => Latency {
                percentiles: percentiles(&open.counts()),
                ended: percentiles(&[]),
                open: open.counts.len(),
                oldest_ns: open.max_ns,
                open_mean_ns: rounded_quotient(open.sum_ns, open.counts.len().max(1).into()),
                ages: open.encoded(),
                ..latency
            },
        };
        (!latency.is_empty()).then_some(latency)
    }

    /// Ascending: the highest time of each bucket in use, and its count.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        self.counts.iter().collect()
    }

    /// Ascending (ns, count). The value is the highest of each bucket, but never outside what was
    /// recorded; the lowest bucket has the exact minimum.
    fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let (min_ns, max_ns) = (self.min_ns, self.max_ns);
        let least = highest_like(min_ns);
        self.counts.iter().map(move |(highest, count)| {
            let ns = match highest <= least {
                true => min_ns,
                false => highest.min(max_ns),
            };
            (ns, count)
        })
    }

    fn encoded(&self) -> String {
        encoded(&self.counts.histogram())
    }
}

/// HdrHistogram's V2 format, deflated, in base64: every HdrHistogram reader accepts it.
fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    match V2DeflateSerializer::new().serialize(histogram, &mut bytes) {
        Ok(_) => STANDARD.encode(bytes),
        // Writing to memory cannot fail, and the bounds fit the format.
        Err(_) => String::new(),
    }
}

/// Encodes one histogram after another.
pub(super) struct Encoder(Histogram<u64>);

impl Encoder {
    pub fn new() -> Self {
        Self(new_histogram())
    }

    /// Times and their counts.
    pub fn encode(&mut self, counts: impl Iterator<Item = (u64, u64)>) -> String {
        self.0.reset();
        for (ns, count) in counts {
            self.0.saturating_record_n(ns, count);
        }
        encoded(&self.0)
    }
}

/// For serde: a sum as decimal text, because it may exceed 64 bits.
mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(sum: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(sum)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let sum = String::deserialize(from)?;
        sum.parse()
            .map_err(|_| D::Error::custom("`sum_ns` is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    use super::super::bucket::MOST_NS;
    use super::*;

    fn of(samples_ns: &[u64]) -> Distribution {
        let mut distribution = Distribution::new();
        for ns in samples_ns {
            distribution.record(*ns);
        }
        distribution
    }

    fn decoded(latency: &Latency) -> Histogram<u64> {
        let bytes = STANDARD.decode(&latency.histogram).unwrap();
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap()
    }

    #[test]
    fn nothing_recorded_is_no_latency() {
        assert_eq!(Distribution::new().into_latency(LatencyKind::Service), None);
    }

    #[test]
    fn one_sample_is_every_percentile_to_the_nanosecond() {
        let latency = of(&[123_456_789])
            .into_latency(LatencyKind::Response)
            .unwrap();
        let mut percentiles = latency.percentiles.iter();
        assert!(percentiles.all(|percentile| percentile.ns == 123_456_789));
        let exact = [latency.mean_ns, latency.min_ns, latency.max_ns];
        assert_eq!(exact, [123_456_789; 3]);
        assert_eq!(latency.kind, LatencyKind::Response);
    }

    #[test]
    fn zeros_counted_apart_are_samples_like_all_others() {
        let mut distribution = of(&[1000]);
        distribution.record_zeros(3);
        let latency = distribution.into_latency(LatencyKind::Service).unwrap();
        let exact = [latency.samples, latency.mean_ns, latency.min_ns];
        assert_eq!(exact, [4, 250, 0]);
        let found = [750_000, 900_000].map(|rank_ppm| latency.ended_at(rank_ppm));
        assert_eq!(found, [Some(0), Some(1000)]);
        assert_eq!(decoded(&latency).count_at(0), 3);
    }

    #[test]
    fn a_day_is_counted_as_more_than_an_hour_with_its_exact_maximum() {
        let day = 24 * MOST_NS;
        let latency = of(&[1, day]).into_latency(LatencyKind::Service).unwrap();
        let exact = [latency.samples, latency.max_ns, latency.mean_ns];
        assert_eq!(exact, [2, day, day / 2]);
        assert!(latency.ended_at(990_000).unwrap() >= MOST_NS);
    }

    #[test]
    fn a_cleared_distribution_is_as_good_as_new() {
        let mut distribution = of(&[5, 7]);
        distribution.record_zeros(9);
        distribution.clear();
        distribution.record(1000);
        let [cleared, new] = [distribution, of(&[1000])];
        let kind = LatencyKind::Service;
        assert_eq!(cleared.into_latency(kind), new.into_latency(kind));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn percentiles_are_those_of_the_sorted_samples_within_a_thousandth(
            samples_ns in prop::collection::vec(prop_oneof![0..5000_u64, 0..5_000_000_000_u64], 1..500),
        ) {
            let exact = Latency::from_samples(LatencyKind::Service, samples_ns.clone());
            let latency = of(&samples_ns).into_latency(LatencyKind::Service).unwrap();
            prop_assert_eq!(
                (latency.samples, latency.mean_ns, latency.min_ns, latency.max_ns),
                (exact.samples, exact.mean_ns, exact.min_ns, exact.max_ns)
            );
            for (ours, exact) in latency.percentiles.iter().zip(&exact.percentiles) {
                prop_assert!(ours.ns >= exact.ns && ours.ns - exact.ns <= exact.ns / 1000, "{ours:?} for {exact:?}");
            }
            prop_assert_eq!(latency.bars.iter().map(|bar| bar.count).sum::<u64>(), latency.samples);
            prop_assert_eq!(latency.buckets.iter().map(|bar| bar.count).sum::<u64>(), latency.samples);
        }

        #[test]
        fn the_encoded_histogram_holds_the_percentiles(
            samples_ns in prop::collection::vec(0..50_000_000_u64, 1..300),
        ) {
            let latency = of(&samples_ns).into_latency(LatencyKind::Service).unwrap();
            let histogram = decoded(&latency);
            prop_assert_eq!(histogram.len(), latency.samples);
            for percentile in &latency.percentiles {
                let rank = (u128::from(percentile.rank_ppm) * u128::from(latency.samples)).div_ceil(1_000_000);
                let up_to = u128::from(histogram.count_between(0, percentile.ns));
                let below = up_to - u128::from(histogram.count_at(percentile.ns));
                prop_assert!(below < rank && rank <= up_to, "{percentile:?}");
            }
        }
    }
}
