//! The program's pages that are not readable and writable.

use core::cell::Cell;

/// How many ranges may be protected at a time.
pub(crate) const MAX_RANGES: usize = 2048;

/// A range of whole pages that are not readable and writable.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) protection: usize,
}

/// The ranges, apart from each other, in no order.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ranges {
    pub(crate) ranges: [Cell<Range>; MAX_RANGES],
}

impl Ranges {
    /// How many bytes of the table so many ranges take.
    pub(crate) fn size_of(count: u32) -> usize {
        count as usize * size_of::<Range>()
    }
}
