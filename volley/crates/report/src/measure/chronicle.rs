//! The seconds of a run: all threads' counts come together, are summed up, and are forgotten.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SECOND_NS;
use super::bucket::{BUCKETS, highest_of};
use super::estimate::Estimate;
use super::latency::Percentile;
use super::second::{Bin, Second, SecondCounts};
use super::series::Series;
use super::slices::{LatencySeries, Slices};

/// Summaries are kept for the first day of a run.
const MOST_SECONDS: usize = 86_400;

/// A warm-up's seconds are kept for two hours.
const MOST_WARM_SECONDS: usize = 7_200;

/// What a thread counted since it last reported.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Seconds that are over, without empty ones. Those of the warm-up come first.
    pub seconds: Vec<SecondCounts>,
    /// The window is open.
    pub is_open: bool,
    /// So many seconds of the window, or of the warm-up, are over.
    pub through: u64,
    /// The ages of the calls that are open, in ns, and how many have each, ascending. Empty if nobody watches.
    pub ages: Vec<(u64, u64)>,
}

/// A second that all threads have passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Which second, from 0.
    pub at: u64,
    /// It belongs to the warm-up, whose seconds count from its own start.
    pub is_warm_up: bool,
    /// A second, unless it was the last one.
    pub length_ns: u64,
    /// Its counts.
    pub counts: Bin,
    /// The latencies of the calls that ended in it. With the ages of those that were open when it was over, unless a later
    /// second is told together with it, or nobody watches.
    pub with_open: WithOpen,
}

/// Latencies of a second, of ended and open calls; `None` without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithOpen {
    /// The median.
    pub p50: Option<Percentile>,
    /// The 99th percentile.
    pub p99: Option<Percentile>,
    /// The longest one.
    pub max: Option<Percentile>,
}

/// The seconds of a run.
pub struct Chronicle {
    /// For each thread: whether its window is open, and how many seconds it has passed; `None` once it is over.
    threads: Vec<Option<(bool, u64)>>,
    /// For each thread: what it last told of open calls.
    open: Vec<OpenCalls>,
    /// The same for all of them that are not over; it stands still once none is left.
    passed: (bool, u64),
    /// Seconds that some thread has not passed.
    warm: BTreeMap<u64, SecondCounts>,
    window: BTreeMap<u64, SecondCounts>,
    /// Messages in each second of the warm-up.
    warm_up: Vec<u64>,
    series: Series,
    seconds: Vec<Second>,
    slices: Slices,
    /// All latencies of each second, if they are to be merged with those of other processes.
    latencies: Option<Vec<Latencies>>,
}

/// The calls of a thread that are open.
#[derive(Clone, Debug, Default)]
struct OpenCalls {
    is_warm_up: bool,
    /// They were open before this second. Once the thread is over, nothing is.
    before: u64,
    /// An age in ns, and how many have it.
    ages: Vec<(u64, u64)>,
}

/// The latencies of a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Latencies {
    at: u64,
    max_ns: u64,
    /// Pairs of a bucket and its count, ascending.
    counts: Vec<(u16, u32)>,
}

impl Chronicle {
    /// For that many threads, with room for a window of that length. `is_part`: keeps what merging with other processes
    /// takes, which is some kilobytes a second.
    #[must_use]
    pub fn new(threads: u32, window_ns: u64, is_part: bool) -> Self {
        Self {
            latencies: is_part.then(Vec::new),
            threads: vec![Some((false, 0)); threads as usize],
            open: vec![OpenCalls::default(); threads as usize],
            passed: (false, 0),
            warm: BTreeMap::new(),
            window: BTreeMap::new(),
            warm_up: Vec::new(),
            series: Series::new(window_ns),
            seconds: Vec::new(),
            slices: Slices::default(),
        }
    }

    /// Takes what a thread reports. Returns the seconds that all threads have passed by now.
    pub fn take(&mut self, thread: u32, passed: Passed) -> Vec<Told> {
        let state = Some((passed.is_open, passed.through));
        self.note(thread, state, u64::MAX, passed);
        self.tell()
    }

    /// Notes where a thread is, and that its open calls count before that second.
    fn note(&mut self, thread: u32, state: Option<(bool, u64)>, before: u64, passed: Passed) {
        self.add(passed.seconds);
        let thread = thread as usize;
        if let (Some(known), Some(open)) = (self.threads.get_mut(thread), self.open.get_mut(thread))
        {
            *known = state;
            *open = OpenCalls {
                is_warm_up: !passed.is_open,
                before,
                ages: passed.ages,
            };
        }
    }

    /// The seconds that all threads have passed since the last time.
    fn tell(&mut self) -> Vec<Told> {
        let (was_open, from) = self.passed;
        self.passed = self.all_passed();
        let (is_open, through) = self.passed;
        match (was_open, is_open) {
            (false, false) => self.close_all(true, from..through),
            (false, true) => self.close_both(through),
            (true, _) => self.close_all(false, from..through),
        }
    }

    /// A thread is over. `last`: all that it had not reported; the last second need not be whole, and the ages are those at
    /// the end. Returns the seconds that only it had not passed.
    pub fn leave(&mut self, thread: u32, last: Passed) -> Vec<Told> {
        self.note(thread, None, last.through, last);
        self.tell()
    }

    /// All threads are over, after that time in the window. Returns the seconds that nobody was told of; the last one
    /// may not be whole.
    pub fn end(&mut self, elapsed_ns: u64) -> Vec<Told> {
        let (is_open, through) = self.passed;
        let last = self.window.last_key_value().map_or(0, |(at, _)| at + 1);
        let until = last.max(elapsed_ns.div_ceil(SECOND_NS));
        self.passed = (true, until);
        match is_open {
            true => self.close_all(false, through..until),
            false => self.close_both(until),
        }
    }

    /// Takes the last seconds of a thread, whole or not.
    pub fn add(&mut self, seconds: Vec<SecondCounts>) {
        for second in seconds {
            let open = self.seconds_of(second.is_warm_up);
            open.entry(second.at).or_default().add(second);
        }
    }

    /// All figures of a run of that length, after a warm-up of that length. `due_before`: how many calls were due before
    /// a moment of the window.
    pub(super) fn finish(
        mut self,
        elapsed_ns: u64,
        warmup_ns: u64,
        due_before: impl Fn(u64) -> u64,
    ) -> History {
        self.close_all(true, self.warm_left());
        while let Some((at, _)) = self.window.first_key_value() {
            self.close(*at, false, &[]);
        }
        let (width_ns, mut bins) = self.series.finish(elapsed_ns);
        let ends = (1..).map(|bin: u64| bin.saturating_mul(width_ns));
        let mut before = 0;
        for (bin, end_ns) in bins.iter_mut().zip(ends) {
            let due = due_before(end_ns);
            bin.due = due - before;
            before = due;
        }
        History {
            width_ns,
            bins,
            seconds: self.seconds,
            slices: self.slices,
            latencies: self.latencies,
            warm_up: whole_warm_up(self.warm_up, warmup_ns),
        }
    }

    /// Whether all windows are open, and how many seconds all threads have passed of it, or else of the warm-up.
    fn all_passed(&self) -> (bool, u64) {
        let left = self.threads.iter().flatten();
        let is_open = left.clone().all(|(is_open, _)| *is_open);
        let same = left.filter(|(open, _)| *open == is_open);
        let through = same.map(|(_, through)| *through).min();
        through.map_or(self.passed, |through| (is_open, through))
    }

    /// The rest of the warm-up, and the window's seconds before one.
    fn close_both(&mut self, until: u64) -> Vec<Told> {
        let mut told = self.close_all(true, self.warm_left());
        told.extend(self.close_all(false, 0..until));
        told
    }

    /// The seconds of the warm-up that have counts and that nobody was told of.
    fn warm_left(&self) -> Vec<u64> {
        self.warm.keys().copied().collect()
    }

    /// Closes seconds, ascending. Ages are known for the last one of them only.
    fn close_all(&mut self, is_warm_up: bool, seconds: impl IntoIterator<Item = u64>) -> Vec<Told> {
        let mut seconds = seconds.into_iter().peekable();
        let mut told = Vec::new();
        while let Some(at) = seconds.next() {
            let ages = match seconds.peek() {
                Some(_) => Vec::new(),
                None => self.ages_at(at, is_warm_up),
            };
            told.push(self.close(at, is_warm_up, &ages));
        }
        told
    }

    /// The ages of all threads' open calls, ascending.
    fn ages_at(&self, at: u64, is_warm_up: bool) -> Vec<(u64, u64)> {
        let open = self.open.iter();
        let open = open.filter(|open| open.is_warm_up == is_warm_up && at < open.before);
        let mut ages: Vec<_> = open.flat_map(|open| open.ages.iter().copied()).collect();
        ages.sort_unstable();
        ages
    }

    /// The seconds of a stage that some thread has not passed.
    fn seconds_of(&mut self, is_warm_up: bool) -> &mut BTreeMap<u64, SecondCounts> {
        match is_warm_up {
            true => &mut self.warm,
            false => &mut self.window,
        }
    }

    fn close(&mut self, at: u64, is_warm_up: bool, ages: &[(u64, u64)]) -> Told {
        let mut second = self.seconds_of(is_warm_up).remove(&at).unwrap_or_default();
        let (counts, latency) = (second.sum(), second.latency());
        let with_open = second.with_open(ages);
        if is_warm_up {
            let most = MOST_WARM_SECONDS + 1;
            put(&mut self.warm_up, at, most, counts.messages);
        } else {
            self.series.add(at, &second.bins);
            put(&mut self.seconds, at, MOST_SECONDS, latency);
            match &mut self.latencies {
                None => self.slices.add(at, &second.latencies),
                Some(latencies) if at < MOST_SECONDS as u64 => latencies.push(Latencies {
                    at,
                    max_ns: second.max_ns,
                    counts: second.latencies,
                }),
                Some(_) => {}
            }
        }
        Told {
            at,
            is_warm_up,
            length_ns: SECOND_NS,
            counts,
            with_open,
        }
    }
}

/// What a run's seconds were.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    /// The length of a bin.
    pub width_ns: u64,
    /// All bins.
    pub bins: Vec<Bin>,
    /// Messages in each second of the warm-up; `None` without one, or if it was too long.
    pub warm_up: Option<Vec<u64>>,
    /// Each second since the window opened.
    #[serde(skip)]
    seconds: Vec<Second>,
    /// Of a part, they follow from its latencies.
    #[serde(skip)]
    slices: Slices,
    latencies: Option<Vec<Latencies>>,
}

impl History {
    /// Whether its bins have a length that bins have, and its latencies have buckets that exist.
    pub fn is_sound(&self) -> bool {
        let mut latencies = self.latencies.iter().flatten();
        let exist = |second: &Latencies| {
            let mut buckets = second.counts.iter();
            buckets.all(|(bucket, _)| usize::from(*bucket) < BUCKETS)
        };
        Series::is_width(self.width_ns) && latencies.all(exist)
    }

    /// Adds that of another process.
    pub fn merge(&mut self, other: Self) {
        let mut series = Series::again(self.width_ns, std::mem::take(&mut self.bins));
        series.merge(Series::again(other.width_ns, other.bins));
        (self.width_ns, self.bins) = series.finish(0);
        let latencies = self.latencies.get_or_insert_default();
        latencies.extend(other.latencies.unwrap_or_default());
        self.warm_up = match (self.warm_up.take(), other.warm_up) {
            (Some(mut mine), Some(theirs)) => {
                mine.resize(mine.len().max(theirs.len()), 0);
                for (mine, theirs) in mine.iter_mut().zip(theirs) {
                    *mine = mine.saturating_add(theirs);
                }
                Some(mine)
            }
            _ => None,
        };
    }

    /// The latencies over time of a run of that length.
    pub fn latency_series(&self, elapsed_ns: u64) -> LatencySeries {
        let mut slices = self.slices.clone();
        for second in self.latencies.iter().flatten() {
            slices.add(second.at, &second.counts);
        }
        slices.finish(elapsed_ns)
    }

    /// Each second of a run of that length.
    pub fn into_seconds(self, elapsed_ns: u64) -> Vec<Second> {
        let mut seconds = self.seconds;
        let mut together: BTreeMap<u64, SecondCounts> = BTreeMap::new();
        for part in self.latencies.into_iter().flatten() {
            let second = together.entry(part.at).or_default();
            second.latencies.extend(part.counts);
            second.max_ns = second.max_ns.max(part.max_ns);
        }
        for (at, mut second) in together {
            put(&mut seconds, at, MOST_SECONDS, second.latency());
        }
        let begun = usize::try_from(elapsed_ns.div_ceil(SECOND_NS)).unwrap_or(MOST_SECONDS);
        let length = seconds.len().max(begun.min(MOST_SECONDS));
        seconds.resize(length, Second::default());
        seconds
    }
}

fn whole_warm_up(mut seconds: Vec<u64>, warmup_ns: u64) -> Option<Vec<u64>> {
    let begun = usize::try_from(warmup_ns.div_ceil(SECOND_NS)).ok()?;
    let is_whole = (1..=MOST_WARM_SECONDS).contains(&begun);
    is_whole.then(|| {
        seconds.resize(begun, 0);
        seconds
    })
}

/// Puts an item at its place, unless that is beyond the limit.
fn put<T: Clone + Default>(list: &mut Vec<T>, at: u64, most: usize, item: T) {
    let Ok(place) = usize::try_from(at) else {
        return;
    };
    if place < most {
        if list.len() <= place {
            list.resize(place + 1, T::default());
        }
        list[place] = item;
    }
}

impl SecondCounts {
    fn add(&mut self, other: Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.add(theirs);
        }
        self.latencies.extend(other.latencies);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The latencies of the calls that ended in this second.
    fn latency(&mut self) -> Second {
        self.latencies.sort_unstable();
        self.latencies.dedup_by(|(bucket, count), (kept, sum)| {
            let is_same = bucket == kept;
            *sum = sum.saturating_add(if is_same { *count } else { 0 });
            is_same
        });
        let counts = self.latencies.iter().map(|&(_, count)| u64::from(count));
        let samples = counts.sum();
        Second {
            p50_ns: self.at_percent(50, samples),
            p99_ns: self.at_percent(99, samples),
            max_ns: self.max_ns,
            samples,
        }
    }

    /// The same with the ages of the calls that are open, ascending.
    fn with_open(&self, ages: &[(u64, u64)]) -> WithOpen {
        let time_of = |bucket| highest_of(bucket).min(self.max_ns);
        let ended = self.latencies.iter();
        let ended = ended.map(|(bucket, count)| (time_of(*bucket), u64::from(*count)));
        let ended: Vec<_> = ended.collect();
        let estimate = Estimate::new(&ended, ages);
        WithOpen {
            p50: estimate.at(500_000),
            p99: estimate.at(990_000),
            max: estimate.at(1_000_000),
        }
    }

    /// By nearest rank.
    fn at_percent(&self, percent: u64, samples: u64) -> u64 {
        let rank = (u128::from(samples) * u128::from(percent)).div_ceil(100);
        let rank = u64::try_from(rank).unwrap_or(samples);
        let mut seen = 0;
        for &(bucket, count) in &self.latencies {
            seen += u64::from(count);
            if seen >= rank {
                return highest_of(bucket).min(self.max_ns);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests;
