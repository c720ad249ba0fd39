//! A place for one connection, and the workers that share it. The connection itself may change.

use super::call::Ticket;
use crate::net::wait_ns;

/// One of the `--connections`, whichever socket it currently uses.
pub struct Link {
    /// Workers without a call.
    pub idle: Vec<u32>,
    /// Calls that the server never began, to be sent before any others.
    pub again: Vec<Ticket>,
    /// Its number among all connections.
    pub number: u32,
    /// The key of the connection that takes new calls, or of the latest attempt at one.
    pub wire: Option<usize>,
    /// How many attempts at a connection are under way.
    pub attempts: usize,
    /// How many of the target's addresses have been tried in this round.
    pub tried: usize,
    /// When it may next try to move to another address.
    pub moves_at_ns: u64,
    /// The next connection takes the place of one that the client gave up by itself.
    pub is_planned: bool,
    /// Why there is no connection, or none yet.
    pub down: Option<Down>,
    /// Connections in a row that the server retired before they carried a call.
    pub futile: u32,
    /// It is among the links that may take a call of the schedule.
    pub is_listed: bool,
}

/// A link without a connection.
#[derive(Clone, Debug)]
pub struct Down {
    /// Since when.
    pub since_ns: u64,
    /// When it is retried.
    pub retry_at_ns: u64,
    /// Failed tries so far.
    pub tries: u32,
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
            wire: None,
            attempts: 0,
            tried: 0,
            moves_at_ns: 0,
            is_planned: false,
            down: None,
            futile: 0,
            is_listed: false,
        }
    }

    /// Whether no address has worked, and none is going to soon.
    pub fn is_down_for_good(&self) -> bool {
        self.wire.is_none() && self.down.as_ref().is_some_and(|down| !down.is_busy)
    }

    /// Notes that the connection broke, or could not be made. The wait grows with each failure.
    pub fn broke(&mut self, reason: String, now_ns: u64) {
        let before = self.down.take();
        let tries = before.as_ref().map_or(self.futile, |down| down.tries);
        (self.wire, self.is_planned) = (None, false);
        self.down = Some(Down {
            since_ns: before.map_or(now_ns, |down| down.since_ns),
            retry_at_ns: now_ns + wait_ns(tries),
            tries: tries + 1,
            reason,
            is_busy: false,
        });
    }

    /// Notes that this connection takes no more calls: the next one is opened at once if this one was of use.
    /// `is_planned`: the client gave it up, not the server.
    pub fn retired(&mut self, was_used: bool, is_planned: bool, now_ns: u64) {
        if !was_used {
            self.broke("the server sent GOAWAY immediately".to_owned(), now_ns);
            self.futile += 1;
            return;
        }
        self.futile = 0;
        (self.wire, self.is_planned) = (None, is_planned);
        self.down = Some(Down {
            since_ns: now_ns,
            retry_at_ns: now_ns,
            tries: 0,
            reason: match is_planned {
                true => "it was closed to be opened again",
                false => "the server sent GOAWAY",
            }
            .to_owned(),
            is_busy: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_before_a_lost_link_is_tried_again_doubles_up_to_a_second() {
        let mut link = Link::new(0, 0..1);
        let waits: Vec<u64> = (0..8)
            .map(|_| {
                link.broke("refused".to_owned(), 1_000);
                link.down
                    .as_ref()
                    .map_or(0, |down| down.retry_at_ns - 1_000)
                    / 1_000_000
            })
            .collect();
        assert_eq!(waits, [20, 40, 80, 160, 320, 640, 1000, 1000]);
        assert_eq!(link.down.map(|down| down.since_ns), Some(1_000));
    }

    #[test]
    fn a_server_that_retires_each_connection_unused_is_tried_less_and_less_often() {
        let mut link = Link::new(0, 0..1);
        let waits: Vec<u64> = [false, false, false, true, false]
            .into_iter()
            .map(|was_used| {
                link.retired(was_used, false, 1_000);
                let down = link.down.take(); // the next connection became ready
                down.map_or(0, |down| (down.retry_at_ns - 1_000) / 1_000_000)
            })
            .collect();
        assert_eq!(waits, [20, 40, 80, 0, 20]);
    }

    #[test]
    fn the_lowest_worker_is_taken_first() {
        assert_eq!(Link::new(0, 3..6).idle.pop(), Some(3));
    }
}
