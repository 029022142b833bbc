//! The memory map, and the few primitives that access memory by address.
//!
//! The shim stands in for C functions. What it is handed are addresses that only the program can
//! vouch for, exactly as libc does; a wrong one crashes here as it would there, and is reported as
//! the crash it is. These primitives are the one place where such addresses are followed.

use crate::sys::{number, sys};

const PROT_NONE: usize = 0;
const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// Maps zeroed memory at a fixed address where nothing is mapped yet.
pub(crate) fn map(address: usize, length: usize) {
    map_as(address, length, PROT_READ_WRITE);
}

/// Maps memory in the same way that is not accessible yet.
pub(crate) fn reserve(address: usize, length: usize) {
    map_as(address, length, PROT_NONE);
}

fn map_as(address: usize, length: usize, protection: usize) {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    let got = sys!(number::MMAP, address, length, protection, flags, usize::MAX, 0);
    if got != address as isize {
        crate::fail::unable(
            "no memory is left for everypath in this process: a limit of address space \
             (ulimit -v), or the program has taken its addresses",
        );
    }
}

/// The word at an address.
pub(crate) fn load<T: Copy>(address: usize) -> T {
    // SAFETY: see the module's documentation.
    unsafe { (address as *const T).read_volatile() }
}

/// Writes a word to an address.
pub(crate) fn store<T: Copy>(address: usize, value: T) {
    // SAFETY: see the module's documentation.
    unsafe { (address as *mut T).write_volatile(value) }
}

/// Changes what is at an address. Meanwhile nobody else may look at it: no step is taken.
pub(crate) fn change<T: Copy, R>(address: usize, change: impl FnOnce(&mut T) -> R) -> R {
    // SAFETY: see the module's documentation; only one thread of the program runs at a time, and what
    // is done to the object neither takes a step nor reaches it in another way.
    change(unsafe { &mut *(address as *mut T) })
}

/// The object at an address. Its fields must be cells, and any bytes must be valid for them.
pub(crate) fn view<T>(address: usize) -> &'static T {
    // SAFETY: see the module's documentation; only one thread of the program runs at a time.
    unsafe { &*(address as *const T) }
}

/// The bytes at an address, which must not change while they are looked at.
pub(crate) fn bytes(address: usize, length: usize) -> &'static [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: see the module's documentation.
    unsafe { core::slice::from_raw_parts(address as *const u8, length) }
}

/// The bytes at an address, to be written: nobody else looks at them meanwhile.
pub(crate) fn bytes_mut(address: usize, length: usize) -> &'static mut [u8] {
    if length == 0 {
        return &mut [];
    }
    // SAFETY: see the module's documentation; the caller is handed the memory for this.
    unsafe { core::slice::from_raw_parts_mut(address as *mut u8, length) }
}

/// The bytes of a C string, without its end.
pub(crate) fn c_string(address: usize) -> &'static [u8] {
    let mut length = 0;
    while load::<u8>(address + length) != 0 {
        length += 1;
    }
    bytes(address, length)
}

/// Copies bytes that do not overlap.
pub(crate) fn copy(to: usize, from: usize, length: usize) {
    // SAFETY: see the module's documentation.
    unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, length) }
}

/// Copies bytes that may overlap.
pub(crate) fn shift(to: usize, from: usize, length: usize) {
    // SAFETY: see the module's documentation.
    unsafe { core::ptr::copy(from as *const u8, to as *mut u8, length) }
}

/// Writes bytes to an address.
pub(crate) fn write(to: usize, from: &[u8]) {
    copy(to, from.as_ptr() as usize, from.len());
}

/// Clears bytes.
pub(crate) fn zero(address: usize, length: usize) {
    // SAFETY: see the module's documentation.
    unsafe { core::ptr::write_bytes(address as *mut u8, 0, length) }
}

/// Rounds up to a multiple of `unit`, a power of two.
pub(crate) const fn round_up(value: usize, unit: usize) -> usize {
    (value + unit - 1) & !(unit - 1)
}

/// A piece of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Span {
    pub(crate) address: usize,
    pub(crate) length: usize,
}
