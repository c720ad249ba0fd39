//! What `--service` asks for: calls queue for a few servers, first in, first out, and each is served for a random time.

use std::time::Duration;

use fastrand::Rng;
use volley_load::pace::whole_ns;

/// The servers, of which each works on one call at a time, and how long they work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The mean of the times, which are exponential.
    pub mean: Duration,
    /// How many calls are served at once; at least 1.
    pub servers: u32,
    /// Two servers with one seed serve their n-th calls for equally long.
    pub seed: u64,
}

/// The queue. A call's end is known when it comes: nobody overtakes it.
#[derive(Debug)]
pub(super) struct Station {
    mean_ns: f64,
    random: Rng,
    /// When each server is free.
    free_ns: Vec<u64>,
}

impl Station {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            mean_ns: whole_ns(service.mean) as f64,
            random: Rng::with_seed(service.seed),
            free_ns: vec![0; service.servers.max(1) as usize],
        }
    }

    /// A call comes; returns when it has been served. A client that gives it up does not shorten that.
    pub(super) fn take(&mut self, now_ns: u64) -> u64 {
        // From 0 to below 1, so the logarithm is finite.
        let served_ns = -self.mean_ns * (1.0 - self.random.f64()).ln();
        let Some(first) = self.free_ns.iter_mut().min() else {
            return now_ns;
        };
        *first = now_ns.max(*first).saturating_add(served_ns.round() as u64);
        *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn station(servers: u32, seed: u64) -> Station {
        let mean = Duration::from_millis(1);
        Station::new(&Service {
            mean,
            servers,
            seed,
        })
    }

    #[test]
    fn a_seed_decides_all_times() {
        let ends = |seed| {
            let mut station = station(2, seed);
            (0..100).map(|n| station.take(n * MS)).collect::<Vec<_>>()
        };
        assert_eq!(ends(7), ends(7));
        assert_ne!(ends(7), ends(8));
    }

    #[test]
    fn one_server_serves_in_order_and_is_busy_until_the_last_end() {
        let mut station = station(1, 1);
        let ends: Vec<u64> = (0..100).map(|_| station.take(0)).collect();
        assert!(ends.is_sorted());
        assert!(station.take(0) >= ends[99]);
    }

    #[test]
    fn a_call_waits_for_the_server_that_is_free_first() {
        let mut station = station(3, 1);
        let ends = [0; 3].map(|_| station.take(0));
        let first = ends.into_iter().min();
        // The next time that is drawn, from the first end on.
        let served = Station {
            free_ns: vec![0],
            random: station.random.clone(),
            mean_ns: station.mean_ns,
        }
        .take(0);
        assert_eq!(Some(station.take(0) - served), first);
    }

    #[test]
    fn the_times_are_exponential() {
        let mut station = station(1, 3);
        let times: Vec<u64> = (0..100_000)
            .map(|n| station.take(n * 1000 * MS) - n * 1000 * MS)
            .collect();
        let mean = times.iter().sum::<u64>() as f64 / 1e5 / MS as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let beyond = times.iter().filter(|time| **time > 3 * MS).count();
        assert!((4600..5350).contains(&beyond), "{beyond}: e⁻³ are 4,979");
    }
}
