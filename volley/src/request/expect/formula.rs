//! A rule's right side, bound to the requests of one call.

use super::polynomial::Polynomial;

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

    pub(super) fn sent(&self) -> u64 {
        match self {
            Self::Shared(_) => 0,
            Self::PerRequest { sent, .. } => *sent,
        }
    }
}
