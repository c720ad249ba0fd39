//! The rate at which a share of hits (calls over the limit, or failed ones) reaches its target, with its interval.
//!
//! A window at rate r has negative binomial hits: their mean is the calls times a share whose logarithm is a line of log r,
//! and their variance is more than their mean, because calls that queue are hit together. All three numbers (where the line
//! meets the target, its steepness, the excess of the variance) are found by maximum likelihood. Windows are independent of
//! each other: between two of them the server is idle. So nothing needs to be known of how calls inside one depend on each other.
//!
//! The interval is that of the profile likelihood ratio (McCullagh & Nelder, Generalized Linear Models, 1989), with Student's
//! quantile in place of the normal one.

use volley_report::compare::t_quantile;

/// How steep the line may be, as a natural logarithm: the share grows by 2 % to 1,000 % if the rate grows by 1 %.
const STEEPNESS: (f64, f64) = (0.7, 6.2);
/// What is expected of it beforehand, loosely: its mean and its standard deviation.
const EXPECTED_STEEPNESS: (f64, f64) = (3.4, 1.0);
/// The excess of the variance at the target's share, as a logarithm; and what is expected of it, as loosely.
const LEAST_EXCESS: f64 = -4.0;
const EXPECTED_EXCESS: (f64, f64) = (4.0, 2.0);
/// It is no more than this part of a window's calls: not all of its hits are one queue's.
const MOST_EXCESS: f64 = 0.1;
/// The excess grows with this power of the share: longer queues hit more calls together. In an M/M/c queue it is 0.5.
const EXCESS_POWER: f64 = 0.5;
/// Further from the target than this factor (a logarithm), the line is flat, and hits count up to there: the share's growth is
/// a line near its target only, and an overloaded server is late with more calls the longer a window is.
const REACH: f64 = 3.0;
/// The degrees of freedom of the windows are divided by this: few of their hits are independent, so the variance is known worse
/// than their number says. With 3, intervals of M/M/c queues hold the truth in 95 % of the searches (`tests/queue.rs`).
const CAUTION: f64 = 3.0;
/// Far below it, a share is never less than by this.
const DEPTH: f64 = 8.0;
/// How far the excess may be from what was found, as a factor's logarithm.
const DOUBT: f64 = 1.5;
/// An end of the interval is looked for in steps that double from this one.
const FIRST_STEP: f64 = 0.01;
/// The range is looked at in so many places first.
const PLACES: u32 = 24;

/// What was seen in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The natural logarithm of its rate.
    pub log_rate: f64,
    pub calls: f64,
    pub hits: f64,
}

/// A line through what was seen.
#[derive(Clone, Debug)]
pub struct Fit {
    log_target: f64,
    range: (f64, f64),
    seen: Vec<Seen>,
    /// Where the line meets the target: the logarithm of a rate.
    pub log_rate: f64,
    /// By how much the logarithm of the share grows with that of the rate.
    pub steepness: f64,
    log_excess: f64,
    most_excess: f64,
}

impl Fit {
    /// The line whose share is `target` at a rate in `range`.
    pub fn new(target: f64, range: (f64, f64), all: &[Seen]) -> Self {
        let calls = all.iter().map(|one| one.calls).fold(0.0, f64::max);
        let most = (MOST_EXCESS * calls).max(1.0);
        let mut fit = Self {
            log_target: target.ln(),
            range,
            seen: all
                .iter()
                .map(|one| Seen {
                    hits: one.hits.min((target.ln() + REACH).exp() * one.calls),
                    ..*one
                })
                .collect(),
            log_rate: f64::midpoint(range.0, range.1),
            steepness: EXPECTED_STEEPNESS.0.exp(),
            log_excess: EXPECTED_EXCESS.0,
            most_excess: most.ln(),
        };
        fit.climb();
        fit
    }

    /// Finds the three numbers.
    fn climb(&mut self) {
        for _ in 0..3 {
            let before = self.log_rate;
            let excess = self.log_excess;
            let best = |x| self.steepest(x, excess).1;
            let width = (self.range.1 - self.range.0) / f64::from(PLACES);
            let places = (0..=PLACES).map(|place| self.range.0 + width * f64::from(place));
            let first = places
                .max_by(|a, b| best(*a).total_cmp(&best(*b)))
                .unwrap_or(self.log_rate);
            let around = (
                (first - width).max(self.range.0),
                (first + width).min(self.range.1),
            );
            self.log_rate = highest(around, 2e-4, best).0;
            self.steepness = self.steepest(self.log_rate, excess).0.exp();
            let (x, steepness) = (self.log_rate, self.steepness.ln());
            self.log_excess = highest((LEAST_EXCESS, self.most_excess), 0.05, |excess| {
                self.likelihood(x, steepness, excess)
            })
            .0;
            if (before - self.log_rate).abs() < 5e-4 {
                break;
            }
        }
    }

    fn steepest(&self, x: f64, excess: f64) -> (f64, f64) {
        highest(STEEPNESS, 0.03, |steepness| {
            self.likelihood(x, steepness, excess)
        })
    }

    /// The likelihood's logarithm, and that of what was expected beforehand.
    fn likelihood(&self, x: f64, log_steepness: f64, log_excess: f64) -> f64 {
        let (steepness, excess) = (log_steepness.exp(), log_excess.exp());
        let of = |one: &Seen| {
            let above = (steepness * (one.log_rate - x)).clamp(-DEPTH, REACH);
            let mean = one.calls * (above + self.log_target).exp();
            let is_cut = one.hits >= 0.999 * (self.log_target + REACH).exp() * one.calls;
            let excess = if is_cut {
                EXPECTED_EXCESS.0.exp()
            } else {
                excess
            } * (EXCESS_POWER * above).exp();
            let shape = mean / excess;
            ln_gamma(one.hits + shape)
                - ln_gamma(shape)
                - ln_gamma(one.hits + 1.0)
                - shape * excess.ln_1p()
                - one.hits * (1.0 / excess).ln_1p()
        };
        let expected =
            |value: f64, (mean, deviation): (f64, f64)| -0.5 * ((value - mean) / deviation).powi(2);
        self.seen.iter().map(of).sum::<f64>()
            + expected(log_steepness, EXPECTED_STEEPNESS)
            + expected(log_excess, EXPECTED_EXCESS)
    }

    fn profile(&self, x: f64) -> f64 {
        let around = (
            self.log_excess - DOUBT,
            (self.log_excess + DOUBT).min(self.most_excess),
        );
        highest(around, 0.1, |excess| self.steepest(x, excess).1).1
    }

    /// The interval of 95 % of that rate's logarithm.
    pub fn interval(&self) -> (f64, f64) {
        let steepness = self.steepness;
        let is_near = |one: &&Seen| (steepness * (one.log_rate - self.log_rate)).abs() < REACH;
        let freedom = (self.seen.iter().filter(is_near).count() as f64 - 3.0) / CAUTION;
        let drop = 0.5 * t_quantile(freedom.max(2.0)).powi(2);
        let top = self.profile(self.log_rate);
        let edge = |end: f64| {
            let mut inside = self.log_rate;
            let mut step = FIRST_STEP * (end - inside).signum();
            let mut outside = loop {
                let is_last = (end - inside).abs() <= step.abs();
                let next = if is_last { end } else { inside + step };
                if top - self.profile(next) >= drop {
                    break next;
                } else if is_last {
                    return end;
                }
                inside = next;
                step *= 2.0;
            };
            while (outside - inside).abs() > 3e-4 {
                let middle = f64::midpoint(inside, outside);
                match top - self.profile(middle) < drop {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            outside
        };
        (edge(self.range.0), edge(self.range.1))
    }
}

/// The place of a function's only maximum, within `tolerance`, and its value there (golden section).
fn highest((mut low, mut high): (f64, f64), tolerance: f64, of: impl Fn(f64) -> f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (of(left), of(right));
    while high - low > tolerance {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = of(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = of(right);
        }
    }
    if at_left > at_right {
        (left, at_left)
    } else {
        (right, at_right)
    }
}

/// Stirling's series, beyond 8 (Abramowitz & Stegun 1964, 6.1.41).
fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - f64::ln(product)
}
