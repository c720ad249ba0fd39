//! A place for one connection, and the workers that share it. The connection itself may change.

use super::call::Ticket;
use volley_net::Place;

/// One of the `--connections`, whichever socket it currently uses.
pub struct Link {
    /// Workers without a call.
    pub idle: Vec<u32>,
    /// Calls that the server never began, to be sent before any others.
    pub again: Vec<Ticket>,
    /// Its number among all connections.
    pub number: u32,
    pub place: Place,
    /// When it may next try to move to another address.
    pub moves_at_ns: u64,
    /// The next connection takes the place of one that the client gave up by itself.
    pub is_planned: bool,
    /// Why there is no connection, or none yet.
    pub down: Option<Down>,
    /// It is among the links that may take a call of the schedule.
    pub is_listed: bool,
}

/// A link without a connection.
#[derive(Clone, Debug)]
pub struct Down {
    /// Since when.
    pub since_ns: u64,
    /// Rounds of the target's addresses that have failed so far.
    pub rounds: u32,
    /// The last problem.
    pub reason: String,
    /// The server would have taken the connection a little later.
    pub is_busy: bool,
}

impl Link {
    /// A link whose workers all wait for a first connection.
    pub fn new(number: u32, workers: impl Iterator<Item = u32>) -> Self {
        let mut idle: Vec<u32> = workers.collect();
        idle.reverse(); // workers are taken from the end: the lowest first
        Self {
            idle,
            again: Vec::new(),
            number,
            place: Place::default(),
            moves_at_ns: 0,
            is_planned: false,
            down: None,
            is_listed: false,
        }
    }

    /// Whether no address has worked, and none is going to soon.
    pub fn is_down_for_good(&self) -> bool {
        self.place.is_empty() && self.down.as_ref().is_some_and(|down| !down.is_busy)
    }

    /// Notes that no address has led to a connection.
    pub fn broke(&mut self, reason: String, now_ns: u64) {
        let before = self.down.take();
        self.place.broke(now_ns);
        self.is_planned = false;
        self.down = Some(Down {
            since_ns: before.as_ref().map_or(now_ns, |down| down.since_ns),
            rounds: before.map_or(0, |down| down.rounds) + 1,
            reason,
            is_busy: false,
        });
    }

    /// Notes that the connection takes no more calls. `since_ns`: should the next one have to wait, from when on.
    pub fn parted(&mut self, was_of_use: bool, reason: String, since_ns: u64, now_ns: u64) {
        self.place.parted(was_of_use, since_ns, now_ns);
        self.is_planned = false;
        self.down = Some(Down {
            since_ns: now_ns,
            rounds: 0,
            reason,
            is_busy: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_down_since_its_connection_was_lost() {
        let mut link = Link::new(0, 0..1);
        link.place.won(7);
        link.parted(true, "it was closed".to_owned(), 500, 1_000);
        for now_ns in [2_000, 3_000] {
            link.broke("refused".to_owned(), now_ns);
        }
        let down = link.down.unwrap();
        assert_eq!((down.since_ns, down.rounds), (1_000, 2));
        assert_eq!(down.reason, "refused");
    }

    #[test]
    fn the_lowest_worker_is_taken_first() {
        assert_eq!(Link::new(0, 3..6).idle.pop(), Some(3));
    }
}
