//! Which rates are tried, and what they say in the end.
//!
//! From [`LOWEST`] on, the rate doubles until a window does not keep the limits, and is then halved in (by geometric means), in
//! short windows. From then on, each window is at the rate that the maximum likelihood line of all windows so far says, a little
//! above or below it in turn: C. F. J. Wu, "Efficient sequential designs with binary data", Journal of the American Statistical
//! Association 80 (1985), 974–984. A window gives two numbers, not one bit, so that a bisection by bits (Waeber, Frazier &
//! Henderson 2013) would leave most of it unused.

use std::time::Duration;

use super::fit::{Fit, Seen};

/// The lowest rate that is tried, in calls/s; and the highest.
pub const LOWEST: u32 = 100;
const HIGHEST: u32 = 10_000_000;
/// The share of calls that may be over the limit: that of a 99th percentile.
pub const OVER: f64 = 0.01;
/// No share is so small that a search for it would end.
const LEAST_SHARE: f64 = 1e-6;

/// The length of a window, after the time in which the server settles.
const SETTLE: Duration = Duration::from_millis(500);
const LENGTH: Duration = Duration::from_millis(2500);
/// The same while the place is only roughly known, of few calls and of many.
const ROUGH_SETTLE: Duration = Duration::from_millis(250);
const ROUGH_LENGTH: Duration = Duration::from_secs(1);
const ROUGH_SHORT: Duration = Duration::from_millis(500);
const MANY: u32 = 1000;
/// It is roughly known if this factor is between a rate that keeps the limits and one that does not.
const ROUGH: f64 = 1.2;
/// So many times the target in a window: no second look is needed.
const CLEAR: f64 = 20.0;
/// The distance of windows from where the target seems to be, as the logarithm of a share's factor; at a line that is at least
/// so steep.
const ASIDE: f64 = 0.8;
const LEAST_STEEPNESS: f64 = 5.0;
/// Rates are looked for so far outside of those that were tried (a factor's logarithm).
const BEYOND: f64 = 0.4;

/// The shortest search: it must reach some windows after the doubling.
pub const LEAST_BUDGET: Duration = Duration::from_secs(20);

/// A window that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Calls/s.
    pub rate: u32,
    /// Not counted.
    pub settle: Duration,
    /// Counted.
    pub length: Duration,
}

/// What a window has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that were due.
    pub calls: u64,
    /// Those of them that took longer than the limit, or never ended.
    pub over: u64,
    /// Those that failed.
    pub failed: u64,
    /// Replies that were not as expected.
    pub wrong: u64,
    /// The 99th percentile; `None` if more never ended, or there were no calls.
    pub p99_ns: Option<u64>,
    /// volley sent late.
    pub is_late: bool,
    /// Calls waited because the server allowed no more streams.
    pub is_full: bool,
}

/// A window that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub order: Order,
    pub counts: Counts,
    /// The limits were kept.
    pub kept: bool,
}

/// What a search says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// This rate, and the 95 % interval.
    Found { rate: f64, low: f64, high: f64 },
    /// Not even the lowest one.
    Below(u32),
    /// At least this rate.
    AtLeast { rate: f64, why: Why },
    /// The search was ended before a window kept the limits.
    Unknown,
}

/// Why there is no upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Where the limits were not kept, volley itself was late.
    Volley,
    /// There, calls waited for a stream: the server allows too few on so many connections.
    Streams,
    /// No rate that was tried has broken the limits.
    Unbroken,
}

/// Measures a window; `None` ends the search.
pub type Measure<'a, E> = &'a mut dyn FnMut(&Order) -> Result<Option<Counts>, E>;

/// A search: it tries rates for `budget` of load, waits not included, with at most `failed` as the share of failed calls.
///
/// A failure after the first window ends it: what is known by then comes with the failure.
///
/// # Errors
///
/// That of the first window's `measure`.
pub fn search<E>(
    failed: f64,
    budget: Duration,
    measure: Measure<'_, E>,
    on_step: &mut dyn FnMut(&Step),
) -> Result<(Answer, Option<E>), E> {
    let mut search = Search {
        failed: failed.max(LEAST_SHARE),
        left: budget,
        steps: Vec::new(),
        is_below: false,
        measure,
        on_step,
    };
    match search.go() {
        Err(Stop::Failed(error)) if search.steps.is_empty() => Err(error),
        Err(Stop::Failed(error)) => Ok((search.answer(), Some(error))),
        Ok(()) | Err(Stop::Over) => Ok((search.answer(), None)),
    }
}

struct Search<'a, E> {
    failed: f64,
    left: Duration,
    steps: Vec<Step>,
    /// The lowest rate had all its chances.
    is_below: bool,
    measure: Measure<'a, E>,
    on_step: &'a mut dyn FnMut(&Step),
}

/// Why no more windows are measured.
enum Stop<E> {
    Over,
    Failed(E),
}

impl<E> Search<'_, E> {
    fn go(&mut self) -> Result<(), Stop<E>> {
        let (mut low, mut high) = (None, None);
        let mut rate = LOWEST;
        loop {
            match self.roughly(rate)? {
                true => low = Some(rate),
                false => high = Some(rate),
            }
            rate = match (low, high) {
                (None, _) => {
                    self.is_below = true;
                    return Ok(());
                }
                (Some(low), None) if low > HIGHEST / 2 => return Ok(()),
                (Some(low), None) => 2 * low,
                (Some(low), Some(high)) if f64::from(high) < ROUGH * f64::from(low) => break,
                (Some(low), Some(high)) => (f64::from(low) * f64::from(high)).sqrt() as u32,
            };
        }
        let mut aside = ASIDE;
        loop {
            let fit = self.binding();
            aside = -aside;
            let log_rate = fit.log_rate + aside / fit.steepness.max(LEAST_STEEPNESS);
            let rate = (log_rate.exp() as u32).clamp(LOWEST, HIGHEST);
            self.window(Order {
                rate,
                settle: SETTLE,
                length: LENGTH,
            })?;
        }
    }

    /// Whether a rate keeps the limits. Unless that is clear, it has a second chance, and the lowest one a third.
    fn roughly(&mut self, rate: u32) -> Result<bool, Stop<E>> {
        let order = Order {
            rate,
            settle: ROUGH_SETTLE,
            length: if rate < MANY {
                ROUGH_LENGTH
            } else {
                ROUGH_SHORT
            },
        };
        let chances = if rate == LOWEST { 3 } else { 2 };
        for _ in 0..chances {
            let Step { counts, kept, .. } = self.window(order)?;
            let share = |hits: u64| hits as f64 / counts.calls.max(1) as f64;
            if kept {
                return Ok(true);
            } else if share(counts.over) > CLEAR * OVER && rate > LOWEST {
                break;
            }
        }
        Ok(false)
    }

    fn window(&mut self, order: Order) -> Result<Step, Stop<E>> {
        let left = self.left.checked_sub(order.settle + order.length);
        self.left = left.ok_or(Stop::Over)?;
        let counts = (self.measure)(&order).map_err(Stop::Failed)?;
        let counts = counts.ok_or(Stop::Over)?;
        let within = |hits: u64, share: f64| hits as f64 <= share * counts.calls as f64;
        let step = Step {
            order,
            counts,
            kept: within(counts.over, OVER) && within(counts.failed, self.failed),
        };
        self.steps.push(step);
        (self.on_step)(&step);
        Ok(step)
    }

    /// The line that meets its target first.
    fn binding(&self) -> Fit {
        let over = self.fit(OVER, |counts| counts.over);
        let fails =
            |step: &Step| step.counts.failed as f64 > self.failed * step.counts.calls as f64;
        if !self.steps.iter().any(fails) {
            return over;
        }
        let failed = self.fit(self.failed, |counts| counts.failed);
        if failed.log_rate < over.log_rate {
            failed
        } else {
            over
        }
    }

    fn fit(&self, target: f64, hits: fn(&Counts) -> u64) -> Fit {
        let seen = self.steps.iter().map(|step| Seen {
            log_rate: f64::from(step.order.rate).ln(),
            calls: step.counts.calls as f64,
            hits: hits(&step.counts) as f64,
        });
        let rates = || self.steps.iter().map(|step| step.order.rate);
        let [least, most] =
            [rates().min(), rates().max()].map(|rate| f64::from(rate.unwrap_or(LOWEST)).ln());
        let lowest = f64::from(LOWEST).ln().max(least - BEYOND);
        Fit::new(target, (lowest, most + BEYOND), &seen.collect::<Vec<_>>())
    }

    fn answer(&self) -> Answer {
        let rates = |kept| {
            let steps = self.steps.iter().filter(move |step| step.kept == kept);
            steps.map(|step| step.order.rate)
        };
        let Some(highest) = rates(true).max() else {
            return match self.is_below {
                true => Answer::Below(LOWEST),
                false => Answer::Unknown,
            };
        };
        let unbroken = Answer::AtLeast {
            rate: highest.into(),
            why: Why::Unbroken,
        };
        if rates(false).next().is_none() {
            return unbroken;
        }
        let fit = self.binding();
        let (low, high) = fit.interval();
        let (rate, low, high) = (fit.log_rate.exp(), low.exp(), high.exp());
        let broken = self
            .steps
            .iter()
            .filter(|step| !step.kept && f64::from(step.order.rate) >= low);
        let (late, punctual): (Vec<&Step>, Vec<&Step>) =
            broken.partition(|step| step.counts.is_late);
        if late.len() > punctual.len() {
            let full = late.iter().filter(|step| step.counts.is_full).count();
            let why = match 2 * full > late.len() {
                true => Why::Streams,
                false => Why::Volley,
            };
            return Answer::AtLeast { rate: low, why };
        }
        Answer::Found { rate, low, high }
    }
}
