//! How large a depth-first search is going to be, judged by the part that is done.
//!
//! Donald E. Knuth: Estimating the Efficiency of Backtrack Programs, Mathematics of Computation 29,
//! 1975: a leaf that is reached by random choices among *n* branches counts for as many leaves as
//! there are such choices. Philip Kilby, John Slaney, Sylvie Thiébaux, Toby Walsh: Estimating Search
//! Tree Size, AAAI 2006: for an unfinished depth-first search, each branch of a node has an equal share
//! of the tree below it, and what is done is the sum of the shares of the branches that were explored
//! (their weighted backtrack estimator).
//!
//! Where we depart: the branches of a node are those that are known. A reduced search adds branches
//! while it goes on, so the estimate of the whole grows, and is rather too small than too large.
//! With state matching it would be far too large: states that are reached late were mostly visited.

/// A node on the path that is being explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// How many of its branches were explored to their end.
    pub done: usize,
    /// How many are still to be explored, the one on the path not included.
    pub left: usize,
}

/// What is known of the size of a search in the middle of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The logarithm of the share that is done: it may be smaller than any number.
    logarithm: f64,
    /// How many known branches are still to be explored.
    pub left: u64,
}

impl Estimate {
    /// From the nodes on the path that is being explored, the deepest first.
    pub fn new(deepest_first: impl IntoIterator<Item = Ways>) -> Self {
        let mut logarithm = f64::NEG_INFINITY;
        let mut left = 0;
        for ways in deepest_first {
            // Of this node, the explored branches, and the explored share of the one on the path.
            if ways.done > 0 {
                logarithm = (ways.done as f64 + logarithm.exp()).ln();
            }
            logarithm -= ((ways.done + ways.left + 1) as f64).ln();
            left += ways.left as u64;
        }
        // What is being explored begins with a way that is not explored yet.
        Estimate { logarithm, left: left + 1 }
    }

    /// Of a search that has come to its end.
    pub fn complete() -> Self {
        Estimate { logarithm: 0.0, left: 0 }
    }

    /// Which share of the search is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.logarithm.exp()
    }

    /// How many there will be in the end, of what there are so many now; none if that is beyond all
    /// measure or nothing is known yet.
    pub fn whole(&self, now: u64) -> Option<f64> {
        Some(((now as f64).ln() - self.logarithm).exp()).filter(|whole| whole.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A tree in which each state has so many ways.
    #[derive(Clone, Debug)]
    struct Tree(Vec<Tree>);

    impl Tree {
        fn leaves(&self) -> u64 {
            self.0.iter().map(Tree::leaves).sum::<u64>().max(1)
        }

        /// Searches it; the estimates after each leaf.
        fn search(&self) -> Vec<Estimate> {
            let mut estimates = Vec::new();
            self.visit(&mut Vec::new(), &mut estimates);
            // That after the last leaf is for the whole.
            estimates.drain(..1);
            estimates.push(Estimate::complete());
            estimates
        }

        /// Estimates before each leaf.
        fn visit(&self, path: &mut Vec<Ways>, estimates: &mut Vec<Estimate>) {
            if self.0.is_empty() {
                estimates.push(Estimate::new(path.iter().rev().copied()));
            }
            for (done, next) in self.0.iter().enumerate() {
                path.push(Ways { done, left: self.0.len() - done - 1 });
                next.visit(path, estimates);
                path.pop();
            }
        }

        /// The sum over all leaves of what each counts for, times how probable it is to be met: what
        /// one probe at random shows in the mean.
        fn mean_of_probes(&self, met: f64) -> f64 {
            let ways = self.0.len() as f64;
            match self.0.as_slice() {
                [] => met * (1.0 / met),
                next => next.iter().map(|tree| tree.mean_of_probes(met / ways)).sum(),
            }
        }
    }

    fn trees() -> impl Strategy<Value = Tree> {
        let leaf = Just(Tree(Vec::new()));
        leaf.prop_recursive(6, 400, 4, |inner| {
            proptest::collection::vec(inner, 1..5).prop_map(Tree)
        })
    }

    proptest! {
        #[test]
        fn the_share_grows_to_the_whole(tree in trees()) {
            let estimates = tree.search();
            prop_assert_eq!(estimates.len() as u64, tree.leaves());
            let shares: Vec<f64> = estimates.iter().map(Estimate::share).collect();
            prop_assert!(shares.is_sorted());
            prop_assert!(shares[..shares.len() - 1].iter().all(|&share| 0.0 < share && share < 1.0));
            let last = estimates.last().and_then(|last| last.whole(tree.leaves()));
            prop_assert!(last.is_some_and(|whole| (whole - tree.leaves() as f64).abs() < 1e-6));
            // What each leaf adds is how probable it is to be met, so probes are right in the mean.
            prop_assert!((tree.mean_of_probes(1.0) - tree.leaves() as f64).abs() < 1e-6);
        }

        #[test]
        fn a_regular_tree_is_known_from_the_first_leaf(ways in 1..5usize, depth in 1..6u32) {
            let tree = (0..depth).fold(Tree(Vec::new()), |tree, _| Tree(vec![tree; ways]));
            for (leaf, estimate) in tree.search().into_iter().enumerate() {
                let whole = estimate.whole(leaf as u64 + 1).unwrap();
                prop_assert!((whole - tree.leaves() as f64).abs() < 1e-6, "{whole}");
            }
        }
    }

    #[test]
    fn what_is_beyond_all_measure_is_not_said() {
        let deepest = Ways { done: 1, left: 1 };
        let above = std::iter::repeat_n(Ways { done: 0, left: 9 }, 500);
        let estimate = Estimate::new(std::iter::once(deepest).chain(above));
        assert_eq!((estimate.share(), estimate.left), (0.0, 4502));
        assert_eq!(estimate.whole(1), None);
        let nothing = Estimate::new([Ways { done: 0, left: 3 }]);
        assert_eq!(nothing.whole(0), None);
    }
}
