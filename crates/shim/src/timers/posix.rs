//! The timers of `timer_create`.

use super::{
    ALARM, BY_SIGNAL, BY_SIGNAL_TO_THREAD, BY_THREAD, NOT_AT_ALL, SECOND, SIGALRM, When, left, set,
    timer, update,
};
use crate::fail::stop;
use crate::guest;
use crate::libc::result;
use crate::signals::thread_by_number;
use crate::state::{Notice, SIGNALS, TIMERS, Timer, state};
use crate::sys::{Answer, errno, returned};
use crate::time;

/// The layout of a `sigevent`, for libc and for the kernel: the value, the signal, how to tell, and then
/// either the thread or the function to begin with.
const SIGNAL: usize = 8;
const HOW: usize = 12;
const RECEIVER: usize = 16;

const ABSOLUTE: i32 = 1;

/// What a program calls a timer.
pub(super) fn number(index: usize) -> i32 {
    (index - ALARM - 1) as i32
}

/// The timer that a program means.
fn find(number: usize) -> Result<usize, i32> {
    let index = (number as i32 as usize).wrapping_add(ALARM + 1);
    let exists = (ALARM + 1..TIMERS).contains(&index) && timer(index).exists;
    if exists { Ok(index) } else { Err(errno::EINVAL) }
}

/// Whether a clock has timers.
fn check_clock(clock: i32) -> Result<(), i32> {
    const BOOTTIME: i32 = 7;
    const TAI: i32 = 11;
    match clock {
        time::REALTIME | time::MONOTONIC | BOOTTIME | TAI => Ok(()),
        _ if time::is_processor_time(clock) => Ok(()),
        4..=6 => Err(errno::EOPNOTSUPP),
        10 | 12.. => Err(errno::EINVAL),
        8 | 9 => stop!("timer_create of clock {clock}, which wakes the machine, is not modelled"),
        _ => stop!("timer_create of clock {clock} is not modelled"),
    }
}

/// Whom a new timer tells. Only libc can be asked to start threads.
fn notice(clock: i32, event: usize, index: usize, is_libc: bool) -> Result<Notice, i32> {
    if event == 0 {
        let value = number(index) as usize;
        return Ok(Notice { how: BY_SIGNAL, signal: SIGALRM, clock, value, ..Notice::default() });
    }
    let value = guest::load(event)?;
    let (signal, how) = (guest::load(event + SIGNAL)?, guest::load(event + HOW)?);
    let known = Notice { how, signal, clock, value, ..Notice::default() };
    let is_signal = (1..SIGNALS as i32).contains(&signal);
    match how {
        NOT_AT_ALL => Ok(known),
        BY_THREAD if is_libc => Ok(Notice { function: guest::load(event + RECEIVER)?, ..known }),
        BY_SIGNAL if is_signal => Ok(known),
        BY_SIGNAL_TO_THREAD if is_signal => {
            let thread = guest::load(event + RECEIVER)?;
            thread_by_number(thread).ok_or(errno::EINVAL)?;
            Ok(Notice { thread, ..known })
        }
        _ => Err(errno::EINVAL),
    }
}

/// Makes a timer; returns its number.
fn create(clock: i32, event: usize, is_libc: bool) -> Result<i32, i32> {
    check_clock(clock)?;
    // Numbers come back late, as those of the kernel do.
    let next = state().next_timer.get() as usize;
    let others = TIMERS - ALARM - 1;
    let is_free = |&index: &usize| !timer(index).exists && !timer(index).is_sent;
    let mut all = (0..others).map(|i| ALARM + 1 + (next + i) % others);
    let Some(index) = all.find(is_free) else {
        stop!("the program has more than {others} timers at a time");
    };
    let notice = notice(clock, event, index, is_libc)?;
    state().timers[index].set(Timer { exists: true, notice, ..Timer::default() });
    state().next_timer.set(index as u32);
    Ok(number(index))
}

/// Does what the system call does.
pub(crate) fn create_by_syscall(clock: i32, event: usize, made: usize) -> Answer {
    guest::expect_room(made, size_of::<i32>())?;
    guest::store(made, create(clock, event, false)?)?;
    Ok(0)
}

/// The two times of an `itimerspec`: how often, and when.
fn load_times(address: usize) -> Result<[u64; 2], i32> {
    let given: [[i64; 2]; 2] = guest::load(address)?;
    let is_one = |[seconds, nanoseconds]: [i64; 2]| {
        seconds >= 0 && (0..SECOND as i64).contains(&nanoseconds)
    };
    if !given.into_iter().all(is_one) {
        return Err(errno::EINVAL);
    }
    Ok(given.map(|[seconds, nanoseconds]| {
        (seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds as u64)
    }))
}

fn shown_times(times: [u64; 2]) -> [[u64; 2]; 2] {
    times.map(|time| [time / SECOND, time % SECOND])
}

/// Does what the system call does.
pub(crate) fn set_posix_timer(number: usize, flags: i32, new: usize, old: usize) -> Answer {
    if new == 0 {
        return Err(errno::EINVAL);
    }
    let [again, value] = load_times(new)?;
    let index = find(number)?;
    let when = match value {
        0 => When::Never,
        // To compute takes no time here, so it never has taken that much.
        _ if time::is_processor_time(timer(index).notice.clock) => When::Never,
        _ if flags & ABSOLUTE != 0 => {
            When::At(time::virtual_moment(timer(index).notice.clock, value))
        }
        _ => When::After(value),
    };
    let before = set(index, when, again);
    guest::store_if_wanted(old, shown_times(before))?;
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn get_posix_timer(number: usize, old: usize) -> Answer {
    let index = find(number)?;
    guest::store(old, shown_times([timer(index).again, left(index)]))?;
    Ok(0)
}

/// Does what the system call does: a timer rings again only when its signal was taken.
pub(crate) fn get_overrun(number: usize) -> Answer {
    find(number).map(|_| 0)
}

/// Does what the system call does.
pub(crate) fn delete_timer(number: usize) -> Answer {
    let index = find(number)?;
    set(index, When::Never, 0);
    update(index, |timer| timer.exists = false);
    Ok(0)
}

/// Interposes libc's function, whose timers are larger than the kernel's and may start threads.
#[unsafe(no_mangle)]
extern "C" fn timer_create(clock: i32, event: usize, made: usize) -> i32 {
    let made = create(clock, event, true).and_then(|timer| guest::store(made, timer as usize));
    result(returned(made.map(|()| 0))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_settime(timer: usize, flags: i32, new: usize, old: usize) -> i32 {
    result(returned(set_posix_timer(timer, flags, new, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_gettime(timer: usize, old: usize) -> i32 {
    result(returned(get_posix_timer(timer, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_getoverrun(timer: usize) -> i32 {
    result(returned(get_overrun(timer))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timer_delete(timer: usize) -> i32 {
    result(returned(delete_timer(timer))) as i32
}
