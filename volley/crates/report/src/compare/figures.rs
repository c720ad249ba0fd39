//! The figures of two runs, and the intervals of their ratios.

use std::collections::BTreeMap;

use volley_base::listed;
use volley_load::spec::threshold::{Count, Figure, Rate, Statistic, Times, Unit};

use super::run::{Run, Slice};
use super::scatter::{Scatter, batches, half_width, scatter};
use crate::report::verdict::Measured;

/// A percentile needs so many samples on each side of it, in each run; a rate needs so many calls.
pub(super) const LEAST_SAMPLES: f64 = 20.0;

/// Differences of rates below 0.1 % are never shown: seconds begin and end with calls.
const RATE_RESOLUTION: f64 = 0.001;

/// Differences of times below a bucket of the histograms are never shown.
const TIME_RESOLUTION: f64 = 1.0 / 256.0;

/// An interval from a tenth to ten times a ratio says nothing: there is too little data.
const MOST_HALF: f64 = std::f64::consts::LN_10;

/// The percentiles that are always shown.
const RANKS_PPM: [u32; 4] = [500_000, 900_000, 990_000, 999_000];

/// A figure of both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name, as in conditions.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// `None` without samples.
    pub old: Option<Measured>,
    /// `None` without samples.
    pub new: Option<Measured>,
    /// What became of it.
    pub change: Change,
}

/// The change of a figure from the old run to the new one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// New over old; of shares, new minus old, in percentage points. `None`: there is too little data.
    pub estimate: Option<Estimate>,
    /// Whether more of it is better.
    more_is: Verdict,
    less_is: Verdict,
    /// What it is without a change.
    same: f64,
}

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end; 0 if the old run's figure is only a lower bound: the value is at most this.
    pub low: f64,
    /// The upper end; infinite if the new run's figure is only a lower bound: the value is at least this.
    pub high: f64,
}

impl Estimate {
    /// The value and its interval in words.
    pub(super) fn words(&self, show: impl Fn(f64) -> String) -> [String; 2] {
        let [value, low, high] = [self.value, self.low, self.high].map(show);
        match (self.low == 0.0, self.high.is_infinite()) {
            (_, true) => [format!("≥ {value}"), format!("{low} or more")],
            (true, false) => [format!("≤ {value}"), format!("{high} or less")],
            (false, false) => [value, format!("{low} to {high}")],
        }
    }
}

listed! {
    /// What a figure shows; the gravest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict {
        /// The new run is slower.
        Slower = "slower",
        /// More of its calls fail.
        FailsMore = "fails more",
        /// The new run is faster.
        Faster = "faster",
        /// Fewer of its calls fail.
        FailsLess = "fails less",
        /// The interval has both.
        NoneShown = "no difference shown",
        /// There is no interval.
        TooLittle = "too little data",
    }
}

impl Change {
    /// What the interval shows.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.estimate {
            None => Verdict::TooLittle,
            Some(estimate) if estimate.low > self.same => self.more_is,
            Some(estimate) if estimate.high < self.same => self.less_is,
            Some(_) => Verdict::NoneShown,
        }
    }
}

/// All figures that are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Rates and times, with their ratios.
    pub ratios: Vec<Row>,
    /// The share of failed calls, with the difference.
    pub failed: Row,
}

impl Rows {
    pub(super) fn of(old: &Run, new: &Run) -> Self {
        let mut figures = vec![Figure::Rate(Rate::Calls)];
        let one_message_each = |run: &Run| {
            let counts = run.figures().counts;
            counts.messages == counts.ok.saturating_add(counts.failed)
        };
        if !(one_message_each(old) && one_message_each(new)) {
            figures.push(Figure::Rate(Rate::Messages));
        }
        let statistics = RANKS_PPM.map(Statistic::Percentile);
        let statistics = std::iter::once(Statistic::Mean).chain(statistics);
        figures.extend(statistics.map(|statistic| Figure::Time(Times::Latency, statistic)));
        Self {
            ratios: figures
                .into_iter()
                .filter_map(|figure| ratio(old, new, figure))
                .collect(),
            failed: failed(old, new),
        }
    }

    /// The failed calls come last.
    pub fn all(&self) -> impl Iterator<Item = &Row> {
        self.ratios.iter().chain([&self.failed])
    }
}

/// A figure and its ratio; `None` if it has no interval.
pub(super) fn ratio(old: &Run, new: &Run, figure: Figure) -> Option<Row> {
    let (faster, slower) = (Verdict::Faster, Verdict::Slower);
    let (unit, more_is, less_is, resolution) = match figure {
        Figure::Rate(_) => (Unit::PerSecond, faster, slower, RATE_RESOLUTION),
        Figure::Time(Times::Latency, Statistic::Mean | Statistic::Percentile(..1_000_000)) => {
            (Unit::Ns, slower, faster, TIME_RESOLUTION)
        }
        _ => return None,
    };
    let logs = [old, new].map(|run| log(run, figure));
    let [old, new] = [old, new].map(|run| run.figures().measured(figure, unit));
    let is_bound = |measured: Option<Measured>| measured.is_some_and(|it| it.is_at_least);
    let half = |old, new| half_width(old, new) + resolution;
    let estimate = match logs {
        // Of two bounds, nothing is known.
        _ if is_bound(old) && is_bound(new) => None,
        [Some(old_log), Some(new_log)] if half(old_log.1, new_log.1) < MOST_HALF => {
            let half = half(old_log.1, new_log.1);
            let difference = new_log.0 - old_log.0;
            let end = |log: f64, bound, is_bound| if is_bound { bound } else { log.exp() };
            Some(Estimate {
                value: difference.exp(),
                low: end(difference - half, 0.0, is_bound(old)),
                high: end(difference + half, f64::INFINITY, is_bound(new)),
            })
        }
        _ => None,
    };
    Some(Row {
        name: figure.to_string(),
        unit,
        old,
        new,
        change: Change {
            estimate,
            more_is,
            less_is,
            same: 1.0,
        },
    })
}

/// The share of failed calls, in percent, and by how many points it changed.
fn failed(old: &Run, new: &Run) -> Row {
    let figure = Figure::Count(Count::Failed);
    let share = |run: &Run| run.figures().measured(figure, Unit::Percent);
    let percent = |slice: &Slice| {
        let ended = slice.ok.saturating_add(slice.failed);
        (slice.failed as f64 * 100.0, ended as f64)
    };
    let shares = [old, new].map(|run| quotient(run, percent));
    let estimate = match shares {
        [Some(old), Some(new)] => {
            let (value, half) = (new.0 - old.0, half_width(old.1, new.1));
            Some(Estimate {
                value,
                low: value - half,
                high: value + half,
            })
        }
        _ => None,
    };
    Row {
        name: "failed".to_owned(),
        unit: Unit::Percent,
        old: share(old),
        new: share(new),
        change: Change {
            estimate,
            more_is: Verdict::FailsMore,
            less_is: Verdict::FailsLess,
            same: 0.0,
        },
    }
}

/// The logarithm of a figure, and its scatter.
fn log(run: &Run, figure: Figure) -> Option<(f64, Scatter)> {
    match figure {
        Figure::Rate(rate) => {
            let count = |slice: &Slice| match rate {
                Rate::Calls => slice.ok,
                Rate::Messages => slice.messages,
            };
            let all: u64 = run.slices.iter().map(count).fold(0, u64::saturating_add);
            if (all as f64) < LEAST_SAMPLES {
                return None;
            }
            let (value, left_out) = quotients(run, |slice| (count(slice) as f64, run.interval_s))?;
            let logs: Vec<f64> = left_out.iter().map(|value| value.ln()).collect();
            Some((value.ln(), scatter(value.ln(), &logs)?))
        }
        Figure::Time(_, statistic) => {
            let measured = run.figures().measured(figure, Unit::Ns)?;
            let value = measured.value.max(1.0).ln();
            let pool = Pool::of(&run.slices, &run.ages);
            let whole = pool.log(statistic, None)?;
            let left_out = (0..pool.batches).map(|batch| pool.log(statistic, Some(batch)));
            let left_out: Option<Vec<f64>> = left_out.collect();
            Some((value, scatter(whole, &left_out?)?))
        }
        Figure::Count(_) => None,
    }
}

/// A quotient of sums over the slices, and its scatter.
fn quotient(run: &Run, of: impl Fn(&Slice) -> (f64, f64)) -> Option<(f64, Scatter)> {
    let (value, left_out) = quotients(run, of)?;
    Some((value, scatter(value, &left_out)?))
}

/// The same over all batches, and with one left out at a time.
fn quotients(run: &Run, of: impl Fn(&Slice) -> (f64, f64)) -> Option<(f64, Vec<f64>)> {
    let add = |sum: (f64, f64), part: (f64, f64)| (sum.0 + part.0, sum.1 + part.1);
    let batches = batches(run.slices.len()).into_iter();
    let batches = batches.filter_map(|batch| run.slices.get(batch));
    let sums: Vec<(f64, f64)> = batches
        .map(|batch| batch.iter().map(&of).fold((0.0, 0.0), add))
        .collect();
    let all = sums.iter().copied().fold((0.0, 0.0), add);
    let quotient = |(above, below): (f64, f64)| above / below;
    let left_out = sums
        .iter()
        .map(|(above, below)| quotient((all.0 - above, all.1 - below)));
    (all.1 > 0.0).then(|| (quotient(all), left_out.collect()))
}

/// The latencies of a run, by time and batch.
struct Pool {
    batches: usize,
    /// Ascending times in ns; the counts of each batch, and of all.
    buckets: Vec<(f64, Vec<f64>, f64)>,
}

impl Pool {
    /// `ages`: what is open at the end. They count as ends, in equal parts of each batch: no second can be blamed.
    fn of(slices: &[Slice], ages: &[(u64, u64)]) -> Self {
        let ranges = batches(slices.len());
        let mut buckets: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (batch, range) in ranges.iter().enumerate() {
            let slices = slices.get(range.clone()).unwrap_or_default();
            let ended = slices.iter().flat_map(|slice| &slice.latencies);
            let ended = ended.map(|(ns, count)| (*ns, *count as f64));
            let share = |count: u64| count as f64 / ranges.len() as f64;
            let open = ages.iter().map(|(ns, count)| (*ns, share(*count)));
            for (ns, count) in ended.chain(open) {
                let counts = buckets.entry(ns).or_insert_with(|| vec![0.0; ranges.len()]);
                if let Some(own) = counts.get_mut(batch) {
                    *own += count;
                }
            }
        }
        let with_sum = |(ns, counts): (u64, Vec<f64>)| {
            let sum = counts.iter().sum();
            (ns as f64, counts, sum)
        };
        Self {
            batches: ranges.len(),
            buckets: buckets.into_iter().map(with_sum).collect(),
        }
    }

    /// The logarithm of a statistic over all batches but one; `None` with too few samples.
    fn log(&self, statistic: Statistic, without: Option<usize>) -> Option<f64> {
        let counts = self.buckets.iter().map(|(ns, counts, sum)| {
            let left_out = without.and_then(|batch| counts.get(batch));
            (*ns, sum - left_out.copied().unwrap_or_default())
        });
        let all: f64 = counts.clone().map(|(_, count)| count).sum();
        let ns = match statistic {
            Statistic::Mean if all >= LEAST_SAMPLES => {
                counts.map(|(ns, count)| ns * count).sum::<f64>() / all
            }
            Statistic::Percentile(ppm) => {
                let rank = f64::from(ppm) / 1e6 * all;
                if rank < LEAST_SAMPLES || all - rank < LEAST_SAMPLES {
                    return None;
                }
                at_rank(counts, rank)?
            }
            _ => return None,
        };
        Some(ns.max(1.0).ln())
    }
}

/// The time at a rank. Times are taken to lie evenly in their buckets, so that it changes smoothly.
fn at_rank(counts: impl Iterator<Item = (f64, f64)>, rank: f64) -> Option<f64> {
    let (mut seen, mut below) = (0.0, 0.0);
    for (ns, count) in counts {
        if seen + count >= rank && count > 0.0 {
            let from = f64::max(below, ns * (1.0 - TIME_RESOLUTION));
            return Some(from + (ns - from) * (rank - seen) / count);
        }
        seen += count;
        below = ns;
    }
    None
}
