//! Signals: those that the program sends to itself, and those of faults.

use crate::cancel;
use crate::ending::ended;
use crate::fail::stop;
use crate::guest;
use crate::libc::fail;
use crate::memory::{load, store};
use crate::objects;
use crate::scheduler::{grant, point};
use crate::state::{Action, Interruption, SIGNALS, State, Status, Thread, find, first_tid, state};
use crate::sys::{Answer, errno, returned};
use crate::timers::Expiry;
use everypath_shim_abi::{Object, Operation, Outcome};

mod wait;

pub(crate) use wait::{pause, suspend, timed_wait};

pub(crate) const SIGBUS: i32 = 7;
const SIGKILL: i32 = 9;
pub(crate) const SIGSEGV: i32 = 11;
const SIGSTOP: i32 = 19;
/// Ignored unless the program says otherwise: child, urgent data, window size, continue.
const IGNORED: [i32; 4] = [17, 23, 28, 18];

/// Stop the process unless the program says otherwise: by anybody, from a terminal, on its input, on its
/// output.
const STOPPING: [i32; 4] = [SIGSTOP, 20, 21, 22];

const DEFAULT: usize = 0;
pub(crate) const IGNORE: usize = 1;

/// How a signal says that it was sent.
const SENT_TO_PROCESS: i32 = 0;
const SENT_TO_THREAD: i32 = -6;
const SENT_BY_TIMER: i32 = -2;

/// The size of a `siginfo_t`, in words of four bytes.
const INFO_WORDS: usize = 32;

const SA_SIGINFO: i32 = 4;
const SA_RESTART: i32 = 0x1000_0000;
const SA_NODEFER: i32 = 0x4000_0000;
const SA_RESETHAND: i32 = 0x8000_0000_u32 as i32;

/// Calls a handler of the program.
pub(crate) fn call_handler(signal: i32, action: &Action, info: usize, machine: usize) {
    if action.flags & SA_RESETHAND != 0 {
        let default = Action { handler: DEFAULT, ..*action };
        state().actions[signal as usize].set(default);
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
    let action = state.actions[signal as usize].get();
    match action.handler {
        IGNORE => {}
        DEFAULT if IGNORED.contains(&signal) => {}
        DEFAULT if signal == 6 => {}
        DEFAULT => ended(Outcome::Signalled, signal),
        _ => {
            // While it is handled, the signal itself and those of the action's mask are blocked.
            let thread = state.current();
            let before = thread.blocked_signals.get();
            let itself = if action.flags & SA_NODEFER != 0 { 0 } else { bit(signal) };
            thread.blocked_signals.set(before | itself | action.mask);
            // What the handler does must not change what the step that it interrupts came to.
            let kept = (thread.outcome.get(), thread.timed_out.get(), thread.interruption.get());
            let in_syscall = thread.in_syscall.replace(false);
            let by_process = thread.pending_by_process.get() & bit(signal) != 0;
            thread.pending_by_process.set(thread.pending_by_process.get() & !bit(signal));
            let info = information(signal, by_process, expiry);
            let machine = [0u64; 128];
            let (info, machine) = (info.as_ptr() as usize, machine.as_ptr() as usize);
            cancel::elsewhere(|| call_handler(signal, &action, info, machine));
            thread.in_syscall.set(in_syscall);
            thread.blocked_signals.set(before);
            thread.outcome.set(kept.0);
            thread.timed_out.set(kept.1);
            thread.interruption.set(kept.2);
        }
    }
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Handles what was sent to the running thread and is not blocked; says whether there was anything.
pub(crate) fn deliver_pending(state: &State) -> bool {
    let thread = state.current();
    let mut any = false;
    loop {
        let common = state.pending_signals.get() & !thread.blocked_signals.get();
        if common != 0 {
            state.pending_signals.set(state.pending_signals.get() & !common);
            thread.pending.set(thread.pending.get() | common);
            thread.pending_by_process.set(thread.pending_by_process.get() | common);
        }
        let ready = thread.pending.get() & !thread.blocked_signals.get();
        if ready == 0 {
            return any;
        }
        any = true;
        let signal = ready.trailing_zeros() as i32 + 1;
        thread.pending.set(thread.pending.get() & !bit(signal));
        let expiry = crate::timers::note_taken(signal);
        handle_taken(signal, expiry);
    }
}

/// Sends a signal to whom `whom` finds, once the step is taken: others may end meanwhile.
fn send(signal: i32, object: Object, whom: impl FnOnce() -> Option<&'static Thread>) -> isize {
    deliver(signal, object, |action| {
        let Some(thread) = whom() else { return -(errno::ESRCH as isize) };
        if signal != 0 {
            deposit(thread, signal, action);
        }
        0
    })
}

/// Sends a signal to the running thread.
pub(crate) fn send_to_current(signal: i32) -> isize {
    let thread = state().current();
    send(signal, objects::memory(thread.tcb.get()), || Some(thread))
}

/// Sends a signal: `to` says where it goes.
fn deliver(signal: i32, object: Object, to: impl FnOnce(&Action) -> isize) -> isize {
    if !(0..SIGNALS as i32).contains(&signal) {
        return -(errno::EINVAL as isize);
    }
    point(Operation::Signal(signal as u32), object);
    let answer = to(&state().actions[signal as usize].get());
    deliver_pending(state());
    answer
}

/// Leaves a signal with the process, as a part of the step that is being taken.
pub(crate) fn reach_process(signal: i32) {
    let action = state().actions[signal as usize].get();
    deposit_somewhere(signal, &action);
}

/// Leaves a signal with a thread, as a part of the step that is being taken; says whether there is one.
pub(crate) fn reach_thread(tid: i32, signal: i32) -> bool {
    let thread = thread_by_number(tid);
    if let Some(thread) = thread {
        deposit(thread, signal, &state().actions[signal as usize].get());
    }
    thread.is_some()
}

/// The thread of this process that has a number for the kernel.
pub(crate) fn thread_by_number(tid: i32) -> Option<&'static Thread> {
    let is_meant = |thread: &&Thread| thread.is_alive() && thread.tid() == tid;
    state().own_threads().find(is_meant)
}

/// Leaves a signal with whichever thread takes it.
fn deposit_somewhere(signal: i32, action: &Action) {
    // The kernel asks the first thread first.
    let takes = |thread: &&Thread| {
        let blocks = thread.blocked_signals.get() & bit(signal) != 0;
        thread.is_alive() && (!blocks || wait::awaits(thread, signal))
    };
    match state().own_threads().find(takes) {
        Some(thread) => {
            thread.pending_by_process.set(thread.pending_by_process.get() | bit(signal));
            deposit(thread, signal, action);
        }
        // Whoever is the first to take or to unblock it gets it.
        None => state().pending_signals.set(state().pending_signals.get() | bit(signal)),
    }
}

/// Leaves a signal with a thread, which takes it, handles it or keeps it for later.
fn deposit(thread: &Thread, signal: i32, action: &Action) {
    if signal == SIGKILL {
        ended(Outcome::Signalled, signal);
    }
    if signal == SIGSTOP || STOPPING.contains(&signal) && action.handler == DEFAULT {
        stop!(
            "signal {signal}, which stops the process until another one continues it, is not modelled"
        );
    }
    if signal == 6 && action.handler == DEFAULT {
        ended(Outcome::Aborted, signal);
    }
    thread.pending.set(thread.pending.get() | bit(signal));
    if wait::awaits(thread, signal) {
        grant(thread);
    } else if thread.blocked_signals.get() & bit(signal) == 0 {
        interrupt(thread, signal, action);
    }
}

/// Lets a thread that waits handle a signal first, if there is anything to do.
fn interrupt(thread: &Thread, signal: i32, action: &Action) {
    let nothing = match action.handler {
        IGNORE => true,
        DEFAULT => IGNORED.contains(&signal),
        _ => false,
    };
    if thread.status() == Status::Blocked && !nothing {
        let restarts = action.flags & SA_RESTART != 0;
        thread.interruption.set(match restarts {
            true => Interruption::Restarting,
            false => Interruption::Failing,
        });
        grant(thread);
    }
}

/// Does what the system calls do: only threads of this process can be meant.
pub(crate) fn kill_thread(tid: i32, signal: i32) -> isize {
    send(signal, Object::NONE, || thread_by_number(tid))
}

/// Does what the system call does.
pub(crate) fn kill_process(pid: i32, signal: i32) -> isize {
    if pid != first_tid() && pid != 0 {
        stop!("a signal to another process is not modelled");
    }
    deliver(signal, Object::NONE, |action| {
        if signal != 0 {
            deposit_somewhere(signal, action);
        }
        0
    })
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn raise(signal: i32) -> i32 {
    crate::libc::result(send_to_current(signal)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_kill(handle: usize, signal: i32) -> i32 {
    -send(signal, objects::memory(handle), || find(handle)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn kill(pid: i32, signal: i32) -> i32 {
    crate::libc::result(kill_process(pid, signal)) as i32
}

/// Does what the system call does: the kernel's layout of an action, which libc's `sigaction` hides.
pub(crate) fn change_action(signal: i32, new: usize, old: usize) -> Answer {
    let is_fixed = signal == SIGKILL || signal == SIGSTOP;
    let action = if new == 0 { None } else { Some(guest::load::<[usize; 4]>(new)?) };
    if !(1..SIGNALS as i32).contains(&signal) || is_fixed && action.is_some() {
        return Err(errno::EINVAL);
    }
    let slot = &state().actions[signal as usize];
    let before = slot.get();
    if let Some([handler, flags, _, mask]) = action {
        slot.set(Action { handler, mask: mask as u64, flags: flags as i32 });
    }
    let shown = [before.handler, before.flags as usize, 0, before.mask as usize];
    guest::store_if_wanted(old, shown)?;
    Ok(0)
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
    let slot = &state().actions[signal as usize];
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
    let action = Action { handler, mask: 0, flags: SA_RESTART };
    let before = state().actions[signal as usize].replace(action);
    before.handler
}

/// Changes which signals the running thread blocks: does what the system call does.
pub(crate) fn change_mask(how: i32, new: usize, old: usize) -> Answer {
    let thread = state().current();
    let before = thread.blocked_signals.get();
    if new != 0 {
        let set: u64 = guest::load(new)?;
        let after = match how {
            0 => before | set,
            1 => before & !set,
            2 => set,
            _ => return Err(errno::EINVAL),
        };
        thread.blocked_signals.set(after);
    }
    let told = guest::store_if_wanted(old, before);
    if new != 0 {
        deliver_pending(state());
    }
    told.map(|()| 0)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_sigmask(how: i32, new: usize, old: usize) -> i32 {
    -returned(change_mask(how, new, old)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigprocmask(how: i32, new: usize, old: usize) -> i32 {
    crate::libc::result(returned(change_mask(how, new, old))) as i32
}

/// Does what the system call does.
pub(crate) fn pending(set: usize) -> Answer {
    let thread = state().current();
    let pending = thread.pending.get() | state().pending_signals.get();
    guest::store(set, pending & thread.blocked_signals.get())?;
    Ok(0)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sigpending(set: usize) -> i32 {
    crate::libc::result(returned(pending(set))) as i32
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
    crate::libc::result(returned(alternate_stack(new, old))) as i32
}
