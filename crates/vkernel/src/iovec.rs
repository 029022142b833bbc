//! The buffers of a send or receive call: one, or several (`iovec`).

use crate::errno;
use crate::host::Host;

/// The pieces of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pieces {
    One {
        address: usize,
        length: usize,
    },
    /// An array of the kernel's `struct iovec`.
    Several {
        vector: usize,
        count: usize,
    },
}

/// The size of a `struct iovec`.
const VECTOR: usize = 16;
/// How many a call may have.
const MOST: usize = 1024;

impl Pieces {
    /// An array of `struct iovec`, which can be read.
    pub(crate) fn several(k: &impl Host, vector: usize, count: usize) -> Result<Self, i32> {
        check_count(count)?;
        (0..count).try_for_each(|at| k.load::<[usize; 2]>(vector + at * VECTOR).map(drop))?;
        Ok(Pieces::Several { vector, count })
    }

    fn count(self) -> usize {
        match self {
            Pieces::One { .. } => 1,
            Pieces::Several { count, .. } => count,
        }
    }

    fn piece(self, k: &impl Host, at: usize) -> (usize, usize) {
        match self {
            Pieces::One { address, length } => (address, length),
            Pieces::Several { vector, .. } => {
                // It could be read when the call began: who unmaps it meanwhile gets nothing.
                let [address, length] = k.load(vector + at * VECTOR).unwrap_or_default();
                (address, length)
            }
        }
    }

    /// How many bytes there are.
    pub(crate) fn length(self, k: &impl Host) -> usize {
        (0..self.count()).map(|at| self.piece(k, at).1).sum()
    }

    /// Calls `each` with the memory of `count` bytes from byte `skip` on, until it fails.
    pub(crate) fn each(
        self,
        k: &impl Host,
        (skip, count): (usize, usize),
        mut each: impl FnMut(usize, usize) -> Result<(), i32>,
    ) -> Result<(), i32> {
        let (mut skip, mut left) = (skip, count);
        for (address, length) in (0..self.count()).map(|at| self.piece(k, at)) {
            let passed = skip.min(length);
            skip -= passed;
            let taken = left.min(length - passed);
            if taken > 0 {
                each(address + passed, taken)?;
                left -= taken;
            }
        }
        Ok(())
    }

    /// Whether all of it can be read.
    pub(crate) fn check(self, k: &impl Host) -> Result<(), i32> {
        self.each(k, (0, self.length(k)), |address, length| k.check(address, length))
    }

    /// Fills the first bytes.
    pub(crate) fn fill(self, k: &impl Host, from: &[u8]) -> Result<(), i32> {
        let mut at = 0;
        self.each(k, (0, from.len()), |address, length| {
            k.write(address, &from[at..at + length])?;
            at += length;
            Ok(())
        })
    }

    /// Fills `count` bytes from byte `skip` on with those at an address.
    pub(crate) fn fill_from(
        self,
        k: &impl Host,
        (skip, count): (usize, usize),
        from: usize,
    ) -> Result<(), i32> {
        let mut from = from;
        self.each(k, (skip, count), |address, length| {
            k.copy(address, from, length)?;
            from += length;
            Ok(())
        })
    }

    /// The first bytes, as many as `out` has.
    pub(crate) fn first(self, k: &impl Host, out: &mut [u8]) -> Result<(), i32> {
        let mut at = 0;
        self.each(k, (0, out.len()), |address, length| {
            k.read(address, &mut out[at..at + length])?;
            at += length;
            Ok(())
        })
    }

    /// Copies all of it, from byte `skip` on, to an address; `count` bytes.
    pub(crate) fn gather(
        self,
        k: &impl Host,
        (skip, count): (usize, usize),
        to: usize,
    ) -> Result<(), i32> {
        let mut to = to;
        self.each(k, (skip, count), |address, length| {
            k.copy(to, address, length)?;
            to += length;
            Ok(())
        })
    }
}

/// A message of more pieces is none for the kernel.
fn check_count(count: usize) -> Result<(), i32> {
    if count > MOST { Err(errno::EINVAL) } else { Ok(()) }
}
