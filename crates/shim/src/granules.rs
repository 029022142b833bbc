//! Armed granules: the memory that threads have accessed in conflict, eight bytes each.
//!
//! An access that is armed is a scheduling point only here, so that an instruction which also works on
//! data of its own thread costs little there. The checker knows the granules before the program starts.

use crate::memory::load;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The table: the granules in ascending order.
static TABLE: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// One bit for each granule, by a hash: most accesses meet none.
const FILTER_WORDS: usize = 256;
static FILTER: [AtomicU64; FILTER_WORDS] = [const { AtomicU64::new(0) }; FILTER_WORDS];

/// Where the bit of a granule is.
fn bit_of(granule: usize) -> (usize, u64) {
    // Fibonacci hashing: granules that are used together are often neighbours.
    let hash = (granule as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
    (hash as usize / 64, 1 << (hash % 64))
}

/// The table as the checker wrote it, which stays where it is.
pub(crate) fn install(table: &'static [u8]) {
    TABLE.store(table.as_ptr() as usize, Relaxed);
    COUNT.store(table.len() / size_of::<usize>(), Relaxed);
    for at in 0..COUNT.load(Relaxed) {
        let (word, bit) = bit_of(granule(at));
        FILTER[word].fetch_or(bit, Relaxed);
    }
}

fn granule(at: usize) -> usize {
    load(TABLE.load(Relaxed) + at * size_of::<usize>())
}

/// Whether an access touches an armed granule.
pub(crate) fn are_met(address: usize, length: usize) -> bool {
    first_met(address, length).is_some()
}

/// The first address of the first armed granule that an access touches.
pub(crate) fn first_met(address: usize, length: usize) -> Option<usize> {
    place_of_first(address, length).map(|at| granule(at) * 8)
}

/// The bytes from the first to the last armed granule that an access touches: the address of the first
/// one, and how many there are.
pub(crate) fn span_met(address: usize, length: usize) -> Option<(usize, usize)> {
    let first = place_of_first(address, length)?;
    let behind = address + length;
    let mut last = first;
    while last + 1 < COUNT.load(Relaxed) && granule(last + 1) * 8 < behind {
        last += 1;
    }
    let (start, end) = (granule(first) * 8, granule(last) * 8 + 8);
    let (start, end) = (start.max(address), end.min(behind));
    Some((start, end - start))
}

/// The place in the table of the first armed granule that an access touches.
fn place_of_first(address: usize, length: usize) -> Option<usize> {
    if length == 0 || COUNT.load(Relaxed) == 0 {
        return None;
    }
    let (first, last) = (address / 8, (address + length - 1) / 8);
    if first == last {
        let (word, bit) = bit_of(first);
        if FILTER[word].load(Relaxed) & bit == 0 {
            return None;
        }
    }
    let (mut low, mut high) = (0, COUNT.load(Relaxed));
    while low < high {
        let middle = (low + high) / 2;
        if granule(middle) < first {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low < COUNT.load(Relaxed) && granule(low) <= last).then_some(low)
}
