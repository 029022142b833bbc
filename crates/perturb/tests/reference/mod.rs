//! The definition itself, word for word and slow.

use everypath_perturb::Budget;
use std::collections::BTreeSet;
use std::ops::Add;

/// More sequences than these are not compared.
const MOST_SEQUENCES: usize = 40_000;

/// All sequences of packets in which none occurs more than `most` times, unless there are too many.
pub(crate) fn sequences(packets: u32, most: u8) -> Option<Vec<Vec<u32>>> {
    let mut all = vec![Vec::new()];
    let mut next = 0;
    while next < all.len() {
        for packet in 0..packets {
            if times(&all[next], packet) < usize::from(most) {
                let mut longer = all[next].clone();
                longer.push(packet);
                all.push(longer);
            }
        }
        if all.len() > MOST_SEQUENCES {
            return None;
        }
        next += 1;
    }
    Some(all)
}

fn times(sequence: &[u32], packet: u32) -> usize {
    sequence.iter().filter(|&&other| other == packet).count()
}

/// Definition 5: multiplicities (definition 4) and late packets (definition 3).
pub(crate) fn is_delivery(sequence: &[u32], packets: u32, choices: &[u8], capacity: u32) -> bool {
    let often_enough = |packet| choices.iter().any(|&m| usize::from(m) == times(sequence, packet));
    let late = |at: usize| -> BTreeSet<u32> {
        sequence[at + 1..].iter().copied().filter(|&other| other < sequence[at]).collect()
    };
    (0..packets).all(often_enough)
        && (0..sequence.len()).all(|at| late(at).len() < capacity as usize)
}

/// The faults of a whole delivery.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    lost: usize,
    duplicated: usize,
    reordered: usize,
}

impl Faults {
    pub(crate) fn of(sequence: &[u32], packets: u32) -> Self {
        let times = |packet| times(sequence, packet);
        let is_late = |&at: &usize| sequence[..at].iter().any(|&other| other > sequence[at]);
        Faults {
            lost: (0..packets).filter(|&packet| times(packet) == 0).count(),
            duplicated: (0..packets).map(|packet| times(packet).saturating_sub(1)).sum(),
            reordered: (0..sequence.len()).filter(is_late).count(),
        }
    }

    pub(crate) fn are_within(&self, budget: &Budget) -> bool {
        self.lost <= budget.loss as usize
            && self.duplicated <= budget.duplication as usize
            && self.reordered <= budget.reordering as usize
            && self.lost + self.duplicated + self.reordered <= budget.total as usize
    }
}

impl Add for Faults {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Faults {
            lost: self.lost + other.lost,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
        }
    }
}
