//! The canonical bytes of many states, stored contiguously in large blocks.
//!
//! A state is found by its number. As long as all states have the same length its place follows
//! from the number and costs nothing; from the first state of another length on, a place and a
//! length are kept for each. A block is freed when the last of its states is released.

use prefetch_index::prefetch_index;
use std::collections::VecDeque;

/// Bytes in a block, unless one state needs more.
const BLOCK: usize = 1 << 20;
/// States start at multiples of this, so that a place fits into 32 bits.
const GRAIN: usize = 4;

/// An append-only store of byte strings, numbered from 0.
#[derive(Default)]
pub(crate) struct States {
    blocks: Vec<Block>,
    layout: Layout,
    len: u32,
}

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// States in this block that are not released.
    live: u32,
}

#[derive(Default)]
enum Layout {
    #[default]
    Empty,
    /// All states have `len` bytes, `stride` apart, `1 << shift` of them in a block.
    Uniform { len: usize, stride: usize, shift: u32 },
    /// Block number and offset, and length, of each state from the first that is not released on.
    Varied { first: u32, places: VecDeque<Place> },
}

/// The block of a state that is released.
const RELEASED: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Place {
    block: u32,
    grain: u32,
    len: u32,
}

impl States {
    /// How many states were ever added.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let places = match &self.layout {
            Layout::Varied { places, .. } => places.capacity() * size_of::<Place>(),
            Layout::Empty | Layout::Uniform { .. } => 0,
        };
        self.blocks.iter().map(|block| block.bytes.capacity()).sum::<usize>() + places
    }

    /// Adds a state and returns its number.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> u32 {
        let number = self.len;
        self.len += 1;
        match &mut self.layout {
            Layout::Uniform { len, shift, stride } if *len == bytes.len() => {
                if number & ((1 << *shift) - 1) == 0 {
                    let capacity = *stride << *shift;
                    self.blocks.push(Block { bytes: Vec::with_capacity(capacity), live: 0 });
                }
                self.append(bytes);
            }
            Layout::Empty => {
                let stride = bytes.len().next_multiple_of(GRAIN).max(GRAIN);
                let shift = (BLOCK / stride).max(1).ilog2();
                self.layout = Layout::Uniform { len: bytes.len(), stride, shift };
                self.blocks.push(Block::default());
                self.append(bytes);
            }
            Layout::Uniform { .. } => {
                self.vary(number);
                self.push_varied(bytes);
            }
            Layout::Varied { .. } => self.push_varied(bytes),
        }
        number
    }

    /// The bytes of a state that was not released.
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        match &self.layout {
            Layout::Uniform { len, stride, shift } => {
                let block = &self.blocks[(number >> shift) as usize];
                let at = (number & ((1 << shift) - 1)) as usize * stride;
                &block.bytes[at..at + len]
            }
            Layout::Varied { first, places } => {
                let place = places[(number - first) as usize];
                let at = place.grain as usize * GRAIN;
                &self.blocks[place.block as usize].bytes[at..at + place.len as usize]
            }
            Layout::Empty => unreachable!("no state was added"),
        }
    }

    /// Fetches the front of a state into the cache, without waiting for it.
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch_index(self.get(number), 0);
    }

    /// Says that a state's bytes are not needed any more.
    pub(crate) fn release(&mut self, number: u32) {
        let at = match &mut self.layout {
            Layout::Uniform { shift, .. } => number >> *shift,
            Layout::Varied { first, places } => {
                let place = &mut places[(number - *first) as usize];
                let block = std::mem::replace(&mut place.block, RELEASED);
                // They are mostly released in the order in which they were added.
                while places.front().is_some_and(|place| place.block == RELEASED) {
                    places.pop_front();
                    *first += 1;
                }
                block
            }
            Layout::Empty => unreachable!("no state was added"),
        } as usize;
        let current = at + 1 == self.blocks.len();
        let block = &mut self.blocks[at];
        block.live -= 1;
        if block.live == 0 && !current {
            block.bytes = Vec::new();
        }
    }

    /// Appends to the last block, padded to whole grains.
    fn append(&mut self, bytes: &[u8]) {
        let block = self.blocks.last_mut().expect("a block was opened");
        block.bytes.extend_from_slice(bytes);
        block.live += 1;
        // A state of no bytes still takes a grain, so that strides stay positive.
        if bytes.is_empty() || !bytes.len().is_multiple_of(GRAIN) {
            let padding = GRAIN - bytes.len() % GRAIN;
            block.bytes.resize(block.bytes.len() + padding, 0);
        }
    }

    fn push_varied(&mut self, bytes: &[u8]) {
        let full = self
            .blocks
            .last()
            .is_none_or(|block| block.bytes.len() + bytes.len() + GRAIN > BLOCK && block.live > 0);
        if full {
            // The first block grows, since there may be few states; the others are full in the end.
            let capacity = if self.blocks.is_empty() { 0 } else { BLOCK.max(bytes.len() + GRAIN) };
            self.blocks.push(Block { bytes: Vec::with_capacity(capacity), live: 0 });
        }
        let block = self.blocks.len() - 1;
        let grain = self.blocks[block].bytes.len() / GRAIN;
        let place = Place { block: block as u32, grain: grain as u32, len: bytes.len() as u32 };
        if let Layout::Varied { places, .. } = &mut self.layout {
            places.push_back(place);
        }
        self.append(bytes);
    }

    /// Writes down the places of the first `count` states, which so far followed from the number.
    fn vary(&mut self, count: u32) {
        let Layout::Uniform { len, stride, shift } = self.layout else {
            return;
        };
        let places = (0..count).map(|number| Place {
            block: number >> shift,
            grain: ((number & ((1 << shift) - 1)) as usize * stride / GRAIN) as u32,
            len: len as u32,
        });
        self.layout = Layout::Varied { first: 0, places: places.collect() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn states_come_back_as_they_were_added(
            uniform in 0usize..50,
            len in 0usize..40,
            varied in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..50),
        ) {
            let mut expected: Vec<Vec<u8>> = (0..uniform).map(|i| vec![i as u8; len]).collect();
            expected.extend(varied);
            let mut states = States::default();
            for (number, bytes) in expected.iter().enumerate() {
                prop_assert_eq!(states.push(bytes) as usize, number);
            }
            for (number, bytes) in expected.iter().enumerate() {
                prop_assert_eq!(states.get(number as u32), bytes.as_slice());
            }
        }
    }

    #[test]
    fn blocks_are_freed_when_all_their_states_are_released() {
        for odd_one_out in [false, true] {
            let mut states = States::default();
            if odd_one_out {
                states.push(&[1]);
            }
            let numbers: Vec<u32> = (0..50_000).map(|i| states.push(&[i as u8; 100])).collect();
            let held = |states: &States| -> usize {
                states.blocks.iter().map(|block| block.bytes.len()).sum()
            };
            assert!(held(&states) >= 5_000_000);
            numbers.iter().for_each(|&number| states.release(number));
            assert!(held(&states) < 3 * BLOCK, "{}", held(&states));
        }
    }

    #[test]
    fn a_state_may_be_larger_than_a_block() {
        let mut states = States::default();
        let (large, small) = (vec![7; BLOCK + 3], vec![9; 5]);
        for bytes in [&large, &small, &large, &large, &small] {
            let number = states.push(bytes);
            assert_eq!(states.get(number), bytes.as_slice());
        }
    }
}
