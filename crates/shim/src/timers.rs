//! Timers: the threads that ring, and the functions of libc. See `vkernel/src/timer.rs`.

use crate::guest;
use crate::libc::result;
use crate::objects;
use crate::scheduler::{note_creation, point, wait};
use crate::state::{Thread, state};
use crate::sys::returned;
use crate::thread::create;
use crate::worker::KERNEL;
use everypath_shim_abi::{Object, Operation, Waiting};
use everypath_vkernel::timer::{self, ALARM, Ringing};
use everypath_vkernel::{itimer, posix_timer};

/// Creates the thread that rings.
pub(crate) fn start(index: usize, was_concurrent: bool) -> &'static Thread {
    let ringer = create(ring as *const () as usize, index, true);
    ringer.task.blocked_signals.set(u64::MAX);
    ringer.name.set(match index {
        ALARM => *b"alarm\0\0\0\0\0\0\0\0\0\0\0",
        _ => *b"timer\0\0\0\0\0\0\0\0\0\0\0",
    });
    note_creation(ringer, was_concurrent);
    ringer
}

/// Begins when the timer rings for the first time.
extern "C" fn ring(index: usize) -> usize {
    let this = state().current();
    loop {
        let next = timer::expire(KERNEL, index);
        this.is_unheard.set(true);
        tell(index);
        // Somebody may have armed or disarmed it while it started a thread.
        if !timer::is_rung_by(KERNEL, index, this.tcb.get()) {
            return 0;
        }
        this.announce(Operation::Sleep(next), Object::NONE);
        wait(Waiting::Time, Object::NONE, Some(next));
    }
}

/// Tells the program that a timer rings, as a part of the ringer's step if that is a signal.
fn tell(index: usize) {
    match timer::ringing(KERNEL, index) {
        Ringing::Signal => timer::signal(KERNEL, index),
        Ringing::Thread(function, _) => {
            let was_concurrent = state().is_concurrent();
            point(Operation::Create, objects::memory(function));
            let thread = create(begin as *const () as usize, index, true);
            thread.task.blocked_signals.set(0);
            note_creation(thread, was_concurrent);
        }
    }
}

/// The first frame of a thread that a timer starts. From now on it may start another.
extern "C" fn begin(index: usize) -> usize {
    timer::may_ring_again(KERNEL, index);
    if let Ringing::Thread(function, value) = timer::ringing(KERNEL, index) {
        crate::libc::call!(function, fn(usize), value);
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn alarm(seconds: u32) -> u32 {
    itimer::alarm(KERNEL, seconds) as u32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn setitimer(which: i32, new: usize, old: usize) -> i32 {
    result(returned(itimer::setitimer(KERNEL, which, new, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getitimer(which: i32, old: usize) -> i32 {
    result(returned(itimer::getitimer(KERNEL, which, old))) as i32
}

/// Interposes libc's function, whose timers are larger than the kernel's and may start threads.
#[unsafe(no_mangle)]
extern "C" fn timer_create(clock: i32, event: usize, made: usize) -> i32 {
    let made = posix_timer::create(KERNEL, clock, event, true)
        .and_then(|timer| guest::store(made, timer as usize));
    result(returned(made.map(|()| 0))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_settime(timer: usize, flags: i32, new: usize, old: usize) -> i32 {
    result(returned(posix_timer::timer_settime(KERNEL, timer, flags, (new, old)))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_gettime(timer: usize, old: usize) -> i32 {
    result(returned(posix_timer::timer_gettime(KERNEL, timer, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_getoverrun(timer: usize) -> i32 {
    result(returned(posix_timer::timer_getoverrun(KERNEL, timer))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_delete(timer: usize) -> i32 {
    result(returned(posix_timer::timer_delete(KERNEL, timer))) as i32
}
