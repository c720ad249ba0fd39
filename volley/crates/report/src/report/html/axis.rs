//! Axis ticks at round numbers.

/// The end of an axis that starts at 0, and its ticks: at most `most`, in steps of 1, 2 or 5 times
/// a power of ten.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub end: f64,
    pub ticks: Vec<f64>,
    step: f64,
}

impl Axis {
    /// An axis from 0 that includes `greatest`; only whole numbers if `whole`.
    pub fn holding(greatest: f64, most: usize, whole: bool) -> Self {
        let is_usable = greatest.is_finite() && greatest > 0.0;
        let greatest = if is_usable { greatest } else { 1.0 };
        let step = round_step(greatest / most as f64);
        let step = if whole { step.max(1.0) } else { step };
        let count = (greatest / step - 1e-9).ceil().max(1.0) as usize;
        let ticks: Vec<f64> = (0..=count).map(|place| place as f64 * step).collect();
        Self {
            end: count as f64 * step,
            ticks,
            step,
        }
    }

    /// Ticks up to `end` itself, which remains the end of the axis.
    pub fn ending(end: f64, most: usize) -> Self {
        let Self {
            mut ticks, step, ..
        } = Self::holding(end, most, false);
        ticks.retain(|tick| *tick <= end * (1.0 + 1e-9));
        Self { end, ticks, step }
    }

    /// The places of the ticks, as shares of the axis, with their labels.
    pub fn labelled(&self, label: impl Fn(&Self, f64) -> String) -> Vec<(f64, String)> {
        let ticks = self.ticks.iter();
        let labelled = ticks.map(|tick| (tick / self.end, label(self, *tick)));
        labelled.collect()
    }

    /// A tick with as many decimals as the step needs.
    pub fn label(&self, tick: f64) -> String {
        let decimals = (-self.step.log10()).ceil().max(0.0) as usize;
        format!("{tick:.decimals$}")
    }
}

/// The smallest of 1, 2, 5 × 10^n that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let is_enough = |times: &f64| times * power >= least * (1.0 - 1e-9);
    let times = [1.0, 2.0, 5.0].into_iter().find(is_enough);
    times.unwrap_or(10.0) * power
}

/// `3.5 M`, `250 k`, `12`: counts and rates for the step of `axis`.
pub fn short(axis: &Axis, tick: f64) -> String {
    let (name, scale) = match axis.end {
        end if end >= 1e9 => (" G", 1e9),
        end if end >= 1e6 => (" M", 1e6),
        end if end >= 1e4 => (" k", 1e3),
        _ => ("", 1.0),
    };
    if tick == 0.0 {
        return "0".to_owned();
    }
    let scaled = Axis {
        end: axis.end / scale,
        ticks: Vec::new(),
        step: axis.step / scale,
    };
    format!("{}{name}", scaled.label(tick / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_greatest_value() {
        assert_eq!(
            Axis::holding(977.0, 5, false).ticks,
            [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
        );
        assert_eq!(Axis::holding(1.0, 4, false).end, 1.0);
        assert_eq!(Axis::holding(3.0, 5, true).ticks, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(Axis::holding(1.0, 5, true).ticks, [0.0, 1.0]);
    }

    #[test]
    fn nothing_still_makes_an_axis() {
        for greatest in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Axis::holding(greatest, 5, false).end, 1.0);
        }
    }

    #[test]
    fn labels_have_the_decimals_they_need() {
        let axis = Axis::holding(0.42, 5, false);
        assert_eq!(axis.label(axis.end), "0.5");
        let axis = Axis::holding(3_390_000.0, 5, false);
        let labels: Vec<String> = axis.ticks.iter().map(|tick| short(&axis, *tick)).collect();
        assert_eq!(labels, ["0", "1 M", "2 M", "3 M", "4 M"]);
    }

    #[test]
    fn an_axis_of_time_ends_where_the_run_does() {
        let axis = Axis::ending(5.0032, 5);
        assert_eq!(axis.end, 5.0032);
        assert_eq!(axis.ticks, [0.0, 2.0, 4.0]);
    }
}
