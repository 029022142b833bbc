//! The scheduler's and controller's state between steps; shared by the processes of a closed
//! system.
//!
//! It is no part of snapshots.

use crate::memory::view;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::offset_of;
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

/// How many steps the execution has taken.
pub(crate) static STEPS: Common<AtomicU32> = Common::at(offset_of!(RunState, steps));
/// Whether the program has left its start: then it stands before a choice.
pub(crate) static BEGUN: Common<AtomicBool> = Common::at(offset_of!(RunState, begun));
/// Whether a thread was chosen that does not run yet.
pub(crate) static CHOSEN: Common<AtomicBool> = Common::at(offset_of!(RunState, chosen));

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

/// A counter that only the thread that runs touches.
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    /// Nothing counted yet.
    pub(crate) const fn new() -> Self {
        Counter(Cell::new(0))
    }

    /// The count.
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }

    /// Changes it.
    pub(crate) fn set(&self, value: u64) {
        self.0.set(value);
    }
}

// SAFETY: one thread of the program runs at a time, and handing over synchronises.
// JUSTIFICATION: an atomic would cost more than the switch it counts.
unsafe impl Sync for Counter {}

/// What is set while nothing runs.
pub(crate) struct Setting<T>(pub(crate) Cell<T>);
// SAFETY: written by the controller while no thread of the program runs.
// JUSTIFICATION: read at every step, so it must cost nothing.
unsafe impl<T> Sync for Setting<T> {}

impl<T: Copy> Setting<T> {
    /// What is set.
    pub(crate) fn get(&self) -> T {
        self.0.get()
    }
}

/// What is known of the time that passes; of the present execution only.
#[repr(C)]
pub(crate) struct Quiet {
    /// How often something was sent to a peer.
    pub(crate) sent: AtomicU32,
    /// One more than the number of steps before the last moment.
    pub(crate) moment: AtomicU32,
    /// What could be seen then, at sockets and of everything.
    pub(crate) network: AtomicU64,
    pub(crate) all: AtomicU64,
    /// Since when nothing visible has happened, and how many periods ago; how many ago at sockets.
    pub(crate) since: AtomicU64,
    pub(crate) since_step: AtomicU32,
    pub(crate) periods: AtomicU32,
    pub(crate) periods_with_output: AtomicU32,
    /// How often the timeout of each thread fired early since something happened at sockets, and what
    /// could be seen there then.
    pub(crate) fired: [AtomicU32; MAX_THREADS],
    pub(crate) seen: [AtomicU64; MAX_THREADS],
}
