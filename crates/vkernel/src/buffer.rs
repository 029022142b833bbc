//! Receive buffers: bytes in the kernel's own memory.

use crate::fd_table;
use crate::host::Host;
use crate::object::Object;

/// How many bytes an object can hold.
pub const CAPACITY: usize = 1 << 18;

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
    pub(crate) fn contents(&self, k: &impl Host, number: usize) -> usize {
        k.buffer(number) + self.start.get() as usize
    }

    /// Adds bytes, which must fit. If they cannot be read, nothing is added.
    pub(crate) fn push(
        &self,
        k: &impl Host,
        number: usize,
        (address, length): (usize, usize),
    ) -> Result<(), i32> {
        k.copy(self.end_of(k, number, length), address, length)?;
        self.grow(length);
        Ok(())
    }

    /// Adds bytes of the kernel's own, which must fit.
    pub(crate) fn push_own(&self, k: &impl Host, number: usize, bytes: &[u8]) {
        k.write_own(self.end_of(k, number, bytes.len()), bytes);
        self.grow(bytes.len());
    }

    /// Adds bytes that somebody else fills in.
    pub(crate) fn reserve(&self, k: &impl Host, number: usize, length: usize) {
        self.end_of(k, number, length);
        self.grow(length);
    }

    /// Where so many bytes can be added.
    fn end_of(&self, k: &impl Host, number: usize, length: usize) -> usize {
        if self.end.get() as usize + length > CAPACITY {
            self.settle(k, number);
        }
        k.buffer(number) + self.end.get() as usize
    }

    fn grow(&self, length: usize) {
        self.end.set(self.end.get() + length as u32);
        self.put.set(self.put.get() + length as u64);
    }

    /// Moves what waits to the beginning.
    fn settle(&self, k: &impl Host, number: usize) {
        let base = k.buffer(number);
        let filled = self.filled();
        k.shift_own(base, base + self.start.get() as usize, filled);
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
    pub(crate) fn cut(&self, k: &impl Host, number: usize, (at, length): (usize, usize)) {
        let from = self.contents(k, number) + at;
        k.shift_own(from, from + length, self.waiting() - at - length);
        self.end.set(self.end.get() - length as u32);
    }
}

/// The parts of the buffers that a snapshot holds, as address and length.
pub fn spans(k: &impl Host) -> impl Iterator<Item = (usize, usize)> {
    fd_table::object_numbers(k).filter_map(|number| {
        let object = k.object(number);
        let filled = object.filled();
        (filled != 0).then(|| (object.contents(k, number), filled))
    })
}
