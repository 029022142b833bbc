//! Waiting for signals: those that are blocked and taken (`sigwait`), and those that are handled
//! (`pause`, `sigsuspend`).

use super::information;
use crate::cancel;
use crate::ending::is_running;
use crate::guest;
use crate::libc::result;
use crate::memory::store;
use crate::state::state;
use crate::sys::{Answer, answer, errno, number, returned, sys};
use crate::worker::KERNEL;
use everypath_vkernel::clock::given_timeout;
use everypath_vkernel::signal::{self, Arrived, await_one};

/// Does what the system call does.
pub(crate) fn timed_wait(set: usize, info: usize, patience: usize) -> Answer {
    if !is_running() {
        return answer(sys!(number::RT_SIGTIMEDWAIT, set, info, patience, 8));
    }
    let set = guest::load(set)?;
    let timeout = given_timeout(KERNEL, patience)?;
    let deadline = (patience != 0).then(|| state().clock.get().saturating_add(timeout));
    let Arrived { signal, by_process, expiry } =
        cancel::at_point(|| await_one(KERNEL, set, deadline))?;
    if info != 0 {
        guest::store(info, information(signal, by_process, expiry))?;
    }
    Ok(signal as isize)
}

/// Does what the system call does.
pub(crate) fn pause() -> Answer {
    cancel::at_point(|| signal::pause(KERNEL));
    Err(errno::EINTR)
}

/// Does what the system call does.
pub(crate) fn suspend(mask: usize) -> Answer {
    let mask = guest::load(mask)?;
    cancel::at_point(|| signal::suspend(KERNEL, mask));
    Err(errno::EINTR)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigtimedwait(set: usize, info: usize, patience: usize) -> i32 {
    result(returned(timed_wait(set, info, patience))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigwaitinfo(set: usize, info: usize) -> i32 {
    result(returned(timed_wait(set, info, 0))) as i32
}

/// Interposes libc's function, which does not return because a handler ran.
#[unsafe(no_mangle)]
extern "C" fn sigwait(set: usize, signal: usize) -> i32 {
    loop {
        match timed_wait(set, 0, 0) {
            Err(errno::EINTR) => {}
            Err(error) => return error,
            Ok(taken) => {
                store(signal, taken as i32);
                return 0;
            }
        }
    }
}

/// Interposes libc's function.
#[unsafe(export_name = "pause")]
extern "C" fn libc_pause() -> i32 {
    result(returned(pause())) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigsuspend(mask: usize) -> i32 {
    result(returned(suspend(mask))) as i32
}
