//! Saved vector registers (XSAVE) in a canonical form, for fingerprints.
//!
//! `xsavec` leaves out what the processor knows to be in its initial state. Whether it knows depends
//! on when the kernel last switched to another process: equal registers could be saved in two ways.

use crate::memory::{bytes, load, store, zero};

/// The control register of SSE with its mask, and its registers.
const SSE: u64 = 1 << 1;
const CONTROL: usize = 24;
const INITIAL_CONTROL: u32 = 0x1f80;
const SSE_REGISTERS: (usize, usize) = (160, 256);
/// Which parts were saved, and for which there is room.
const SAVED: usize = 512;
const ROOM: usize = 520;
/// Where the other parts begin, and how large each of them is: AVX, and three of AVX-512.
const OTHERS: usize = 576;
const SIZES: [(u64, usize); 4] = [(1 << 2, 256), (1 << 5, 64), (1 << 6, 512), (1 << 7, 1024)];

/// Brings what `xsavec` wrote into the one form that leaves out all that is in its initial state.
pub(crate) fn make_canonical(area: usize) {
    let (mut saved, room) = (load::<u64>(area + SAVED), load::<u64>(area + ROOM));
    let is_clear = |at: usize, length| bytes(at, length).iter().all(|&byte| byte == 0);
    let (at, length) = (area + SSE_REGISTERS.0, SSE_REGISTERS.1);
    let initial = load::<u32>(area + CONTROL) == INITIAL_CONTROL && is_clear(at, length);
    if saved & SSE == 0 || initial {
        saved &= !SSE;
        zero(area + CONTROL, 8);
        zero(at, length);
    }
    let mut at = area + OTHERS;
    for (part, length) in SIZES.into_iter().filter(|(part, _)| room & part != 0) {
        if saved & part == 0 || is_clear(at, length) {
            saved &= !part;
            zero(at, length);
        }
        at += length;
    }
    store(area + SAVED, saved);
}
