//! Mutexes, condition variables, barriers, semaphores: the objects of pthreads and C11.
//!
//! They live in the program's memory, in the layout that libc's initialisers produce. A lock is
//! handed to the one who asked first: every order of asking is explored, so every order of getting
//! is too, and asking is not visible to anybody else.

mod barrier;
mod c11;
pub(crate) mod inlined_std;
mod mutex;
mod once;
mod pthread_cond;
pub(crate) mod rust_condvar;
pub(crate) mod rust_mutex;
pub(crate) mod rust_rwlock;
mod rwlock;
mod semaphore;
mod spin;

pub(crate) use mutex::release_robust;

use crate::objects;
use crate::scheduler::{complete, point};
use crate::state::{FIRST_TID, Thread, find, state};
use crate::sys::errno;
use crate::time::{MONOTONIC, REALTIME};
use everypath_shim_abi::{Completion, Operation, OperationKind, Ownership, Waiting};

/// How long a caller is ready to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitLimit {
    /// Not at all.
    Try,
    /// Until a virtual moment.
    Until(u64),
    /// As long as it takes.
    Forever,
}

impl WaitLimit {
    /// Until the moment of a `timespec` on a clock; an error if it is none.
    fn until(clock: i32, address: usize) -> Result<Self, i32> {
        if !is_clock(clock) || !crate::time::is_valid(address) {
            return Err(errno::EINVAL);
        }
        Ok(crate::time::deadline(clock, address).map_or(WaitLimit::Forever, WaitLimit::Until))
    }

    fn deadline(self) -> Option<u64> {
        match self {
            WaitLimit::Until(moment) => Some(moment),
            WaitLimit::Try | WaitLimit::Forever => None,
        }
    }
}

/// Whether time-outs can be on a clock.
fn is_clock(clock: i32) -> bool {
    clock == REALTIME || clock == MONOTONIC
}

/// The number by which the running thread is known as an owner.
fn my_tid() -> i32 {
    FIRST_TID + i32::from(state().current.get())
}

/// A step that releases a lock. Releasing one that the thread does not own is undefined, but frees it:
/// for others that differs from a release by its owner.
#[inline(always)]
fn give_back(operation: fn(Ownership) -> Operation, lock: usize, owner: fn(usize) -> i32) {
    let announced = owns(owner(lock));
    point(operation(ownership(announced)), objects::memory(lock));
    complete_release(announced, owns(owner(lock)));
}

/// Whether the running thread is the owner of a lock.
fn owns(owner: i32) -> bool {
    owner == my_tid()
}

fn ownership(is_owner: bool) -> Ownership {
    if is_owner { Ownership::Owner } else { Ownership::NotOwner }
}

/// Completes a step that releases a lock: another thread may have released it after the step was
/// announced.
fn complete_release(announced: bool, is_owner: bool) {
    const RELEASES: &[OperationKind] =
        &[OperationKind::MutexUnlock, OperationKind::SpinUnlock, OperationKind::CondWait];
    if announced != is_owner {
        complete(RELEASES, Completion::NotOwner);
    }
}

fn tid(thread: &Thread) -> i32 {
    thread.tid()
}

/// The owner of the lock that a thread waits for, plus one; 0 if there is none, or several.
pub(crate) fn holder(thread: &Thread) -> u16 {
    let object = objects::address(thread.object.get());
    let owner = match thread.waiting.get() {
        Waiting::Mutex => mutex::owner(object),
        Waiting::Read | Waiting::Write => rwlock::writer(object),
        Waiting::Spin => spin::owner(object),
        Waiting::Word | Waiting::WordRead | Waiting::WordWrite => {
            return rust_mutex::holder(thread);
        }
        Waiting::Join => return find(object).map_or(0, |t| t.number.get() + 1),
        _ => 0,
    };
    u16::try_from(owner - FIRST_TID + 1).unwrap_or(0)
}
