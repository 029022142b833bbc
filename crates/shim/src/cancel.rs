//! Thread cancellation (`pthread_cancel`).
//!
//! A cancellation is acted on as POSIX has it: at a cancellation point, before the call does
//! anything, or while it waits. What has had an effect returns, and the cancellation waits for the
//! next point. (A glibc before 2.41 may forget what the call did; that is not modelled.) A thread
//! that can be cancelled asynchronously is, whenever it takes a step.
//!
//! Unwinding, and with it handlers and destructors, is libc's: see `pthread_exit`.

use crate::libc;
use crate::objects;
use crate::scheduler::{grant, point, stand_back};
use crate::state::{Cancellation, Interruption, Place, Status, Thread, find, state};
use crate::sys::errno;
use everypath_shim_abi::{Object, Operation, OperationKind};

/// What joining a thread that was cancelled gives.
const CANCELED: usize = usize::MAX;

/// A thread that only tests so often in a row waits to be cancelled.
const PATIENCE: u8 = 64;

/// Whether the running thread must not go on with the call that it is in.
pub(crate) fn is_due() -> bool {
    state().current().is_cancelled()
}

/// Ends the running thread if it was cancelled and is where that is acted on.
pub(crate) fn act_if_due() {
    if is_due() {
        pthread_exit(CANCELED);
    }
}

/// Interposes libc's function: the real one unwinds to our own first frame.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn pthread_exit(result: usize) -> ! {
    let thread = state().current();
    thread.result.set(result);
    is_over(thread);
    let real = libc::real_cached!("pthread_exit", "GLIBC_2.2.5");
    libc::call!(real, fn(usize), result);
    unreachable!("pthread_exit does not return")
}

/// A thread ends: it cannot be cancelled any more.
pub(crate) fn is_over(thread: &Thread) {
    let it = thread.cancellation.get();
    thread.cancellation.set(Cancellation { over: true, place: Place::Elsewhere, ..it });
}

/// The running thread takes a step, of which nothing has happened yet. Not inlined, nor is the end of a
/// thread: who spins must find on its stack what was there in the round before.
#[inline(never)]
pub(crate) fn at_step() {
    let thread = state().current();
    let it = thread.cancellation.get();
    if it.place == Place::Elsewhere && it.tests == 0 && !it.asynchronous {
        return;
    }
    if it.place != Place::Begun {
        act_if_due();
    }
    let place = if it.place == Place::Entered { Place::Begun } else { it.place };
    let tests = if thread.kind.get() == OperationKind::TestCancel { it.tests } else { 0 };
    thread.cancellation.set(Cancellation { place, tests, ..it });
}

fn within<T>(place: Place, call: impl FnOnce() -> T) -> T {
    let thread = state().current();
    let outer = thread.cancellation.get().place;
    thread.cancellation.set(Cancellation { place, ..thread.cancellation.get() });
    let result = call();
    thread.cancellation.set(Cancellation { place: outer, ..thread.cancellation.get() });
    result
}

/// Makes a call that is a cancellation point. A thread that blocks in it and is interrupted must
/// check whether it was cancelled.
pub(crate) fn at_point<T>(call: impl FnOnce() -> T) -> T {
    within(Place::Entered, call)
}

/// Makes a system call that is a cancellation point.
pub(crate) fn at_system_call(call: impl FnOnce() -> isize) -> isize {
    at_point(|| {
        act_if_due();
        let answer = call();
        if answer == -(errno::EINTR as isize) {
            act_if_due();
        }
        answer
    })
}

/// Calls a signal handler, which is no part of the call that it interrupts.
pub(crate) fn elsewhere(call: impl FnOnce()) {
    within(Place::Elsewhere, call);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_cancel(handle: usize) -> i32 {
    point(Operation::Cancel, objects::memory(handle));
    let Some(thread) = find(handle) else { return errno::ESRCH };
    thread.cancellation.set(Cancellation { pending: true, ..thread.cancellation.get() });
    if thread.status() == Status::Blocked && thread.is_cancelled() {
        thread.interruption.set(Interruption::Failing);
        grant(thread);
    }
    act_if_due();
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_testcancel() {
    let thread = state().current();
    let it = thread.cancellation.get();
    let tests = it.tests.saturating_add(1);
    thread.cancellation.set(Cancellation { tests, ..it });
    at_point(|| {
        if tests < PATIENCE {
            point(Operation::TestCancel, Object::NONE);
        } else {
            stand_back(Operation::TestCancel, Object::NONE);
        }
    });
}

/// Changes one of two settings, 0 and 1, of the running thread, and tells what it was.
fn change(
    (new, old): (i32, usize),
    get: impl FnOnce(&Cancellation) -> bool,
    set: impl FnOnce(Cancellation, bool) -> Cancellation,
) -> i32 {
    if !matches!(new, 0 | 1) {
        return errno::EINVAL;
    }
    let thread = state().current();
    let it = thread.cancellation.get();
    if old != 0 {
        crate::memory::store(old, i32::from(get(&it)));
    }
    thread.cancellation.set(set(it, new == 1));
    act_if_due();
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_setcancelstate(new: i32, old: usize) -> i32 {
    change((new, old), |it| it.disabled, |it, disabled| Cancellation { disabled, ..it })
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_setcanceltype(new: i32, old: usize) -> i32 {
    let set = |it, asynchronous| Cancellation { asynchronous, ..it };
    change((new, old), |it| it.asynchronous, set)
}
