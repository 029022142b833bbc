//! Receive buffers: bytes at a fixed address.

use super::Object;
use crate::memory::{bytes, copy};
use everypath_shim_abi::address_space::{BUFFERS, OBJECTS};

/// How many bytes an object can hold.
pub(crate) const CAPACITY: usize = 1 << 18;

/// How many bytes all of them can hold.
pub(crate) const BUFFERS_LENGTH: usize = crate::descriptors::LIMIT * CAPACITY;
const _: () = assert!(BUFFERS_LENGTH <= OBJECTS - BUFFERS, "buffers overlap the objects");

/// Where the bytes of the object with this number begin.
fn base(number: usize) -> usize {
    BUFFERS + number * CAPACITY
}

impl Object {
    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.filled() - self.held.get() as usize
    }

    /// How many bytes are there, those included that have not arrived yet.
    pub(crate) fn filled(&self) -> usize {
        (self.end.get() - self.start.get()) as usize
    }

    /// How many more bytes fit, given a bound.
    pub(crate) fn room(&self, bound: usize) -> usize {
        bound.saturating_sub(self.filled())
    }

    /// Where the bytes are that wait.
    pub(crate) fn contents(&self, number: usize) -> &'static [u8] {
        bytes(base(number) + self.start.get() as usize, self.waiting())
    }

    /// Adds bytes, which must fit.
    pub(crate) fn push(&self, number: usize, address: usize, length: usize) {
        let base = base(number);
        if self.end.get() as usize + length > CAPACITY {
            self.settle(number);
        }
        copy(base + self.end.get() as usize, address, length);
        self.end.set(self.end.get() + length as u32);
        self.put.set(self.put.get() + length as u64);
    }

    /// Moves what waits to the beginning.
    pub(crate) fn settle(&self, number: usize) {
        let base = base(number);
        let filled = self.filled();
        crate::memory::shift(base, base + self.start.get() as usize, filled);
        self.start.set(0);
        self.end.set(filled as u32);
    }

    /// Forgets the first bytes that wait.
    pub(crate) fn skip(&self, count: usize) {
        self.start.set(self.start.get() + count as u32);
        self.taken.set(self.taken.get() + count as u64);
        if self.start.get() == self.end.get() {
            self.start.set(0);
            self.end.set(0);
        }
    }

    /// Takes bytes out of the middle.
    pub(crate) fn cut(&self, number: usize, at: usize, length: usize) {
        let from = base(number) + self.start.get() as usize + at;
        crate::memory::shift(from, from + length, self.waiting() - at - length);
        self.end.set(self.end.get() - length as u32);
    }
}

/// The parts of the buffers that a snapshot holds, as address and length.
pub(crate) fn spans() -> impl Iterator<Item = (usize, usize)> {
    crate::descriptors::object_numbers().filter_map(|number| {
        let object = super::object(number);
        let filled = object.filled();
        (filled != 0).then(|| (base(number) + object.start.get() as usize, filled))
    })
}
