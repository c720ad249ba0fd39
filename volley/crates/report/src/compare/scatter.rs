//! How much a figure of one run scatters, and what that says of the ratio of two.
//!
//! The seconds of a run resemble their neighbours, so they are no independent samples. Batches of many seconds nearly
//! are (Schmeiser 1982). The jackknife, which leaves out one batch at a time, turns them into a standard error for any
//! smooth figure, percentiles of large samples included (Tukey 1958; Shao & Wu 1989). What correlation is left between
//! neighbouring batches widens the error as in a first-order autoregression; its estimate is raised by 1/n, because it is
//! biased by about that much (Kendall 1954).

/// More batches than this gain no precision, but lose independence.
pub const MOST_BATCHES: usize = 20;

/// With fewer batches, nothing is said.
pub const LEAST_BATCHES: usize = 5;

/// A correlation above this cannot be told from a trend.
const MOST_CORRELATION: f64 = 0.9;

/// The standard error of a figure, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    pub error: f64,
    pub freedom: f64,
}

/// Cuts so many seconds (or longer slices) into batches of equal length; the last one takes the rest.
pub fn batches(slices: usize) -> Vec<std::ops::Range<usize>> {
    let length = slices.div_ceil(MOST_BATCHES).max(1);
    let count = slices / length;
    let end = |batch| match batch + 1 == count {
        true => slices,
        false => (batch + 1) * length,
    };
    (0..count).map(|batch| batch * length..end(batch)).collect()
}

/// The scatter of a figure, from its value for all batches and its values with one batch left out. `None`: there are too
/// few.
pub fn scatter(whole: f64, left_out: &[f64]) -> Option<Scatter> {
    let count = left_out.len();
    let n = count as f64;
    let are_finite = whole.is_finite() && left_out.iter().all(|value| value.is_finite());
    if count < LEAST_BATCHES || !are_finite {
        return None;
    }
    let pseudo = left_out.iter();
    let pseudo = pseudo.map(|without| n * whole - (n - 1.0) * without);
    let mean = pseudo.clone().sum::<f64>() / n;
    let deviations: Vec<f64> = pseudo.map(|value| value - mean).collect();
    let squares: f64 = deviations.iter().map(|one| one * one).sum();
    if squares == 0.0 {
        return Some(Scatter {
            error: 0.0,
            freedom: n - 1.0,
        });
    }
    let neighbours = deviations.iter().zip(deviations.iter().skip(1));
    let lagged: f64 = neighbours.map(|(one, next)| one * next).sum();
    let correlation = (lagged / squares + 1.0 / n).clamp(0.0, MOST_CORRELATION);
    let widened = (1.0 + correlation) / (1.0 - correlation);
    Some(Scatter {
        error: (squares / (n - 1.0) / n * widened).sqrt(),
        freedom: n - 1.0,
    })
}

/// Half the length of the 95 % interval of the difference of two figures (Welch 1947).
pub fn half_width(old: Scatter, new: Scatter) -> f64 {
    let [old_square, new_square] = [old, new].map(|scatter| scatter.error * scatter.error);
    let sum = old_square + new_square;
    if sum == 0.0 {
        return 0.0;
    }
    let freedom =
        sum * sum / (old_square * old_square / old.freedom + new_square * new_square / new.freedom);
    t_quantile(freedom) * sum.sqrt()
}

/// What Student's t is below with a probability of 97.5 %; within a thousandth from 4 degrees of freedom on
/// (Abramowitz & Stegun 26.7.5).
pub fn t_quantile(freedom: f64) -> f64 {
    let z = 1.959_963_985_f64;
    // The factors of odd powers of z, the highest first.
    let odd_powers = |factors: &[f64]| {
        let powers = (0..factors.len() as i32).rev().map(|place| 2 * place + 1);
        let terms = factors.iter().zip(powers);
        terms
            .map(|(factor, power)| factor * z.powi(power))
            .sum::<f64>()
    };
    let terms = [
        odd_powers(&[1.0, 1.0]) / 4.0,
        odd_powers(&[5.0, 16.0, 3.0]) / 96.0,
        odd_powers(&[3.0, 19.0, 17.0, -15.0]) / 384.0,
        odd_powers(&[79.0, 776.0, 1482.0, -1920.0, -945.0]) / 92_160.0,
    ];
    let terms = terms.iter().rev();
    z + terms.fold(0.0, |sum, term| (sum + term) / freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_all_seconds_in_order() {
        for slices in 0..200 {
            let all = batches(slices);
            assert!(all.len() <= MOST_BATCHES);
            let covered: Vec<usize> = all.iter().cloned().flatten().collect();
            assert_eq!(covered, (0..slices).collect::<Vec<_>>());
        }
        let counts = [5, 20, 39].map(|slices| batches(slices).len());
        assert_eq!(counts, [5, 20, 19]);
    }

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        for (freedom, quantile) in [
            (4.0, 2.7764),
            (5.0, 2.5706),
            (8.0, 2.3060),
            (19.0, 2.0930),
            (38.0, 2.0244),
            (1e9, 1.9600),
        ] {
            let found = t_quantile(freedom);
            assert!((found - quantile).abs() < 0.001, "{found} for {freedom}");
        }
    }

    /// A mean that leaves out one batch at a time is the textbook's standard error.
    #[test]
    fn the_scatter_of_a_mean_is_the_textbooks() {
        let values = [3.0, 9.0, 1.0, 8.0, 2.0, 7.0];
        let sum: f64 = values.iter().sum();
        let left_out = values.map(|value| (sum - value) / 5.0);
        let found = scatter(sum / 6.0, &left_out).unwrap();
        // sd = 3.4059 over √6; neighbours differ, so nothing is widened.
        let off = found.error - 3.405_877 / 6f64.sqrt();
        assert!(off.abs() < 1e-5, "{found:?}");
        assert_eq!(scatter(sum / 6.0, &left_out[..4]), None);
    }
}
