//! Which scenario the next iteration runs: weights that are kept exactly over each round.

use std::cmp::Reverse;

use super::plan::{Action, Load, Scenario};

/// Deals iterations out to scenarios: smooth weighted round robin.
///
/// Before each iteration, every scenario earns its weight; the one that has earned the most runs, and pays the sum of the
/// weights. After a round of as many iterations as that sum, each has had its exact share and nobody has any credit. Within
/// a round, none is ahead of its share by one iteration, and so two scenarios are never apart from theirs by one.
///
/// All threads number their iterations together, and each one has a mix that knows the scenario of each number.
#[derive(Clone, Debug)]
pub struct Mix {
    shares: Vec<Share>,
    sum: u64,
    /// The number of the next iteration.
    number: u64,
    /// The scenarios of each round, if it is short.
    table: Box<[usize]>,
}

/// The longest round that is kept as a table.
const SHORT: u64 = 4096;

#[derive(Clone, Debug)]
struct Share {
    scenario: usize,
    weight: u64,
    /// What it has earned and not yet paid for.
    credit: i128,
}

impl Mix {
    /// The scenarios of a load. A weight that shares requests is divided by the number of requests of an iteration.
    #[must_use]
    pub fn of(load: &Load, scenarios: &[Scenario]) -> Self {
        if !load.shares_requests {
            return Self::new(
                load.scenarios
                    .iter()
                    .map(|&(one, weight)| (one, u128::from(weight))),
            );
        }
        let requests = |one: usize| scenarios.get(one).map_or(1, requests).max(1);
        let multiple = load.scenarios.iter().fold(1_u128, |multiple, &(one, _)| {
            let requests = u128::from(requests(one));
            (multiple / gcd(multiple, requests)).saturating_mul(requests)
        });
        // Too many different lengths: the shares are no longer exact, but within a billionth.
        let multiple = multiple.min(1 << 90);
        Self::new(load.scenarios.iter().map(|&(one, weight)| {
            (
                one,
                multiple / u128::from(requests(one)) * u128::from(weight),
            )
        }))
    }

    /// Scenarios and their weights. One with a weight of 0 never runs.
    fn new(weights: impl Iterator<Item = (usize, u128)>) -> Self {
        let weights: Vec<_> = weights.filter(|(_, weight)| *weight > 0).collect();
        let common = weights
            .iter()
            .fold(0, |common, (_, weight)| gcd(common, *weight))
            .max(1);
        let most = weights
            .iter()
            .map(|(_, weight)| weight / common)
            .max()
            .unwrap_or_default();
        // Sums of weights fit 64 bits.
        let excess = (u128::BITS - most.leading_zeros()).saturating_sub(40);
        let weight = |weight: u128| {
            u64::try_from((weight / common) >> excess)
                .unwrap_or(u64::MAX)
                .max(1)
        };
        let share = |&(scenario, one): &(usize, u128)| Share {
            scenario,
            weight: weight(one),
            credit: 0,
        };
        let shares: Vec<_> = weights.iter().map(share).collect();
        let sum = shares.iter().map(|share| share.weight).sum();
        let mut mix = Self {
            shares,
            sum,
            number: 0,
            table: Box::default(),
        };
        if sum <= SHORT {
            let round = usize::try_from(sum).unwrap_or(0);
            mix.table = mix.by_ref().take(round).collect();
        }
        mix
    }

    /// The scenario of the iteration of this number, from 0; `None` if there are no scenarios.
    ///
    /// If a round is long, a number that is far beyond the last one takes long, and so does a lower one.
    #[inline]
    pub fn scenario(&mut self, number: u64) -> Option<usize> {
        let place = number.checked_rem(self.sum)?;
        if !self.table.is_empty() {
            return self.table.get(usize::try_from(place).ok()?).copied();
        }
        if number < self.number || number - self.number > place {
            self.number = number - place;
            self.shares.iter_mut().for_each(|share| share.credit = 0);
        }
        while self.number < number {
            self.next()?;
        }
        self.next()
    }
}

impl Iterator for Mix {
    type Item = usize;

    /// The scenario of the next iteration; `None` if there are no scenarios.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        for share in &mut self.shares {
            share.credit += i128::from(share.weight);
        }
        let next = self.shares.iter_mut();
        let next = next.min_by_key(|share| Reverse(share.credit))?;
        next.credit -= i128::from(self.sum);
        self.number += 1;
        Some(next.scenario)
    }
}

/// How many requests an iteration sends if nothing fails.
#[must_use]
pub fn requests(scenario: &Scenario) -> u64 {
    let of_action = |action: &Action| match action {
        Action::Step(_) => 1,
        Action::Together(steps) => steps.len() as u64,
        Action::Think { .. } | Action::Draw(_) => 0,
    };
    let once: u64 = scenario.actions.iter().map(of_action).sum();
    once * u64::from(scenario.repeat.max(1))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::plan::{OnFailure, Phases};
    use super::*;

    fn mix(weights: &[u32]) -> Mix {
        Mix::new(weights.iter().map(|weight| u128::from(*weight)).enumerate())
    }

    fn counts(drawn: &[usize], scenarios: usize) -> Vec<usize> {
        (0..scenarios)
            .map(|one| drawn.iter().filter(|drawn| **drawn == one).count())
            .collect()
    }

    #[test]
    fn eighty_to_twenty_is_exact_over_any_thousand_numbers() {
        let all: Vec<usize> = mix(&[80, 20]).take(3000).collect();
        assert_eq!(all[..10], [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
        for window in all.windows(1000) {
            assert_eq!(counts(window, 2), [800, 200]);
        }
    }

    #[test]
    fn a_weight_of_zero_never_runs_and_no_weights_are_no_iterations() {
        assert_eq!(
            counts(&mix(&[0, 3, 0]).take(50).collect::<Vec<_>>(), 3),
            [0, 50, 0]
        );
        assert_eq!(mix(&[0]).next(), None);
        assert_eq!(mix(&[]).next(), None);
    }

    fn scenario(actions: Vec<Action>, repeat: u32) -> Scenario {
        Scenario {
            name: String::new(),
            actions,
            draws: Vec::new(),
            keeps_to: None,
            repeat,
            on_failure: OnFailure::EndIteration,
            keeps_cookies: false,
        }
    }

    #[test]
    fn a_share_of_requests_is_divided_by_the_requests_of_an_iteration() {
        let think = Action::Think {
            least_ns: 1,
            most_ns: 1,
        };
        let scenarios = [
            scenario(
                vec![Action::Step(0), think, Action::Together(vec![1, 2])],
                1,
            ),
            scenario(vec![Action::Step(3)], 2),
        ];
        assert_eq!(scenarios.each_ref().map(requests), [3, 2]);
        let load = Load {
            scenarios: vec![(0, 50), (1, 50)],
            shares_requests: true,
            phases: Phases::Users(Vec::new()),
            iterations: None,
            start_after_ns: 0,
            pace_ns: 0,
        };
        let drawn: Vec<usize> = Mix::of(&load, &scenarios).take(500).collect();
        assert_eq!(counts(&drawn, 2), [200, 300]);
        let by_iterations = Load {
            shares_requests: false,
            ..load
        };
        assert_eq!(
            counts(
                &Mix::of(&by_iterations, &scenarios)
                    .take(500)
                    .collect::<Vec<_>>(),
                2
            ),
            [250, 250]
        );
    }

    proptest! {
        #[test]
        fn threads_that_share_the_numbers_deal_out_what_one_would(
            weights in prop::collection::vec(prop_oneof![0..9_u32, 1..2_000_u32], 1..9),
            threads in prop::collection::vec(0..3_usize, 1..3_000),
        ) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let mut mixes = [(); 3].map(|()| mix(&weights));
            for ((number, thread), expected) in (0..).zip(threads).zip(mix(&weights)) {
                prop_assert_eq!(mixes[thread].scenario(number), Some(expected));
            }
        }

        #[test]
        fn each_scenario_has_its_share_of_a_round_and_is_never_ahead_of_it_by_one(
            weights in prop::collection::vec(prop_oneof![0..9_u32, 1..2_000_u32, any::<u32>()], 1..9), all in 1..4_000_usize,
        ) {
            let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
            prop_assume!(sum > 0);
            let scenarios = weights.iter().filter(|weight| **weight > 0).count() as u64;
            let mut begun = vec![0_u64; weights.len()];
            for (number, drawn) in (1..).zip(mix(&weights).take(all)) {
                begun[drawn] += 1;
                for (weight, begun) in weights.iter().zip(&begun) {
                    let (has, due) = (begun * sum, u64::from(*weight) * number);
                    prop_assert!(has < due + sum, "{begun} of {number} for {weight} of {sum}");
                    prop_assert!(due <= has + (scenarios - 1) * sum, "{begun} of {number} for {weight} of {sum}");
                    prop_assert!(number % sum > 0 || has == due, "{begun} of {number} for {weight} of {sum}");
                }
            }
        }
    }
}
