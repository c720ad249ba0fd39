//! Expressions with any kind of leaves: names as typed, then their meanings.

use super::polynomial::Polynomial;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression<L> {
    Leaf(L),
    Negated(Box<Self>),
    Sum(Box<Self>, Box<Self>),
    Difference(Box<Self>, Box<Self>),
    Product(Box<Self>, Box<Self>),
}

impl<L> Expression<L> {
    /// The same expression with other leaves.
    pub(super) fn map<M, E>(
        self,
        leaf: &mut impl FnMut(L) -> Result<M, E>,
    ) -> Result<Expression<M>, E> {
        let mut map = |side: Box<Self>| side.map(leaf).map(Box::new);
        Ok(match self {
            Self::Negated(inner) => Expression::Negated(map(inner)?),
            Self::Sum(left, right) => Expression::Sum(map(left)?, map(right)?),
            Self::Difference(left, right) => Expression::Difference(map(left)?, map(right)?),
            Self::Product(left, right) => Expression::Product(map(left)?, map(right)?),
            Self::Leaf(name) => Expression::Leaf(leaf(name)?),
        })
    }

    /// Whether any leaf satisfies the condition.
    pub(super) fn any(&self, is_such: &impl Fn(&L) -> bool) -> bool {
        match self {
            Self::Leaf(leaf) => is_such(leaf),
            Self::Negated(inner) => inner.any(is_such),
            Self::Sum(left, right) | Self::Difference(left, right) | Self::Product(left, right) => {
                left.any(is_such) || right.any(is_such)
            }
        }
    }

    /// Its value, given those of its leaves.
    pub(super) fn word(&self, value: &impl Fn(&L) -> u64) -> u64 {
        match self {
            Self::Leaf(leaf) => value(leaf),
            Self::Negated(inner) => inner.word(value).wrapping_neg(),
            Self::Sum(left, right) => left.word(value).wrapping_add(right.word(value)),
            Self::Difference(left, right) => left.word(value).wrapping_sub(right.word(value)),
            Self::Product(left, right) => left.word(value).wrapping_mul(right.word(value)),
        }
    }

    /// The polynomial in `i` that this expression equals, given its leaves.
    pub(super) fn fold(&self, value: &impl Fn(&L) -> Polynomial) -> Polynomial {
        match self {
            Self::Leaf(leaf) => value(leaf),
            Self::Negated(inner) => inner.fold(value).negated(),
            Self::Sum(left, right) => left.fold(value).plus(&right.fold(value)),
            Self::Difference(left, right) => left.fold(value).plus(&right.fold(value).negated()),
            Self::Product(left, right) => left.fold(value).times(&right.fold(value)),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Formula {
    /// The same for every reply, except for `i`.
    Shared(Polynomial),
    /// Reply `i` corresponds to request `i`: one polynomial for each message of the data, which
    /// repeats until `sent` are sent.
    PerRequest {
        polynomials: Box<[Polynomial]>,
        sent: u64,
    },
}

impl Formula {
    /// The word that reply `i` must have; none if request `i` was never sent.
    #[inline]
    pub(super) fn at(&self, i: u64) -> Option<u64> {
        match self {
            Self::Shared(polynomial) => Some(polynomial.at(i)),
            Self::PerRequest { polynomials, sent } => {
                if i >= *sent {
                    return None;
                }
                let count = polynomials.len() as u64;
                let turn = if i < count { i } else { i.checked_rem(count)? };
                polynomials
                    .get(usize::try_from(turn).ok()?)
                    .map(|polynomial| polynomial.at(i))
            }
        }
    }

    /// The word that reply `i` must have, and by how much it rises with each further one; none if it does not rise
    /// evenly.
    #[inline]
    pub(super) fn line(&self, i: u64) -> Option<(u64, u64)> {
        match self {
            Self::Shared(polynomial) => Some((polynomial.at(i), polynomial.slope()?)),
            Self::PerRequest { .. } => None,
        }
    }

    pub(super) fn sent(&self) -> u64 {
        match self {
            Self::Shared(_) => 0,
            Self::PerRequest { sent, .. } => *sent,
        }
    }
}
