//! The access log: where copies of functions write down what they access.
//!
//! A copy reaches the [`AccessContext`] through `gs`. The log is a sequence of records: the words of a
//! block, then its number, so that it is read from its end. What a number means is known to the checker.

use core::cell::Cell;
use core::mem::offset_of;

/// What copies of functions find at `gs:0`.
#[derive(Debug)]
#[repr(C)]
pub struct AccessContext {
    /// Where the next record goes.
    pub next: Cell<u64>,
    /// The program's register that a block uses to record.
    pub saved: Cell<u64>,
    /// The same within an instruction that is divided into a load and a store.
    pub kept: Cell<u64>,
    /// What such an instruction has loaded and is going to store. Another thread may run in between, so
    /// it belongs to the thread.
    pub value: Cell<u64>,
    unused: [u64; 4],
    /// The operand of an instruction that accesses more than eight bytes at once, and does so in several
    /// steps: what it has loaded, or is going to store. Aligned as such instructions may need it.
    pub wide: Cell<[u64; WIDE_WORDS]>,
}

/// The words of the widest operand.
pub const WIDE_WORDS: usize = 8;

/// Offset of [`AccessContext::next`].
pub const NEXT: u8 = offset_of!(AccessContext, next) as u8;
/// Offset of [`AccessContext::saved`].
pub const SAVED: u8 = offset_of!(AccessContext, saved) as u8;
/// Offset of [`AccessContext::kept`].
pub const KEPT: u8 = offset_of!(AccessContext, kept) as u8;
/// Offset of [`AccessContext::value`].
pub const VALUE: u8 = offset_of!(AccessContext, value) as u8;

/// Offset of [`AccessContext::wide`].
pub const WIDE: u8 = offset_of!(AccessContext, wide) as u8;

/// The most bytes that one record has.
pub const MAX_RECORD: usize = 8 * 256;
/// The bytes of the log. They fit into the cache of a core.
pub const LOG_SIZE: usize = 1 << 18;
/// The guard behind the log, which no record reaches over.
pub const LOG_GUARD: usize = 1 << 16;

/// How many words of logs are kept for the checker.
pub const MAX_LOGGED: usize = 1 << 23;
/// Set among the words of logs that are in use if a log did not fit.
pub const LOST: u64 = 1 << 63;
/// The number of a block that is none: its two words are the hash of a log, all of which belongs to this
/// one, too.
pub const CONTINUES: u64 = 0;
/// The number of a block that is none: its words are the address and the length of what a call of libc or
/// the kernel accessed, and whether it wrote.
pub const CALL: u64 = u32::MAX as u64;
/// How many words a [`CALL`] has before its number.
pub const CALL_WORDS: usize = 3;
/// How many words [`CONTINUES`] has before its number.
pub const CONTINUES_WORDS: usize = 2;
/// The words before those of a log that is kept for the checker: its hash and its length.
pub const LOG_HEAD: usize = 3;

const _: () = {
    assert!(WIDE as usize + 8 * WIDE_WORDS <= 128, "offsets are bytes");
    assert!(WIDE.is_multiple_of(64), "vectors are aligned");
    assert!(MAX_RECORD < LOG_GUARD);
};
