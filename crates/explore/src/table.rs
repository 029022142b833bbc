//! Open-addressed tables: numbers of states found by hash, and bare keys.
//!
//! [`Table`] spends four bytes a slot. A slot holds a state number in as many low bits as the
//! table has index bits, and as much of the hash as fits into the bits above: nine bits of it
//! with eight million slots. So hardly any state is compared that differs, and the number of
//! bytes a slot stays at four whatever the size.

use prefetch_index::prefetch_index;

/// A slot that holds nothing; numbers are stored plus one.
const EMPTY: u32 = 0;
/// The index bits of an empty table.
const START_BITS: u32 = 10;
/// The most index bits: one bit of a slot is left to the hash.
pub(crate) const MAX_BITS: u32 = 31;

/// How many eighths of a table may be taken: above three quarters, linear probing begins to take
/// long.
const QUICK: usize = 6;
/// Where memory matters more than time.
pub(crate) const DENSE: usize = 7;

/// Whether `len` entries are too many for `capacity` slots.
fn crowded(len: usize, capacity: usize, eighths: usize) -> bool {
    len >= capacity / 8 * eighths
}

/// Numbers of states, found by the hash of the state; at most so many eighths of it are taken.
pub(crate) struct Table<const EIGHTHS: usize = QUICK> {
    slots: Vec<u32>,
    bits: u32,
    len: usize,
}

/// Where a state is, or where it would go.
pub(crate) enum Lookup {
    Found(u32),
    Vacant(usize),
}

impl<const EIGHTHS: usize> Default for Table<EIGHTHS> {
    fn default() -> Self {
        Table { slots: vec![EMPTY; 1 << START_BITS], bits: START_BITS, len: 0 }
    }
}

impl<const EIGHTHS: usize> Table<EIGHTHS> {
    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    fn entry(&self, hash: u64, number: u32) -> u32 {
        (hash as u32) << self.bits | (number + 1)
    }

    /// Fetches the first slot where `hash` can be into the cache, without waiting for it.
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch_index(&self.slots, self.home(hash));
    }

    /// The state that the first slot where `hash` can be may hold.
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
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
        if !crowded(self.len, self.slots.len(), EIGHTHS) && number + 1 < 1 << self.bits {
            return;
        }
        let low = (1 << self.bits) - 1;
        let mut numbers: Vec<u32> =
            self.slots.iter().filter(|&&e| e != EMPTY).map(|entry| (entry & low) - 1).collect();
        numbers.sort_unstable();
        while crowded(self.len, 1 << self.bits, EIGHTHS) || number + 1 >= 1 << self.bits {
            self.bits += 1;
        }
        assert!(self.bits <= MAX_BITS, "the engine stops before this many states");
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

/// Above so many slots, a [`KeyTable`] grows by a quarter: what it takes is then close to what it needs.
const LARGE: usize = 1 << 16;

fn grown(slots: usize) -> usize {
    if slots < LARGE { 2 * slots } else { slots + slots / 4 }
}

/// How many keys fit into a [`KeyTable`] of at most so many slots.
pub(crate) fn most_keys(slots: usize) -> usize {
    let mut most = 1 << START_BITS;
    while grown(most) <= slots {
        most = grown(most);
    }
    most / 8 * QUICK - 1
}

/// What a [`KeyTable`] stores: a fingerprint, or a whole state of at most eight bytes.
pub(crate) trait Key: Copy + Eq + Default {
    /// Well-mixed bits of the key.
    fn mixed(self) -> u64;
}

impl Key for u128 {
    /// A fingerprint is mixed already.
    fn mixed(self) -> u64 {
        self as u64
    }
}

impl Key for u64 {
    /// Fibonacci hashing. A stronger hash is slower here: states that differ little are visited
    /// close in time, and this one lets them stay close in memory.
    fn mixed(self) -> u64 {
        self.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// A set of keys, each with the smallest depth at which its state was reached if that matters.
///
/// Places follow the order of the mixed keys, so that growing the table is a walk through memory.
pub(crate) struct KeyTable<K> {
    slots: Vec<K>,
    depths: Option<Vec<u32>>,
    len: usize,
    /// The depth of the key zero, which marks empty slots and is kept apart.
    zero: Option<u32>,
}

impl<K: Key> KeyTable<K> {
    pub(crate) fn new(with_depths: bool) -> Self {
        let capacity = 1 << START_BITS;
        KeyTable {
            slots: vec![K::default(); capacity],
            depths: with_depths.then(|| vec![0; capacity]),
            len: 0,
            zero: None,
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let depths = self.depths.as_ref().map_or(0, |depths| 4 * depths.capacity());
        self.slots.capacity() * size_of::<K>() + depths
    }

    /// The first slot where `key` can be: as far into the table as the mixed key is into all numbers.
    #[inline]
    fn home(&self, key: K) -> usize {
        ((u128::from(key.mixed()) * self.slots.len() as u128) >> 64) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Fetches the first slot where `key` can be into the cache, without waiting for it.
    pub(crate) fn prefetch(&self, key: K) {
        prefetch_index(&self.slots, self.home(key));
    }

    /// Makes room for one more key.
    pub(crate) fn reserve(&mut self) {
        if crowded(self.len, self.slots.len(), QUICK) {
            self.grow();
        }
    }

    /// The depth kept for `key` (0 if depths are not kept), or the slot where it would go.
    #[inline]
    pub(crate) fn find(&self, key: K) -> Result<u32, usize> {
        if key == K::default() {
            return self.zero.ok_or(0);
        }
        let mut at = self.home(key);
        loop {
            let found = self.slots[at];
            if found == key {
                return Ok(self.depths.as_ref().map_or(0, |depths| depths[at]));
            }
            if found == K::default() {
                return Err(at);
            }
            at = self.next(at);
        }
    }

    /// Stores a new key in the slot that [`KeyTable::find`] returned.
    pub(crate) fn fill(&mut self, slot: usize, key: K, depth: u32) {
        if key == K::default() {
            self.zero = Some(depth);
            return;
        }
        self.slots[slot] = key;
        self.len += 1;
        if let Some(depths) = &mut self.depths {
            depths[slot] = depth;
        }
    }

    /// Lowers the depth of a key that is there.
    pub(crate) fn lower(&mut self, key: K, depth: u32) {
        if key == K::default() {
            self.zero = Some(depth);
            return;
        }
        let mut at = self.home(key);
        while self.slots[at] != key {
            at = self.next(at);
        }
        if let Some(depths) = &mut self.depths {
            depths[at] = depth;
        }
    }

    /// Enlarges the table in place, so that there are never two of them in memory.
    ///
    /// The keys are gathered in order at the end of the enlarged table and reinserted from there. If it
    /// grows by a factor of f, a key that was at place p goes to a place before f(p + 1), and thus never
    /// to where a key is that was not reinserted yet: there are as many places between that key and
    /// the end of the table now as there were keys behind it then.
    #[cold]
    fn grow(&mut self) {
        let (kept, wrapped) = self.gather();
        let (old, new) = (self.slots.len(), grown(self.slots.len()));
        self.slots.reserve_exact(new - old);
        self.slots.resize(new, K::default());
        self.slots.copy_within(..kept, new - kept);
        if let Some(depths) = &mut self.depths {
            depths.reserve_exact(new - old);
            depths.resize(new, 0);
            depths.copy_within(..kept, new - kept);
        }
        // Everything from `fresh` on is free, whatever it holds.
        let mut fresh = 0;
        for from in new - kept..new {
            let key = self.slots[from];
            let depth = self.depths.as_ref().map_or(0, |depths| depths[from]);
            let mut at = self.home(key);
            while at < fresh && self.slots[at] != K::default() {
                at += 1;
            }
            if at >= fresh {
                self.slots[fresh..at].fill(K::default());
                fresh = at + 1;
            }
            self.slots[at] = key;
            if let Some(depths) = &mut self.depths {
                depths[at] = depth;
            }
        }
        self.slots[fresh..].fill(K::default());
        self.len = kept;
        for (key, depth) in wrapped {
            if let Err(slot) = self.find(key) {
                self.fill(slot, key, depth);
            }
        }
    }

    /// Moves the keys to the front, in order, and returns how many there are. Those that stand
    /// before their place because the search for a free slot went past the end come separately.
    fn gather(&mut self) -> (usize, Vec<(K, u32)>) {
        let (mut kept, mut wrapped) = (0, Vec::new());
        for at in 0..self.slots.len() {
            let key = self.slots[at];
            let depth = self.depths.as_ref().map_or(0, |depths| depths[at]);
            if key == K::default() {
                continue;
            }
            if self.home(key) > at {
                wrapped.push((key, depth));
                continue;
            }
            self.slots[kept] = key;
            if let Some(depths) = &mut self.depths {
                depths[kept] = depth;
            }
            kept += 1;
        }
        (kept, wrapped)
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
        let mut table = <Table>::default();
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
        assert!(matches!(table.find(hash(20_001), |_| false), Lookup::Vacant(_)));
    }

    /// Keys whose home is at the end of the table, so that they wrap around when it grows.
    #[test]
    fn growing_keeps_keys_that_wrapped_around() {
        let mut table = KeyTable::<u128>::new(true);
        let key = |i: u128| (u128::from(u64::MAX) << 64 | u128::from(u64::MAX)) - i;
        for i in 0..5000 {
            table.reserve();
            let slot = table.find(key(i)).expect_err("it is new");
            table.fill(slot, key(i), i as u32);
        }
        for i in 0..5000 {
            assert_eq!(table.find(key(i)), Ok(i as u32));
        }
        assert_eq!(table.slots.iter().filter(|&&key| key != 0).count(), 5000);
    }

    #[test]
    fn keys_keep_their_smallest_depth() {
        let mut table = KeyTable::<u64>::new(true);
        let mut expected = BTreeMap::new();
        for i in 0..20_000u32 {
            let (key, depth) = (hash(i), 20_000 - i);
            table.reserve();
            match table.find(key) {
                Ok(_) => table.lower(key, depth),
                Err(slot) => table.fill(slot, key, depth),
            }
            expected.insert(key, depth);
        }
        assert!(expected.contains_key(&0), "zero marks empty slots and must still be a key");
        for (key, depth) in expected {
            assert_eq!(table.find(key), Ok(depth));
        }
        assert!(table.find(12345).is_err());
    }
}
