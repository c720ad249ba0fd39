//! What all threads share of the loads: how many iterations have begun and are open, and which loads are over.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::plan::{Load, Plan};

/// The loads of a plan.
#[derive(Debug)]
pub struct Quota {
    loads: Vec<LoadQuota>,
    /// Iterations of schedules that are open.
    open: AtomicU32,
}

/// A load.
#[derive(Debug)]
pub struct LoadQuota {
    /// The most iterations that may begin.
    most: Option<u64>,
    /// With a limit: how many were permitted, and how many of those have begun.
    permitted: AtomicU64,
    begun: AtomicU64,
    /// How many iterations were dealt out, and how many were dropped. The high bits have the number of the weights in force.
    dealt: AtomicU64,
    dropped: AtomicU64,
    stopped: Mutex<Stopped>,
    /// When the data ran out for all, in ns; `u64::MAX`: they have not.
    ran_out_ns: AtomicU64,
    /// The feed that first had no more rows.
    dry: OnceLock<usize>,
}

/// Users that have stopped because their own rows ran out.
#[derive(Debug, Default)]
struct Stopped {
    /// All users below this one have.
    below: u64,
    /// Of the others, these have.
    others: BTreeSet<u64>,
}

/// So many bits of a number are an iteration's own; the rest is the number of the weights.
const NUMBER_BITS: u32 = 48;

/// The number of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The weights that count for it: 0 are the file's.
    pub weights: u64,
    /// From 0, since those count.
    pub number: u64,
}

impl From<u64> for Dealt {
    fn from(dealt: u64) -> Self {
        Self {
            weights: dealt >> NUMBER_BITS,
            number: dealt & ((1 << NUMBER_BITS) - 1),
        }
    }
}

/// Whether an iteration may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    Given,
    /// Another thread holds the last one, and may give it back.
    Later,
    /// All have begun.
    Over,
}

impl Quota {
    pub fn new(plan: &Plan) -> Self {
        Self {
            loads: plan.loads.iter().map(LoadQuota::new).collect(),
            open: AtomicU32::new(0),
        }
    }

    pub fn load(&self, at: usize) -> Option<&LoadQuota> {
        self.loads.get(at)
    }

    /// Takes the room of an open iteration; `false`: `most` are open.
    pub fn enter(&self, most: u32) -> bool {
        let one_more = |open: u32| (open < most.max(1)).then_some(open + 1);
        self.open
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .is_ok()
    }

    /// Gives that room back.
    pub fn leave(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LoadQuota {
    fn new(load: &Load) -> Self {
        Self {
            most: load.iterations,
            permitted: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            dealt: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            stopped: Mutex::default(),
            ran_out_ns: AtomicU64::new(u64::MAX),
            dry: OnceLock::new(),
        }
    }

    /// Asks for one of the iterations that may begin. It then begins, or is given back.
    pub fn permit(&self) -> Permit {
        let Some(most) = self.most else {
            return Permit::Given;
        };
        let one_more = |permitted: u64| (permitted < most).then_some(permitted + 1);
        let permitted = self
            .permitted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        match permitted {
            Ok(_) => Permit::Given,
            Err(_) if self.is_done() => Permit::Over,
            Err(_) => Permit::Later,
        }
    }

    pub fn give_back(&self) {
        if self.most.is_some() {
            self.permitted.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// An iteration with a permit has begun.
    pub fn begun(&self) {
        if self.most.is_some() {
            self.begun.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether all iterations that may begin have begun.
    pub fn is_done(&self) -> bool {
        self.most
            .is_some_and(|most| self.begun.load(Ordering::Relaxed) >= most)
    }

    /// The number of the next iteration, from 0, over all threads.
    #[inline]
    pub fn deal(&self) -> Dealt {
        Dealt::from(self.dealt.fetch_add(1, Ordering::Acquire))
    }

    /// The number of the next one that is dropped.
    #[inline]
    pub fn deal_dropped(&self) -> Dealt {
        Dealt::from(self.dropped.fetch_add(1, Ordering::Acquire))
    }

    /// From now on, weights of this number count for all threads, unless those of a higher one do. Iterations are
    /// numbered from 0 again.
    pub fn reweigh(&self, weights: u64) {
        let later = |dealt: u64| (dealt >> NUMBER_BITS < weights).then_some(weights << NUMBER_BITS);
        for dealt in [&self.dealt, &self.dropped] {
            // Others were first.
            let _ = dealt.fetch_update(Ordering::Release, Ordering::Relaxed, later);
        }
    }

    /// A user's own rows have run out.
    pub fn user_stopped(&self, user: u64) {
        let mut stopped = self.stopped();
        let Stopped { below, others } = &mut *stopped;
        others.insert(user);
        while others.remove(below) {
            *below += 1;
        }
    }

    /// The load is over if all users have stopped that work now or later: those below `most`.
    pub fn judge_users(&self, most: u64, now_ns: u64) {
        // Without users now, an order may bring some.
        if most > 0 && self.stopped().below >= most {
            self.ran_out(now_ns);
        }
    }

    fn stopped(&self) -> MutexGuard<'_, Stopped> {
        // It is whole at any moment.
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of all have run out, which ends the load.
    pub fn ran_out(&self, now_ns: u64) {
        self.ran_out_ns.fetch_min(now_ns, Ordering::Relaxed);
    }

    /// A feed has no more rows for an iteration of this load.
    pub fn dried(&self, feed: usize) {
        self.dry.get_or_init(|| feed);
    }

    /// The feed that ended the load.
    pub fn ended_by_feed(&self) -> Option<usize> {
        self.ran_out_ns().and_then(|_| self.dry.get().copied())
    }

    /// When they ran out, in ns.
    pub fn ran_out_ns(&self) -> Option<u64> {
        Some(self.ran_out_ns.load(Ordering::Relaxed)).filter(|ns| *ns < u64::MAX)
    }

    /// Whether no iteration begins any more, on no thread.
    pub fn is_over(&self) -> bool {
        self.ran_out_ns().is_some() || self.is_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Phases;

    fn quota() -> LoadQuota {
        LoadQuota::new(&Load {
            scenarios: vec![(0, 1)],
            shares_requests: false,
            phases: Phases::Rate(Vec::new()),
            iterations: None,
            start_after_ns: 0,
            pace_ns: 0,
        })
    }

    #[test]
    fn a_load_is_over_when_the_users_that_are_left_have_stopped() {
        let quota = quota();
        // These leave before the others stop.
        for user in [3, 2] {
            quota.user_stopped(user);
        }
        quota.judge_users(2, 5);
        assert_eq!(quota.ran_out_ns(), None);
        for (user, over_ns) in [(1, None), (0, Some(7))] {
            quota.user_stopped(user);
            quota.judge_users(2, 7);
            assert_eq!(quota.ran_out_ns(), over_ns);
        }
    }

    #[test]
    fn a_load_without_users_goes_on() {
        let quota = quota();
        quota.judge_users(0, 1);
        assert!(!quota.is_over());
    }

    #[test]
    fn new_weights_number_iterations_from_0_once_whoever_is_first() {
        let quota = quota();
        let dealt = |weights, number| Dealt { weights, number };
        assert_eq!([quota.deal(), quota.deal()], [dealt(0, 0), dealt(0, 1)]);
        quota.reweigh(1);
        assert_eq!(quota.deal(), dealt(1, 0));
        // Another thread obeys the same order, or one that is over already.
        quota.reweigh(1);
        quota.reweigh(0);
        assert_eq!(quota.deal(), dealt(1, 1));
        assert_eq!(quota.deal_dropped(), dealt(1, 0));
    }
}
