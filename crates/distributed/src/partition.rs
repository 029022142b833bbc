//! The states that belong to a worker.

use crate::message::{Generated, Link, ROOT};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// How the number of a worker and that of a state there make the number of a state.
const WORKER: u32 = 32;

/// The worker among `workers` to which a state belongs.
pub(crate) fn owner(print: u128, workers: usize) -> usize {
    // The other half decides about the place in the table.
    (((print >> 64) * workers as u128) >> 64) as usize
}

/// The part of a fingerprint by which ways to a state are ordered.
pub(crate) fn key(print: u128) -> u64 {
    (print >> 32) as u64
}

/// The states that belong to a worker: the fingerprint of each and how it was reached, and the bytes of
/// those that are to be expanded.
pub(crate) struct Partition {
    worker: u64,
    prints: Vec<u128>,
    table: HashTable<u32>,
    /// The parent of each state, and the choice.
    parents: Vec<(u64, u32)>,
    /// The first state of the level that is being generated, and the keys of its states' parents.
    first: usize,
    keys: Vec<u64>,
    next: Waiting,
}

/// The bytes of some states, one after the other.
#[derive(Default)]
pub(crate) struct Waiting {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Waiting {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

impl Partition {
    pub(crate) fn new(worker: usize) -> Self {
        Partition {
            worker: (worker as u64) << WORKER,
            prints: Vec::new(),
            table: HashTable::new(),
            parents: Vec::new(),
            first: 0,
            keys: Vec::new(),
            next: Waiting::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.prints.len()
    }

    /// Adds a state that was generated; whether it is new. Of several ways to it in one level the
    /// least counts.
    pub(crate) fn admit(&mut self, state: &Generated<'_>) -> bool {
        let Partition { prints, table, parents, keys, first, .. } = self;
        let Link { key, choice, parent } = state.link;
        let same = |&at: &u32| prints[at as usize] == state.print;
        match table.entry(state.print as u64, same, |&at| prints[at as usize] as u64) {
            Entry::Occupied(found) => {
                let at = *found.get() as usize;
                if at >= *first {
                    let known = &mut keys[at - *first];
                    if (key, choice) < (*known, parents[at].1) {
                        *known = key;
                        parents[at] = (parent, choice);
                    }
                }
                false
            }
            Entry::Vacant(place) => {
                let at = u32::try_from(prints.len()).expect("a worker has fewer states");
                place.insert(at);
                prints.push(state.print);
                parents.push((parent, choice));
                keys.push(key);
                self.next.push(state.bytes);
                true
            }
        }
    }

    /// Goes on to the level that was generated: its first state, and the bytes of all.
    pub(crate) fn advance(&mut self) -> (usize, Waiting) {
        let first = std::mem::replace(&mut self.first, self.prints.len());
        self.keys.clear();
        (first, std::mem::take(&mut self.next))
    }

    /// How many bytes all of it takes, without what vectors and the table have in reserve.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<u128>() + size_of::<(u64, u32)>() + size_of::<u32>() + 1;
        let waits = size_of::<u64>() + size_of::<usize>();
        self.prints.len() * each + self.next.len() * waits + self.next.bytes.len()
    }

    /// How many states were generated for the next level.
    pub(crate) fn waiting(&self) -> usize {
        self.next.len()
    }

    /// The number of a state that everybody knows it by.
    pub(crate) fn number(&self, at: usize) -> u64 {
        self.worker | at as u64
    }

    pub(crate) fn print(&self, at: usize) -> u128 {
        self.prints[at]
    }

    /// The parent of a state and the choice, if it belongs here.
    pub(crate) fn back(&self, number: u64) -> Option<(u64, u32)> {
        let is_here = number != ROOT && number >> WORKER == self.worker >> WORKER;
        is_here.then(|| self.parents[(number & ((1 << WORKER) - 1)) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_way_of_a_level_counts() {
        let mut partition = Partition::new(3);
        let state = |print, key, choice| Generated {
            print,
            link: Link { key, choice, parent: key * 10 },
            bytes: b"x",
        };
        assert!(partition.admit(&state(1, 5, 2)));
        assert!(!partition.admit(&state(1, 5, 3)));
        assert_eq!(partition.back(partition.number(0)), Some((50, 2)));
        assert!(!partition.admit(&state(1, 4, 9)));
        assert_eq!(partition.back(partition.number(0)), Some((40, 9)));
        assert_eq!((partition.advance().1.len(), partition.waiting()), (1, 0));
        assert!(!partition.admit(&state(1, 1, 1)));
        assert_eq!(partition.back(partition.number(0)), Some((40, 9)));
        assert!(partition.admit(&state(2, 1, 1)));
        assert_eq!(partition.back(partition.number(1)), Some((10, 1)));
        assert_eq!(partition.back(0), None, "it belongs to another worker");
    }

    #[test]
    fn every_state_has_one_owner_and_they_share_evenly() {
        for workers in 1..9 {
            let mut counts = vec![0; workers];
            for number in 0..1024u128 {
                counts[owner(number << 118 | number, workers)] += 1;
            }
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*most - *least <= 2, "{counts:?}");
        }
    }
}
