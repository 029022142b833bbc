//! Signals that the program sends to itself: what it does about them, who gets them, which threads wait for them.
//!
//! Handlers are called by the host.

use crate::host::{Host, Thread, Woken};
use crate::state::{Action, SIGNALS};
use crate::timer::{self, Expiry};
use crate::{errno, stop};
use everypath_shim_abi::{Object, Operation, Waiting};

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;
/// Ignored unless the program says otherwise: child, urgent data, window size, continue.
const IGNORED: [i32; 4] = [17, 23, 28, 18];
/// Stop the process unless the program says otherwise: by anybody, from a terminal, on its input, on its
/// output.
const STOPPING: [i32; 4] = [SIGSTOP, 20, 21, 22];

/// `SIG_DFL`, `SIG_IGN`.
pub const DEFAULT: usize = 0;
/// See [`DEFAULT`].
pub const IGNORE: usize = 1;
/// `SA_RESTART`.
pub const RESTART: i32 = 0x1000_0000;

/// The bit of a signal in a set.
pub fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// What becomes of a signal that a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// It ends the program.
    Ends,
    /// A handler is called.
    Handled,
}

impl Action {
    /// What becomes of a signal.
    pub fn effect(&self, signal: i32) -> Effect {
        match self.handler {
            IGNORE => Effect::Nothing,
            DEFAULT if IGNORED.contains(&signal) => Effect::Nothing,
            DEFAULT => Effect::Ends,
            _ => Effect::Handled,
        }
    }
}

fn action(k: &impl Host, signal: i32) -> Action {
    k.own_state().actions[signal as usize].get()
}

/// Takes the next signal that was sent to the running thread, or to the process, and is not blocked; and
/// what it says if it came from a timer.
#[inline(always)]
pub fn next(k: &impl Host) -> Option<(i32, Option<Expiry>)> {
    let (task, own) = (k.current().task(), k.own_state());
    let common = own.pending_signals.get() & !task.blocked_signals.get();
    if common != 0 {
        own.pending_signals.set(own.pending_signals.get() & !common);
        task.pending_signals.set(task.pending_signals.get() | common);
        task.pending_by_process.set(task.pending_by_process.get() | common);
    }
    let ready = task.pending_signals.get() & !task.blocked_signals.get();
    if ready == 0 {
        return None;
    }
    let signal = ready.trailing_zeros() as i32 + 1;
    task.pending_signals.set(task.pending_signals.get() & !bit(signal));
    Some((signal, timer::note_taken(k, signal)))
}

/// Sends a signal: `to` says where it goes, once the step is taken, since others may end meanwhile.
fn send(
    k: &impl Host,
    signal: i32,
    object: Object,
    to: impl FnOnce() -> Result<isize, i32>,
) -> Result<isize, i32> {
    if !(0..SIGNALS as i32).contains(&signal) {
        return Err(errno::EINVAL);
    }
    k.point(Operation::Signal(signal as u32), object);
    let answer = to();
    k.deliver_signals();
    answer
}

fn send_to<'a, H: Host>(
    k: &'a H,
    signal: i32,
    object: Object,
    whom: impl FnOnce() -> Option<&'a H::Thread>,
) -> Result<isize, i32> {
    send(k, signal, object, || {
        let thread = whom().ok_or(errno::ESRCH)?;
        if signal != 0 {
            deposit(k, thread, signal);
        }
        Ok(0)
    })
}

/// Sends a signal to the running thread.
pub fn raise(k: &impl Host, signal: i32) -> Result<isize, i32> {
    let thread = k.current();
    send_to(k, signal, handle_object(k, k.handle(thread)), || Some(thread))
}

/// Sends a signal to the thread behind a `pthread_t`.
pub fn pthread_kill(k: &impl Host, handle: usize, signal: i32) -> Result<isize, i32> {
    send_to(k, signal, handle_object(k, handle), || k.thread_of_handle(handle))
}

fn handle_object(k: &impl Host, handle: usize) -> Object {
    Object::memory(k.process() as u8, handle as u64)
}

/// Does what the system calls do: only threads of this process can be meant.
pub fn tgkill(k: &impl Host, tid: i32, signal: i32) -> Result<isize, i32> {
    send_to(k, signal, Object::NONE, || k.thread_of_number(tid))
}

/// Does what the system call does.
pub fn kill(k: &impl Host, pid: i32, signal: i32) -> Result<isize, i32> {
    if pid != k.process_number() && pid != 0 {
        stop!(k, "a signal to another process is not modelled");
    }
    send(k, signal, Object::NONE, || {
        if signal != 0 {
            reach_process(k, signal);
        }
        Ok(0)
    })
}

/// Leaves a signal with a thread, as a part of the step that is being taken; says whether there is one.
pub fn reach_thread(k: &impl Host, tid: i32, signal: i32) -> bool {
    let thread = k.thread_of_number(tid);
    if let Some(thread) = thread {
        deposit(k, thread, signal);
    }
    thread.is_some()
}

/// Leaves a signal with the process, as a part of the step that is being taken: with whichever thread
/// takes it.
pub fn reach_process<H: Host>(k: &H, signal: i32) {
    // The kernel asks the first thread first.
    let takes = |thread: &&H::Thread| {
        let blocks = thread.task().blocked_signals.get() & bit(signal) != 0;
        !blocks || awaits(k, thread, signal)
    };
    match k.own_threads().find(takes) {
        Some(thread) => {
            let by_process = &thread.task().pending_by_process;
            by_process.set(by_process.get() | bit(signal));
            deposit(k, thread, signal);
        }
        // Whoever is the first to take or to unblock it gets it.
        None => {
            let pending = &k.own_state().pending_signals;
            pending.set(pending.get() | bit(signal));
        }
    }
}

/// Whether a thread waits for a signal to take it.
fn awaits<H: Host>(k: &H, thread: &H::Thread, signal: i32) -> bool {
    k.waits_for_signals(thread) && thread.task().awaited_signals.get() & bit(signal) != 0
}

/// Leaves a signal with a thread, which takes it, handles it or keeps it for later.
fn deposit<H: Host>(k: &H, thread: &H::Thread, signal: i32) {
    let action = action(k, signal);
    if signal == SIGKILL {
        k.end_by(signal);
    }
    if signal == SIGSTOP || STOPPING.contains(&signal) && action.handler == DEFAULT {
        stop!(
            k,
            "signal {signal}, which stops the process until another one continues it, is not modelled"
        );
    }
    if signal == SIGABRT && action.handler == DEFAULT {
        k.end_by(signal);
    }
    let task = thread.task();
    task.pending_signals.set(task.pending_signals.get() | bit(signal));
    if awaits(k, thread, signal) {
        k.grant(thread);
    } else if task.blocked_signals.get() & bit(signal) == 0
        && action.effect(signal) != Effect::Nothing
    {
        // If it waits, it handles the signal first.
        k.interrupt(thread, action.flags & RESTART != 0);
    }
}

/// Does what the system call does: the kernel's layout of an action, which libc's `sigaction` hides.
pub fn rt_sigaction(k: &impl Host, signal: i32, new: usize, old: usize) -> Result<isize, i32> {
    let is_fixed = signal == SIGKILL || signal == SIGSTOP;
    let action = if new == 0 { None } else { Some(k.load::<[usize; 4]>(new)?) };
    if !(1..SIGNALS as i32).contains(&signal) || is_fixed && action.is_some() {
        return Err(errno::EINVAL);
    }
    let slot = &k.own_state().actions[signal as usize];
    let before = slot.get();
    if let Some([handler, flags, _, mask]) = action {
        slot.set(Action { handler, mask: mask as u64, flags: flags as i32 });
    }
    if old != 0 {
        k.store(old, [before.handler, before.flags as usize, 0, before.mask as usize])?;
    }
    Ok(0)
}

/// Changes which signals the running thread blocks: does what the system call does.
pub fn rt_sigprocmask(k: &impl Host, how: i32, new: usize, old: usize) -> Result<isize, i32> {
    let blocked = &k.current().task().blocked_signals;
    let before = blocked.get();
    if new != 0 {
        let set: u64 = k.load(new)?;
        blocked.set(match how {
            0 => before | set,
            1 => before & !set,
            2 => set,
            _ => return Err(errno::EINVAL),
        });
    }
    let told = if old == 0 { Ok(()) } else { k.store(old, before) };
    if new != 0 {
        k.deliver_signals();
    }
    told.map(|()| 0)
}

/// Replaces the signals that the running thread blocks; returns those that it did.
pub fn block(k: &impl Host, mask: u64) -> u64 {
    k.current().task().blocked_signals.replace(mask)
}

/// Does what the system call does.
pub fn rt_sigpending(k: &impl Host, set: usize) -> Result<isize, i32> {
    let task = k.current().task();
    let pending = task.pending_signals.get() | k.own_state().pending_signals.get();
    k.store(set, pending & task.blocked_signals.get())?;
    Ok(0)
}

/// A signal that was taken, whether it was sent to the process, and by which timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The signal.
    pub signal: i32,
    /// Whether it was sent to the process.
    pub by_process: bool,
    /// What it says if it came from a timer.
    pub expiry: Option<Expiry>,
}

/// Takes the first of some signals that was sent to the running thread, or to the process.
fn take(k: &impl Host, set: u64) -> Option<Arrived> {
    let (task, common) = (k.current().task(), &k.own_state().pending_signals);
    let of = |signals: u64| (signals != 0).then(|| signals.trailing_zeros() as i32 + 1);
    if let Some(signal) = of(task.pending_signals.get() & set) {
        let by_process = task.pending_by_process.get() & bit(signal) != 0;
        task.pending_signals.set(task.pending_signals.get() & !bit(signal));
        task.pending_by_process.set(task.pending_by_process.get() & !bit(signal));
        return Some(Arrived { signal, by_process, expiry: None });
    }
    let signal = of(common.get() & set)?;
    common.set(common.get() & !bit(signal));
    Some(Arrived { signal, by_process: true, expiry: None })
}

/// The step of a call that waits for signals.
fn ask(k: &impl Host, deadline: Option<u64>) {
    let whole = Object::process(k.process() as u8);
    k.ask(Operation::SignalWait.pack(), whole, deadline);
}

/// Waits until one of some signals comes, which is taken and not handled.
pub fn await_one(k: &impl Host, set: u64, deadline: Option<u64>) -> Result<Arrived, i32> {
    let task = k.current().task();
    ask(k, deadline);
    loop {
        if let Some(arrived) = take(k, set) {
            let expiry = timer::note_taken(k, arrived.signal);
            return Ok(Arrived { expiry, ..arrived });
        }
        if deadline.is_some_and(|deadline| deadline <= k.clock()) {
            return Err(errno::EAGAIN);
        }
        task.awaited_signals.set(set);
        let woken = k.wait(Waiting::Signal, Object::NONE, deadline);
        task.awaited_signals.set(0);
        match woken {
            Woken::Granted => {}
            Woken::TimedOut => return Err(errno::EAGAIN),
            Woken::Interrupted { .. } => {
                k.end_if_cancelled();
                return Err(errno::EINTR);
            }
        }
    }
}

/// Waits until a signal was handled.
fn await_handler(k: &impl Host) {
    let mut woken = Woken::Granted;
    while !matches!(woken, Woken::Interrupted { .. }) {
        woken = k.wait(Waiting::Signal, Object::NONE, None);
    }
    k.end_if_cancelled();
}

/// Waits as `pause` does.
pub fn pause(k: &impl Host) {
    ask(k, None);
    await_handler(k);
}

/// Waits as `sigsuspend` does.
pub fn suspend(k: &impl Host, mask: u64) {
    ask(k, None);
    // From here on, whatever is handled ends it.
    let blocked = &k.current().task().blocked_signals;
    let before = blocked.replace(mask);
    if !k.deliver_signals() {
        await_handler(k);
    }
    blocked.set(before);
}
