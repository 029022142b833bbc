//! Futexes, time, signals and the end of the process.

use super::Handlers;
use crate::process;
use crate::signals;
use crate::sys::{errno, number};
use crate::thread;
use crate::time;
use crate::worker::KERNEL;
use everypath_vkernel::futex::{Call, futex};
use everypath_vkernel::itimer::{alarm, getitimer, setitimer};
use everypath_vkernel::posix_timer::{
    timer_create, timer_delete, timer_getoverrun, timer_gettime, timer_settime,
};
use everypath_vkernel::random;
use everypath_vkernel::signal::{kill, rt_sigaction, rt_sigpending, rt_sigprocmask, tgkill};

pub(super) const HANDLERS: Handlers = &[
    (number::FUTEX, |_, [a, b, c, d, e, f]| {
        let (operation, value) = (b as i32, c as u32);
        futex(KERNEL, Call { word: a, operation, value, timeout: d, other: e, third: f })
    }),
    (number::SCHED_YIELD, |_, _| Ok(thread::sched_yield() as isize)),
    (number::CLOCK_GETTIME, |_, [a, b, ..]| time::get(a as i32, b)),
    (number::CLOCK_GETRES, |_, [a, b, ..]| time::get_resolution(a as i32, b)),
    (number::CLOCK_NANOSLEEP, |_, [a, b, c, d, ..]| time::nanosleep(a as i32, b as i32, c, d)),
    (number::NANOSLEEP, |_, [a, b, ..]| time::nanosleep(time::MONOTONIC, 0, a, b)),
    (number::GETTIMEOFDAY, |_, [a, b, ..]| time::get_time_of_day(a, b)),
    (number::TIME, |_, [a, ..]| time::get_seconds(a)),
    (number::GETRANDOM, |_, [a, b, c, ..]| random::getrandom(KERNEL, a, b, c)),
    (number::TGKILL, |_, [_, b, c, ..]| tgkill(KERNEL, b as i32, c as i32)),
    (number::TKILL, |_, [a, b, ..]| tgkill(KERNEL, a as i32, b as i32)),
    (number::KILL, |_, [a, b, ..]| kill(KERNEL, a as i32, b as i32)),
    (number::RT_SIGPROCMASK, |_, [a, b, c, d, ..]| {
        check_mask_size(d)?;
        rt_sigprocmask(KERNEL, a as i32, b, c)
    }),
    (number::RT_SIGACTION, |_, [a, b, c, d, ..]| {
        check_mask_size(d)?;
        rt_sigaction(KERNEL, a as i32, b, c)
    }),
    (number::RT_SIGPENDING, |_, [a, ..]| rt_sigpending(KERNEL, a)),
    (number::RT_SIGTIMEDWAIT, |_, [a, b, c, d, ..]| {
        check_mask_size(d)?;
        signals::timed_wait(a, b, c)
    }),
    (number::RT_SIGSUSPEND, |_, [a, b, ..]| {
        check_mask_size(b)?;
        signals::suspend(a)
    }),
    (number::PAUSE, |_, _| signals::pause()),
    (number::ALARM, |_, [a, ..]| Ok(alarm(KERNEL, a as u32))),
    (number::GETITIMER, |_, [a, b, ..]| getitimer(KERNEL, a as i32, b)),
    (number::SETITIMER, |_, [a, b, c, ..]| setitimer(KERNEL, a as i32, b, c)),
    (number::TIMER_CREATE, |_, [a, b, c, ..]| timer_create(KERNEL, a as i32, b, c)),
    (number::TIMER_SETTIME, |_, [a, b, c, d, ..]| timer_settime(KERNEL, a, b as i32, (c, d))),
    (number::TIMER_GETTIME, |_, [a, b, ..]| timer_gettime(KERNEL, a, b)),
    (number::TIMER_GETOVERRUN, |_, [a, ..]| timer_getoverrun(KERNEL, a)),
    (number::TIMER_DELETE, |_, [a, ..]| timer_delete(KERNEL, a)),
    (number::SIGALTSTACK, |_, [a, b, ..]| signals::alternate_stack(a, b)),
    (number::EXIT_GROUP, |_, [a, ..]| process::finish(a as i32)),
    (number::EXIT, |_, [a, ..]| process::finish(a as i32)),
    // Nobody can start a process, so there is none to wait for.
    (number::WAIT4, |_, _| Err(errno::ECHILD)),
    (number::WAITID, |_, _| Err(errno::ECHILD)),
];

/// The kernel knows masks of one size.
fn check_mask_size(size: usize) -> Result<(), i32> {
    if size == size_of::<u64>() { Ok(()) } else { Err(errno::EINVAL) }
}
