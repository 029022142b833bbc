//! Semaphores.

use super::Patience;
use crate::libc::fail;
use crate::memory::{load, store};
use crate::scheduler::{Woken, ask, first_waiter, grant, point, wait};
use crate::state::state;
use crate::sys::errno;
use crate::time::REALTIME;
use everypath_shim_abi::{Operation, Waiting};

const MOST: u32 = i32::MAX as u32;

fn take(address: usize, patience: Patience) -> i32 {
    let trying = patience == Patience::Try;
    let operation = if trying { Operation::SemTrywait } else { Operation::SemWait };
    ask(operation, address, 0, patience.deadline());
    let value: u32 = load(address);
    if value > 0 {
        store(address, value - 1);
        return 0;
    }
    if trying {
        return fail(errno::EAGAIN) as i32;
    }
    state().current().announce(Operation::SemWait, address, 0);
    match wait(Waiting::Semaphore, address, patience.deadline()) {
        Woken::Granted => 0,
        Woken::TimedOut => fail(errno::ETIMEDOUT) as i32,
        Woken::Interrupted { restart: true } => take(address, patience),
        Woken::Interrupted { restart: false } => fail(errno::EINTR) as i32,
    }
}

fn take_until(address: usize, clock: i32, until: usize) -> i32 {
    match Patience::until(clock, until) {
        Ok(patience) => take(address, patience),
        Err(error) => fail(error) as i32,
    }
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_wait(semaphore: usize) -> i32 {
    take(semaphore, Patience::Forever)
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    take(semaphore, Patience::Try)
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_timedwait(semaphore: usize, until: usize) -> i32 {
    take_until(semaphore, REALTIME, until)
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_clockwait(semaphore: usize, clock: i32, until: usize) -> i32 {
    take_until(semaphore, clock, until)
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_post(semaphore: usize) -> i32 {
    point(Operation::SemPost, semaphore, 0);
    match first_waiter(Waiting::Semaphore, semaphore) {
        Some(waiter) => grant(waiter),
        None => {
            let value: u32 = load(semaphore);
            if value == MOST {
                return fail(errno::EOVERFLOW) as i32;
            }
            store(semaphore, value + 1);
        }
    }
    0
}

/// Stands in for libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_getvalue(semaphore: usize, value: usize) -> i32 {
    point(Operation::SemTrywait, semaphore, 0);
    store(value, load::<i32>(semaphore));
    0
}
