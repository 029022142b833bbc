//! Alarms and interval timers: a thread without code of the program sleeps until the deadline and
//! sends the signal.

use crate::guest;
use crate::libc::result;
use crate::objects;
use crate::scheduler::{Woken, ask, grant, note_creation, point, wait};
use crate::signals::reach_process;
use crate::state::{Interruption, Status, Thread, state};
use crate::sys::{Answer, errno, returned};
use crate::thread::{create, find};
use everypath_shim_abi::{Object, Operation, Waiting};

const SIGALRM: i32 = 14;
const SECOND: u64 = 1_000_000_000;
/// The timer of the clock on the wall: those of processor time are not modelled.
const REAL: i32 = 0;

/// The alarm of a process.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Alarm {
    /// When it rings; 0 if it is not set.
    at: u64,
    /// After which time it rings again; 0 if it does not.
    again: u64,
    /// The control block of the thread that waits for it; 0 if none does.
    ringer: usize,
}

/// Whether a thread is the one that waits for the alarm. It keeps no process alive.
pub(crate) fn is_ringer(thread: &Thread) -> bool {
    let ringer = state().alarm.get().ringer;
    ringer != 0 && thread.tcb.get() == ringer
}

/// For how long it is set, in nanoseconds.
fn left() -> u64 {
    let alarm = state().alarm.get();
    if alarm.at == 0 { 0 } else { alarm.at.saturating_sub(state().clock.get()).max(1) }
}

/// Sets the alarm, or takes it back.
fn set(after: u64, again: u64) {
    point(Operation::TimerSet(after), objects::memory((&raw const state().alarm) as usize));
    let at = if after == 0 { 0 } else { state().clock.get().saturating_add(after) };
    let alarm = Alarm { at, again, ..state().alarm.get() };
    state().alarm.set(alarm);
    match find(alarm.ringer).filter(|_| alarm.ringer != 0) {
        Some(ringer) if ringer.status() == Status::Blocked => {
            ringer.interruption.set(Interruption::Failing);
            grant(ringer);
        }
        Some(_) => {}
        None if at != 0 => start(),
        None => {}
    }
}

fn start() {
    let was_concurrent = state().is_concurrent();
    point(Operation::Create, objects::memory(ring as *const () as usize));
    let ringer = create(ring as *const () as usize, 0, true);
    ringer.blocked_signals.set(u64::MAX);
    ringer.name.set(*b"alarm\0\0\0\0\0\0\0\0\0\0\0");
    state().alarm.set(Alarm { ringer: ringer.tcb.get(), ..state().alarm.get() });
    note_creation(ringer, was_concurrent);
}

/// Rings whenever it is time, until the alarm is not set any more.
extern "C" fn ring(_unused: usize) -> usize {
    loop {
        let alarm = state().alarm.get();
        if alarm.at == 0 {
            break;
        }
        ask(Operation::Sleep(alarm.at), Object::NONE, Some(alarm.at));
        // It may have been set anew meanwhile.
        let alarm = state().alarm.get();
        if alarm.at == 0 {
            break;
        }
        state().current().announce(Operation::Sleep(alarm.at), Object::NONE);
        if wait(Waiting::Time, Object::NONE, Some(alarm.at)) == Woken::TimedOut {
            let at = if alarm.again == 0 { 0 } else { alarm.at.saturating_add(alarm.again) };
            state().alarm.set(Alarm { at, ..alarm });
            reach_process(SIGALRM);
        }
    }
    state().alarm.set(Alarm { ringer: 0, ..state().alarm.get() });
    0
}

/// Does what the system call does.
pub(crate) fn alarm_after(seconds: u32) -> isize {
    let left = left();
    set(u64::from(seconds) * SECOND, 0);
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
    guest::store(old, [time(state().alarm.get().again), time(left())])?;
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
    let before = [state().alarm.get().again, left()];
    set(after, again);
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
