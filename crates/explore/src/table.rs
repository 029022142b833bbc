//! Open-addressed tables: state numbers by hash, and bare fingerprints.
//!
//! [`Table`] spends four bytes a slot. A slot holds a state number in as many low bits as the
//! table has index bits, and as much of the hash as fits into the bits above: nine bits of it
//! with eight million slots. So hardly any state is compared that differs, and the number of
//! bytes a slot stays at four whatever the size.

/// A slot that holds nothing; numbers are stored plus one.
const EMPTY: u32 = 0;
/// The index bits of an empty table.
const START_BITS: u32 = 10;
/// The most index bits: one bit of a slot is left to the hash.
pub(crate) const MAX_BITS: u32 = 31;

/// Whether `len` entries are too many for `capacity` slots: above seven eighths.
fn crowded(len: usize, capacity: usize) -> bool {
    len >= capacity / 8 * 7
}

/// Numbers of states, found by the hash of the state.
pub(crate) struct Table {
    slots: Vec<u32>,
    bits: u32,
    len: usize,
}

/// Where a state is, or where it would go.
pub(crate) enum Lookup {
    Found(u32),
    Vacant(usize),
}

impl Default for Table {
    fn default() -> Self {
        Table {
            slots: vec![EMPTY; 1 << START_BITS],
            bits: START_BITS,
            len: 0,
        }
    }
}

impl Table {
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    fn entry(&self, hash: u64, number: u32) -> u32 {
        (hash as u32) << self.bits | (number + 1)
    }

    /// Loads the first slot where `hash` can be. If it may hold the state, returns its number.
    ///
    /// Doing this for many hashes in a row lets the processor wait for many cache lines at once.
    pub(crate) fn warm(&self, hash: u64) -> Option<u32> {
        let entry = self.slots[self.home(hash)];
        let low = (1 << self.bits) - 1;
        (entry != EMPTY && entry & !low == (hash as u32) << self.bits).then(|| (entry & low) - 1)
    }

    /// Looks for a state with `hash` that `same` accepts.
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Lookup {
        let low = (1 << self.bits) - 1;
        let tag = (hash as u32) << self.bits;
        let mut at = self.home(hash);
        loop {
            let entry = self.slots[at];
            if entry == EMPTY {
                return Lookup::Vacant(at);
            }
            if entry & !low == tag && same((entry & low) - 1) {
                return Lookup::Found((entry & low) - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Fills the slot that [`Table::find`] returned.
    pub(crate) fn fill(&mut self, slot: usize, hash: u64, number: u32) {
        self.slots[slot] = self.entry(hash, number);
        self.len += 1;
    }

    /// Makes room for one more state whose number is at most `number`.
    ///
    /// Growing needs all hashes again. `hash_of` gives them; states are visited in the order of
    /// their numbers, which is the order in memory.
    pub(crate) fn reserve(&mut self, number: u32, hash_of: impl Fn(u32) -> u64) {
        if !crowded(self.len, self.slots.len()) && number + 1 < 1 << self.bits {
            return;
        }
        let low = (1 << self.bits) - 1;
        let mut numbers: Vec<u32> = self
            .slots
            .iter()
            .filter(|&&e| e != EMPTY)
            .map(|entry| (entry & low) - 1)
            .collect();
        numbers.sort_unstable();
        while crowded(self.len, 1 << self.bits) || number + 1 >= 1 << self.bits {
            self.bits += 1;
        }
        assert!(
            self.bits <= MAX_BITS,
            "the engine stops before this many states"
        );
        self.slots = Vec::new();
        self.slots = vec![EMPTY; 1 << self.bits];
        for number in numbers {
            let hash = hash_of(number);
            let mut at = self.home(hash);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = self.entry(hash, number);
        }
    }
}

/// Fingerprints, each with the smallest depth at which its state was reached if that matters.
pub(crate) struct FingerprintTable {
    slots: Vec<u128>,
    depths: Option<Vec<u32>>,
    len: usize,
}

impl FingerprintTable {
    pub(crate) fn new(with_depths: bool) -> Self {
        let capacity = 1 << START_BITS;
        FingerprintTable {
            slots: vec![0; capacity],
            depths: with_depths.then(|| vec![0; capacity]),
            len: 0,
        }
    }

    fn home(&self, fingerprint: u128) -> usize {
        ((fingerprint as u64) >> (64 - self.slots.len().ilog2())) as usize
    }

    /// Loads the first slot where `fingerprint` can be; see [`Table::warm`].
    pub(crate) fn warm(&self, fingerprint: u128) -> bool {
        self.slots[self.home(fingerprint)] == fingerprint
    }

    /// The depth kept for `fingerprint` (0 if depths are not kept), or where it would go.
    pub(crate) fn find(&self, fingerprint: u128) -> Result<&u32, usize> {
        // Zero marks an empty slot; a state whose fingerprint is zero is stored as one.
        let fingerprint = fingerprint.max(1);
        let mut at = self.home(fingerprint);
        loop {
            match self.slots[at] {
                0 => return Err(at),
                found if found == fingerprint => {
                    return Ok(self.depths.as_ref().map_or(&0, |depths| &depths[at]));
                }
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Stores `fingerprint` with `depth`, or lowers its depth.
    pub(crate) fn put(&mut self, fingerprint: u128, depth: u32) {
        if crowded(self.len, self.slots.len()) {
            self.grow();
        }
        let fingerprint = fingerprint.max(1);
        let mut at = self.home(fingerprint);
        while self.slots[at] != 0 && self.slots[at] != fingerprint {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.len += usize::from(self.slots[at] == 0);
        self.slots[at] = fingerprint;
        if let Some(depths) = &mut self.depths {
            depths[at] = depth;
        }
    }

    fn grow(&mut self) {
        let capacity = self.slots.len() * 2;
        let slots = std::mem::replace(&mut self.slots, vec![0; capacity]);
        let depths = self
            .depths
            .as_mut()
            .map(|depths| std::mem::replace(depths, vec![0; capacity]));
        self.len = 0;
        for (at, fingerprint) in slots.into_iter().enumerate().filter(|&(_, f)| f != 0) {
            self.put(fingerprint, depths.as_ref().map_or(0, |depths| depths[at]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A poor hash: many states share it, so that tags and comparisons are put to work.
    fn hash(number: u32) -> u64 {
        (u64::from(number) / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn a_table_finds_exactly_what_was_put_in() {
        let mut table = Table::default();
        for number in 0..20_000 {
            table.reserve(number, hash);
            match table.find(hash(number), |found| found == number) {
                Lookup::Vacant(slot) => table.fill(slot, hash(number), number),
                Lookup::Found(_) => panic!("{number} was not there yet"),
            }
        }
        for number in 0..20_000 {
            assert!(matches!(
                table.find(hash(number), |found| found == number),
                Lookup::Found(found) if found == number
            ));
        }
        assert!(matches!(
            table.find(hash(20_001), |_| false),
            Lookup::Vacant(_)
        ));
    }

    #[test]
    fn fingerprints_keep_their_smallest_depth() {
        let mut table = FingerprintTable::new(true);
        let mut expected = BTreeMap::new();
        for i in 0..20_000u32 {
            let fingerprint = u128::from(hash(i)) << 3 | u128::from(hash(i));
            let depth = 20_000 - i;
            table.put(fingerprint, depth);
            expected.insert(fingerprint.max(1), depth);
        }
        for (fingerprint, depth) in expected {
            assert_eq!(table.find(fingerprint).ok(), Some(&depth));
        }
        assert!(table.find(12345).is_err());
    }
}
