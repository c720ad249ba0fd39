//! The replies that a call still has to send.

use std::collections::VecDeque;

/// Replies to come, in order.
#[derive(Debug)]
pub(super) enum Replies {
    /// `next`, `next` + 1, …: `left` of them.
    Series { next: i32, left: u32 },
    /// These values.
    Queue(VecDeque<i32>),
}

impl Replies {
    pub(super) const NONE: Self = Self::Series { next: 0, left: 0 };

    /// The next value, and how many values follow in steps of one; `None`: no reply is left.
    #[inline]
    pub(super) fn peek(&self) -> Option<(i32, u32)> {
        match self {
            Self::Series { left: 0, .. } => None,
            Self::Series { next, left } => Some((*next, *left)),
            Self::Queue(values) => values.front().map(|&value| (value, 1)),
        }
    }

    /// Removes `n` replies; at most as many as `peek` returned.
    #[inline]
    pub(super) fn advance(&mut self, n: u32) {
        match self {
            Self::Series { next, left } => {
                *next = next.wrapping_add(n as i32);
                *left = left.saturating_sub(n);
            }
            Self::Queue(values) => {
                values.drain(..values.len().min(n as usize));
            }
        }
    }

    /// Appends a value.
    pub(super) fn push(&mut self, value: i32) {
        match self {
            Self::Series { .. } => *self = Self::Queue(VecDeque::from([value])),
            Self::Queue(values) => values.push_back(value),
        }
    }

    /// How many values are stored in memory.
    pub(super) fn queued(&self) -> usize {
        match self {
            Self::Series { .. } => 0,
            Self::Queue(values) => values.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_wraps_around_as_int32_addition_does() {
        let mut replies = Replies::Series {
            next: i32::MAX,
            left: 3,
        };
        replies.advance(1);
        assert_eq!(replies.peek(), Some((i32::MIN, 2)));
        replies.advance(2);
        assert_eq!(replies.peek(), None);
    }

    #[test]
    fn pushed_values_come_one_by_one() {
        let mut replies = Replies::NONE;
        replies.push(5);
        replies.push(6);
        assert_eq!((replies.peek(), replies.queued()), (Some((5, 1)), 2));
        replies.advance(1);
        assert_eq!(replies.peek(), Some((6, 1)));
    }
}
