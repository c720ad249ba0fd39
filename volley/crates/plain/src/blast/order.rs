//! The order in which the points of a sweep are measured.

/// A shuffler that gives the same orders for the same seed on every machine: the shuffle of Fisher and Yates (Knuth,
/// The Art of Computer Programming, vol. 2, 3.4.2, algorithm P) with the numbers of SplitMix64 (Steele, Lea and Flood
/// 2014, <https://doi.org/10.1145/2660193.2660195>).
#[derive(Clone, Debug)]
pub struct Shuffler {
    state: u64,
}

impl Shuffler {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The numbers below `count`, each once. Each call returns another order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }

    /// A number below `bound`: the high half of a product. Its bias is less than `bound` / 2⁶⁴.
    fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first numbers that the authors' own program prints for the seed 1234567.
    #[test]
    fn the_numbers_are_splitmix64s() {
        let mut shuffler = Shuffler::new(1_234_567);
        assert_eq!(
            [shuffler.next(), shuffler.next(), shuffler.next()],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_seed_gives_the_same_orders_again_and_another_seed_others() {
        let orders = |seed| {
            let mut shuffler = Shuffler::new(seed);
            [shuffler.order(39), shuffler.order(39)]
        };
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
        let [first, second] = orders(1);
        assert_ne!(first, second, "repetitions differ");
    }

    #[test]
    fn every_order_of_three_comes_about_as_often() {
        let mut shuffler = Shuffler::new(1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *counts.entry(shuffler.order(3)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }

    proptest! {
        #[test]
        fn every_point_comes_exactly_once(seed in any::<u64>(), count in 0..200_usize) {
            let mut order = Shuffler::new(seed).order(count);
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
