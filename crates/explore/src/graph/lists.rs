//! Steps, and the lists of steps of states, numbered.

use crate::Step;
use crate::table::{DENSE, Lookup, Table};

/// Spreads the bits of a word.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(step: Step) -> u64 {
    let word = u64::from(step.event) << 48 | u64::from(step.actor) << 32 | u64::from(step.param);
    word.wrapping_mul(SPREAD)
}

/// Steps, numbered.
#[derive(Default)]
pub(super) struct Dictionary {
    pub(super) steps: Vec<Step>,
    numbers: Table,
}

impl Dictionary {
    /// The number of a step, which is added if it is new.
    pub(super) fn number(&mut self, step: Step) -> u32 {
        let Dictionary { steps, numbers } = self;
        numbers.reserve(steps.len() as u32, |number| mixed(steps[number as usize]));
        match numbers.find(mixed(step), |number| steps[number as usize] == step) {
            Lookup::Found(number) => number,
            Lookup::Vacant(slot) => {
                numbers.fill(slot, mixed(step), steps.len() as u32);
                steps.push(step);
                steps.len() as u32 - 1
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.numbers.bytes() + self.steps.capacity() * size_of::<Step>()
    }
}

/// Lists of numbers of steps, numbered. What is enabled in a state mostly is enabled in many others,
/// so there are far fewer lists than states.
#[derive(Default)]
pub(super) struct Lists {
    lists: Concatenated,
    numbers: Table<DENSE>,
}

/// Lists one after the other.
#[derive(Default)]
struct Concatenated {
    /// The lower halves of the numbers, and the upper halves, empty as long as all are zero.
    low: Vec<u16>,
    high: Vec<u16>,
    /// Where each list ends.
    ends: Vec<u32>,
}

impl Concatenated {
    fn get(&self, number: u32) -> impl ExactSizeIterator<Item = u32> {
        let end = |number: usize| self.ends.get(number).map_or(0, |end| *end as usize);
        let start = (number as usize).checked_sub(1).map_or(0, end);
        let high = |at: usize| self.high.get(at).map_or(0, |high| u32::from(*high) << 16);
        (start..end(number as usize)).map(move |at| high(at) | u32::from(self.low[at]))
    }

    fn push(&mut self, list: &[u32]) {
        let is_wide = |number: &u32| *number > u32::from(u16::MAX);
        if self.high.is_empty() && list.iter().any(is_wide) {
            self.high = vec![0; self.low.len()];
        }
        if !self.high.is_empty() {
            self.high.extend(list.iter().map(|number| (number >> 16) as u16));
        }
        self.low.extend(list.iter().map(|number| *number as u16));
        self.ends.push(self.low.len() as u32);
    }
}

fn hash(list: impl Iterator<Item = u32>) -> u64 {
    let fold = |hash: u64, number: u32| {
        (hash.rotate_left(5) ^ u64::from(number).wrapping_add(1)).wrapping_mul(SPREAD)
    };
    let folded = list.fold(0, fold);
    (folded ^ folded >> 29).wrapping_mul(SPREAD)
}

impl Lists {
    /// The number of a list, which is added if it is new.
    pub(super) fn number(&mut self, list: &[u32]) -> u32 {
        let Lists { lists, numbers } = self;
        let fresh = lists.ends.len() as u32;
        numbers.reserve(fresh, |number| hash(lists.get(number)));
        let hash = hash(list.iter().copied());
        match numbers.find(hash, |number| lists.get(number).eq(list.iter().copied())) {
            Lookup::Found(number) => number,
            Lookup::Vacant(slot) => {
                numbers.fill(slot, hash, fresh);
                lists.push(list);
                fresh
            }
        }
    }

    /// The list of this number.
    pub(super) fn get(&self, number: u32) -> impl ExactSizeIterator<Item = u32> {
        self.lists.get(number)
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.lists.ends.len() as u32
    }

    pub(super) fn bytes(&self) -> usize {
        let Concatenated { low, high, ends } = &self.lists;
        self.numbers.bytes() + 2 * (low.capacity() + high.capacity()) + 4 * ends.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal lists have one number, also beyond 65,536 steps, and come back as they were.
    #[test]
    fn lists_are_told_apart() {
        let mut lists = Lists::default();
        let all: Vec<Vec<u32>> =
            (0..3000u32).map(|n| (0..n % 7).map(|at| n * at * 40).collect()).collect();
        let numbers: Vec<u32> = all.iter().map(|list| lists.number(list)).collect();
        assert!(all.iter().flatten().any(|number| *number > u32::from(u16::MAX)));
        for (list, number) in all.iter().zip(&numbers) {
            assert_eq!(lists.get(*number).collect::<Vec<_>>(), *list);
            assert_eq!(lists.number(list), *number);
        }
        let mut different = all.clone();
        different.sort();
        different.dedup();
        assert_eq!(lists.len() as usize, different.len());
    }
}
