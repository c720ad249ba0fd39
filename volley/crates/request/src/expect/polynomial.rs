//! Polynomials in `i` over 64-bit words.
//!
//! `+`, `-` and `*` of constants and `i` always give polynomials, so folding always succeeds. The
//! words form a ring, so the folded value equals the direct one, overflow included.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Polynomial {
    constant: u64,
    slope: u64,
    /// Coefficients of `i²` and up; the last is not zero.
    higher: Box<[u64]>,
}

impl Polynomial {
    pub(super) fn constant(value: u64) -> Self {
        Self::linear(value, 0)
    }

    /// `i` itself.
    pub(super) fn index() -> Self {
        Self::linear(0, 1)
    }

    fn linear(constant: u64, slope: u64) -> Self {
        Self {
            constant,
            slope,
            higher: Box::default(),
        }
    }

    #[inline]
    pub(super) fn at(&self, i: u64) -> u64 {
        let linear = self.constant.wrapping_add(self.slope.wrapping_mul(i));
        if self.higher.is_empty() {
            linear
        } else {
            linear.wrapping_add(self.curve(i))
        }
    }

    /// By how much it rises with each `i`; none if that is not the same everywhere.
    #[inline]
    pub(super) fn slope(&self) -> Option<u64> {
        self.higher.is_empty().then_some(self.slope)
    }

    #[cold]
    fn curve(&self, i: u64) -> u64 {
        let horner = self.higher.iter().rev().fold(0_u64, |sum, factor| {
            sum.wrapping_mul(i).wrapping_add(*factor)
        });
        horner.wrapping_mul(i).wrapping_mul(i)
    }

    pub(super) fn negated(&self) -> Self {
        self.times(&Self::constant(u64::MAX))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        if self.higher.is_empty() && other.higher.is_empty() {
            return Self::linear(
                self.constant.wrapping_add(other.constant),
                self.slope.wrapping_add(other.slope),
            );
        }
        let count = self.count().max(other.count());
        let left = self.coefficients().chain(std::iter::repeat(0));
        let right = other.coefficients().chain(std::iter::repeat(0));
        Self::from(
            left.zip(right)
                .take(count)
                .map(|(left, right)| left.wrapping_add(right))
                .collect::<Vec<_>>(),
        )
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        if self.count() + other.count() == 4 && (self.slope == 0 || other.slope == 0) {
            let slope = (self.slope.wrapping_mul(other.constant))
                .wrapping_add(other.slope.wrapping_mul(self.constant));
            return Self::linear(self.constant.wrapping_mul(other.constant), slope);
        }
        let mut product = vec![0_u64; self.count() + other.count()];
        for (shift, left) in self.coefficients().enumerate() {
            for (sum, right) in product.iter_mut().skip(shift).zip(other.coefficients()) {
                *sum = sum.wrapping_add(left.wrapping_mul(right));
            }
        }
        Self::from(product)
    }

    fn count(&self) -> usize {
        2 + self.higher.len()
    }

    fn coefficients(&self) -> impl Iterator<Item = u64> + '_ {
        [self.constant, self.slope]
            .into_iter()
            .chain(self.higher.iter().copied())
    }
}

impl From<Vec<u64>> for Polynomial {
    fn from(mut coefficients: Vec<u64>) -> Self {
        let used = coefficients
            .iter()
            .rposition(|factor| *factor != 0)
            .map_or(0, |last| last + 1);
        coefficients.truncate(used);
        coefficients.resize(used.max(2), 0);
        let higher = coefficients.split_off(2).into_boxed_slice();
        let mut first = coefficients.into_iter();
        Self {
            constant: first.next().unwrap_or(0),
            slope: first.next().unwrap_or(0),
            higher,
        }
    }
}
