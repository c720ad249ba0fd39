//! Signs of life: whether a peer still answered when the load ended.

use serde::{Deserialize, Serialize};

use super::SECOND_NS;

/// When a peer last answered, and what it has left without an answer. All times are nanoseconds since one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    last_ns: u64,
    waits: Option<Wait>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wait {
    /// The beginning of the first of these calls, or the last answer before their end.
    since_ns: u64,
    /// The end of the last of them.
    until_ns: u64,
}

/// A time without any answer, although something waited for one, up to the end of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// Since the window's opening.
    pub since_ns: u64,
    pub lasted_ns: u64,
}

impl Life {
    /// The peer sent something for a call.
    #[inline]
    pub fn heard(&mut self, ns: u64) {
        self.last_ns = self.last_ns.max(ns);
    }

    /// A call was cut, took too long, or lost its connection: it waited for the peer between these moments.
    #[cold]
    pub fn unanswered(&mut self, from_ns: u64, until_ns: u64) {
        let wait = Wait {
            since_ns: from_ns.max(self.last_ns),
            until_ns,
        };
        let before = self.waits.filter(|wait| wait.since_ns >= self.last_ns);
        self.waits = Some(before.map_or(wait, |before| before.with(wait)));
    }

    /// Adds what another thread has heard of the same peers.
    pub fn merge(&mut self, other: Self) {
        let last_ns = self.last_ns.max(other.last_ns);
        let waits =
            [*self, other].map(|life| life.waits.filter(|wait| wait.since_ns >= life.last_ns));
        let waits = waits.into_iter().flatten().reduce(Wait::with);
        *self = Self {
            last_ns,
            waits: waits.map(|wait| Wait {
                since_ns: wait.since_ns.max(last_ns),
                ..wait
            }),
        };
    }

    /// The same, with times since a moment.
    #[must_use]
    pub fn since(self, start_ns: u64) -> Self {
        Self {
            last_ns: self.last_ns.saturating_sub(start_ns),
            waits: self.waits.map(|wait| Wait {
                since_ns: wait.since_ns.saturating_sub(start_ns),
                until_ns: wait.until_ns.saturating_sub(start_ns),
            }),
        }
    }

    /// The silence at the end of a load, since whose beginning all times count. Less than a second is none, and so is a
    /// wait that is not longer than others were that came to a good end.
    #[must_use]
    pub fn silence(&self, end_ns: u64, longest_ns: u64) -> Option<Silence> {
        // The next call may not have begun yet.
        let is_last = |wait: &Wait| wait.until_ns.saturating_add(SECOND_NS) >= end_ns;
        let wait = self.waits.filter(is_last)?;
        let since_ns = wait.since_ns.max(self.last_ns);
        let lasted_ns = end_ns.saturating_sub(since_ns);
        (lasted_ns >= SECOND_NS && lasted_ns > longest_ns).then_some(Silence {
            since_ns,
            lasted_ns,
        })
    }
}

impl Wait {
    /// Both together.
    fn with(self, other: Self) -> Self {
        Self {
            since_ns: self.since_ns.min(other.since_ns),
            until_ns: self.until_ns.max(other.until_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = SECOND_NS;

    fn life(heard: &[u64], unanswered: &[(u64, u64)]) -> Life {
        let mut life = Life::default();
        heard.iter().for_each(|s| life.heard(s * S));
        for (from_s, until_s) in unanswered {
            life.unanswered(from_s * S, until_s * S);
        }
        life
    }

    fn silence(life: Life, end_s: u64) -> Option<(u64, u64)> {
        let silence = life.silence(end_s * S, 0)?;
        Some((silence.since_ns / S, silence.lasted_ns / S))
    }

    #[test]
    fn a_peer_is_silent_since_its_last_answer_however_often_calls_took_too_long() {
        let timeouts = [(2, 4), (3, 5), (5, 7), (7, 9), (9, 10)];
        assert_eq!(silence(life(&[1, 3], &timeouts), 10), Some((3, 7)));
        // Calls are cut in any order.
        assert_eq!(silence(life(&[2], &[(9, 10), (3, 10)]), 10), Some((3, 7)));
        // The load ended before the last of them.
        assert_eq!(silence(life(&[1, 3], &timeouts), 9), Some((3, 6)));
    }

    #[test]
    fn calls_that_began_long_after_the_last_answer_waited_only_since_then() {
        assert_eq!(silence(life(&[3], &[(8, 10)]), 10), Some((8, 2)));
    }

    #[test]
    fn a_peer_that_answered_at_the_end_or_had_nothing_to_answer_is_not_silent() {
        assert_eq!(silence(life(&[10], &[(9, 10)]), 10), None);
        assert_eq!(silence(life(&[3], &[(3, 8)]), 10), None);
        assert_eq!(silence(life(&[3], &[]), 10), None);
        let mut again = life(&[3], &[(3, 8)]);
        again.heard(9 * S);
        again.unanswered(10 * S, 10 * S);
        assert_eq!(silence(again, 10), None);
    }

    #[test]
    fn a_slow_peer_is_not_silent() {
        let life = life(&[7], &[(6, 10), (7, 10)]);
        assert_eq!(life.silence(10 * S, 3 * S), None);
        assert_eq!(silence(life, 10), Some((7, 3)));
    }

    #[test]
    fn one_thread_that_hears_something_is_enough() {
        let deaf = life(&[3], &[(3, 10)]);
        let merged = |mut one: Life, other| {
            one.merge(other);
            silence(one, 10)
        };
        let hearing = life(&[9], &[(9, 10)]);
        let both = [merged(deaf, hearing), merged(hearing, deaf)];
        assert_eq!(both, [Some((9, 1)); 2]);
        assert_eq!(merged(deaf, life(&[5], &[])), Some((5, 5)));
        assert_eq!(merged(deaf, life(&[5], &[(1, 2)])), Some((5, 5)));
        assert_eq!(merged(deaf, life(&[], &[(0, 10)])), Some((3, 7)));
    }

    #[test]
    fn times_can_be_moved() {
        let moved = life(&[13], &[(12, 20)]).since(10 * S);
        assert_eq!(silence(moved, 10), Some((3, 7)));
    }
}
