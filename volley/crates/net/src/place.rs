//! The place of one connection: the one in use, the attempts at the next, and when the place is tried again.
//!
//! The ways to a server are tried in rounds. One that fails leaves its turn to the next at once, and one that has not
//! connected after a while shares its time with the next, as in RFC 8305. The first that is ready is used.

use std::io;
use std::sync::Arc;

use super::backoff::{LONGEST_WAIT_NS, wait_ns};
use super::names::Route;
use super::sockets::Sockets;
use super::tls_config::TlsClient;
use super::wire::{Http, Phase, Wire};

/// After this time without a connection, the next way is tried too (RFC 8305 section 8).
const NEXT_AFTER_NS: u64 = 250_000_000;

/// A place, whichever socket it is at present.
#[derive(Debug, Default)]
pub struct Place {
    /// The connection in use.
    pub wire: Option<usize>,
    /// Attempts at a connection, the latest last.
    attempts: Vec<usize>,
    /// How many ways have been tried in this round.
    pub tried: usize,
    /// Failures since a connection of it last answered: rounds that found no way, and connections that were of no use.
    pub failures: u32,
    /// When it is tried again, if it has no connection.
    pub retry_at_ns: u64,
}

/// What a way to a server needs to be tried.
pub struct Way<'a, H, X> {
    pub route: Arc<Route>,
    pub tls: Option<&'a TlsClient>,
    pub http: H,
    pub owner: X,
}

impl Place {
    /// Whether it has neither a connection nor an attempt at one.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.wire.is_none() && self.attempts.is_empty()
    }

    /// Whether it is to be tried again.
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.is_empty() && self.retry_at_ns <= now_ns
    }

    /// Whether a connection is being made.
    pub fn is_trying(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// The latest attempt.
    pub fn attempt(&self) -> Option<usize> {
        self.attempts.last().copied()
    }

    /// An attempt has failed. Returns whether it was the latest one.
    pub fn failed(&mut self, key: usize) -> bool {
        let was_latest = self.attempt() == Some(key);
        self.attempts.retain(|other| *other != key);
        was_latest
    }

    /// A connection is ready, and is used from here on. Returns the one before it, and the attempts that were slower.
    pub fn won(&mut self, key: usize) -> (Option<usize>, Vec<usize>) {
        let mut slower = std::mem::take(&mut self.attempts);
        slower.retain(|other| *other != key);
        (self.wire.replace(key), slower)
    }

    /// There is no connection in use any more. If it was of use, the next one is opened at once; else the wait since
    /// `since_ns` grows with each failure.
    pub fn parted(&mut self, was_of_use: bool, since_ns: u64, now_ns: u64) {
        self.wire = None;
        match was_of_use {
            true => self.retry_at_ns = now_ns,
            false => self.broke(since_ns),
        }
    }

    /// No way has led to a connection. The wait since then grows with each failure.
    pub fn broke(&mut self, since_ns: u64) {
        self.retry_at_ns = since_ns.saturating_add(wait_ns(self.failures));
        self.failures = self.failures.saturating_add(1);
    }

    /// Its connection has brought a response: should it be lost, the next one is opened at once.
    #[cold]
    pub fn answered(&mut self, now_ns: u64) {
        (self.failures, self.retry_at_ns) = (0, self.retry_at_ns.min(now_ns));
    }
}

impl<H: Http, X> Sockets<H, X> {
    /// Tries the next way to a place that can be tried at all. `way`: that after so many others.
    ///
    /// # Errors
    ///
    /// None is left. With what the host's system said of the last one that could not be tried.
    pub fn try_next<'w>(
        &mut self,
        place: &mut Place,
        now_ns: u64,
        mut way: impl FnMut(usize) -> Option<Way<'w, H, X>>,
    ) -> Result<(), Option<io::Error>> {
        let mut failure = None;
        while let Some(way) = way(place.tried) {
            place.tried += 1;
            match self.open(&way.route, way.tls, way.http, way.owner, now_ns) {
                Ok(key) => {
                    place.attempts.push(key);
                    return Ok(());
                }
                Err(error) => failure = Some(error),
            }
        }
        Err(failure)
    }

    /// The attempts that take longer than they may, and those that are to share their time with the next way. `latest`: the
    /// latest attempt at the place of a connection; those before it have shared theirs already.
    pub fn late(
        &self,
        now_ns: u64,
        limit_ns: impl Fn(usize, &Wire<H, X>) -> u64,
        latest: impl Fn(&X) -> Option<usize>,
    ) -> (Vec<usize>, Vec<usize>) {
        let (mut overdue, mut slow) = (Vec::new(), Vec::new());
        for (key, wire) in self.wires.iter().filter(|(_, wire)| wire.is_attempt()) {
            let took_ns = now_ns.saturating_sub(wire.began_ns);
            if took_ns >= limit_ns(key, wire) {
                overdue.push(key);
            } else if took_ns >= NEXT_AFTER_NS
                && wire.phase == Phase::Connecting
                && latest(&wire.owner) == Some(key)
            {
                slow.push(key);
            }
        }
        (overdue, slow)
    }
}

impl<H, X> Wire<H, X> {
    /// Whether it has lasted so long that it was of use, whatever it brought.
    pub fn has_lasted(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.began_ns) >= LONGEST_WAIT_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_fails_again_and_again_is_tried_less_and_less_often() {
        let mut place = Place::default();
        let waits: Vec<_> = (0..8)
            .map(|_| {
                place.broke(1_000);
                (place.retry_at_ns - 1_000) / 1_000_000
            })
            .collect();
        assert_eq!(waits, [20, 40, 80, 160, 320, 640, 1000, 1000]);
    }

    #[test]
    fn after_a_connection_of_use_the_next_one_is_opened_at_once() {
        let mut place = Place::default();
        let waits: Vec<_> = [false, false, true, false]
            .into_iter()
            .map(|was_of_use| {
                place.won(7);
                place.parted(was_of_use, 1_000, 1_000);
                (place.retry_at_ns - 1_000) / 1_000_000
            })
            .collect();
        assert_eq!(waits, [20, 40, 0, 80]);
        place.answered(500);
        assert!(place.is_due(500));
        place.broke(1_000);
        assert_eq!(place.retry_at_ns, 20_001_000);
    }

    #[test]
    fn the_first_that_is_ready_is_used() {
        let mut place = Place {
            wire: Some(1),
            attempts: vec![2, 3, 4],
            ..Place::default()
        };
        assert!(!place.failed(2) && place.failed(4));
        assert_eq!(place.attempt(), Some(3));
        place.attempts.push(5);
        assert_eq!(place.won(3), (Some(1), vec![5]));
        assert!(!place.is_trying() && !place.is_empty());
    }
}
