//! A sketch of the multiset of packets of a state, which settles most comparisons of the simulation
//! relation.

/// How many items there are of each of thirty-two sorts, four bits each; seven stands for more.
///
/// The sort of an item is a hash of its bytes. A state that holds all items of another has at
/// least as many of each sort: that is one subtraction. Where many states differ only in what they
/// hold, such as packets in flight, nearly all comparisons end here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultisetSketch([u64; 2]);

impl MultisetSketch {
    const MOST: u64 = 7;

    /// The sketch of these items.
    pub fn of<'a>(items: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut sketch = [0u64; 2];
        for item in items {
            let word = item.iter().fold(0u64, |word, byte| word.rotate_left(8) ^ u64::from(*byte));
            let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let half = &mut sketch[(mixed >> 63) as usize];
            let shift = (mixed >> 59 & 0xf) * 4;
            if *half >> shift & 0xf < Self::MOST {
                *half += 1 << shift;
            }
        }
        MultisetSketch(sketch)
    }

    /// Whether no sort is rarer here than in `other`.
    #[inline(always)]
    pub fn may_include(self, other: MultisetSketch) -> bool {
        // The highest bit of each sort is free: it takes what the subtraction borrows.
        const FREE: u64 = 0x8888_8888_8888_8888;
        let [low, high] = [0, 1].map(|half| (self.0[half] | FREE) - other.0[half]);
        low & high & FREE == FREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tallies are compared instead of items only where they say no.
        #[test]
        fn what_holds_all_items_of_another_may_include_it(
            (all, some) in prop::collection::vec(prop::collection::vec(0..4u8, 0..3), 0..40)
                .prop_flat_map(|all| {
                    let most = all.len();
                    (Just(all.clone()), prop::sample::subsequence(all, 0..=most))
                })
        ) {
            let sketch = |items: &[Vec<u8>]| MultisetSketch::of(items.iter().map(Vec::as_slice));
            prop_assert!(sketch(&all).may_include(sketch(&some)));
            prop_assert!(sketch(&all).may_include(MultisetSketch::default()));
        }
    }

    #[test]
    fn what_lacks_an_item_mostly_may_not() {
        let items: Vec<[u8; 2]> = (0..200u8).map(|i| [i, i / 3]).collect();
        let sketch = |i: usize| {
            MultisetSketch::of([&items[i][..], &items[(i * 7 + 1) % 200][..]].into_iter())
        };
        let pairs = (0..200).flat_map(|a| (0..200).map(move |b| (a, b)));
        let passed = pairs.filter(|&(a, b)| sketch(a).may_include(sketch(b))).count();
        assert!(passed < 40_000 / 20, "{passed}");
    }
}
