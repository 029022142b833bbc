//! Signals: calling handlers, and the functions of libc. See `vkernel/src/signal.rs`.

use crate::cancel;
use crate::ending::ended;
use crate::guest;
use crate::libc::{fail, result};
use crate::memory::{load, store};
use crate::scheduler::grant;
use crate::state::{Interruption, Status, Thread, first_tid, state};
use crate::sys::{Answer, errno, returned};
use crate::worker::KERNEL;
use everypath_shim_abi::Outcome;
use everypath_vkernel::signal::{
    self, DEFAULT, Effect, RESTART, bit, next, rt_sigpending, rt_sigprocmask,
};
use everypath_vkernel::timer::Expiry;
use everypath_vkernel::{Action, SIGNALS};

mod wait;

pub(crate) use wait::{pause, suspend, timed_wait};

pub(crate) const SIGABRT: i32 = 6;
pub(crate) const SIGBUS: i32 = 7;
const SIGKILL: i32 = 9;
pub(crate) const SIGSEGV: i32 = 11;
const SIGSTOP: i32 = 19;

/// How a signal says that it was sent.
const SENT_TO_PROCESS: i32 = 0;
const SENT_TO_THREAD: i32 = -6;
const SENT_BY_TIMER: i32 = -2;

/// The size of a `siginfo_t`, in words of four bytes.
const INFO_WORDS: usize = 32;

const SA_SIGINFO: i32 = 4;
const SA_NODEFER: i32 = 0x4000_0000;
const SA_RESETHAND: i32 = 0x8000_0000_u32 as i32;

/// Calls a handler of the program.
pub(crate) fn call_handler(signal: i32, action: &Action, info: usize, machine: usize) {
    if action.flags & SA_RESETHAND != 0 {
        let default = Action { handler: DEFAULT, ..*action };
        state().own_kernel.actions[signal as usize].set(default);
    }
    if action.flags & SA_SIGINFO != 0 {
        crate::libc::call!(action.handler, fn(i32, usize, usize), signal, info, machine);
    } else {
        crate::libc::call!(action.handler, fn(i32), signal);
    }
}

/// What a handler or whoever waits for a signal is told about it.
fn information(signal: i32, by_process: bool, expiry: Option<Expiry>) -> [i32; INFO_WORDS] {
    let mut info = [0; INFO_WORDS];
    match expiry {
        Some(Expiry { timer, value }) => {
            info[..3].copy_from_slice(&[signal, 0, SENT_BY_TIMER]);
            info[4] = timer;
            info[6..8].copy_from_slice(&[value as i32, (value >> 32) as i32]);
        }
        None => {
            let code = if by_process { SENT_TO_PROCESS } else { SENT_TO_THREAD };
            info[..3].copy_from_slice(&[signal, 0, code]);
            info[4..6].copy_from_slice(&[first_tid(), crate::credentials::real_user() as i32]);
        }
    }
    info
}

/// Handles a signal in the running thread, now.
pub(crate) fn handle_here(signal: i32) {
    handle_taken(signal, None);
}

fn handle_taken(signal: i32, expiry: Option<Expiry>) {
    let state = state();
    let action = state.own_kernel.actions[signal as usize].get();
    match action.effect(signal) {
        Effect::Nothing => {}
        // Nobody but `abort` comes here, which goes on itself.
        Effect::Ends if signal == SIGABRT => {}
        Effect::Ends => ended(Outcome::Signalled, signal),
        Effect::Handled => {
            // While it is handled, the signal itself and those of the action's mask are blocked.
            let thread = state.current();
            let task = &thread.task;
            let before = task.blocked_signals.get();
            let itself = if action.flags & SA_NODEFER != 0 { 0 } else { bit(signal) };
            task.blocked_signals.set(before | itself | action.mask);
            // What the handler does must not change what the step that it interrupts came to.
            let kept = (thread.outcome.get(), thread.timed_out.get(), thread.interruption.get());
            let in_syscall = thread.in_syscall.replace(false);
            let by_process = task.pending_by_process.get() & bit(signal) != 0;
            task.pending_by_process.set(task.pending_by_process.get() & !bit(signal));
            let info = information(signal, by_process, expiry);
            let machine = [0u64; 128];
            let (info, machine) = (info.as_ptr() as usize, machine.as_ptr() as usize);
            cancel::elsewhere(|| call_handler(signal, &action, info, machine));
            thread.in_syscall.set(in_syscall);
            task.blocked_signals.set(before);
            thread.outcome.set(kept.0);
            thread.timed_out.set(kept.1);
            thread.interruption.set(kept.2);
        }
    }
}

/// Handles what was sent to the running thread and is not blocked; says whether there was anything. Not
/// inlined, so that nothing of it stays on the stack of a thread that blocks.
#[inline(never)]
pub(crate) fn deliver_pending() -> bool {
    let mut any = false;
    while let Some((signal, expiry)) = next(KERNEL) {
        any = true;
        handle_taken(signal, expiry);
    }
    any
}

/// Lets a thread that waits handle a signal first.
pub(crate) fn interrupt(thread: &Thread, restarts: bool) {
    if thread.status() == Status::Blocked {
        thread.interruption.set(match restarts {
            true => Interruption::Restarting,
            false => Interruption::Failing,
        });
        grant(thread);
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn raise(signal: i32) -> i32 {
    result(returned(signal::raise(KERNEL, signal))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_kill(handle: usize, signal: i32) -> i32 {
    -returned(signal::pthread_kill(KERNEL, handle, signal)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn kill(pid: i32, signal: i32) -> i32 {
    result(returned(signal::kill(KERNEL, pid, signal))) as i32
}

/// The layout of libc's `struct sigaction`.
const MASK: usize = 8;
const FLAGS: usize = 136;

extern "C" fn already_installed(_signal: i32) {}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigaction(signal: i32, new: usize, old: usize) -> i32 {
    if !(1..SIGNALS as i32).contains(&signal) {
        return fail(errno::EINVAL) as i32;
    }
    let slot = &state().own_kernel.actions[signal as usize];
    let before = slot.get();
    if old != 0 {
        crate::memory::zero(old, 152);
        // Rust's runtime would install a handler for stack overflows, with a stack for each
        // thread: it does not if there is one already.
        let guarded = new == 0 && before.handler == DEFAULT && matches!(signal, SIGSEGV | SIGBUS);
        let shown = if guarded { already_installed as *const () as usize } else { before.handler };
        store(old, shown);
        store(old + MASK, before.mask);
        store(old + FLAGS, before.flags);
    }
    if new != 0 && (signal == SIGKILL || signal == SIGSTOP) {
        return fail(errno::EINVAL) as i32;
    }
    if new != 0 {
        let flags = load(new + FLAGS);
        slot.set(Action { handler: load(new), mask: load(new + MASK), flags });
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn signal(signal: i32, handler: usize) -> usize {
    if !(1..SIGNALS as i32).contains(&signal) {
        return fail(errno::EINVAL) as usize;
    }
    let action = Action { handler, mask: 0, flags: RESTART };
    let before = state().own_kernel.actions[signal as usize].replace(action);
    before.handler
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_sigmask(how: i32, new: usize, old: usize) -> i32 {
    -returned(rt_sigprocmask(KERNEL, how, new, old)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigprocmask(how: i32, new: usize, old: usize) -> i32 {
    result(returned(rt_sigprocmask(KERNEL, how, new, old))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigpending(set: usize) -> i32 {
    result(returned(rt_sigpending(KERNEL, set))) as i32
}

/// Does what the system call does: faults are handled on a stack of ours.
pub(crate) fn alternate_stack(new: usize, old: usize) -> Answer {
    const DISABLED: usize = 2;
    if new != 0 {
        guest::load::<[usize; 3]>(new)?;
    }
    guest::store_if_wanted(old, [0, DISABLED, 0])?;
    Ok(0)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigaltstack(new: usize, old: usize) -> i32 {
    result(returned(alternate_stack(new, old))) as i32
}
