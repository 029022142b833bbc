//! The physical limit: a breadth-first loop written by hand for this one model.
//!
//! Nothing a user would write or a general checker could do: the state is one machine word, the
//! visited set stores that word itself (exact, no fingerprints), no parents are kept, and the
//! successors of a whole batch are hashed and their slots prefetched before the first is looked
//! up. Producing the successors is a quarter of the time; the rest is the cost of memory.
//!
//! Tried without a gain: larger batches, a ring instead of batches, buckets of one cache line, a
//! small cache of recent words before the table, a stronger hash (worse: it loses locality). Huge
//! pages gain 15 % and `target-cpu=native` with buckets 20 %; both are left out because the
//! contenders do not have them either.

use crate::contender::StateCounts;
use crate::model::{Arq, Bounds, Event};
use prefetch_index::prefetch_index;

/// States that are expanded before their successors are looked up.
const BATCH: usize = 32;

/// The slots of the growing table at the start, as a power of two.
const SMALL: u32 = 10;

/// The slots of the pre-sized table, as a power of two: [`crate::model::FULL`] fills 69 %.
const PRESIZED: u32 = 23;

/// Runs the loop with a table that is large enough from the start.
pub fn presized(bounds: &Bounds) -> StateCounts {
    explore(bounds, Table::new(PRESIZED))
}

/// Runs the loop with a table that doubles when it is three quarters full.
///
/// This is the fair limit for a checker that does not know the number of states beforehand.
pub fn growing(bounds: &Bounds) -> StateCounts {
    explore(bounds, Table::new(SMALL))
}

/// Explores all states breadth first.
fn explore(bounds: &Bounds, mut table: Table) -> StateCounts {
    let initial = Arq::initial().pack();
    table.insert(initial);
    let mut level = vec![initial];
    let mut next_level = Vec::new();
    let mut successors = Vec::with_capacity(BATCH * Event::ALL.len());
    let (mut transitions, mut levels) = (0, 0);
    while !level.is_empty() {
        for batch in level.chunks(BATCH) {
            expand(batch, bounds, &table, &mut successors);
            transitions += successors.len() as u64;
            for &word in &successors {
                if table.insert(word) {
                    next_level.push(word);
                }
            }
            table.grow_if_needed();
        }
        levels += 1;
        std::mem::swap(&mut level, &mut next_level);
        next_level.clear();
    }
    StateCounts { states: table.len as u64, transitions: Some(transitions), levels: Some(levels) }
}

/// Runs the same model depth first, a stack of words in place of the levels.
///
/// Only the successors of one state can be looked up at a time, so fewer slots are on their way
/// from memory at once: the limit for depth-first searches.
pub fn depth_first(bounds: &Bounds) -> StateCounts {
    let mut table = Table::new(PRESIZED);
    let initial = Arq::initial().pack();
    table.insert(initial);
    let mut stack = vec![initial];
    let mut successors = Vec::with_capacity(Event::ALL.len());
    let mut transitions = 0;
    while let Some(word) = stack.pop() {
        expand(&[word], bounds, &table, &mut successors);
        transitions += successors.len() as u64;
        stack.extend(successors.iter().filter(|&&word| table.insert(word)));
    }
    StateCounts { states: table.len as u64, transitions: Some(transitions), levels: None }
}

/// Collects the successors of `batch` and prefetches their slots.
#[inline]
fn expand(batch: &[u64], bounds: &Bounds, table: &Table, successors: &mut Vec<u64>) {
    successors.clear();
    for &word in batch {
        let state = Arq::unpack(word);
        for event in Event::ALL {
            let mut successor = state;
            if successor.apply(event, bounds) {
                assert!(successor.in_order, "messages arrive out of order");
                let word = successor.pack();
                prefetch_index(&table.slots, table.home(word));
                successors.push(word);
            }
        }
    }
}

/// An open-addressed set of words with linear probing; zero marks a free slot.
///
/// Zero is never inserted: the loop stops at a state in which the assertion fails, and no other
/// state packs to zero.
struct Table {
    slots: Vec<u64>,
    bits: u32,
    len: usize,
}

impl Table {
    /// Creates a table of two to the power of `bits` slots.
    fn new(bits: u32) -> Table {
        Table { slots: vec![0; 1 << bits], bits, len: 0 }
    }

    /// Returns the slot at which the search for `word` starts.
    #[inline]
    fn home(&self, word: u64) -> usize {
        let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - self.bits)) as usize
    }

    /// Adds `word` and tells whether it was absent.
    #[inline]
    fn insert(&mut self, word: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut slot = self.home(word);
        loop {
            let found = &mut self.slots[slot & mask];
            if *found == word {
                return false;
            }
            if *found == 0 {
                *found = word;
                self.len += 1;
                return true;
            }
            slot += 1;
        }
    }

    /// Doubles the table until less than three quarters of it are in use.
    ///
    /// Called after every batch, which adds at most 6 × [`BATCH`] words: they fit into the last
    /// quarter even of the smallest table.
    fn grow_if_needed(&mut self) {
        while self.len * 4 >= self.slots.len() * 3 {
            let mut larger = Table::new(self.bits + 1);
            for &word in self.slots.iter().filter(|&&word| word != 0) {
                larger.insert(word);
            }
            *self = larger;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{QUICK, QUICK_SIZE};

    #[test]
    fn both_tables_find_the_published_size() {
        for outcome in [presized(&QUICK), growing(&QUICK)] {
            assert_eq!(outcome, StateCounts::exact(&QUICK_SIZE));
        }
    }

    #[test]
    fn depth_first_finds_the_published_size() {
        assert!(depth_first(&QUICK).agrees_with(&QUICK_SIZE));
    }
}
