//! The scheduler's and controller's state between steps; shared by the processes of a closed
//! system.
//!
//! It is no part of snapshots.

use crate::memory::view;
use crate::scheduler::quiet::Quiet;
use crate::scheduler::{Counter, Setting};
use core::marker::PhantomData;
use core::ops::Deref;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use everypath_shim_abi::address_space::{DESCRIPTORS, RUN_STATE};
use everypath_shim_abi::{Baton, MAX_DEPTH, MAX_PROCESSES, MAX_THREADS, Policy, TimeMode};
use everypath_vkernel::MAX_WATCHED;

/// All of it. What the fields mean is said where they are used.
#[repr(C)]
pub(crate) struct RunState {
    pub(crate) steps: AtomicU32,
    pub(crate) pause_after: AtomicU32,
    pub(crate) leave_after: AtomicU32,
    pub(crate) max_steps: AtomicU32,
    pub(crate) time: Setting<TimeMode>,
    pub(crate) policy: Setting<Policy>,
    pub(crate) switches: Counter,
    pub(crate) given: AtomicU32,
    pub(crate) lenient: AtomicBool,
    pub(crate) used: AtomicU32,
    pub(crate) written: AtomicU32,
    pub(crate) known: AtomicU32,
    pub(crate) sleeping: AtomicU32,
    pub(crate) insisting: AtomicU32,
    pub(crate) changes: AtomicU32,
    pub(crate) horizon: AtomicU32,
    pub(crate) points: [AtomicU32; MAX_DEPTH],
    pub(crate) seen: AtomicU32,
    pub(crate) floor: AtomicU64,
    pub(crate) priorities: [[AtomicU64; 2]; MAX_THREADS],
    pub(crate) last_steps: [AtomicU32; MAX_THREADS],
    pub(crate) begun: AtomicBool,
    pub(crate) chosen: AtomicBool,
    pub(crate) describing: AtomicBool,
    pub(crate) execution: AtomicU64,
    pub(crate) processor: AtomicU32,
    pub(crate) quiet: Quiet,
    pub(crate) turns: [Baton; MAX_PROCESSES],
    pub(crate) watched: [[AtomicU64; MAX_WATCHED]; MAX_THREADS],
}

const _: () = assert!(size_of::<RunState>() <= DESCRIPTORS - RUN_STATE, "it overlaps descriptors");

/// A part of it: used like a static.
pub(crate) struct Common<T> {
    offset: usize,
    part: PhantomData<fn() -> T>,
}

impl<T> Common<T> {
    /// The part that begins so many bytes behind the beginning.
    pub(crate) const fn at(offset: usize) -> Self {
        Common { offset, part: PhantomData }
    }
}

impl<T: 'static> Deref for Common<T> {
    type Target = T;

    fn deref(&self) -> &T {
        view(RUN_STATE + self.offset)
    }
}
