//! The frontier: states that are generated but not expanded, in a queue, a stack or a priority
//! queue.

use crate::{SearchOrder, Ties};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// A state waiting to be explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// Its number.
    pub(crate) node: u32,
    /// Steps from the initial state.
    pub(crate) depth: u32,
    /// Which of its parent's steps led here.
    pub(crate) choice: u32,
    /// Its steps before this one were taken already; recursive depth-first search only.
    pub(crate) from: u32,
}

/// What a strategy is: which waiting state comes next.
pub(crate) enum Frontier {
    Queue(Queue),
    Stack(Vec<Work>),
    /// The heap, which of equals comes first, and how many states were ever pushed.
    Ranked(BinaryHeap<Ranked>, Ties, i64),
}

/// States of two depths at the most: only their numbers are kept.
#[derive(Default)]
pub(crate) struct Queue {
    nodes: VecDeque<u32>,
    /// How many of them, at the front, have the smaller depth; and that depth.
    left: usize,
    depth: u32,
}

impl Queue {
    /// Moves up to `width` states into `batch`, all of one depth.
    fn take(&mut self, width: usize, batch: &mut Vec<Work>) {
        if self.left == 0 {
            self.left = self.nodes.len();
            self.depth += 1;
        }
        let count = width.min(self.left);
        self.left -= count;
        // The initial state, of depth 0, is the first level.
        let depth = self.depth - 1;
        batch.extend(self.nodes.drain(..count).map(|node| Work {
            node,
            depth,
            choice: 0,
            from: 0,
        }));
    }
}

/// Ordered by rank, highest first; among equals by turn, highest first.
#[derive(PartialEq, Eq)]
pub(crate) struct Ranked {
    rank: Box<[i64]>,
    /// The number of its arrival, negative if the first comes first.
    turn: i64,
    work: Work,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.turn.cmp(&other.turn))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Frontier {
    pub(crate) fn new(order: SearchOrder, ties: Ties) -> Self {
        match order {
            SearchOrder::Bfs => Frontier::Queue(Queue::default()),
            SearchOrder::Dfs | SearchOrder::DfsRecursive => Frontier::Stack(Vec::new()),
            SearchOrder::Befs => Frontier::Ranked(BinaryHeap::new(), ties, 0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Frontier::Queue(queue) => queue.nodes.len(),
            Frontier::Stack(stack) => stack.len(),
            Frontier::Ranked(heap, ..) => heap.len(),
        }
    }

    /// How many bytes it takes, without those of ranks.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Frontier::Queue(queue) => queue.nodes.capacity() * size_of::<u32>(),
            Frontier::Stack(stack) => stack.capacity() * size_of::<Work>(),
            Frontier::Ranked(heap, ..) => heap.capacity() * size_of::<Ranked>(),
        }
    }

    /// Adds states of the next depth to a queue.
    pub(crate) fn extend(&mut self, nodes: &[u32]) {
        let Frontier::Queue(queue) = self else { unreachable!("only a queue has levels") };
        queue.nodes.extend(nodes);
    }

    /// Adds a state; its rank matters to best-first search only.
    pub(crate) fn push(&mut self, work: Work, rank: &[i64]) {
        match self {
            Frontier::Queue(queue) => queue.nodes.push_back(work.node),
            Frontier::Stack(stack) => stack.push(work),
            Frontier::Ranked(heap, ties, arrivals) => {
                *arrivals += 1;
                let turn = match ties {
                    Ties::Last => *arrivals,
                    Ties::First => -*arrivals,
                };
                heap.push(Ranked { rank: rank.into(), turn, work });
            }
        }
    }

    /// Moves the next states into `batch`.
    ///
    /// A queue gives up to `width` of them, because none of their successors comes before any of
    /// them, and all of one depth; the others give one.
    pub(crate) fn take(&mut self, width: usize, batch: &mut Vec<Work>) {
        batch.clear();
        match self {
            Frontier::Queue(queue) => queue.take(width, batch),
            Frontier::Stack(stack) => batch.extend(stack.pop()),
            Frontier::Ranked(heap, ..) => batch.extend(heap.pop().map(|ranked| ranked.work)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(ties: Ties) -> Vec<u32> {
        let mut frontier = Frontier::new(SearchOrder::Befs, ties);
        let ranks: [&[i64]; 6] = [&[1], &[2, -1], &[2], &[1], &[2, -1, 0], &[-5, 9]];
        for (node, rank) in ranks.iter().enumerate() {
            let work = Work { node: node as u32, depth: 0, choice: 0, from: 0 };
            frontier.push(work, rank);
        }
        let (mut order, mut batch) = (Vec::new(), Vec::new());
        while frontier.len() > 0 {
            frontier.take(8, &mut batch);
            order.extend(batch.iter().map(|work| work.node));
        }
        order
    }

    #[test]
    fn best_first_is_lexicographic_highest_first_and_ties_are_as_asked() {
        assert_eq!(order(Ties::Last), [4, 1, 2, 3, 0, 5]);
        assert_eq!(order(Ties::First), [4, 1, 2, 0, 3, 5]);
    }
}
