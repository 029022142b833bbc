//! Alarms and interval timers: a thread without code of the program is blocked until the deadline and
//! sends the signal.

use crate::guest;
use crate::libc::result;
use crate::objects;
use crate::scheduler::{block_until, note_creation, point, wait};
use crate::signals::reach_process;
use crate::state::{Thread, state};
use crate::sys::{Answer, errno, returned};
use crate::thread::{create, find, retire};
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

/// Arms the alarm anew, or disarms it. Returns after which time it would have rung again, and how much
/// time was left.
///
/// The thread that rings is blocked from the step on that arms the alarm. So its time-out is enabled
/// wherever the alarm can ring, and every search takes it against a step that disarms it.
fn set(after: u64, again: u64) -> [u64; 2] {
    let was_concurrent = state().is_concurrent();
    point(Operation::TimerSet(after), objects::memory((&raw const state().alarm) as usize));
    let alarm = state().alarm.get();
    let before = [alarm.again, left()];
    let at = if after == 0 { 0 } else { state().clock.get().saturating_add(after) };
    let ringer = find(alarm.ringer).filter(|_| alarm.ringer != 0);
    let ringer = match (at, ringer) {
        (0, None) => 0,
        (0, Some(ringer)) => {
            retire(ringer);
            0
        }
        (_, ringer) => {
            let ringer = ringer.unwrap_or_else(|| start(was_concurrent));
            ringer.announce(Operation::Sleep(at), Object::NONE);
            ringer.is_unheard.set(false);
            block_until(ringer, at);
            ringer.tcb.get()
        }
    };
    state().alarm.set(Alarm { at, again, ringer });
    before
}

/// Creates the thread that rings.
fn start(was_concurrent: bool) -> &'static Thread {
    let ringer = create(ring as *const () as usize, 0, true);
    ringer.blocked_signals.set(u64::MAX);
    ringer.name.set(*b"alarm\0\0\0\0\0\0\0\0\0\0\0");
    note_creation(ringer, was_concurrent);
    ringer
}

/// Begins when the alarm rings for the first time.
extern "C" fn ring(_unused: usize) -> usize {
    loop {
        let alarm = state().alarm.get();
        if alarm.again == 0 {
            state().alarm.set(Alarm::default());
            reach_process(SIGALRM);
            return 0;
        }
        let at = alarm.at.saturating_add(alarm.again);
        state().alarm.set(Alarm { at, ..alarm });
        state().current().is_unheard.set(true);
        reach_process(SIGALRM);
        state().current().announce(Operation::Sleep(at), Object::NONE);
        wait(Waiting::Time, Object::NONE, Some(at));
    }
}

/// A signal that was sent is not pending any more. An interval timer rings again only then: earlier, the
/// kernel would not have sent it twice, and it could ring for ever before anybody moves.
pub(crate) fn note_taken(signal: i32) {
    let ringer = state().alarm.get().ringer;
    if signal == SIGALRM
        && ringer != 0
        && let Some(ringer) = find(ringer)
    {
        ringer.is_unheard.set(false);
    }
}

/// Does what the system call does.
pub(crate) fn alarm_after(seconds: u32) -> isize {
    let [_, left] = set(u64::from(seconds) * SECOND, 0);
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
    let before = set(after, again);
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
