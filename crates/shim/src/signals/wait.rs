//! Waiting for signals: those that are blocked and taken (`sigwait`), and those that are handled
//! (`pause`, `sigsuspend`).

use super::{bit, deliver_pending, information};
use crate::cancel;
use crate::ending::is_running;
use crate::guest;
use crate::libc::result;
use crate::memory::store;
use crate::objects;
use crate::scheduler::{Woken, ask, wait};
use crate::state::{Status, Thread, state};
use crate::sys::{Answer, answer, errno, number, returned, sys};
use crate::timers::Expiry;
use everypath_shim_abi::{Object, Operation, Waiting};

/// A signal that was taken, whether it was sent to the process, and by which timer.
struct Arrived {
    signal: i32,
    by_process: bool,
    expiry: Option<Expiry>,
}

/// Whether a thread waits for a signal to take it.
pub(super) fn awaits(thread: &Thread, signal: i32) -> bool {
    thread.status() == Status::Blocked
        && thread.waiting.get() == Waiting::Signal
        && thread.awaited_signals.get() & bit(signal) != 0
}

/// Takes the first of some signals that was sent to the running thread, or to the process.
fn take(set: u64) -> Option<Arrived> {
    let state = state();
    let thread = state.current();
    let (own, common) = (thread.pending.get() & set, state.pending_signals.get() & set);
    let of = |signals: u64| (signals != 0).then(|| signals.trailing_zeros() as i32 + 1);
    if let Some(signal) = of(own) {
        let by_process = thread.pending_by_process.get() & bit(signal) != 0;
        thread.pending.set(thread.pending.get() & !bit(signal));
        thread.pending_by_process.set(thread.pending_by_process.get() & !bit(signal));
        return Some(Arrived { signal, by_process, expiry: None });
    }
    let signal = of(common)?;
    state.pending_signals.set(state.pending_signals.get() & !bit(signal));
    Some(Arrived { signal, by_process: true, expiry: None })
}

/// Waits until one of some signals comes, which is taken and not handled.
fn await_one(set: u64, deadline: Option<u64>) -> Result<Arrived, i32> {
    let thread = state().current();
    ask(Operation::SignalWait, objects::whole_process(), deadline);
    loop {
        if let Some(arrived) = take(set) {
            let expiry = crate::timers::note_taken(arrived.signal);
            return Ok(Arrived { expiry, ..arrived });
        }
        if deadline.is_some_and(|deadline| deadline <= state().clock.get()) {
            return Err(errno::EAGAIN);
        }
        thread.awaited_signals.set(set);
        let woken = wait(Waiting::Signal, Object::NONE, deadline);
        thread.awaited_signals.set(0);
        match woken {
            Woken::Granted => {}
            Woken::TimedOut => return Err(errno::EAGAIN),
            Woken::Interrupted { .. } => {
                cancel::act_if_due();
                return Err(errno::EINTR);
            }
        }
    }
}

/// Waits until a signal was handled.
fn await_handler() {
    let mut woken = Woken::Granted;
    while !matches!(woken, Woken::Interrupted { .. }) {
        woken = wait(Waiting::Signal, Object::NONE, None);
    }
    cancel::act_if_due();
}

/// Does what the system call does.
pub(crate) fn timed_wait(set: usize, info: usize, patience: usize) -> Answer {
    if !is_running() {
        return answer(sys!(number::RT_SIGTIMEDWAIT, set, info, patience, 8));
    }
    let set = guest::load(set)?;
    let timeout = crate::time::given_timeout(patience)?;
    let deadline = (patience != 0).then(|| state().clock.get().saturating_add(timeout));
    let Arrived { signal, by_process, expiry } = cancel::at_point(|| await_one(set, deadline))?;
    if info != 0 {
        guest::store(info, information(signal, by_process, expiry))?;
    }
    Ok(signal as isize)
}

/// Does what the system call does.
pub(crate) fn pause() -> Answer {
    cancel::at_point(|| {
        ask(Operation::SignalWait, objects::whole_process(), None);
        await_handler();
    });
    Err(errno::EINTR)
}

/// Does what the system call does.
pub(crate) fn suspend(mask: usize) -> Answer {
    let mask = guest::load(mask)?;
    cancel::at_point(|| {
        ask(Operation::SignalWait, objects::whole_process(), None);
        // From here on, whatever is handled ends it.
        let thread = state().current();
        let before = thread.blocked_signals.replace(mask);
        if !deliver_pending(state()) {
            await_handler();
        }
        thread.blocked_signals.set(before);
    });
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
