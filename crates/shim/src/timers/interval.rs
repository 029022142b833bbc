//! The alarm of a process, which is its interval timer as well.

use super::{ALARM, SECOND, SIGALRM, When, left, set, timer, update};
use crate::guest;
use crate::libc::result;
use crate::state::Notice;
use crate::sys::{Answer, errno, returned};

/// The timer of the clock on the wall: those of processor time are not modelled.
const REAL: i32 = 0;

/// Arms the alarm anew, or disarms it.
fn set_alarm(after: u64, again: u64) -> [u64; 2] {
    update(ALARM, |timer| timer.notice = Notice { signal: SIGALRM, ..Notice::default() });
    set(ALARM, if after == 0 { When::Never } else { When::After(after) }, again)
}

/// Does what the system call does.
pub(crate) fn alarm_after(seconds: u32) -> isize {
    let [_, left] = set_alarm(u64::from(seconds) * SECOND, 0);
    // What is left is rounded, but not to nothing.
    ((left + SECOND / 2) / SECOND).max(u64::from(left != 0)) as isize
}

/// The nanoseconds of a `timeval`, if it is one.
fn nanoseconds([seconds, microseconds]: [i64; 2]) -> Result<u64, i32> {
    match seconds >= 0 && (0..1_000_000).contains(&microseconds) {
        true => Ok(seconds as u64 * SECOND + microseconds as u64 * 1000),
        false => Err(errno::EINVAL),
    }
}

/// Does what the system call does.
pub(crate) fn get_timer(which: i32, old: usize) -> Answer {
    check(which)?;
    if which != REAL {
        crate::fail::stop!("getitimer of CPU time is not modelled: it is not deterministic");
    }
    let time = |nanoseconds: u64| [nanoseconds / SECOND, nanoseconds % SECOND / 1000];
    guest::store(old, [time(timer(ALARM).again), time(left(ALARM))])?;
    Ok(0)
}

fn check(which: i32) -> Result<(), i32> {
    if (REAL..REAL + 3).contains(&which) { Ok(()) } else { Err(errno::EINVAL) }
}

/// Does what the system call does.
pub(crate) fn set_timer(which: i32, new: usize, old: usize) -> Answer {
    // Without a new time it is taken back.
    let [again, after] = if new == 0 { [[0; 2]; 2] } else { guest::load(new)? };
    let (again, after) = (nanoseconds(again)?, nanoseconds(after)?);
    check(which)?;
    if which != REAL {
        crate::fail::stop!("setitimer of CPU time is not modelled: it is not deterministic");
    }
    let before = set_alarm(after, again);
    let time = |nanoseconds: u64| [nanoseconds / SECOND, nanoseconds % SECOND / 1000];
    guest::store_if_wanted(old, before.map(time))?;
    Ok(0)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn alarm(seconds: u32) -> u32 {
    alarm_after(seconds) as u32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn setitimer(which: i32, new: usize, old: usize) -> i32 {
    result(returned(set_timer(which, new, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getitimer(which: i32, old: usize) -> i32 {
    result(returned(get_timer(which, old))) as i32
}
