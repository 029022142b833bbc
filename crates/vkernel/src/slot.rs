//! Descriptors and what they are open on, as the kernel keeps them.

use core::cell::Cell;
use everypath_shim_abi::MAX_THREADS;

/// The first numbers are `main`'s.
pub(crate) const MAINS: usize = 256;
/// So many of the next are each other thread's; all of these fit into the sets of `select`.
pub(crate) const NEAR: usize = 6;
/// Numbers from here on are for threads that have used up theirs.
pub(crate) const FIRST_FAR: usize = 1024;
/// So many of them are each thread's.
pub(crate) const FAR: usize = 64;
/// How many numbers there are.
pub const LIMIT: usize = FIRST_FAR + MAX_THREADS * FAR;
/// How many ranges of numbers there are: two a thread.
pub const RANGES: usize = 2 * MAX_THREADS;

/// The flags that say whether something is open for reading, writing or both.
pub const ACCESS_MODE: i32 = 3;
/// `O_APPEND`.
pub const APPEND: i32 = 0o2000;
/// `O_NONBLOCK`.
pub const NONBLOCK: i32 = 0o4000;
/// `O_CLOEXEC`.
pub const CLOSE_ON_EXEC: i32 = 0o2_000_000;
/// Flags that only matter while a file is opened: `O_CREAT`, `O_EXCL`, `O_NOCTTY`, `O_TRUNC`.
pub(crate) const OPENING: i32 = 0o100 | 0o200 | 0o400 | 0o1000;

/// What a descriptor is open on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Nothing.
    #[default]
    Closed,
    /// Standard input: at its end.
    Empty,
    /// Standard output or error, by number.
    Stream,
    /// A file of the machine, copied.
    Host,
    /// A file that the program wrote.
    Written,
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// `/dev/urandom`.
    Random,
    /// A socket, a pipe, an event: an `Object`.
    Object,
}

/// An open file, perhaps shared by several descriptors.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Open {
    /// What it is.
    pub kind: Kind,
    /// Whether all is written at the end.
    pub append: bool,
    /// How it is locked, if it is a file: see `flock`.
    pub lock: u8,
    /// How many descriptors and calls use it.
    pub references: u16,
    /// Which one of its kind it is.
    pub index: u16,
    /// The flags that it was opened with, and that were set since.
    pub flags: i32,
    /// Where the next byte is read or written.
    pub offset: u64,
}

/// One number: a descriptor and something open, which need not belong together.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// One more than the number of what the descriptor is open on; 0 if it is closed.
    pub(crate) descriptor: Cell<u16>,
    /// Whether a new program would not inherit it: nobody starts one, but programs look.
    pub(crate) close_on_exec: Cell<bool>,
    /// What was freed here by another thread is not given out again.
    pub(crate) retired_descriptor: Cell<bool>,
    pub(crate) retired_open: Cell<bool>,
    /// Whether the descriptor was ever open; and one more than the number of the thread that opened
    /// it again, 0 if none did.
    pub(crate) was_open: Cell<bool>,
    pub(crate) renewed_by: Cell<u16>,
    pub(crate) open: Cell<Open>,
}
