//! Blocks of the heap: headers, canaries and poison.
//!
//! In front of every block is its header: whether it is in use, its class, how many bytes were asked
//! for, and in which calls it was allocated and freed. Behind the bytes that were asked for are at
//! least [`CANARY`] others: a canary while the block is in use, which a write beyond the end changes,
//! and the link of a free list while it is not.

use super::misuse::is_guarded;
use crate::memory::{bytes, bytes_mut, load, round_up, store, zero};

/// The size of a header.
pub(super) const HEADER: usize = 16;
/// So many bytes, at least, are behind what was asked for.
pub(super) const CANARY: usize = 8;
/// No more of them are looked at.
const GUARDED: usize = 32;
/// What they hold.
const CANARY_BYTE: u8 = 0xca;
/// What freed memory holds: no address, so that whoever follows a pointer from there crashes.
const POISON: u8 = 0xfd;
/// Eight bytes of it.
pub(super) const POISON_WORD: u64 = u64::from_ne_bytes([POISON; 8]);

/// The first word of a header: one of these, the class, and how many bytes were not asked for.
const IN_USE: u64 = 0x0065_7573;
const FREED: u64 = 0x0065_6672;
const REACHED: u64 = 0x0065_6163;

fn header(usage: u64, class: usize, spare: usize) -> u64 {
    (usage << 8 | class as u64) << 32 | spare as u64
}

/// How many classes of sizes there are.
pub(super) const CLASSES: usize = 160;

/// The class of a size, and the size of its blocks.
pub(super) fn class_of(size: usize) -> (usize, usize) {
    let size = round_up(size.max(16), 16);
    if size <= 512 {
        return (size / 16, size);
    }
    let shift = (size - 1).ilog2() as usize;
    let step = 1 << (shift - 2);
    let rounded = round_up(size, step);
    (33 + (shift - 9) * 4 + (rounded - (1 << shift)) / step - 1, rounded)
}

/// The size of the blocks of a class.
fn size_of_class(class: usize) -> usize {
    if class <= 32 {
        return class * 16;
    }
    let (shift, steps) = (9 + (class - 33) / 4, (class - 33) % 4 + 1);
    (1 << shift) + (steps << (shift - 2))
}

/// What a header says of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is in use.
    Allocated,
    /// It was freed.
    Freed,
    /// It is in use, and something leads to it: known only when leaks are looked for.
    Reached,
}

/// A block, by the address that follows its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(pub(super) usize);

impl Block {
    /// Makes a block of a class that is not in use.
    pub(super) fn make(self, class: usize) {
        store(self.0 - HEADER, header(FREED, class, 0));
        store(self.0 - 8, 0u64);
    }

    /// Whether it is in use; none if there is no header where it should be.
    pub(super) fn usage(self) -> Option<Use> {
        let word: u64 = load(self.0 - HEADER);
        let is_class = (1..CLASSES).contains(&self.class());
        match word >> 40 {
            IN_USE if is_class => Some(Use::Allocated),
            FREED if is_class => Some(Use::Freed),
            REACHED if is_class => Some(Use::Reached),
            _ => None,
        }
    }

    /// Its class.
    pub(super) fn class(self) -> usize {
        usize::from(load::<u8>(self.0 - HEADER + 4))
    }

    /// How many bytes it has.
    pub(super) fn size(self) -> usize {
        size_of_class(self.class())
    }

    /// How many bytes were asked for: what is left of the block is the canary.
    pub(super) fn asked(self) -> usize {
        let spare: u32 = load(self.0 - HEADER);
        self.size().saturating_sub(spare as usize)
    }

    /// The numbers of the calls that allocated and freed it.
    pub(super) fn calls(self) -> [u32; 2] {
        [load(self.0 - 8), load(self.0 - 4)]
    }

    /// Begins to use it, cleared.
    pub(super) fn allocate(self, asked: usize, call: u32) {
        zero(self.0, self.size());
        store(self.0 - 8, call);
        store(self.0 - 4, 0u32);
        self.resize(asked);
    }

    /// Marks it as reached.
    pub(super) fn mark(self) {
        store(self.0 - HEADER, header(REACHED, self.class(), self.size() - self.asked()));
    }

    /// Uses more or fewer of its bytes.
    pub(super) fn resize(self, asked: usize) {
        let word = header(IN_USE, self.class(), self.size() - asked);
        store(self.0 - HEADER, word);
        if is_guarded() {
            self.guard().fill(CANARY_BYTE);
        }
    }

    /// Clears the canary, for bytes behind the end to be used.
    pub(super) fn unguard(self) {
        self.guard().fill(0);
    }

    /// Ends its use.
    pub(super) fn free(self, call: u32) {
        let class = self.class();
        if is_guarded() {
            bytes_mut(self.0, self.size()).fill(POISON);
        }
        store(self.0 - HEADER, header(FREED, class, 0));
        store(self.0 - 4, call);
    }

    /// The bytes behind what was asked for that are looked at.
    fn guard(self) -> &'static mut [u8] {
        let asked = self.asked();
        bytes_mut(self.0 + asked, (self.size() - asked).min(GUARDED))
    }

    /// Whether nobody has written behind its end.
    pub(super) fn is_intact(self) -> bool {
        let asked = self.asked();
        let guard = bytes(self.0 + asked, (self.size() - asked).min(GUARDED));
        !is_guarded() || guard.iter().all(|&byte| byte == CANARY_BYTE)
    }

    /// Where the link of a free list is.
    pub(super) fn link(self) -> usize {
        self.0 + self.size() - 8
    }

    /// The header of the block that follows it in its arena.
    pub(super) fn end(self) -> usize {
        self.0 + self.size()
    }
}
