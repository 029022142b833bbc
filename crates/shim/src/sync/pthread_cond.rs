//! POSIX condition variables: a signal chooses which waiter it wakes.

use super::{WaitLimit, correct_not_held, mutex, not_held};
use crate::cancel;
use crate::memory::load;
use crate::scheduler::{Woken, ask, grant, grant_all, point, wait};
use crate::state::state;
use crate::sys::errno;
use crate::time::{MONOTONIC, REALTIME};
use everypath_shim_abi::{Operation, Waiting};

/// Where a `pthread_cond_t` says which clock its time-outs are on.
const FLAGS: usize = 36;
const ON_MONOTONIC: u32 = 2;

fn clock_of(cond: usize) -> i32 {
    if load::<u32>(cond + FLAGS) & ON_MONOTONIC != 0 { MONOTONIC } else { REALTIME }
}

fn wait_on(cond: usize, held: usize, patience: WaitLimit) -> i32 {
    let value = not_held(mutex::owner(held));
    cancel::at_point(|| ask(Operation::CondWait, cond, held as u64 | value, patience.deadline()));
    correct_not_held(Operation::CondWait, value, not_held(mutex::owner(held)));
    let count = match mutex::release_fully(held) {
        Ok(count) => count,
        Err(error) => return error,
    };
    state().current().announce(Operation::CondWait, cond, held as u64);
    let woken = cancel::at_point(|| wait(Waiting::Cond, cond, patience.deadline()));
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
    let outcome = point(Operation::CondSignal, cond, 0);
    if let Some(waiter) = state().waiters(Waiting::Cond, cond).nth(usize::from(outcome)) {
        grant(waiter);
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_broadcast(cond: usize) -> i32 {
    point(Operation::CondBroadcast, cond, 0);
    grant_all(Waiting::Cond, cond);
    0
}

/// Interposes libc's function, which would wait for waiters that it counts itself.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_cond_destroy(_cond: usize) -> i32 {
    0
}
