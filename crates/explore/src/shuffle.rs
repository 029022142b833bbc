//! The shuffle of the enabled events (Sobeih 2008, section 3.3.4).
//!
//! Where we depart from the paper: it draws from one sequence for the whole search, so the order
//! in a state depends on everything explored before. Ours depends on the seed and the state
//! alone, so that it is the same whichever thread expands the state, and a path can be read back
//! without repeating the search.

use crate::Fingerprint;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The generator that a recorded seed belongs to.
pub const GENERATOR: &str = "pcg64-mcg(seed, xxh3-128 of the state)/lemire/fisher-yates";

/// Shuffles `items` by the generator that belongs to `seed` and to the state with this
/// fingerprint. Items of equal number are shuffled alike.
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64, state: Fingerprint) {
    // The multiplier spreads small seeds over all bits before they meet the fingerprint.
    let seed = u128::from(seed).wrapping_mul(0x2d35_8dcc_aa6c_78a5_9e37_79b9_7f4a_7c15);
    let mut generator = Pcg64Mcg::new(state.0 ^ seed);
    for last in (1..items.len()).rev() {
        items.swap(last, below(&mut generator, last as u64 + 1) as usize);
    }
}

/// An unbiased number below `bound`, by Lemire's multiplication (2019).
fn below(generator: &mut Pcg64Mcg, bound: u64) -> u64 {
    loop {
        let product = u128::from(generator.next_u64()) * u128::from(bound);
        if (product as u64) >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    #[test]
    fn a_seed_gives_the_same_order_on_every_machine() {
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        shuffle(&mut items, 1, fingerprint(b"state"));
        assert_eq!(items, [3, 4, 1, 7, 2, 5, 0, 6]);
    }

    #[test]
    fn every_order_is_about_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, seed, fingerprint(b"state"));
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&count| (850..1150).contains(&count)), "{counts:?}");
    }
}
