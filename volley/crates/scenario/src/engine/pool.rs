//! A thread's connections to one target, and the requests that wait for one.

use std::collections::VecDeque;

use super::flight::Fault;
use super::iteration::Bond;
use volley_net::Place;
use volley_net::queue::Queue;

/// The place of one connection, and what waits for it.
#[derive(Debug)]
pub struct Link {
    /// Its number among the target's connections of all threads.
    pub number: u32,
    pub place: Place,
    /// It is among those that may take a request.
    pub is_listed: bool,
    /// When it may next try to return to its own host.
    pub returns_at_ns: u64,
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
            place: Place::default(),
            is_listed: false,
            returns_at_ns: 0,
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

    /// When the next link without a connection is tried again.
    pub fn next_retry_ns(&self) -> Option<u64> {
        let places = self.links.iter().map(|link| &link.place);
        let empty = places.filter(|place| place.is_empty());
        empty.map(|place| place.retry_at_ns).min()
    }

    /// The link to which an iteration keeps.
    pub fn kept(&self, link: usize) -> Option<&Link> {
        self.links.get(link % self.links.len().max(1))
    }

    /// Whether flights wait for any link.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether flights wait for this link, or for any.
    #[inline]
    pub fn is_awaited(&self, link: usize) -> bool {
        let link = self.links.get(link);
        self.has_waiting() || link.is_some_and(|link| !link.waiting.is_empty())
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
        let is_dead = |link: &Link| link.place.is_empty() && link.place.failures > 0;
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
    use crate::tally::Reason;

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
    fn a_pool_is_dead_once_no_link_has_a_connection_or_an_attempt() {
        let mut pool = Pool::new(0..2);
        let fault = Fault::new(Reason::Connect, "refused".to_owned());
        for link in &mut pool.links {
            link.place.broke(0);
            link.fault = Some(fault.clone());
        }
        assert_eq!(pool.is_dead(Bond::Free), Some(&fault));
        assert_eq!(pool.next_retry_ns(), Some(20_000_000));
        pool.links[1].place.won(7);
        assert_eq!(pool.is_dead(Bond::Free), None);
        assert_eq!(pool.is_dead(Bond::Kept(0)), Some(&fault));
    }
}
