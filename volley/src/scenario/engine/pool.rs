//! A thread's connections to one target, and the requests that wait for one.

use std::collections::VecDeque;

use super::flight::Fault;
use super::iteration::Bond;
use super::queue::Queue;
use crate::net::wait_ns;

/// The place of one connection; the connection itself may change.
#[derive(Debug)]
pub struct Link {
    /// Its number among the target's connections of all threads.
    pub number: u32,
    /// The connection that takes requests, or the latest attempt at one.
    pub wire: Option<usize>,
    /// It is among those that may take a request.
    pub is_listed: bool,
    /// How many ways were tried in this round.
    pub tried: usize,
    /// Failures in a row: rounds that found no way, and connections that were lost before they brought anything.
    pub failures: u32,
    /// When it is tried again, if it has no connection.
    pub retry_at_ns: u64,
    /// When it may next try to return to its own host, and the attempt at that.
    pub returns_at_ns: u64,
    pub returning: Option<usize>,
    /// How many ways that attempt has tried.
    pub returning_tried: usize,
    /// Why its last connection failed.
    pub fault: Option<Fault>,
    /// Flights that no other link may take, with their serials.
    waiting: Waiting,
}

/// Flights that wait, with their serials.
type Waiting = Queue<(u32, u64)>;

/// The links of a target.
#[derive(Debug, Default)]
pub struct Pool {
    pub links: Vec<Link>,
    /// Links that may take a request, in turn.
    listed: VecDeque<usize>,
    /// Flights that wait for any.
    waiting: Waiting,
}

impl Pool {
    /// Links with these numbers, without connections.
    pub fn new(numbers: impl Iterator<Item = u32>) -> Self {
        let link = |number| Link {
            number,
            wire: None,
            is_listed: false,
            tried: 0,
            failures: 0,
            retry_at_ns: 0,
            returns_at_ns: 0,
            returning: None,
            returning_tried: 0,
            fault: None,
            waiting: Waiting::default(),
        };
        Self {
            links: numbers.map(link).collect(),
            ..Self::default()
        }
    }

    /// Notes that a link may take a request.
    #[inline]
    pub fn list(&mut self, link: usize) {
        if let Some(place) = self.links.get_mut(link)
            && !std::mem::replace(&mut place.is_listed, true)
        {
            self.listed.push_back(link);
        }
    }

    /// The link whose turn it is. It must be listed again if it can take more.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        let link = self.listed.pop_front()?;
        if let Some(place) = self.links.get_mut(link) {
            place.is_listed = false;
        }
        Some(link)
    }

    /// Notes that a link has no connection. The wait since then, or since it was opened, grows with each failure.
    pub fn broke(&mut self, link: usize, fault: Fault, since_ns: u64) {
        let Some(link) = self.links.get_mut(link) else {
            return;
        };
        link.wire = None;
        link.retry_at_ns = since_ns.saturating_add(wait_ns(link.failures));
        link.failures += 1;
        link.fault = Some(fault);
    }

    /// Notes that a connection of a link has brought its first response.
    #[cold]
    pub fn answered(&mut self, link: usize, now_ns: u64) {
        if let Some(link) = self.links.get_mut(link) {
            (link.failures, link.retry_at_ns) = (0, link.retry_at_ns.min(now_ns));
        }
    }

    /// When the next link without a connection is tried again.
    pub fn next_retry_ns(&self) -> Option<u64> {
        let idle = self.links.iter().filter(|link| link.wire.is_none());
        idle.map(|link| link.retry_at_ns).min()
    }

    /// The link to which an iteration keeps.
    pub fn kept(&self, link: usize) -> Option<&Link> {
        self.links.get(link % self.links.len().max(1))
    }

    /// Whether flights wait for any link.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The flights that wait for the same.
    pub fn waiting(&mut self, bond: Bond) -> &mut Waiting {
        let links = self.links.len().max(1);
        let kept = match bond {
            Bond::Kept(link) => self.links.get_mut(link % links),
            Bond::Free | Bond::Last(_) => None,
        };
        kept.map_or(&mut self.waiting, |link| &mut link.waiting)
    }

    /// Why no connection can take a request, if there is none and none is being opened.
    pub fn is_dead(&self, bond: Bond) -> Option<&Fault> {
        let is_dead = |link: &Link| link.wire.is_none() && link.failures > 0;
        let link = match bond {
            Bond::Kept(link) => self.kept(link).filter(|link| is_dead(link)),
            _ if self.links.iter().all(is_dead) => self.links.first(),
            _ => None,
        };
        link.and_then(|link| link.fault.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tally::Reason;

    #[test]
    fn links_take_turns_and_stand_in_the_list_once() {
        let mut pool = Pool::new(0..3);
        for link in [0, 2, 0, 1] {
            pool.list(link);
        }
        let all: Vec<_> = std::iter::from_fn(|| pool.next()).collect();
        assert_eq!(all, [0, 2, 1]);
        pool.list(0);
        assert_eq!(pool.next(), Some(0));
    }

    #[test]
    fn a_link_that_fails_again_and_again_is_tried_less_and_less_often() {
        let mut pool = Pool::new(0..1);
        assert_eq!(pool.is_dead(Bond::Free), None);
        let fault = Fault::new(Reason::Connect, "refused".to_owned());
        let waits: Vec<_> = (0..8)
            .map(|_| {
                pool.broke(0, fault.clone(), 0);
                pool.next_retry_ns().unwrap_or_default() / 1_000_000
            })
            .collect();
        assert_eq!(waits, [20, 40, 80, 160, 320, 640, 1000, 1000]);
        assert_eq!(pool.is_dead(Bond::Free), Some(&fault));
    }
}
