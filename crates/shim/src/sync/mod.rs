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

use crate::scheduler::{amend, point};
use crate::state::{State, Thread, state};
use crate::sys::errno;
use crate::thread::FIRST_TID;
use crate::time::{MONOTONIC, REALTIME};
use everypath_shim_abi::{Event, NOT_HELD, Operation, Waiting};

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

/// A step with which a lock is given back. That its thread does not hold it is undefined, but the lock
/// is free then: for others that is not as if it came from its holder.
fn give_back(operation: Operation, lock: usize, owner: fn(usize) -> i32) {
    let value = not_held(owner(lock));
    point(operation, lock, value);
    correct_not_held(operation, value, not_held(owner(lock)));
}

/// What a step says of a lock that it gives back, by the lock's owner.
fn not_held(owner: i32) -> u64 {
    if owner == my_tid() { 0 } else { NOT_HELD }
}

/// Corrects what a step said of a lock, if another thread has given it back in the meantime.
fn correct_not_held(operation: Operation, said: u64, is: u64) {
    let thread = state().current.get();
    let is_it = |event: &Event| event.thread == thread && event.operation == operation;
    if said != is {
        amend(is_it, |value| value | is);
    }
}

fn tid(thread: &Thread) -> i32 {
    FIRST_TID + i32::from(thread.number.get())
}

/// How many threads wait on a condition: of pthreads, or of Rust, where those count that sleep at its
/// word without having begun as a step.
pub(crate) fn waiters_on_condition(state: &State, condition: usize) -> u32 {
    let waits = |thread: &&Thread| matches!(thread.waiting.get(), Waiting::Cond | Waiting::Futex);
    state.waiters_on(condition).filter(waits).count() as u32
}

/// Who holds what a thread waits for, plus one; 0 if that is nobody or not one.
pub(crate) fn holder(thread: &Thread) -> u16 {
    let object = crate::multi_process::address_of(thread.object.get());
    let owner = match thread.waiting.get() {
        Waiting::Mutex => mutex::owner(object),
        Waiting::Read | Waiting::Write => rwlock::writer(object),
        Waiting::Spin => spin::owner(object),
        Waiting::Word | Waiting::WordRead | Waiting::WordWrite => {
            return rust_mutex::holder(thread);
        }
        Waiting::Join => return crate::thread::find(object).map_or(0, |t| t.number.get() + 1),
        _ => 0,
    };
    u16::try_from(owner - FIRST_TID + 1).unwrap_or(0)
}
