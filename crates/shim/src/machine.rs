//! The registers of a thread that a signal has interrupted.

use crate::memory::store;
use core::cell::Cell;

/// The registers in a `ucontext_t` that we look at or change.
#[repr(C)]
pub(crate) struct Machine {
    head: [u64; 5],
    pub(crate) r8: Cell<u64>,
    pub(crate) r9: Cell<u64>,
    pub(crate) r10: Cell<u64>,
    unused: [u64; 5],
    pub(crate) rdi: Cell<u64>,
    pub(crate) rsi: Cell<u64>,
    pub(crate) rbp: Cell<u64>,
    rbx: u64,
    pub(crate) rdx: Cell<u64>,
    pub(crate) rax: Cell<u64>,
    pub(crate) rcx: Cell<u64>,
    pub(crate) rsp: Cell<u64>,
    pub(crate) rip: Cell<u64>,
}

impl Machine {
    /// Sets a register by the number that instructions have for it.
    pub(crate) fn set(&self, register: usize, value: u64) {
        /// The places of the registers, from `r8` on.
        const PLACES: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
        store(self.r8.as_ptr() as usize + 8 * PLACES[register % 16], value);
    }
}
