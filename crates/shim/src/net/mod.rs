//! Sockets, pipes and events of this worker: what the scheduler, the controller and other modules
//! ask the kernel (`everypath-vkernel`).

pub(crate) mod syscalls;

use crate::state::Thread;
use crate::worker::KERNEL;
use everypath_shim_abi::{Object, Operation};
use everypath_vkernel::{faults, lifetime, partition};

/// Whether anything may go wrong in this check.
pub(crate) fn faults_are_explored() -> bool {
    faults::are_explored(KERNEL)
}

/// In how many ways the pending step of a thread can go.
pub(crate) fn ways(thread: &Thread) -> u32 {
    faults::ways(KERNEL, thread)
}

/// What the next step of a thread turns out to be, now.
pub(crate) fn refined(thread: &Thread) -> Option<Operation> {
    everypath_vkernel::refined(KERNEL, thread)
}

/// The other end of the only stream that a thread waits at, in footprints, and one more than the
/// number of the process whose end that is; none if it is this process.
pub(crate) fn other_end(thread: &Thread) -> Option<(Object, u16)> {
    partition::other_end(KERNEL, thread)
}

/// Whether nothing gets from one process to another.
pub(crate) fn separates(one: usize, other: usize) -> bool {
    partition::separates(KERNEL, one, other)
}

/// The partition between two processes is healed: data in flight arrives.
pub(crate) fn mended(one: usize, other: usize) {
    partition::mended(KERNEL, one, other);
}

/// Whether an object is an end of a pipe.
pub(crate) fn is_pipe(number: usize) -> bool {
    lifetime::is_pipe(KERNEL, number)
}
