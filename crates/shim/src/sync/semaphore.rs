//! Semaphores.

use super::WaitLimit;
use crate::cancel;
use crate::ending;
use crate::libc::fail;
use crate::memory::{load, store};
use crate::objects;
use crate::scheduler::{Woken, ask, complete, first_waiter, grant, wait};
use crate::state::state;
use crate::sys::errno;
use crate::time::REALTIME;
use everypath_shim_abi::{Completion, Operation, OperationKind, Overflow, Waiting};

const MOST: u32 = i32::MAX as u32;
const SEMAPHORES: &[OperationKind] =
    &[OperationKind::SemWait, OperationKind::SemTrywait, OperationKind::SemPost];

/// A step at a semaphore, which says how many units it leaves there.
struct Step {
    /// Whether it is a scheduling point: not if there is only one thread.
    is_taken: bool,
}

impl Step {
    /// Takes it.
    #[inline(always)]
    fn take(operation: Operation, address: usize, deadline: Option<u64>) -> Self {
        let is_taken = state().is_concurrent() && ending::is_running();
        ask(operation, objects::memory(address), deadline);
        let overflows = operation == Operation::SemPost(Overflow::Possible);
        Step { is_taken: is_taken && !overflows }
    }

    /// Says how many units are left.
    fn leaves(&self, units: u32) {
        self.completes(Completion::Units(units));
    }

    #[inline(always)]
    fn completes(&self, completion: Completion) {
        if self.is_taken {
            complete(SEMAPHORES, completion);
        }
    }
}

fn take(address: usize, patience: WaitLimit) -> i32 {
    let trying = patience == WaitLimit::Try;
    let operation = if trying { Operation::SemTrywait } else { Operation::SemWait };
    let step = Step::take(operation, address, patience.deadline());
    let value: u32 = load(address);
    if value > 0 {
        store(address, value - 1);
        step.leaves(value - 1);
        return 0;
    }
    if trying {
        step.leaves(0);
        return fail(errno::EAGAIN) as i32;
    }
    step.completes(Completion::NoUnits);
    let semaphore = objects::memory(address);
    state().current().announce(Operation::SemWait, semaphore);
    match wait(Waiting::Semaphore, semaphore, patience.deadline()) {
        Woken::Granted => 0,
        Woken::TimedOut => fail(errno::ETIMEDOUT) as i32,
        Woken::Interrupted { restart } => {
            cancel::act_if_due();
            if restart { take(address, patience) } else { fail(errno::EINTR) as i32 }
        }
    }
}

fn take_until(address: usize, clock: i32, until: usize) -> i32 {
    match WaitLimit::until(clock, until) {
        Ok(patience) => cancel::at_point(|| take(address, patience)),
        Err(error) => fail(error) as i32,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_wait(semaphore: usize) -> i32 {
    cancel::at_point(|| take(semaphore, WaitLimit::Forever))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    take(semaphore, WaitLimit::Try)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_timedwait(semaphore: usize, until: usize) -> i32 {
    take_until(semaphore, REALTIME, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_clockwait(semaphore: usize, clock: i32, until: usize) -> i32 {
    take_until(semaphore, clock, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_post(semaphore: usize) -> i32 {
    // No execution is so long that it could make few of many.
    let is_large = load::<u32>(semaphore) > MOST / 2;
    let overflow = if is_large { Overflow::Possible } else { Overflow::Impossible };
    let step = Step::take(Operation::SemPost(overflow), semaphore, None);
    match first_waiter(Waiting::Semaphore, objects::memory(semaphore)) {
        Some(waiter) => {
            step.leaves(0);
            grant(waiter);
        }
        None => {
            let value: u32 = load(semaphore);
            if value == MOST {
                return fail(errno::EOVERFLOW) as i32;
            }
            store(semaphore, value + 1);
            step.leaves(value + 1);
        }
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sem_getvalue(semaphore: usize, value: usize) -> i32 {
    let step = Step::take(Operation::SemTrywait, semaphore, None);
    step.leaves(load::<u32>(semaphore));
    store(value, load::<i32>(semaphore));
    0
}
