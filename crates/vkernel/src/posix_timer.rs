//! The timers of `timer_create`.

use crate::clock::{self, BOOTTIME, MONOTONIC, REALTIME, TAI, timespec};
use crate::host::Host;
use crate::state::{ALARM, Notice, SIGNALS, TIMERS, Timer};
use crate::timer::{
    BY_SIGNAL, BY_SIGNAL_TO_THREAD, BY_THREAD, NOT_AT_ALL, SIGALRM, When, left, number, set, timer,
    update,
};
use crate::{errno, stop};

/// The layout of a `sigevent`, for libc and for the kernel: the value, the signal, how to tell, and then
/// either the thread or the function to begin with.
const SIGNAL: usize = 8;
const HOW: usize = 12;
const RECEIVER: usize = 16;

const ABSOLUTE: i32 = 1;

/// The timer that a program means.
fn find(k: &impl Host, number: usize) -> Result<usize, i32> {
    let index = (number as i32 as usize).wrapping_add(ALARM + 1);
    let exists = (ALARM + 1..TIMERS).contains(&index) && timer(k, index).exists;
    if exists { Ok(index) } else { Err(errno::EINVAL) }
}

/// Whether a clock has timers.
fn check_clock(k: &impl Host, clock: i32) -> Result<(), i32> {
    match clock {
        REALTIME | MONOTONIC | BOOTTIME | TAI => Ok(()),
        _ if clock::is_processor_time(clock) => Ok(()),
        4..=6 => Err(errno::EOPNOTSUPP),
        10 | 12.. => Err(errno::EINVAL),
        8 | 9 => {
            stop!(k, "timer_create of clock {clock}, which wakes the machine, is not modelled")
        }
        _ => stop!(k, "timer_create of clock {clock} is not modelled"),
    }
}

/// Whom a new timer tells. Only libc can be asked to start threads.
fn notice(
    k: &impl Host,
    clock: i32,
    event: usize,
    (index, is_libc): (usize, bool),
) -> Result<Notice, i32> {
    if event == 0 {
        let value = number(index) as usize;
        return Ok(Notice { how: BY_SIGNAL, signal: SIGALRM, clock, value, ..Notice::default() });
    }
    let value = k.load(event)?;
    let (signal, how) = (k.load(event + SIGNAL)?, k.load(event + HOW)?);
    let known = Notice { how, signal, clock, value, ..Notice::default() };
    let is_signal = (1..SIGNALS as i32).contains(&signal);
    match how {
        NOT_AT_ALL => Ok(known),
        BY_THREAD if is_libc => Ok(Notice { function: k.load(event + RECEIVER)?, ..known }),
        BY_SIGNAL if is_signal => Ok(known),
        BY_SIGNAL_TO_THREAD if is_signal => {
            let thread = k.load(event + RECEIVER)?;
            if k.thread_of_number(thread).is_none() {
                return Err(errno::EINVAL);
            }
            Ok(Notice { thread, ..known })
        }
        _ => Err(errno::EINVAL),
    }
}

/// Makes a timer; returns its number.
pub fn create(k: &impl Host, clock: i32, event: usize, is_libc: bool) -> Result<i32, i32> {
    check_clock(k, clock)?;
    let own = k.own_state();
    // Numbers come back late, as those of the kernel do.
    let next = own.next_timer.get() as usize;
    let others = TIMERS - ALARM - 1;
    let is_free = |&index: &usize| {
        let timer = timer(k, index);
        !timer.exists && !timer.is_sent
    };
    let mut all = (0..others).map(|i| ALARM + 1 + (next + i) % others);
    let Some(index) = all.find(is_free) else {
        stop!(k, "the program has more than {others} timers at a time");
    };
    let notice = notice(k, clock, event, (index, is_libc))?;
    own.timers[index].set(Timer { exists: true, notice, ..Timer::default() });
    own.next_timer.set(index as u32);
    Ok(number(index))
}

/// Does what the system call does.
pub fn timer_create(k: &impl Host, clock: i32, event: usize, made: usize) -> Result<isize, i32> {
    if k.writable(made, size_of::<i32>())? < size_of::<i32>() {
        return Err(errno::EFAULT);
    }
    k.store(made, create(k, clock, event, false)?)?;
    Ok(0)
}

/// The two times of an `itimerspec`: how often, and when.
fn load_times(k: &impl Host, at: usize) -> Result<[u64; 2], i32> {
    let given: [[i64; 2]; 2] = k.load(at)?;
    if !given.into_iter().all(clock::is_time) {
        return Err(errno::EINVAL);
    }
    Ok(given.map(clock::nanoseconds))
}

/// Does what the system call does.
pub fn timer_settime(
    k: &impl Host,
    number: usize,
    flags: i32,
    (new, old): (usize, usize),
) -> Result<isize, i32> {
    if new == 0 {
        return Err(errno::EINVAL);
    }
    let [again, value] = load_times(k, new)?;
    let index = find(k, number)?;
    let clock = timer(k, index).notice.clock;
    let when = match value {
        0 => When::Never,
        // To compute takes no time here, so it never has taken that much.
        _ if clock::is_processor_time(clock) => When::Never,
        _ if flags & ABSOLUTE != 0 => When::At(clock::virtual_moment(clock, value)),
        _ => When::After(value),
    };
    let before = set(k, index, when, again);
    if old != 0 {
        k.store(old, before.map(timespec))?;
    }
    Ok(0)
}

/// Does what the system call does.
pub fn timer_gettime(k: &impl Host, number: usize, old: usize) -> Result<isize, i32> {
    let index = find(k, number)?;
    k.store(old, [timer(k, index).again, left(k, index)].map(timespec))?;
    Ok(0)
}

/// Does what the system call does: a timer rings again only when its signal was taken.
pub fn timer_getoverrun(k: &impl Host, number: usize) -> Result<isize, i32> {
    find(k, number).map(|_| 0)
}

/// Does what the system call does.
pub fn timer_delete(k: &impl Host, number: usize) -> Result<isize, i32> {
    let index = find(k, number)?;
    set(k, index, When::Never, 0);
    update(k, index, |timer| timer.exists = false);
    Ok(0)
}
