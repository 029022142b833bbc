//! What a process has said about itself, and who it is.

use core::cell::Cell;

/// What a process has set, and may look at again: part of every snapshot.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Settings {
    /// The limits of resources, of those that it has changed: a bit each.
    pub(crate) limits: [Cell<[u64; 2]>; 16],
    pub(crate) changed_limits: Cell<u32>,
    pub(crate) credentials: Credentials,
    /// The signal that it gets when its parent dies, which does not happen.
    pub(crate) death_signal: Cell<i32>,
    /// Whether it may be dumped, as the opposite: it may at the start.
    pub(crate) is_not_dumpable: Cell<bool>,
    pub(crate) keeps_capabilities: Cell<bool>,
    pub(crate) has_no_new_privileges: Cell<bool>,
    pub(crate) is_subreaper: Cell<bool>,
    pub(crate) has_no_huge_pages: Cell<bool>,
    /// By how much its timers may be late, plus one; 0 if it was never set. Here none is late.
    pub(crate) timer_slack: Cell<u64>,
}

/// Real, effective and saved.
pub(crate) type Identity = [u32; 3];
/// What a process has changed of who it is: part of every snapshot.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Credentials {
    /// Of user and group; what it began with until it has changed one.
    pub(crate) identities: [Cell<Identity>; 2],
    pub(crate) is_changed: Cell<bool>,
    /// The capabilities that it has set: effective, permitted and inheritable, in two halves.
    pub(crate) capabilities: [Cell<u32>; 6],
    pub(crate) has_capabilities: Cell<bool>,
    /// How nice it is, and whether it has said so.
    pub(crate) nice: Cell<i32>,
    pub(crate) is_nice: Cell<bool>,
}
