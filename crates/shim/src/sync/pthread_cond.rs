//! POSIX condition variables: a signal chooses which waiter it wakes.

use super::{WaitLimit, complete_release, mutex, ownership, owns};
use crate::cancel;
use crate::memory::load;
use crate::objects;
use crate::scheduler::{Woken, ask, grant, grant_all, point, wait};
use crate::state::state;
use crate::sys::errno;
use crate::time::{MONOTONIC, REALTIME};
use everypath_shim_abi::{CondMutex, Operation, Waiting};

/// Where a `pthread_cond_t` says which clock its time-outs are on.
const FLAGS: usize = 36;
const ON_MONOTONIC: u32 = 2;

fn clock_of(cond: usize) -> i32 {
    if load::<u32>(cond + FLAGS) & ON_MONOTONIC != 0 { MONOTONIC } else { REALTIME }
}

fn wait_on(cond: usize, held: usize, patience: WaitLimit) -> i32 {
    let (condition, mutex) = (objects::memory(cond), objects::memory(held));
    let announced = owns(mutex::owner(held));
    cancel::at_point(|| {
        let operation = CondMutex { mutex, ownership: ownership(announced) };
        ask(Operation::CondWait(operation), condition, patience.deadline())
    });
    complete_release(announced, owns(mutex::owner(held)));
    let count = match mutex::release_fully(held) {
        Ok(count) => count,
        Err(error) => return error,
    };
    state().current().announce(Operation::CondWait(CondMutex::owned(mutex)), condition);
    let woken = cancel::at_point(|| wait(Waiting::Cond, condition, patience.deadline()));
    // Going on means asking for the mutex again.
    let locked = mutex::acquire(held, WaitLimit::Forever);
    mutex::set_count(held, count);
    match woken {
        // Handlers find the mutex held.
        Woken::Interrupted { .. } => {
            cancel::at_point(cancel::act_if_due);
            locked
        }
        Woken::TimedOut if locked == 0 => errno::ETIMEDOUT,
        _ => locked,
    }
}

fn wait_until(cond: usize, held: usize, clock: i32, until: usize) -> i32 {
    WaitLimit::until(clock, until)
        .map_or_else(|error| error, |patience| wait_on(cond, held, patience))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_wait(cond: usize, held: usize) -> i32 {
    wait_on(cond, held, WaitLimit::Forever)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_timedwait(cond: usize, held: usize, until: usize) -> i32 {
    wait_until(cond, held, clock_of(cond), until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_cond_clockwait(cond: usize, held: usize, clock: i32, until: usize) -> i32 {
    wait_until(cond, held, clock, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_signal(cond: usize) -> i32 {
    let condition = objects::memory(cond);
    let outcome = point(Operation::CondSignal, condition);
    if let Some(waiter) = state().waiters(Waiting::Cond, condition).nth(usize::from(outcome)) {
        grant(waiter);
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_broadcast(cond: usize) -> i32 {
    let condition = objects::memory(cond);
    point(Operation::CondBroadcast, condition);
    grant_all(Waiting::Cond, condition);
    0
}

/// Interposes libc's function, which would wait for waiters that it counts itself.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_destroy(_cond: usize) -> i32 {
    0
}
