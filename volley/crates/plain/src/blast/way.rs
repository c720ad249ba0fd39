//! Ways to spread calls over connections, and which thread owns which connection.

/// A pool of connections, kept for the whole sweep. Connections are numbered across all pools, and dealt out to the
/// threads in turn (see `Plan::links_of`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The maximum number of connections, as the user gave it.
    pub connections: u32,
    /// The number of the pool's first connection.
    pub first: u32,
}

/// One blast, as all threads see it.
#[derive(Clone, Copy, Debug)]
pub struct Blast {
    pub way: Way,
    /// N.
    pub requests: u32,
    /// When the sweep is over, in nanoseconds of the run's clock.
    pub ends_ns: u64,
}

/// A connection's part of a blast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The connection's index within its thread.
    pub link: usize,
    /// The number of its first call; the others follow in steps of `every`.
    pub first: u32,
    pub every: u32,
    pub requests: u32,
}

/// The pools for blasts of at most `most_requests` calls, and their total number of connections. Connections that no
/// blast would use are left out.
pub fn pools(connections: &[u32], most_requests: u32) -> (Vec<Way>, u32) {
    let mut first = 0;
    let way = |&connections: &u32| {
        let way = Way { connections, first };
        first += connections.min(most_requests);
        way
    };
    let ways = connections.iter().map(way).collect();
    (ways, first)
}

impl Blast {
    /// Connections that have a call: min(N, C).
    pub fn used(&self) -> u32 {
        self.way.connections.min(self.requests)
    }

    /// The parts of thread `index` of `threads`. Calls are dealt out to the used connections in turn.
    pub fn parts(self, index: u32, threads: u32) -> impl Iterator<Item = Part> + Clone {
        let (used, first) = (self.used(), self.way.first);
        let mine = (0..used).filter(move |connection| (first + connection) % threads == index);
        mine.map(move |connection| Part {
            link: ((first + connection) / threads) as usize,
            first: connection,
            every: used,
            requests: self.requests,
        })
    }
}

impl Part {
    /// The numbers of its calls within the blast.
    pub fn numbers(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
        (self.first..self.requests).step_by(self.every as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn blast(connections: u32, requests: u32) -> Blast {
        Blast {
            way: Way {
                connections,
                first: 1,
            },
            requests,
            ends_ns: u64::MAX,
        }
    }

    fn dealt(blast: Blast) -> Vec<Vec<u32>> {
        blast
            .parts(0, 1)
            .map(|part| part.numbers().collect())
            .collect()
    }

    #[test]
    fn calls_are_dealt_in_turn_to_no_more_connections_than_there_are_calls() {
        assert_eq!(dealt(blast(1, 3)), [[0, 1, 2]]);
        assert_eq!(dealt(blast(8, 2)), [[0], [1]]);
        assert_eq!(dealt(blast(3, 7)), [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
        assert_eq!(dealt(blast(1000, 1000)).len(), 1000);
    }

    #[test]
    fn a_pool_has_no_connection_that_no_blast_uses() {
        let (ways, all) = pools(&[1, 8, 1000], 50);
        assert_eq!(
            ways.iter().map(|way| way.first).collect::<Vec<_>>(),
            [0, 1, 9]
        );
        assert_eq!(all, 59);
    }

    proptest! {
        #[test]
        fn all_threads_together_have_each_call_once_on_connections_of_their_own(
            connections in prop::collection::vec(1..20_u32, 1..4),
            requests in 1..100_u32,
            threads in 1..5_u32,
        ) {
            let (ways, all) = pools(&connections, requests);
            let mut links = std::collections::BTreeSet::new();
            for way in ways {
                let blast = Blast { way, requests, ends_ns: 0 };
                let mut calls = Vec::new();
                for index in 0..threads {
                    for part in blast.parts(index, threads) {
                        prop_assert!(links.insert((index, part.link)));
                        prop_assert!((part.link as u32) * threads + index < all);
                        prop_assert_eq!(part.numbers().len(), part.numbers().count());
                        calls.extend(part.numbers());
                    }
                }
                calls.sort_unstable();
                prop_assert_eq!(calls, (0..requests).collect::<Vec<_>>());
            }
            prop_assert_eq!(links.len(), all as usize);
        }
    }
}
