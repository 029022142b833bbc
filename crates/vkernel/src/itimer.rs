//! The alarm of a process, which is its interval timer as well.

use crate::clock::SECOND;
use crate::host::Host;
use crate::state::{ALARM, Notice};
use crate::timer::{SIGALRM, When, left, set, timer, update};
use crate::{errno, stop};

/// The timer of the clock on the wall: those of processor time are not modelled.
const REAL: i32 = 0;

/// Arms the alarm anew, or disarms it.
fn set_alarm(k: &impl Host, after: u64, again: u64) -> [u64; 2] {
    update(k, ALARM, |timer| timer.notice = Notice { signal: SIGALRM, ..Notice::default() });
    set(k, ALARM, if after == 0 { When::Never } else { When::After(after) }, again)
}

/// Does what the system call does.
pub fn alarm(k: &impl Host, seconds: u32) -> isize {
    let [_, left] = set_alarm(k, u64::from(seconds) * SECOND, 0);
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

/// A `timeval`.
fn timeval(nanoseconds: u64) -> [u64; 2] {
    [nanoseconds / SECOND, nanoseconds % SECOND / 1000]
}

fn check(which: i32) -> Result<(), i32> {
    if (REAL..REAL + 3).contains(&which) { Ok(()) } else { Err(errno::EINVAL) }
}

/// Does what the system call does.
pub fn getitimer(k: &impl Host, which: i32, old: usize) -> Result<isize, i32> {
    check(which)?;
    if which != REAL {
        stop!(k, "getitimer of CPU time is not modelled: it is not deterministic");
    }
    k.store(old, [timeval(timer(k, ALARM).again), timeval(left(k, ALARM))])?;
    Ok(0)
}

/// Does what the system call does.
pub fn setitimer(k: &impl Host, which: i32, new: usize, old: usize) -> Result<isize, i32> {
    // Without a new time it is taken back.
    let [again, after] = if new == 0 { [[0; 2]; 2] } else { k.load(new)? };
    let (again, after) = (nanoseconds(again)?, nanoseconds(after)?);
    check(which)?;
    if which != REAL {
        stop!(k, "setitimer of CPU time is not modelled: it is not deterministic");
    }
    let before = set_alarm(k, after, again);
    if old != 0 {
        k.store(old, before.map(timeval))?;
    }
    Ok(0)
}
